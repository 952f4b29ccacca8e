//! The words of an utterance, also where there is only text.

use std::borrow::Cow;

use tympan_sdk::{Utterance, Word};
use unicode_segmentation::UnicodeSegmentation;

use crate::script::writes_no_spaces;

/// The words of an utterance, none of them blank: a word of spaces only becomes the leading space
/// of the next one.
///
/// Where the utterance has text but no words (some translations), the text is cut into words that
/// share its time by their length.
pub fn words_of(utterance: &Utterance) -> Cow<'_, [Word]> {
    let words = utterance.words();
    if words.is_empty() {
        return Cow::Owned(spread(utterance));
    }
    if words.iter().any(|word| word.text.trim().is_empty()) {
        return Cow::Owned(without_blanks(words));
    }
    Cow::Borrowed(words)
}

fn without_blanks(words: &[Word]) -> Vec<Word> {
    let mut kept: Vec<Word> = Vec::with_capacity(words.len());
    let mut space = "";
    for word in words {
        if word.text.trim().is_empty() {
            space = if word.text.is_empty() { space } else { " " };
            continue;
        }
        let text = format!("{}{}", if kept.is_empty() { "" } else { space }, word.text);
        kept.push(Word { text, ..word.clone() });
        space = "";
    }
    kept
}

fn spread(utterance: &Utterance) -> Vec<Word> {
    let units = units(utterance.text().trim());
    let total: usize = units.iter().map(|unit| unit.chars().count()).sum();
    let second_per_char = (utterance.end - utterance.start) / total as f64;
    let mut done = 0;
    let words = units.into_iter().map(|unit| {
        let start = utterance.start + done as f64 * second_per_char;
        done += unit.chars().count();
        let end = utterance.start + done as f64 * second_per_char;
        Word { text: unit, start, end, confidence: utterance.confidence }
    });
    words.collect()
}

/// Words with their leading space and their punctuation; units of Unicode segmentation in
/// scripts without spaces.
fn units(text: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    for part in text.split_word_bounds() {
        let is_space = part.trim().is_empty();
        match units.last_mut() {
            Some(unit) if !is_space && belongs_to(unit, part) => unit.push_str(part),
            _ if is_space => units.push(" ".to_owned()),
            _ => units.push(part.to_owned()),
        }
    }
    units
}

/// Whether a part of the text belongs to the unit before it: only a space begins a new one, and a
/// word next to a word of a script without spaces.
fn belongs_to(unit: &str, part: &str) -> bool {
    let is_word = |text: &str| text.contains(char::is_alphanumeric);
    let is_unspaced = |text: &str| text.contains(|c: char| c.is_alphanumeric() && writes_no_spaces(c));
    !is_word(unit) || !is_word(part) || !(is_unspaced(unit) || is_unspaced(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn words(text: &str) -> Vec<String> {
        let utterance: Utterance =
            serde_json::from_value(json!({"start": 1.0, "end": 3.0, "confidence": 0.5,
            "channel": 0, "language": "xx", "text": text, "words": []}))
            .unwrap();
        let words = words_of(&utterance).into_owned();
        assert!(words.iter().all(|w| w.start >= 1.0 && w.end <= 3.0 + 1e-9 && w.start < w.end));
        assert!(words.windows(2).all(|pair| pair[0].end == pair[1].start));
        words.into_iter().map(|w| w.text).collect()
    }

    #[test]
    fn text_without_words_is_cut_into_words() {
        assert_eq!(words("Bonjour, c'est moi !"), ["Bonjour,", " c'est", " moi", " !"]);
        assert_eq!(words("「好」的。Hi 吗？"), ["「好」", "的。", "Hi", " 吗？"]);
    }

    #[test]
    fn words_that_exist_are_taken_as_they_are() {
        let word = Word { text: "Hi".into(), start: 0.0, end: 1.0, confidence: 1.0 };
        let utterance = Utterance::new(0, vec![word.clone()]);
        assert_eq!(*words_of(&utterance), [word]);
        assert!(words_of(&Utterance::new(0, Vec::new())).is_empty());
    }

    #[test]
    fn blank_words_become_the_space_of_the_next() {
        let word = |text: &str| Word { text: text.into(), start: 0.0, end: 1.0, confidence: 1.0 };
        let words = ["", "ครับ", " ", "ผม", "", "ไป", " "].map(word).to_vec();
        let utterance = Utterance::new(0, words);
        let texts: Vec<String> = words_of(&utterance).iter().map(|w| w.text.clone()).collect();
        assert_eq!(texts, ["ครับ", " ผม", "ไป"]);
    }
}
