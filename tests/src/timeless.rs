//! Results without the times that processing took, so that two runs can be compared.

use serde_json::Value;

/// The result of a job; members that say how long something took are null.
pub fn timeless(job: &Value) -> Value {
    let mut result = job["result"].clone();
    forget_times(&mut result);
    result
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match name.as_str() {
                    "exec_time" | "transcription_time" => *member = Value::Null,
                    _ => forget_times(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_times_of_processing_are_forgotten_at_any_depth() {
        let job = |took: f64, start: f64| {
            json!({"result": {"metadata": {"transcription_time": took, "audio_duration": 3},
                              "transcription": {"sentences": [{"exec_time": took, "start": start}]}}})
        };
        assert_eq!(timeless(&job(1.0, 0.5)), timeless(&job(2.0, 0.5)));
        assert_ne!(timeless(&job(1.0, 0.5)), timeless(&job(1.0, 0.6)));
    }
}
