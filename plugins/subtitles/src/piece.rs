//! The smallest parts of a subtitle: words, together with marks that must not begin or end a row.

use tympan_text::Turns;
use unicode_width::UnicodeWidthStr;

use crate::breaks::allowed_breaks;
use crate::words::words;

/// A silence that the viewer notices; as good a place for a break as a comma.
const NOTICED_PAUSE_MS: u64 = 350;

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
    use crate::words::tests::transcript;
    use tympan_text::turns_by_voice;

    fn split(language: &str, columns: usize, words: &[&str]) -> Vec<String> {
        let said = transcript(language, words);
        pieces(&turns_by_voice(&said)[0], columns).into_iter().map(|p| p.text).collect()
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
}
