//! Built-in add-on `custom_spelling`: the client's own spelling of names and terms.
//!
//! Only the glue to the SDK; finding and rewriting is in `spelling` and what it uses. It changes
//! words and text alike and returns no result.

mod atoms;
mod dictionary;
mod fold;
mod rewrite;
mod spelling;

use tympan_sdk::prelude::*;

pub use dictionary::{Dictionary, Spellings};
pub use spelling::{Change, apply, changes};

/// The request's `custom_spelling_config`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// How to write a name or term, and the variants that are written so. Keys are written as
    /// they stand; variants match whole words in any case and may have several words.
    pub spelling_dictionary: Spellings,
}

/// The add-on.
pub struct CustomSpelling;

impl Addon for CustomSpelling {
    type Config = Config;
    type Output = ();
    const META: Meta = Meta::new(
        "custom_spelling",
        env!("CARGO_PKG_VERSION"),
        Slot::Transcript,
        "Writes names and terms the way the client spells them",
    )
    .after(&["diarization", "custom_vocabulary"]);

    fn check(config: &Config, problems: &mut Problems) {
        for problem in dictionary::problems(&config.spelling_dictionary) {
            problems.add(problem.pointer, problem.message);
        }
    }

    fn process(config: Config, _job: &Job, doc: &mut Doc) -> Result<()> {
        let dictionary = Dictionary::new(&config.spelling_dictionary);
        let changes = changes(&dictionary, doc.utterances());
        if !changes.is_empty() {
            apply(changes, doc.utterances_mut());
        }
        Ok(())
    }
}

addon!(CustomSpelling);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_words_change_alike_and_there_is_no_result() {
        let config = json!({"spelling_dictionary": {"Jane O'Neil": ["jane o neill"]}});
        let outcome = testing::run::<CustomSpelling>(config, &["hi jane O Neill, hi", "nothing"]).unwrap();
        assert_eq!(outcome.texts(), ["hi Jane O'Neil, hi", "nothing"]);
        assert!(outcome.result().is_null());
        let words = outcome.transcript.as_ref().unwrap().utterances[0].words();
        assert_eq!((words[1].text.as_str(), words[1].start), (" Jane", 0.5));
        assert_eq!((words[2].text.as_str(), words[2].end), (" O'Neil,", 1.75));
    }

    #[test]
    fn nothing_found_is_nothing_returned() {
        let config = json!({"spelling_dictionary": {"George": ["gorge"], "Empty": []}});
        assert!(testing::run::<CustomSpelling>(config, &["engorged"]).unwrap().transcript.is_none());
    }

    #[test]
    fn bad_configs_name_the_place() {
        let message = |config| testing::run::<CustomSpelling>(config, &[]).unwrap_err().message;
        assert_eq!(message(json!({})), "/spelling_dictionary is required");
        let empty = message(json!({"spelling_dictionary": {"A": ["x", ""]}}));
        assert_eq!(empty, "/spelling_dictionary/A/1 must be a variant that is not empty");
        assert!(
            message(json!({"spelling_dictionary": {"A": "x"}})).starts_with("/spelling_dictionary/A must be")
        );
    }
}
