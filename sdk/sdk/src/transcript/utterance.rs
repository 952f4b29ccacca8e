//! Changes of an utterance's words. Its text, times and confidence follow.

use super::types::{Utterance, Word};

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

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A word of half a second in each second.
    pub fn utterance(texts: &[&str]) -> Utterance {
        let mut words = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let start = index as f64;
            words.push(Word { text: (*text).to_owned(), start, end: start + 0.5, confidence: 0.8 });
        }
        Utterance::new(0, words)
    }

    #[test]
    fn a_new_utterance_drops_the_first_space_and_keeps_the_others() {
        let new = utterance(&[" hello", " there"]);
        assert_eq!(new.text(), "hello there");
        assert_eq!((new.start, new.end, new.confidence), (0.0, 1.5, 0.8));
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
