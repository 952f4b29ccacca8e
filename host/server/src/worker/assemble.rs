//! The last step of the path: the result object, and what the client should know about it.

use serde_json::{Map, Value, json};

use super::failure::{Failure, Stop};
use super::steps::Heard;
use crate::addons::Assembled;
use crate::model::code::Code;
use crate::model::result::{JobResult, Metadata};
use crate::model::transcript::Utterance;
use crate::stage::decode::AudioInfo;

/// A job that reached its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The `result` member.
    pub result: JobResult,
    /// For `post_session_metadata`: coverage, damage, doubtful stretches.
    pub notes: Map<String, Value>,
}

/// Puts the parts together and checks what every result promises.
pub fn assemble(audio: &AudioInfo, heard: &Heard, enriched: Assembled) -> Result<Finished, Stop> {
    check_times(&enriched.transcription.utterances)?;
    let channels = audio.distinct.len().max(1) as u32;
    let metadata = Metadata {
        audio_duration: audio.duration_s,
        number_of_distinct_channels: channels,
        billing_time: audio.duration_s * f64::from(channels),
        transcription_time: heard.transcription_time_s,
    };
    let result = JobResult { metadata, transcription: enriched.transcription, addons: enriched.addons };
    Ok(Finished { result, notes: notes(audio, heard) })
}

/// Times are finite and ordered, whoever made them; JSON could not even hold the others.
fn check_times(utterances: &[Utterance]) -> Result<(), Stop> {
    for utterance in utterances {
        let spans = utterance.words.iter().map(|word| (word.start, word.end));
        for (start, end) in spans.chain([(utterance.start, utterance.end)]) {
            if !(start.is_finite() && end.is_finite() && 0.0 <= start && start <= end) {
                let cause = format!("a result has a span from {start} to {end} seconds");
                return Err(Failure::plain(Code::Internal, cause).into());
            }
        }
    }
    Ok(())
}

fn notes(audio: &AudioInfo, heard: &Heard) -> Map<String, Value> {
    let mut notes = Map::new();
    let transcribed = &heard.transcribed;
    notes.insert("audio".to_owned(), json!({"container": audio.container, "codec": audio.codec}));
    notes.insert("coverage".to_owned(), json!(transcribed.coverage));
    if !audio.damage.is_empty() {
        notes.insert("audio_damage".to_owned(), json!(audio.damage));
    }
    if !transcribed.flagged.is_empty() {
        notes.insert("flagged".to_owned(), json!(transcribed.flagged));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Word;

    fn utterance(start: f64, end: f64) -> Utterance {
        Utterance {
            start: 0.0,
            end: 9.0,
            confidence: 1.0,
            channel: 0,
            speaker: None,
            words: vec![Word { word: "a".to_owned(), start, end, confidence: 1.0 }],
            text: "a".to_owned(),
            language: "en".to_owned(),
        }
    }

    #[test]
    fn impossible_times_are_refused() {
        assert!(check_times(&[utterance(1.0, 2.0)]).is_ok());
        for (start, end) in [(2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-0.1, 1.0)] {
            assert!(check_times(&[utterance(0.0, 1.0), utterance(start, end)]).is_err());
        }
    }
}
