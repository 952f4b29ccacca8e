//! Places each add-on's outcome where the interface specification wants it.
//!
//! The one table of the host that knows add-ons by name: `sentences` and `subtitles` stand
//! inside `transcription`. Everything else stands under its own name.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::outcome::{Outcome, Variant};
use crate::model::result::{Subtitle, Transcription, Wrapper};
use crate::model::transcript::Transcript;

/// The members of a result that come from the transcript and the add-ons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assembled {
    /// The `transcription` member.
    pub transcription: Transcription,
    /// Further members, by name.
    pub addons: Map<String, Value>,
}

/// Where the wrapper of the subtitles stands beside a further transcript, whose member `subtitles`
/// holds their files only.
const SUBTITLES_RESULT: &str = "subtitles_result";

/// Places the outcomes around the transcript.
pub fn assemble(transcript: Transcript, outcomes: Vec<Outcome>) -> Assembled {
    let full_transcript = transcript.full_text();
    let mut transcription = Transcription {
        full_transcript,
        languages: transcript.languages,
        utterances: transcript.utterances,
        sentences: None,
        subtitles: None,
    };
    let mut addons = Map::new();
    for outcome in outcomes {
        let Outcome { name, declares_result, mut wrapper, variants } = outcome;
        if !variants.is_empty() {
            wrapper.results = variants.into_iter().map(variant_item).collect();
        }
        match name.as_str() {
            "sentences" => {
                transcription.sentences = Some(vec![wrapper.clone()]);
                addons.insert(name, to_json(&wrapper));
            }
            "subtitles" => {
                let files = subtitles(&wrapper);
                if files.is_none() {
                    addons.insert(name, to_json(&wrapper));
                }
                transcription.subtitles = Some(files.unwrap_or_default());
            }
            _ if wrapper.success && !declares_result => {}
            _ => {
                addons.insert(name, to_json(&wrapper));
            }
        }
    }
    Assembled { transcription, addons }
}

/// One further transcript, shaped as `transcription` with an `error` beside.
fn variant_item(variant: Variant) -> Value {
    let error = variant.transcript.as_ref().err().cloned();
    let failed = error.is_some();
    let transcript = variant.transcript.unwrap_or_default();
    let mut item = json!({
        "error": error,
        "full_transcript": transcript.full_text(),
        "languages": [variant.language],
        "utterances": transcript.utterances,
    });
    for outcome in variant.addons.into_iter().filter(|_| !failed) {
        let placed = match outcome.name.as_str() {
            "sentences" => json!([outcome.wrapper]),
            "subtitles" => {
                let files = subtitles(&outcome.wrapper);
                if files.is_none() {
                    item[SUBTITLES_RESULT] = to_json(&outcome.wrapper);
                }
                json!(files.unwrap_or_default())
            }
            _ => to_json(&outcome.wrapper),
        };
        item[outcome.name.as_str()] = placed;
    }
    item
}

/// The subtitle files of a wrapper. `None` when it failed, or when the add-on, which may be an
/// operator's own, gave something else: then its wrapper is shown.
fn subtitles(wrapper: &Wrapper) -> Option<Vec<Subtitle>> {
    if wrapper.success && wrapper.results.is_null() {
        return Some(Vec::new());
    }
    serde_json::from_value(wrapper.results.clone()).ok()
}

fn to_json(wrapper: &Wrapper) -> Value {
    serde_json::to_value(wrapper).expect("a wrapper is plain JSON")
}

#[cfg(test)]
mod tests {
    use tympan_runtime::ResultParts;

    use super::*;
    use crate::model::result::AddonError;
    use crate::model::transcript::{Utterance, Word};

    fn transcript(text: &str) -> Transcript {
        let word = Word { word: text.to_owned(), start: 0.0, end: 1.0, confidence: 1.0 };
        let utterance = Utterance {
            start: 0.0,
            end: 1.0,
            confidence: 1.0,
            channel: 0,
            speaker: None,
            words: vec![word],
            text: text.to_owned(),
            language: "en".to_owned(),
        };
        Transcript { utterances: vec![utterance], languages: vec!["en".to_owned()] }
    }

    fn succeeded(name: &str, results: Value) -> Outcome {
        let parts = ResultParts { results, ..ResultParts::default() };
        Outcome::succeeded(name, 0.1, Some(parts), Vec::new())
    }

