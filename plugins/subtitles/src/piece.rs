//! The smallest parts of a subtitle: words, together with marks that must not begin or end a row.

use tympan_sdk::Word;
use tympan_text::{
    Turns, chains, needs_space, opens_before, sentence_begins, trailing_punctuation, writes_no_spaces,
};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A silence that the viewer notices; as good a place for a break as a comma.
const NOTICED_PAUSE_MS: u64 = 350;
/// Later words are times of a broken file, not of speech: 1,000 hours.
const LATEST_S: f64 = 3_600_000.0;

/// How well a cue or a row may end after a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A sentence ends.
    Sentence,
    /// A comma or the like, or a pause.
    Phrase,
    /// In the middle of a phrase.
    Word,
    /// After an abbreviation, which belongs to the next word: `Dr.`.
    Abbreviation,
}

/// A part of a row that stays whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Without spaces around it; one line.
    pub text: String,
    /// Columns as displayed.
    pub width: usize,
    /// Whether a space stands before it, unless it begins a row.
    pub space_before: bool,
    /// Milliseconds.
    pub start_ms: u64,
    /// Milliseconds, not before the start; no earlier than the piece before.
    pub end_ms: u64,
    /// Whether a row or cue may end here.
    pub end: End,
}

/// The pieces of one voice, in order of time. No piece is wider than `columns`, unless it is a
/// single word.
pub fn pieces(turns: &Turns, columns: usize) -> Vec<Piece> {
    let words = words(turns);
    let breaks = allowed_breaks(&words);
    let mut pieces: Vec<Piece> = Vec::with_capacity(words.len());
    let mut from = 0;
    for to in 1..=words.len() {
        if to < words.len() && !breaks[to] {
            continue;
        }
        let group = &words[from..to];
        from = to;
        let joined = join(group);
        if joined.width > columns && group.len() > 1 {
            // The limit of the row counts more than the rule for marks.
            pieces.extend(group.iter().map(|word| join(std::slice::from_ref(word))));
        } else {
            pieces.push(joined);
        }
    }
    mark_pauses(&mut pieces);
    pieces
}

/// Words as one line of text each, with times in order.
fn words(turns: &Turns) -> Vec<Piece> {
    let mut words: Vec<Piece> = Vec::new();
    for chain in chains(turns) {
        let sentences = sentence_begins(&chain);
        let first = words.len();
        let mut space_before = words.last().is_some_and(|last| needs_space(&last.text, &chain.words[0].text));
        for (at, word) in chain.words.iter().enumerate() {
            space_before |= word.text.starts_with(char::is_whitespace);
            let text = one_line(&word.text);
            if !text.is_empty() {
                let (start_ms, end_ms) = times(word, words.last());
                let ends_sentence = at + 1 == chain.words.len() || sentences.contains(&(at + 1));
                let end = if ends_sentence { End::Sentence } else { end_of(&text) };
                let piece = Piece { width: text.width(), text, space_before, start_ms, end_ms, end };
                push(&mut words, first, piece);
                space_before = false;
            }
        }
    }
    words
}

/// Start and end in order after the word before.
fn times(word: &Word, previous: Option<&Piece>) -> (u64, u64) {
    let (earliest_ms, otherwise_ms) = previous.map_or((0, 0), |piece| (piece.start_ms, piece.end_ms));
    let start_ms = milliseconds(word.start, otherwise_ms).max(earliest_ms);
    (start_ms, milliseconds(word.end, start_ms).max(start_ms))
}

/// Adds a word of the chain that began with piece `first`. A mark that merges with the
/// character before it is no word of its own.
fn push(words: &mut Vec<Piece>, first: usize, mut word: Piece) {
    let is_joining = word.text.chars().next().is_some_and(|c| UnicodeWidthChar::width(c) == Some(0));
    if let Some(previous) = words[first..].last_mut()
        && is_joining
        && !word.space_before
    {
        previous.text.push_str(&word.text);
        previous.width = previous.text.width();
        previous.end_ms = previous.end_ms.max(word.end_ms);
        return;
    }
    word.space_before |= is_joining;
    words.push(word);
}

