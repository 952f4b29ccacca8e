//! Texts in the place of words, which get their times by their length.

use std::ops::Range;

use super::types::{Utterance, Word};

impl Utterance {
    /// Replaces a run of words by a text, which is split before its spaces.
    ///
    /// The new words share the run's time by their number of characters and take its lowest
    /// confidence; the first one takes over the run's leading space. An empty text removes the
    /// run.
    ///
    /// # Panics
    /// When the range is empty or reaches past the words.
    pub fn replace_words(&mut self, range: Range<usize>, text: &str) {
        let run = &self.words[range.clone()];
        let (first, last) = match run {
            [] => panic!("the range of words to replace is empty"),
            [only] => (only, only),
            [first, .., last] => (first, last),
        };
        let confidence = run.iter().map(|w| w.confidence).fold(1.0, f64::min);
        let space = &first.text[..first.text.len() - first.text.trim_start().len()];
        let spelled = format!("{space}{}", text.trim());
        let replacement = spread(&split_before_spaces(&spelled), first.start, last.end, confidence);
        self.edit_words(|words| {
            words.splice(range, replacement);
        });
    }

    /// Puts another text in place. Where it has as many words as before, each keeps its time and
    /// confidence; otherwise the new words share the utterance's time by their length.
    pub fn set_text(&mut self, text: &str) {
        let pieces = split_before_spaces(text.trim());
        if pieces.len() == self.words.len() {
            self.edit_words(|words| {
                for (word, piece) in words.iter_mut().zip(pieces) {
                    word.text = piece.to_owned();
                }
            });
            return;
        }
        let (start, end) = match (self.words.first(), self.words.last()) {
            (Some(first), Some(last)) => (first.start, last.end),
            _ => (self.start, self.end),
        };
        self.set_words(spread(&pieces, start, end, self.confidence));
    }
}

/// `"one two"` → `["one", " two"]`: every piece keeps the space before it.
fn split_before_spaces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut after_text = false;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && after_text {
            pieces.push(&text[begin..at]);
            begin = at;
        }
        after_text = !c.is_whitespace();
    }
    if after_text {
        pieces.push(&text[begin..]);
    }
    pieces
}

/// Words over a stretch of time, each as long as its share of the characters.
fn spread(pieces: &[&str], start: f64, end: f64, confidence: f64) -> Vec<Word> {
    let total: usize = pieces.iter().map(|p| p.chars().count()).sum();
    let second_per_char = (end - start) / total.max(1) as f64;
    let mut done = 0;
    let mut words = Vec::with_capacity(pieces.len());
    for (index, piece) in pieces.iter().enumerate() {
        let word_start = start + done as f64 * second_per_char;
        done += piece.chars().count();
        let is_last = index + 1 == pieces.len();
        let word_end = if is_last { end } else { start + done as f64 * second_per_char };
        words.push(Word { text: (*piece).to_owned(), start: word_start, end: word_end, confidence });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::utterance::tests::utterance;

    fn texts(utterance: &Utterance) -> Vec<&str> {
        utterance.words().iter().map(|w| w.text.as_str()).collect()
    }

    #[test]
    fn a_replaced_run_shares_its_time_by_characters() {
        let mut new = utterance(&["in", " sacks", " co,", " now"]);
        new.replace_words(1..3, "Saxe Coburg,");
        assert_eq!(texts(&new), ["in", " Saxe", " Coburg,", " now"]);
        assert_eq!(new.text(), "in Saxe Coburg, now");
        let (first, second) = (&new.words()[1], &new.words()[2]);
        assert_eq!((first.start, second.end), (1.0, 2.5));
        assert_eq!(first.end, second.start);
        // 5 of 13 characters, spaces included.
        assert!((first.end - (1.0 + 1.5 * 5.0 / 13.0)).abs() < 1e-9);
    }

    #[test]
    fn a_run_at_the_start_has_no_space_and_an_empty_text_removes_it() {
        let mut new = utterance(&["u", " m", " well"]);
        new.replace_words(0..2, "um");
        assert_eq!(new.text(), "um well");
        new.replace_words(0..1, "");
        assert_eq!(new.text(), "well");
        new.edit_words(|words| words[0].text = " ".to_owned());
        assert!(new.words().is_empty());
    }

    #[test]
    fn languages_without_spaces_stay_without() {
        let mut new = utterance(&["\u{4f60}\u{597d}", "\u{4e16}", "\u{754c}"]);
        new.replace_words(1..3, "\u{5730}\u{7403}");
        assert_eq!(new.text(), "\u{4f60}\u{597d}\u{5730}\u{7403}");
    }

    #[test]
    fn a_text_of_as_many_words_keeps_their_times() {
        let mut new = utterance(&["hello", " wold"]);
        let before: Vec<f64> = new.words().iter().map(|w| w.start).collect();
        new.set_text("Hello, world!");
        assert_eq!(texts(&new), ["Hello,", " world!"]);
        assert_eq!(new.words().iter().map(|w| w.start).collect::<Vec<_>>(), before);
        new.set_text("Hello, big wide world!");
        assert_eq!((new.words().len(), new.start, new.end), (4, 0.0, 1.5));
        assert_eq!(new.text(), "Hello, big wide world!");
    }
}
