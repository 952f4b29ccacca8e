//! The wrapper as the service would show it.

use serde_json::{Value, json};
use tympan_runtime::{CallReport, Descriptor, ResultParts, Transcript};

/// What a trial prints.
#[derive(Debug, PartialEq)]
pub(super) struct Trial {
    /// The five members, and those that the add-on puts beside `results`.
    pub wrapper: Value,
    /// None when the add-on left the transcript alone.
    pub transcript: Option<Value>,
    pub variants: Vec<Value>,
}

/// The wrapper, the changed transcript and the variants of a call.
pub(super) fn of(report: &CallReport, descriptor: &Descriptor) -> Trial {
    let exec_time = report.exec_time.as_secs_f64();
    match &report.outcome {
        Ok(output) => Trial {
            wrapper: success(ResultParts::of(output, descriptor), exec_time),
            transcript: output.transcript.as_ref().map(transcript_json),
            variants: output.variants.iter().map(variant_json).collect(),
        },
        Err(error) => Trial {
            wrapper: json!({
                "success": false, "is_empty": false, "exec_time": exec_time, "error": error, "results": null,
            }),
            transcript: None,
            variants: Vec::new(),
        },
    }
}

fn variant_json(variant: &tympan_runtime::VariantOutput) -> Value {
    match &variant.outcome {
        Ok(transcript) => json!({
            "id": variant.id, "language": variant.language, "error": null,
            "transcript": transcript_json(transcript),
        }),
        Err(error) => json!({ "id": variant.id, "language": variant.language, "error": error }),
    }
}

/// With the member that the API's `transcription` has and the contract's transcript has not, so
/// that what is printed can be given to `--transcript` again.
fn transcript_json(transcript: &Transcript) -> Value {
    let texts: Vec<&str> = transcript.utterances.iter().map(|u| u.text.as_str()).collect();
    json!({
        "full_transcript": texts.join(" "),
        "languages": transcript.languages,
        "utterances": transcript.utterances,
    })
}

fn success(parts: ResultParts, exec_time: f64) -> Value {
    let ResultParts { results, beside, is_empty } = parts;
    let mut wrapper = json!({
        "success": true, "is_empty": is_empty, "exec_time": exec_time, "error": null, "results": results,
    });
    for (name, value) in beside {
        wrapper[name] = value;
    }
    wrapper
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_beside_the_results_stand_beside_the_five() {
        let mut parts = ResultParts { results: json!(["a"]), ..ResultParts::default() };
        parts.beside.insert("items".to_owned(), json!([{"start": 1}]));
        assert_eq!(
            success(parts, 0.5),
            json!({"success": true, "is_empty": false, "exec_time": 0.5, "error": null,
                   "results": ["a"], "items": [{"start": 1}]})
        );
    }
}
