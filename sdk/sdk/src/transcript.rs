//! Words, utterances and the whole transcript.
//!
//! The first word of an utterance has no leading space; later words of languages that write
//! spaces have one, so that the words concatenated give the text. The types keep it that way:
//! whoever changes words gets the text rebuilt.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One word with its place in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Word {
    /// As written, with its leading space where the language writes spaces.
    #[serde(rename = "word")]
    pub text: String,
    /// Seconds.
    pub start: f64,
    /// Seconds, after `start`.
    pub end: f64,
    /// 0.0 to 1.0.
    pub confidence: f64,
}

/// A stretch of speech of one channel, and of one speaker where that is known.
///
/// As JSON it has the shape of the API's results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utterance {
    /// Unique in the transcript. A new utterance has 0: the host numbers it.
    #[serde(skip)]
    pub id: u32,
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// 0.0 to 1.0.
    pub confidence: f64,
    /// Audio track, from 0.
    pub channel: u16,
    /// Numbered from 0 by first appearance; only after a diarization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<u32>,
    /// Language code.
    pub language: Option<String>,
    /// JSON object that other add-ons may read.
    #[serde(skip)]
    pub extra: Option<String>,
    pub(crate) words: Vec<Word>,
    pub(crate) text: String,
}

/// All that was said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Transcript {
    /// Sorted by start, then channel.
    pub utterances: Vec<Utterance>,
    /// Language codes, most spoken first.
    #[serde(default)]
    pub languages: Vec<String>,
    /// JSON object that other add-ons may read.
    #[serde(skip)]
    pub extra: Option<String>,
}

impl Transcript {
    /// The texts of all utterances, joined by one space.
    pub fn full_text(&self) -> String {
        let texts: Vec<&str> = self.utterances.iter().map(Utterance::text).collect();
        texts.join(" ")
    }
}

impl Utterance {
    /// A new utterance of these words, from the first one's start to the last one's end, with
    /// the mean of their confidence; number, speaker and language unset.
    pub fn new(channel: u16, words: Vec<Word>) -> Self {
        let mut utterance = Self {
            id: 0,
            start: words.first().map_or(0.0, |w| w.start),
            end: words.last().map_or(0.0, |w| w.end),
            confidence: mean_confidence(&words),
            channel,
            speaker: None,
            language: None,
            extra: None,
            text: String::new(),
            words: Vec::new(),
        };
        utterance.set_words(words);
        utterance
    }

    /// The text: the words concatenated.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The words in order of time.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// Puts other words in place and rebuilds the text. A word of spaces only becomes the
    /// leading space of the next, words without text are dropped, the first
    /// word loses its leading space; start and end grow where the words reach further.
    pub fn set_words(&mut self, words: Vec<Word>) {
        self.words = words;
        let mut space_before = false;
        self.words.retain_mut(|word| {
            if word.text.trim().is_empty() {
                space_before |= !word.text.is_empty();
                return false;
            }
            if std::mem::take(&mut space_before) && !word.text.starts_with(char::is_whitespace) {
                word.text.insert(0, ' ');
            }
            true
        });
        if let Some(first) = self.words.first_mut() {
            let kept = first.text.trim_start().len();
            first.text.drain(..first.text.len() - kept);
        }
        for word in &self.words {
            self.start = self.start.min(word.start);
            self.end = self.end.max(word.end);
        }
        self.text = self.words.iter().map(|w| w.text.as_str()).collect();
    }

    /// Changes the words in place and rebuilds the text, as [`set_words`](Self::set_words) does.
    pub fn edit_words(&mut self, edit: impl FnOnce(&mut Vec<Word>)) {
        let mut words = std::mem::take(&mut self.words);
        edit(&mut words);
        self.set_words(words);
    }

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

    /// Cuts before the word at this position and returns the later part, as a new utterance with
    /// the same channel, speaker and language. The earlier part keeps its id.
    ///
    /// # Panics
    /// When one of the two parts would have no words.
    pub fn split_off(&mut self, at: usize) -> Self {
        assert!(at > 0 && at < self.words.len(), "both parts of a split utterance need words");
        let mut later = self.clone();
        later.id = 0;
        later.words = self.words.split_off(at);
        later.settle();
        self.settle();
        later
    }

    /// Times, confidence and text of the words that are left.
    fn settle(&mut self) {
        let words = std::mem::take(&mut self.words);
        self.start = words.first().map_or(self.start, |w| w.start);
        self.end = words.last().map_or(self.end, |w| w.end);
        self.confidence = mean_confidence(&words);
        self.set_words(words);
    }
}

fn mean_confidence(words: &[Word]) -> f64 {
    if words.is_empty() {
        return 0.0;
    }
    words.iter().map(|w| w.confidence).sum::<f64>() / words.len() as f64
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

    fn utterance(texts: &[&str]) -> Utterance {
        let mut words = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let start = index as f64;
            words.push(Word { text: (*text).to_owned(), start, end: start + 0.5, confidence: 0.8 });
        }
        Utterance::new(0, words)
    }

    fn texts(utterance: &Utterance) -> Vec<&str> {
        utterance.words().iter().map(|w| w.text.as_str()).collect()
    }

    #[test]
    fn a_new_utterance_drops_the_first_space_and_keeps_the_others() {
        let new = utterance(&[" hello", " there"]);
        assert_eq!(new.text(), "hello there");
        assert_eq!((new.start, new.end, new.confidence), (0.0, 1.5, 0.8));
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

    #[test]
    fn the_parts_of_a_split_utterance_have_the_times_of_their_words() {
        let mut earlier = utterance(&["yes", " no", " maybe"]);
        earlier.id = 7;
        let later = earlier.split_off(1);
        assert_eq!((earlier.text(), earlier.id, earlier.end), ("yes", 7, 0.5));
        assert_eq!((later.text(), later.id, later.start), ("no maybe", 0, 1.0));
    }

    #[test]
    fn words_that_reach_further_stretch_the_utterance() {
        let mut new = utterance(&["hello"]);
        new.edit_words(|words| words[0].end = 3.0);
        assert_eq!(new.end, 3.0);
    }
}
