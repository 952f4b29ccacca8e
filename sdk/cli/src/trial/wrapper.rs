//! The wrapper as the service would show it.

use serde_json::{Map, Value, json};
use tympan_runtime::{AddonOutput, CallReport, Descriptor, Transcript};

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
            wrapper: success(output, exec_time, &beside_results(descriptor)),
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

fn success(output: &AddonOutput, exec_time: f64, beside: &[String]) -> Value {
    // The runtime has checked that a result is JSON.
    let result = output.result.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let mut result: Value = result.unwrap_or(Value::Null);
    let mut further = Map::new();
    if !beside.is_empty() {
        for name in beside {
            further.insert(name.clone(), result[name].take());
        }
        result = result["results"].take();
    }
    let mut wrapper = json!({
        "success": true, "is_empty": is_empty(&result), "exec_time": exec_time, "error": null,
        "results": result,
    });
    for (name, value) in further {
        wrapper[name] = value;
    }
    wrapper
}

/// Members that stand beside `results`, as the SDK's `Meta::result_members` names them.
fn beside_results(descriptor: &Descriptor) -> Vec<String> {
    let extra: Value = serde_json::from_str(&descriptor.extra).unwrap_or(Value::Null);
    let names = extra["result_members"].as_array().cloned().unwrap_or_default();
    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn is_empty(result: &Value) -> bool {
    match result {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(result: Value) -> AddonOutput {
        AddonOutput { transcript: None, result: Some(result.to_string()), variants: Vec::new() }
    }

    #[test]
    fn nothing_found_is_empty() {
        for empty in [json!([]), json!(""), json!({}), json!(null)] {
            assert_eq!(success(&output(empty), 0.0, &[])["is_empty"], true);
        }
        assert_eq!(success(&output(json!(0)), 0.0, &[])["is_empty"], false);
    }

    #[test]
    fn named_members_stand_beside_the_results() {
        let wrapper =
            success(&output(json!({"results": ["a"], "items": [{"start": 1}]})), 0.5, &["items".to_owned()]);
        assert_eq!(
            wrapper,
            json!({"success": true, "is_empty": false, "exec_time": 0.5, "error": null,
                   "results": ["a"], "items": [{"start": 1}]})
        );
    }
}
