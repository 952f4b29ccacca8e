//! Reads what the service's API returned, so that a real result is a test case as it is.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::job::{AudioInfo, Previous};
use crate::transcript::Transcript;

/// A finished job as an add-on would have met it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The job's id, where the JSON has one.
    pub job_id: Option<String>,
    /// When the job was accepted, as the API writes it, where the JSON says so.
    pub created_at: Option<String>,
    /// The transcript, utterances numbered from 1.
    pub transcript: Transcript,
    /// The audio's figures; the end of the last utterance where the JSON has no metadata.
    pub audio: AudioInfo,
    /// The results of add-ons in the JSON.
    pub previous: Vec<Previous>,
    /// The job's `extra`: `custom_metadata` and the `languages` that the request named.
    pub extra: Map<String, Value>,
}

/// Why a JSON document is no transcript.
#[derive(Debug)]
pub struct RecordedError(String);

impl fmt::Display for RecordedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RecordedError {}

/// What the host decodes all audio to.
const SAMPLE_RATE_HZ: u32 = 16_000;

impl Recorded {
    /// Takes a job (`{"id", "result": …}`), a callback body (`{"id", "payload": …}`), a result
    /// (`{"metadata", "transcription": …}`) or a transcription (`{"utterances": …}`).
    ///
    /// # Errors
    /// When the document is none of these, or the job has no result.
    pub fn from_json(document: &Value) -> Result<Self, RecordedError> {
        let text = |key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
        let result = match document.get("result").or_else(|| document.get("payload")) {
            Some(Value::Null) => {
                return Err(RecordedError("the job has no result: is its status `done`?".to_owned()));
            }
            Some(result) => result,
            None => document,
        };
        let transcription = result.get("transcription").unwrap_or(result);
        if transcription.get("utterances").is_none() {
            return Err(RecordedError(
                "found no transcript: give a job, a result or a transcription as the API returns it"
                    .to_owned(),
            ));
        }
        let mut transcript: Transcript = serde_path_to_error::deserialize(transcription)
            .map_err(|error| RecordedError(format!("transcription.{}: {}", error.path(), error.inner())))?;
        for (number, utterance) in (1..).zip(&mut transcript.utterances) {
            utterance.id = number;
        }
        let audio = audio_of(result.get("metadata"), &transcript);
        let previous = result.as_object().map(previous_of).unwrap_or_default();
        let (job_id, created_at) = (text("id"), text("created_at"));
        Ok(Self { job_id, created_at, transcript, audio, previous, extra: extra_of(document) })
    }
}

/// As the service tells add-ons what the client said of the job.
fn extra_of(job: &Value) -> Map<String, Value> {
    let languages = job.pointer("/request_params/language_config/languages").filter(|l| l.is_array());
    let custom_metadata = job.get("custom_metadata").cloned().unwrap_or_default();
    Map::from_iter([
        ("custom_metadata".to_owned(), custom_metadata),
        ("languages".to_owned(), languages.cloned().unwrap_or_else(|| json!([]))),
    ])
}

fn audio_of(metadata: Option<&Value>, transcript: &Transcript) -> AudioInfo {
    let last_end_s = transcript.utterances.iter().map(|u| u.end).fold(0.0, f64::max);
    let last_channel = transcript.utterances.iter().map(|u| u.channel).max().unwrap_or(0);
    let stated = |key: &str| metadata.and_then(|m| m.get(key));
    let duration_s = stated("audio_duration").and_then(Value::as_f64).unwrap_or(last_end_s);
    let channels = stated("number_of_distinct_channels")
        .and_then(Value::as_u64)
        .and_then(|n| u16::try_from(n).ok())
        .unwrap_or(1)
        .max(last_channel.saturating_add(1));
    AudioInfo {
        duration_s,
        sample_rate_hz: SAMPLE_RATE_HZ,
        channels,
        frames: (duration_s * f64::from(SAMPLE_RATE_HZ)) as u64,
    }
}

