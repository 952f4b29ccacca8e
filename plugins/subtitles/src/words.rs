//! Words as they are shown: each in one line, with times in order.

use tympan_sdk::Word;
use tympan_text::{Turns, chains, needs_space, sentence_begins, trailing_punctuation};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::piece::{End, Piece};

/// Later words are times of a broken file, not of speech: 1,000 hours.
const LATEST_S: f64 = 3_600_000.0;

/// Words as one line of text each, with times in order.
pub fn words(turns: &Turns) -> Vec<Piece> {
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

#[cfg(test)]
pub mod tests {
    use super::*;
    use tympan_sdk::{Transcript, Utterance};
    use tympan_text::turns_by_voice;

    /// One utterance of these words.
    pub fn transcript(language: &str, words: &[&str]) -> Transcript {
        let word = |text: &&str| Word { text: (*text).to_owned(), start: 0.0, end: 1.0, confidence: 1.0 };
        let mut utterance = Utterance::new(0, words.iter().map(word).collect());
        utterance.language = Some(language.to_owned());
        Transcript { utterances: vec![utterance], ..Default::default() }
    }

    fn shown(texts: &[&str]) -> Vec<String> {
        let said = transcript("en", texts);
        words(&turns_by_voice(&said)[0]).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn a_word_is_one_line_without_control_characters() {
        assert_eq!(shown(&["a\n\nb", " \u{7}c\u{2028}", "\u{200b}", " d\u{a0}!"]), ["a b", "c", "d\u{a0}!"]);
    }

    #[test]
    fn combining_characters_join_the_word_before() {
        assert_eq!(shown(&["e", "\u{301}", "👩", "\u{200d}💻"]), ["e\u{301}", "👩\u{200d}💻"]);
    }

    #[test]
    fn broken_times_become_times_in_order() {
        assert_eq!(milliseconds(f64::NAN, 7), 7);
        assert_eq!(milliseconds(-1.0, 7), 0);
        assert_eq!(milliseconds(1.9996, 7), 2000);
        assert_eq!(milliseconds(f64::INFINITY, 7), 3_600_000_000);
    }
}
