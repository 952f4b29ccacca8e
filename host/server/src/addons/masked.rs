//! Proof that redaction held: what was masked may not stand anywhere in the result.
//!
//! Masked words that stand in a row are searched for
//! - as a whole, and in the parts that took different markers (`[NAME_1] [NAME_2]`);
//! - in their shortest pieces of at least four characters, so that half of a name is found
//!   as well ("Lovelace", "Bob Lee"). A piece counts only if it stands out: one of its words
//!   holds a digit, is written in a script without capitals, or has a capital that it never
//!   lacks. So "the" or "street" in a summary is no leak of an address that was masked.
//!
//! No secret is what has fewer than four characters, and what still stands unmasked in the
//! redacted transcript. The values live in memory only.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::removed::{Removed, removed_stretches, tokens, transcript_tokens};
use crate::model::transcript::Transcript;

/// Values shorter than this many characters would be found by chance.
const SHORTEST_VALUE_CHARS: usize = 4;

/// Members of which the host itself makes lists of words.
const TEXT_MEMBERS: [&str; 2] = ["word", "text"];

/// Names of members that the host or the interface gives, which nobody said.
const OUR_NAMES: [&str; 25] = [
    "channel",
    "confidence",
    "end",
    "error",
    "exception",
    "exec_time",
    "format",
    "full_transcript",
    "is_empty",
    "items",
    "language",
    "languages",
    "message",
    "results",
    "sentence",
    "sentences",
    "speaker",
    "start",
    "status_code",
    "subtitles",
    "success",
    "text",
    "utterances",
    "word",
    "words",
];

/// The masked values of a job, as sequences of lower-case tokens, by their first token.
#[derive(Debug, Default, PartialEq)]
pub struct MaskedValues(HashMap<String, HashSet<Vec<String>>>);

impl MaskedValues {
    /// Compares the transcript before redaction with the redacted one.
    pub fn between(before: &Transcript, redacted: &Transcript) -> Self {
        let mut masked = Self::default();
        for stretch in removed_stretches(before, redacted) {
            masked.add(&stretch);
            for part in stretch.chunk_by(|a, b| a.marker == b.marker) {
                masked.add(part);
            }
            for piece in pieces(&stretch) {
                masked.add(piece);
            }
        }
        let still_there: Vec<Vec<String>> =
            masked.found_in(&transcript_tokens(redacted)).map(<[String]>::to_vec).collect();
        for value in still_there {
            if let Some(values) = masked.0.get_mut(&value[0]) {
                values.remove(&value);
            }
        }
        masked.0.retain(|_, values| !values.is_empty());
        masked
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
            Value::Object(members) => members.iter().any(|(name, member)| {
                let is_ours = OUR_NAMES.contains(&name.as_str());
                !is_ours && self.leak_in_text(name) || self.leak_in(member)
            }),
            Value::Number(number) => self.leak_in_text(&number.to_string()),
            Value::Null | Value::Bool(_) => false,
        }
    }

    /// A value of several words can hide in a list of words.
    fn leak_across(&self, items: &[Value]) -> bool {
        let words: Vec<String> = items
            .iter()
            .filter_map(|item| {
                item.as_str().or_else(|| TEXT_MEMBERS.into_iter().find_map(|name| item.get(name)?.as_str()))
            })
            .flat_map(tokens)
            .map(|token| token.to_lowercase())
            .collect();
        self.found_in(&words).next().is_some()
    }

    fn leak_in_text(&self, text: &str) -> bool {
        let words: Vec<String> = tokens(text).map(|token| token.to_lowercase()).collect();
        self.found_in(&words).next().is_some()
    }

    fn add(&mut self, stretch: &[Removed]) {
        let value: Vec<String> = stretch.iter().map(|token| token.text.clone()).collect();
        if chars(stretch) >= SHORTEST_VALUE_CHARS {
            self.0.entry(value[0].clone()).or_default().insert(value);
        }
    }

    fn found_in<'a>(&'a self, words: &'a [String]) -> impl Iterator<Item = &'a [String]> {
        (0..words.len()).flat_map(move |at| {
            let starting_here = self.0.get(&words[at]).into_iter().flatten();
            starting_here.map(Vec::as_slice).filter(move |value| words[at..].starts_with(value))
        })
    }
}

/// From each token on, the fewest that have enough characters, if they stand out.
fn pieces(stretch: &[Removed]) -> impl Iterator<Item = &[Removed]> {
    (0..stretch.len()).filter_map(|start| {
        let long_enough = |end: &usize| chars(&stretch[start..*end]) >= SHORTEST_VALUE_CHARS;
        let end = (start + 1..=stretch.len()).find(long_enough)?;
        let piece = &stretch[start..end];
        piece.iter().any(|token| token.stands_out).then_some(piece)
    })
}