/// The members of a result that are wrappers of add-ons.
fn previous_of(result: &Map<String, Value>) -> Vec<Previous> {
    let mut previous = Vec::new();
    for (name, wrapper) in result {
        let Some(success) = wrapper.get("success").and_then(Value::as_bool) else { continue };
        let is_empty = wrapper.get("is_empty").and_then(Value::as_bool).unwrap_or(false);
        let status = match (success, is_empty) {
            (false, _) => "failed",
            (true, true) => "empty",
            (true, false) => "done",
        };
        let results = wrapper.get("results").filter(|r| success && !r.is_null()).map(Value::to_string);
        previous.push(Previous { name: name.clone(), status: status.to_owned(), result: results });
    }
    previous
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcription() -> Value {
        json!({"full_transcript": "Hi there", "languages": ["en"], "utterances": [{
            "start": 0.5, "end": 1.5, "confidence": 0.9, "channel": 1, "language": "en", "text": "Hi there",
            "words": [{"word": "Hi", "start": 0.5, "end": 0.8, "confidence": 0.9},
                      {"word": " there", "start": 0.9, "end": 1.5, "confidence": 0.9}]}]})
    }

    #[test]
    fn every_shape_of_the_api_is_read() {
        let result = json!({"metadata": {"audio_duration": 4.0, "number_of_distinct_channels": 2},
            "transcription": transcription(),
            "sentiment_analysis": {"success": true, "is_empty": false, "results": "[]"}});
        let shapes = [
            json!({"id": "a1", "status": "done", "result": result}),
            json!({"id": "a1", "event": "transcription.success", "payload": result}),
            result.clone(),
        ];
        for shape in &shapes {
            let recorded = Recorded::from_json(shape).unwrap();
            assert_eq!(recorded.transcript.full_text(), "Hi there");
            assert_eq!(recorded.transcript.utterances[0].id, 1);
            assert_eq!((recorded.audio.duration_s, recorded.audio.channels), (4.0, 2));
            assert_eq!(recorded.previous[0].name, "sentiment_analysis");
            assert_eq!(recorded.previous[0].result.as_deref(), Some("\"[]\""));
        }
        let bare = Recorded::from_json(&transcription()).unwrap();
        assert_eq!((bare.audio.duration_s, bare.audio.channels), (1.5, 2));
    }

    #[test]
    fn what_the_client_said_of_the_job_is_read() {
        let job = json!({"id": "a1", "created_at": "2026-01-14T10:30:00.000Z", "custom_metadata": {"call": 4711},
            "request_params": {"language_config": {"languages": ["en", "de"]}},
            "result": {"transcription": transcription()}});
        let recorded = Recorded::from_json(&job).unwrap();
        assert_eq!(recorded.created_at.as_deref(), Some("2026-01-14T10:30:00.000Z"));
        assert_eq!(
            json!(recorded.extra),
            json!({"custom_metadata": {"call": 4711}, "languages": ["en", "de"]})
        );
        let bare = Recorded::from_json(&transcription()).unwrap();
        assert_eq!(json!(bare.extra), json!({"custom_metadata": null, "languages": []}));
    }

    #[test]
    fn the_transcript_has_the_shape_of_the_api_when_written() {
        let recorded = Recorded::from_json(&transcription()).unwrap();
        let mut written = serde_json::to_value(&recorded.transcript).unwrap();
        written["full_transcript"] = json!("Hi there");
        assert_eq!(written, transcription());
    }

    #[test]
    fn errors_say_what_is_missing() {
        let error = |document: Value| Recorded::from_json(&document).unwrap_err().to_string();
        assert!(error(json!({"id": "a", "status": "queued", "result": null})).contains("status"));
        assert!(error(json!({"hello": 1})).contains("found no transcript"));
        let mut broken = transcription();
        broken["utterances"][0]["words"][1]["start"] = json!("soon");
        assert!(error(broken).starts_with("transcription.utterances[0].words[1].start: invalid type"));
    }
}
