//! The add-on `call_quality`: how a support call went, in numbers and with times.
//!
//! Who talked how much, where nobody did, who cut whom off, which lines of the agent's script
//! were said, and where words fell that somebody should look at. This file is the glue to the
//! SDK; each question has a module of its own.

mod config;
mod interruption;
mod party;
mod phrase;
mod script;
mod silence;
mod talk;
#[cfg(test)]
mod test_call;
mod watch;

use schemars::JsonSchema;
use serde::Serialize;
use tympan_sdk::prelude::*;

pub use config::Config;
use party::Call;

/// The add-on.
pub struct CallQuality;

/// What stands in the response; all times are seconds from the start of the file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    parties: Vec<talk::Talk>,
    silences: silence::Silences,
    interruptions: Vec<interruption::Interruption>,
    script: script::Compliance,
    watch: Vec<watch::Hit>,
}

impl Addon for CallQuality {
    type Config = Config;
    type Output = Option<Report>;
    const META: Meta = Meta::new(
        "call_quality",
        env!("CARGO_PKG_VERSION"),
        Slot::Analysis,
        "Talk time, silences, interruptions, script and watched phrases of a support call",
    )
    .after(&["diarization"]);

    fn check(config: &Config, problems: &mut Problems) {
        config.check(problems);
    }

    fn process(config: Config, job: &Job, doc: &mut Doc) -> Result<Option<Report>> {
        if doc.words().next().is_none() {
            return Ok(None);
        }
        let call = Call::new(doc.transcript(), job.audio.duration_s, &config);
        let report = Report {
            parties: talk::measure(&call),
            silences: silence::find(&call, config.silence_s),
            interruptions: interruption::find(&call, config.interruption_s),
            script: script::check(&call, &config.script),
            watch: watch::find(&call, &config.watch),
        };
        job.log(Level::Info, format!("{} parties, {} turns", report.parties.len(), call.turns.len()));
        Ok(Some(report))
    }
}

addon!(CallQuality);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_call::{call_of, two_channels};

    #[test]
    fn a_call_is_summed_up() {
        let outcome = testing::Scenario::new()
            .transcript(two_channels(&[
                (0, 0.0, "Good morning, my name is Ana."),
                (1, 5.0, "I want to speak to a manager!"),
            ]))
            .channels(2)
            .duration_s(20.0)
            .config(json!({"script": [{"name": "name", "any_of": ["my name is"]}]}))
            .run::<CallQuality>()
            .unwrap();
        let report = outcome.result();
        assert_eq!(report["parties"][0]["party"], "agent");
        assert_eq!(report["parties"][1]["words"], 7);
        assert_eq!(report["script"]["score"], 1.0);
        assert_eq!(report["watch"][0]["name"], "escalation");
        assert!(outcome.transcript.is_none(), "a report leaves the transcript alone");
    }

    #[test]
    fn silence_gives_an_empty_result() {
        let outcome = testing::run::<CallQuality>(json!({}), &[]).unwrap();
        assert_eq!(outcome.result(), json!(null));
    }

    #[test]
    fn the_default_config_is_valid_and_complete() {
        let call = call_of(&[(0, 0.0, "hello")]);
        assert_eq!(call.turns.len(), 1);
        let outcome = testing::run::<CallQuality>(json!({}), &["please hold the line"]).unwrap();
        assert_eq!(outcome.result()["watch"][0]["name"], "hold");
    }
}
