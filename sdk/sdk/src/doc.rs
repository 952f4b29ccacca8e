//! The transcript in the hands of an add-on: remembers whether it was changed.

use crate::error::Error;
use crate::transcript::{Transcript, Utterance, Word};

/// The transcript that an add-on reads and may change.
///
/// Nothing travels back to the host unless something was changed through a `&mut` method.
#[derive(Debug)]
pub struct Doc {
    transcript: Transcript,
    touched: bool,
    variants: Vec<Variant>,
}

/// A further transcript made by an add-on, such as a translation.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Unique in the job; for a translation the language code.
    pub id: String,
    /// Language code of its text.
    pub language: String,
    /// The transcript, or why there is none.
    pub outcome: Result<Transcript, Error>,
}

impl Doc {
    /// A transcript that nobody has touched yet.
    pub fn new(transcript: Transcript) -> Self {
        Self { transcript, touched: false, variants: Vec::new() }
    }

    /// The whole transcript.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The utterances, sorted by start, then channel.
    pub fn utterances(&self) -> &[Utterance] {
        &self.transcript.utterances
    }

    /// All words with the utterance that holds them.
    pub fn words(&self) -> impl Iterator<Item = (&Utterance, &Word)> {
        self.transcript.utterances.iter().flat_map(|u| u.words().iter().map(move |w| (u, w)))
    }

    /// The utterances for changing: counts as a change, even when nothing is written.
    pub fn utterances_mut(&mut self) -> &mut Vec<Utterance> {
        self.touched = true;
        &mut self.transcript.utterances
    }

    /// The whole transcript for changing: counts as a change.
    pub fn transcript_mut(&mut self) -> &mut Transcript {
        self.touched = true;
        &mut self.transcript
    }

    /// Offers every word without its leading space and without the punctuation around it; where
    /// the closure returns a text, that takes the word's place (punctuation and times stay); an
    /// empty text removes a word that has no punctuation.
    ///
    /// Returns how many words were changed.
    pub fn map_words(&mut self, mut map: impl FnMut(&str) -> Option<String>) -> usize {
        let mut changed = 0;
        for utterance in &mut self.transcript.utterances {
            let mut edits = Vec::new();
            for (index, word) in utterance.words().iter().enumerate() {
                let core = word.text.trim_matches(|c: char| !c.is_alphanumeric());
                if core.is_empty() {
                    continue;
                }
                if let Some(replacement) = map(core).filter(|r| r != core) {
                    // `core` is a slice of the word, so it is found where it was cut from.
                    edits.push((index, word.text.replacen(core, &replacement, 1)));
                }
            }
            changed += edits.len();
            if !edits.is_empty() {
                utterance.edit_words(|words| {
                    for (index, text) in edits {
                        words[index].text = text;
                    }
                });
            }
        }
        self.touched |= changed > 0;
        changed
    }

    /// Adds a further transcript, or the reason why there is none.
    pub fn add_variant(&mut self, id: &str, language: &str, outcome: Result<Transcript, Error>) {
        self.variants.push(Variant { id: id.to_owned(), language: language.to_owned(), outcome });
    }

    /// What goes back to the host: the transcript only when it was touched, without utterances
    /// that have lost all their words, because the host refuses those.
    pub(crate) fn into_parts(mut self) -> (Option<Transcript>, Vec<Variant>) {
        if self.touched {
            self.transcript.utterances.retain(|utterance| !utterance.words().is_empty());
        }
        (self.touched.then_some(self.transcript), self.variants)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::transcript;

    #[test]
    fn reading_does_not_touch_and_changing_does() {
        let mut doc = Doc::new(transcript(&["hello there"]));
        assert_eq!(doc.words().count(), 2);
        assert_eq!(doc.map_words(|_| None), 0);
        assert_eq!(doc.map_words(|word| Some(word.to_owned())), 0);
        assert!(!doc.touched);
        assert_eq!(doc.map_words(|word| (word == "there").then(|| "you".to_owned())), 1);
        let (changed, _) = doc.into_parts();
        assert_eq!(changed.unwrap().full_text(), "hello you");
    }

    #[test]
    fn mapping_keeps_space_punctuation_and_times() {
        let mut doc = Doc::new(transcript(&["well, (gorge)!"]));
        let before = doc.utterances()[0].words()[1].clone();
        doc.map_words(|word| (word == "gorge").then(|| "George".to_owned()));
        let after = &doc.utterances()[0].words()[1];
        assert_eq!(after.text, " (George)!");
        assert_eq!((after.start, after.end), (before.start, before.end));
        assert_eq!(doc.utterances()[0].text(), "well, (George)!");
    }

    #[test]
    fn an_utterance_without_words_does_not_go_back() {
        let mut doc = Doc::new(transcript(&["um", "hello there"]));
        doc.map_words(|word| (word == "um").then(String::new));
        let (changed, _) = doc.into_parts();
        assert_eq!(changed.unwrap().full_text(), "hello there");
    }

    #[test]
    fn variants_travel_beside_the_transcript() {
        let mut doc = Doc::new(transcript(&["hello"]));
        doc.add_variant("fr", "fr", Ok(transcript(&["bonjour"])));
        doc.add_variant("de", "de", Err(crate::fail(503, "LlmUnavailable", "no model")));
        let (changed, variants) = doc.into_parts();
        assert!(changed.is_none());
        assert_eq!(variants[0].outcome.as_ref().unwrap().full_text(), "bonjour");
        assert_eq!(variants[1].outcome.as_ref().unwrap_err().status_code, 503);
    }
}