fn chars(stretch: &[Removed]) -> usize {
    stretch.iter().map(|token| token.text.chars().count()).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::assemble::assemble;
    use super::super::outcome::Outcome;
    use super::*;
    use crate::model::result::{AddonError, Subtitle};
    use crate::model::transcript::{Utterance, Word};

    /// Words of one second each.
    fn transcript(words: &[&str]) -> Transcript {
        let word = |(at, word): (usize, &&str)| Word {
            word: (*word).to_owned(),
            start: at as f64,
            end: at as f64 + 1.0,
            confidence: 1.0,
        };
        let utterance = Utterance {
            start: 0.0,
            end: words.len() as f64,
            confidence: 1.0,
            channel: 0,
            speaker: None,
            words: words.iter().enumerate().map(word).collect(),
            text: words.join(" "),
            language: "en".to_owned(),
        };
        Transcript { utterances: vec![utterance], languages: Vec::new() }
    }

    fn split(text: &str) -> Transcript {
        transcript(&text.split(' ').collect::<Vec<_>>())
    }

    /// Each word of `after` stands at the time of the same word of `before`.
    fn masked(before: &str, after: &str) -> MaskedValues {
        MaskedValues::between(&split(before), &split(after))
    }

    #[test]
    fn a_masked_name_is_found_anywhere_in_the_result() {
        let masked = masked("my name is Ada Lovelace and I live", "my name is [NAME] [NAME] and I live");
        assert!(masked.leak_in(&json!({"summarization": {"results": "a call from ada lovelace."}})));
        assert!(masked.leak_in(&json!([{"word": "Ada"}, {"word": " Lovelace"}])));
        assert!(masked.leak_in(&json!({"Ada Lovelace": 1})));
        assert!(masked.leak_in(&json!("Ada Lovelace's call")));
        assert!(!masked.leak_in(&json!("a call from [NAME]")));
        assert!(!masked.leak_in(&json!("a call from Adalovelacea")));
    }

    #[test]
    fn a_part_of_neighbouring_values_is_found() {
        let same = masked("here are Ada Lovelace Bob Lee today", "here are [X] [X] [X] [X] today");
        let numbered =
            masked("here are Ada Lovelace Bob Lee today", "here are [X_1] [X_1] [X_2] [X_2] today");
        for masked in [same, numbered] {
            for leak in ["Ada Lovelace", "Lovelace", "Bob Lee", "met LOVELACE again"] {
                assert!(masked.leak_in(&json!(leak)), "{leak}");
            }
            assert!(!masked.leak_in(&json!("Ada")), "too short");
        }
        let lower = masked("call ada lovelace bob smith", "call [X_1] [X_1] [X_2] [X_2]");
        assert!(lower.leak_in(&json!("ada lovelace")) && lower.leak_in(&json!("bob smith")));
    }

    #[test]
    fn common_words_of_a_masked_stretch_do_not_fail_a_redaction() {
        let masked = masked(
            "This is at the corner of Downing street 10 said she. I know this",
            "[A] [A] [A] [A] [A] [A] [A] [A] [A] said she. I know this",
        );
        for harmless in ["this", "the corner", "corner of the", "a street", "10"] {
            assert!(!masked.leak_in(&json!(harmless)), "{harmless}");
        }
        for leak in ["Downing", "downing street"] {
            assert!(masked.leak_in(&json!(leak)), "{leak}");
        }
    }

    #[test]
    fn short_values_and_values_that_still_stand_unmasked_are_no_secret() {
        assert_eq!(masked("it is Bob here", "it is [NAME_1] here"), MaskedValues::default());
        let still = masked("Rose likes a rose garden", "[NAME_1] likes a rose garden");
        assert!(!still.leak_in(&json!("a rose")));
    }

    #[test]
    fn names_of_our_own_members_are_no_leak() {
        let error = AddonError { status_code: 500, exception: "Trap".to_owned(), message: String::new() };
        let outcomes = ["sentences", "subtitles"].map(|name| Outcome::failed(name, 0.0, error.clone()));
        let mut placed = assemble(split("hello"), outcomes.into());
        let file = Subtitle { format: "srt".to_owned(), subtitles: String::new() };
        placed.transcription.subtitles = Some(vec![file]);
        let mut open = vec![json!(placed.transcription), placed.addons["sentences"].clone()];
        while let Some(value) = open.pop() {
            if let Value::Array(items) = value {
                open.extend(items);
            } else if let Value::Object(members) = value {
                for (name, member) in members {
                    assert!(OUR_NAMES.contains(&name.as_str()), "{name}");
                    open.push(member);
                }
            }
        }
        let masked = masked("go to Channel or Lovelace now", "go to [PLACE] or [NAME] now");
        assert!(!masked.leak_in(&json!({"channel": 0})));
        assert!(masked.leak_in(&json!({"channel": "Channel"})));
        assert!(masked.leak_in(&json!({"lovelace": 0})));
    }

    #[test]
    fn digits_masked_one_by_one_are_found_as_a_run() {
        let masked = masked("call 555 0199 now please", "call ### #### now please");
        assert!(masked.leak_in(&json!("555 0199")));
        assert!(masked.leak_in(&json!("at 555-0199.")));
        assert!(!masked.leak_in(&json!("now please call")));
    }

    #[test]
    fn words_may_be_left_out_joined_or_moved_in_time() {
        let before = split("hello dear Ada Lovelace from London");
        let mut joined = transcript(&["hello [NAME] from London"]);
        joined.utterances[0].words[0].end = 6.0;
        let mut moved = split("hello dear [NAME] [NAME] from London");
        for word in &mut moved.utterances[0].words {
            word.start += 0.7;
            word.end += 0.7;
        }
        for after in [joined, moved, transcript(&["hello", "dear"])] {
            let masked = MaskedValues::between(&before, &after);
            assert!(masked.leak_in(&json!("Lovelace")));
            assert!(!masked.leak_in(&json!("hello")));
        }
    }

    #[test]
    fn a_long_transcript_that_is_masked_throughout_is_searched() {
        let words: Vec<String> = (0..50_000).map(|at| format!("Word{at}")).collect();
        let before = transcript(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let masked = MaskedValues::between(&before, &transcript(&["[X]"; 50_000]));
        let harmless: Vec<String> = (0..50_000).map(|at| format!("Other{at}")).collect();
        assert!(!masked.leak_in(&json!(harmless)));
        assert!(masked.leak_in(&json!("word49999")));
    }
}