    fn error() -> AddonError {
        AddonError { status_code: 500, exception: "Trap".to_owned(), message: "it trapped".to_owned() }
    }

    #[test]
    fn sentences_stand_twice_and_subtitles_once() {
        let sentences = succeeded("sentences", json!(["Hi."]));
        let files = json!([{"format": "srt", "subtitles": "1\n"}]);
        let subtitles = succeeded("subtitles", files);
        let result = assemble(transcript("Hi."), vec![sentences, subtitles]);
        assert_eq!(result.transcription.sentences.as_ref().map(Vec::len), Some(1));
        assert_eq!(result.addons["sentences"]["results"], json!(["Hi."]));
        assert_eq!(result.transcription.subtitles.as_ref().unwrap()[0].format, "srt");
        assert!(!result.addons.contains_key("subtitles"));
    }

    #[test]
    fn failures_keep_the_transcript_and_show_a_wrapper() {
        let outcomes = vec![
            Outcome::failed("subtitles", 0.1, error()),
            Outcome::failed("custom_spelling", 0.1, error()),
            Outcome::not_installed("diarization"),
        ];
        let result = assemble(transcript("Hi."), outcomes);
        assert_eq!(result.transcription.full_transcript, "Hi.");
        assert_eq!(result.transcription.subtitles, Some(Vec::new()));
        assert_eq!(result.addons["subtitles"]["error"]["exception"], "Trap");
        assert_eq!(result.addons["custom_spelling"]["success"], false);
        assert_eq!(result.addons["diarization"]["error"]["status_code"], 501);
    }

    #[test]
    fn subtitles_of_another_shape_stand_in_a_wrapper() {
        let own = json!({"ttml": "<tt/>"});
        let result = assemble(transcript("Hi."), vec![succeeded("subtitles", own.clone())]);
        assert_eq!(result.transcription.subtitles, Some(Vec::new()));
        assert_eq!(result.addons["subtitles"]["results"], own);
        let result = assemble(transcript("Hi."), vec![succeeded("subtitles", json!([]))]);
        assert!(result.addons.is_empty());

        let variant = |outcome| Variant {
            id: "fr".to_owned(),
            language: "fr".to_owned(),
            transcript: Ok(transcript("Salut.")),
            addons: vec![outcome],
        };
        let variants = vec![
            variant(succeeded("subtitles", own.clone())),
            variant(Outcome::failed("subtitles", 0.1, error())),
            variant(succeeded("subtitles", json!([{"format": "srt", "subtitles": "1\n"}]))),
        ];
        let translation = Outcome { variants, ..succeeded("translation", Value::Null) };
        let items = &assemble(transcript("Hi."), vec![translation]).addons["translation"]["results"];
        assert_eq!((&items[0]["subtitles"], &items[1]["subtitles"]), (&json!([]), &json!([])));
        assert_eq!(items[0]["subtitles_result"]["results"], own);
        assert_eq!(items[1]["subtitles_result"]["error"]["exception"], "Trap");
        assert_eq!(items[2]["subtitles"][0]["format"], "srt");
        assert_eq!(items[2].get("subtitles_result"), None);
    }

    #[test]
    fn an_addon_without_a_result_has_no_member_when_it_succeeds() {
        let spelling = Outcome::succeeded("custom_spelling", 0.1, None, Vec::new());
        assert!(assemble(transcript("Hi."), vec![spelling]).addons.is_empty());
    }

    #[test]
    fn each_variant_has_its_own_outcome_and_addons() {
        let good = Variant {
            id: "fr".to_owned(),
            language: "fr".to_owned(),
            transcript: Ok(transcript("Salut.")),
            addons: vec![succeeded("sentences", json!(["Salut."]))],
        };
        let bad = Variant {
            id: "de".to_owned(),
            language: "de".to_owned(),
            transcript: Err(error()),
            addons: Vec::new(),
        };
        let translation = Outcome { variants: vec![good, bad], ..succeeded("translation", Value::Null) };
        let result = assemble(transcript("Hi."), vec![translation]);
        let items = &result.addons["translation"]["results"];
        assert_eq!(items[0]["full_transcript"], "Salut.");
        assert_eq!(items[0]["sentences"][0]["results"], json!(["Salut."]));
        assert_eq!(items[0]["error"], Value::Null);
        assert_eq!(items[1]["error"]["exception"], "Trap");
        assert_eq!(items[1]["full_transcript"], "");
    }
}