/// Collapses spaces, line breaks and control characters; no-break spaces stay.
fn one_line(text: &str) -> String {
    let is_gap = |c: char| c.is_control() || (c.is_whitespace() && !matches!(c, '\u{a0}' | '\u{202f}'));
    let mut line = String::with_capacity(text.len());
    for part in text.trim().split(is_gap).filter(|part| !part.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    if line.chars().all(|c| c.is_whitespace() || is_invisible(c)) { String::new() } else { line }
}

/// Zero-width characters that show nothing by themselves.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

fn milliseconds(time_s: f64, otherwise: u64) -> u64 {
    if time_s.is_nan() {
        return otherwise;
    }
    (time_s.clamp(0.0, LATEST_S) * 1000.0).round() as u64
}

fn end_of(text: &str) -> End {
    const PHRASE_MARKS: &[char] =
        &[',', ';', ':', '–', '—', '،', '؛', '、', '，', '；', '：', '၊', '፣', '፤', '՝', '།', '…'];
    let tail = trailing_punctuation(text);
    if tail.contains(PHRASE_MARKS) {
        End::Phrase
    } else if tail == "." {
        End::Abbreviation
    } else {
        End::Word
    }
}

/// For every word whether a row may end before it, by the Unicode rules (UAX #14): not before
/// closing marks, not after opening ones. French puts spaces inside its quotes, which the rules
/// of this crate's version take for a chance to break.
fn allowed_breaks(words: &[Piece]) -> Vec<bool> {
    let mut text = String::new();
    let mut starts = Vec::with_capacity(words.len());
    for word in words {
        if word.space_before {
            text.push(' ');
        }
        starts.push(text.len());
        text.push_str(&word.text);
    }
    let mut opportunities = unicode_linebreak::linebreaks(&text).map(|(offset, _)| offset).peekable();
    let mut allowed = Vec::with_capacity(words.len());
    for (at, (word, &start)) in words.iter().zip(&starts).enumerate() {
        while opportunities.next_if(|&offset| offset < start).is_some() {}
        let by_rule = opportunities.peek() == Some(&start);
        let is_inside_quote = at > 0 && (opens_quote(&words[at - 1].text) || closes_quote(&word.text));
        let before = &text[..start];
        allowed.push(
            (by_rule && !is_inside_quote)
                || is_dictionary_break(before, &word.text)
                || is_quote_without_space(before, &text[start..]),
        );
    }
    allowed
}

/// The rules do not know whether a quotation mark opens or closes, unless a space tells; in scripts
/// without spaces its form does.
fn is_quote_without_space(before: &str, after: &str) -> bool {
    let last = before.chars().next_back();
    let mut after = after.chars();
    let (first, second) = (after.next(), after.next());
    let opens = first.is_some_and(|c| matches!(c, '“' | '‘') && opens_before(c, second));
    let is_free = last.is_some_and(|c| writes_no_spaces(c) && !opens_before(c, None));
    let closes = matches!(last, Some('”' | '’'));
    (opens && is_free) || (closes && first.is_some_and(|c| writes_no_spaces(c) && c.is_alphanumeric()))
}

fn opens_quote(word: &str) -> bool {
    word.ends_with(['«', '‹', '“', '„', '‚']) && !word.contains(char::is_alphanumeric)
}

fn closes_quote(word: &str) -> bool {
    word.starts_with(['»', '›', '”', '’']) && !word.contains(char::is_alphanumeric)
}

/// The rules leave Thai, Lao, Burmese and Khmer to a dictionary; the words are its answer.
fn is_dictionary_break(before: &str, word: &str) -> bool {
    let is_complex =
        |c: char| matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    let (Some(last), Some(first)) = (before.chars().next_back(), word.chars().next()) else {
        return false;
    };
    // Repetition and abbreviation marks belong to the word before them.
    is_complex(last)
        && is_complex(first)
        && !matches!(first, 'ๆ' | 'ฯ' | 'ໆ' | 'ຯ' | 'ៗ' | '။' | '၊' | '។' | '៕')
}

fn join(words: &[Piece]) -> Piece {
    let mut joined = words[0].clone();
    for word in &words[1..] {
        if word.space_before {
            joined.text.push(' ');
        }
        joined.text.push_str(&word.text);
        joined.end_ms = joined.end_ms.max(word.end_ms);
        joined.end = word.end;
    }
    joined.width = joined.text.width();
    joined
}

fn mark_pauses(pieces: &mut [Piece]) {
    for at in 1..pieces.len() {
        let pause_ms = pieces[at].start_ms.saturating_sub(pieces[at - 1].end_ms);
        if pause_ms >= NOTICED_PAUSE_MS && pieces[at - 1].end == End::Word {
            pieces[at - 1].end = End::Phrase;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tympan_sdk::{Transcript, Utterance};
    use tympan_text::turns_by_voice;

    fn split(language: &str, columns: usize, words: &[&str]) -> Vec<String> {
        let word = |text: &&str| Word { text: (*text).to_owned(), start: 0.0, end: 1.0, confidence: 1.0 };
        let mut utterance = Utterance::new(0, words.iter().map(word).collect());
        utterance.language = Some(language.to_owned());
        let transcript = Transcript { utterances: vec![utterance], ..Default::default() };
        let turns = turns_by_voice(&transcript);
        pieces(&turns[0], columns).into_iter().map(|p| p.text).collect()
    }

    #[test]
    fn marks_stay_with_their_word() {
        assert_eq!(
            split("fr", 42, &["«", " Oui", " »,", " dit", " -il", " !"]),
            ["« Oui »,", "dit", "-il !"]
        );
        assert_eq!(split("zh", 42, &["「", "你", "好", "」", "。", "吗", "？"]), ["「你", "好」。", "吗？"]);
        assert_eq!(
            split("zh", 42, &["吗", "？", "“", "当", "然", "！", "”", "他"]),
            ["吗？", "“当", "然！”", "他"]
        );
        assert_eq!(split("th", 42, &["เด็ก", "ๆ", "ไป", " นะ"]), ["เด็กๆ", "ไป", "นะ"]);
        assert_eq!(split("ja", 2, &["は", "い", "。"]), ["は", "い", "。"]);
    }

    #[test]
    fn a_word_is_one_line_without_control_characters() {
        assert_eq!(
            split("en", 42, &["a\n\nb", " \u{7}c\u{2028}", "\u{200b}", " d\u{a0}!"]),
            ["a b", "c", "d\u{a0}!"]
        );
    }

    #[test]
    fn combining_characters_join_the_word_before() {
        assert_eq!(split("en", 42, &["e", "\u{301}", "👩", "\u{200d}💻"]), ["e\u{301}", "👩\u{200d}💻"]);
    }

    #[test]
    fn broken_times_become_times_in_order() {
        assert_eq!(milliseconds(f64::NAN, 7), 7);
        assert_eq!(milliseconds(-1.0, 7), 0);
        assert_eq!(milliseconds(1.9996, 7), 2000);
        assert_eq!(milliseconds(f64::INFINITY, 7), 3_600_000_000);
    }
}
