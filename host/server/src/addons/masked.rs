//! Proof that redaction held: what was masked may not stand anywhere in the result.
//!
//! The values are found by comparing the words before and after the redacting add-ons, and
//! live in memory only.

use std::collections::BTreeSet;

use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::model::transcript::Transcript;

/// Values shorter than this many characters would be found by chance.
const SHORTEST_VALUE_CHARS: usize = 4;

/// The masked values of a job, as sequences of lower-case tokens.
#[derive(Debug, Default, PartialEq)]
pub struct MaskedValues(BTreeSet<Vec<String>>);

impl MaskedValues {
    /// Compares the transcript before and after redaction. A value that still stands
    /// unmasked somewhere in the redacted transcript is not a secret and is left out.
    pub fn between(before: &Transcript, after: &Transcript) -> Self {
        let old = transcript_tokens(before);
        let new = transcript_tokens(after);
        let runs = removed_runs(&old, &new);
        let values = runs
            .into_iter()
            .filter(|run| {
                run.iter().map(|token| token.chars().count()).sum::<usize>() >= SHORTEST_VALUE_CHARS
            })
            .filter(|run| !contains_run(&new, run))
            .collect();
        Self(values)
    }

    /// Whether any masked value stands in a string of the JSON value, member names included,
    /// as a whole token or run of tokens.
    pub fn leak_in(&self, value: &Value) -> bool {
        if self.0.is_empty() {
            return false;
        }
        match value {
            Value::String(text) => self.leak_in_text(text),
            Value::Array(items) => items.iter().any(|item| self.leak_in(item)) || self.leak_across(items),
            Value::Object(members) => {
                members.iter().any(|(name, member)| self.leak_in_text(name) || self.leak_in(member))
            }
            Value::Number(number) => self.leak_in_text(&number.to_string()),
            Value::Null | Value::Bool(_) => false,
        }
    }

    /// A value of several words can hide in a list of words.
    fn leak_across(&self, items: &[Value]) -> bool {
        let words: Vec<String> = items
            .iter()
            .filter_map(|item| item.as_str().or_else(|| item.get("word").and_then(Value::as_str)))
            .flat_map(tokens)
            .collect();
        self.0.iter().any(|run| contains_run(&words, run))
    }

    fn leak_in_text(&self, text: &str) -> bool {
        let words = tokens(text);
        self.0.iter().any(|run| contains_run(&words, run))
    }
}

fn transcript_tokens(transcript: &Transcript) -> Vec<String> {
    transcript.utterances.iter().flat_map(|u| &u.words).flat_map(|word| tokens(&word.word)).collect()
}

/// Unicode words, in lower case.
fn tokens(text: &str) -> Vec<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

fn contains_run(tokens: &[String], run: &[String]) -> bool {
    !run.is_empty() && tokens.windows(run.len()).any(|window| window == run)
}

/// Runs of tokens that `old` has and `new` lacks, by walking both in step: where they
/// differ, the shortest stretch of `old` that brings them together again is a removed run.
fn removed_runs(old: &[String], new: &[String]) -> Vec<Vec<String>> {
    let (mut at_old, mut at_new) = (0, 0);
    let mut runs = Vec::new();
    while at_old < old.len() {
        if new.get(at_new) == Some(&old[at_old]) {
            at_old += 1;
            at_new += 1;
            continue;
        }
        let (skip_old, skip_new) = rejoin(&old[at_old..], &new[at_new..]);
        if skip_old > 0 {
            runs.push(old[at_old..at_old + skip_old].to_vec());
        }
        at_old += skip_old;
        at_new += skip_new;
    }
    runs
}

/// How many tokens to skip on either side until two tokens in a row agree (or one, at the
/// end of both), with the fewest skipped in all.
fn rejoin(old: &[String], new: &[String]) -> (usize, usize) {
    for skipped in 1..=old.len() + new.len() {
        for skip_old in 0..=skipped.min(old.len()) {
            let skip_new = skipped - skip_old;
            if skip_new <= new.len() && agree(&old[skip_old..], &new[skip_new..]) {
                return (skip_old, skip_new);
            }
        }
    }
    (old.len(), new.len())
}

fn agree(old: &[String], new: &[String]) -> bool {
    match (old, new) {
        ([], []) => true,
        ([last_old], [last_new]) => last_old == last_new,
        ([a, b, ..], [c, d, ..]) => a == c && (b == d || old.len() == 2),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::transcript::{Utterance, Word};

    fn transcript(text: &str) -> Transcript {
        let words: Vec<Word> = text
            .split(' ')
            .map(|word| Word { word: word.to_owned(), start: 0.0, end: 1.0, confidence: 1.0 })
            .collect();
        let utterance = Utterance {
            start: 0.0,
            end: 1.0,
            confidence: 1.0,
            channel: 0,
            speaker: None,
            words,
            text: text.to_owned(),
            language: "en".to_owned(),
        };
        Transcript { utterances: vec![utterance], languages: Vec::new() }
    }

    fn masked(before: &str, after: &str) -> MaskedValues {
        MaskedValues::between(&transcript(before), &transcript(after))
    }

    #[test]
    fn a_masked_name_is_found_anywhere_in_the_result() {
        let masked = masked("my name is Ada Lovelace and I live here", "my name is [NAME_1] and I live here");
        assert!(masked.leak_in(&json!({"summarization": {"results": "a call from ada lovelace."}})));
        assert!(masked.leak_in(&json!([{"word": "Ada"}, {"word": " Lovelace"}])));
        assert!(masked.leak_in(&json!({"Ada Lovelace": 1})));
        assert!(!masked.leak_in(&json!("a call from [NAME_1]")));
        assert!(!masked.leak_in(&json!("a call from Adalovelacea")));
    }

    #[test]
    fn short_values_and_values_that_still_stand_unmasked_are_no_secret() {
        assert_eq!(masked("it is Bob here", "it is [NAME_1] here"), MaskedValues::default());
        let still = masked("Rose likes a rose garden", "[NAME_1] likes a rose garden");
        assert!(!still.leak_in(&json!("a rose")));
    }

    #[test]
    fn digits_masked_one_by_one_are_found_as_a_run() {
        let masked = masked("call 555 0199 now please", "call ### #### now please");
        assert!(masked.leak_in(&json!("555 0199")));
        assert!(masked.leak_in(&json!("at 555-0199.")));
        assert!(!masked.leak_in(&json!("now please call")));
    }

    #[test]
    fn the_last_word_of_a_transcript_can_be_masked() {
        assert!(masked("my name is Lovelace", "my name is [NAME_1]").leak_in(&json!("Lovelace")));
        assert!(masked("Lovelace", "########").leak_in(&json!("Lovelace")));
    }
}
