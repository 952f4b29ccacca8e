//! Built-in add-on `subtitles`: SRT and VTT files made from the words of the transcript.
//!
//! Only the glue to the SDK. The path of a transcript: `words` → `piece` (what a row may not
//! cut) → `cut` (cues) → `schedule` (times without overlap) → `rows` → `write`.

mod breaks;
mod config;
mod cue;
mod cut;
mod piece;
mod render;
mod rows;
mod schedule;
mod words;
mod write;

use tympan_sdk::prelude::*;

pub use config::{Config, Format, Style};
pub use render::{File, render};

/// The add-on.
pub struct Subtitles;

impl Addon for Subtitles {
    type Config = Config;
    type Output = Vec<File>;
    const META: Meta =
        Meta::new("subtitles", env!("CARGO_PKG_VERSION"), Slot::Render, "Makes SRT and VTT subtitles")
            .effects(&[Effect::PerVariant]);

    fn check(config: &Config, problems: &mut Problems) {
        for problem in config.problems() {
            problems.add(problem.pointer, problem.message);
        }
    }

    fn process(config: Config, _job: &Job, doc: &mut Doc) -> Result<Vec<File>> {
        Ok(render(doc.transcript(), &config))
    }
}

addon!(Subtitles);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_alone_gives_srt() {
        let outcome = testing::run::<Subtitles>(json!({}), &["Hello there."]).unwrap();
        let srt = "1\n00:00:00,000 --> 00:00:01,000\nHello there.\n";
        assert_eq!(outcome.result(), json!([{"format": "srt", "subtitles": srt}]));
        assert!(outcome.transcript.is_none());
    }

    #[test]
    fn silence_gives_valid_empty_files() {
        let outcome = testing::run::<Subtitles>(json!({"formats": ["vtt", "srt"]}), &[]).unwrap();
        let expected =
            json!([{"format": "vtt", "subtitles": "WEBVTT\n"}, {"format": "srt", "subtitles": ""}]);
        assert_eq!(outcome.result(), expected);
    }

    #[test]
    fn a_minimum_above_the_maximum_is_a_problem() {
        let refused = |config| testing::run::<Subtitles>(config, &[]).unwrap_err().message;
        let message = refused(json!({"minimum_duration": 5, "maximum_duration": 4}));
        assert_eq!(message, "/minimum_duration must not be greater than maximum_duration, which is 4");
        assert!(refused(json!({"minimum_duration": 8, "style": "compliance"})).contains("which is 7"));
        assert!(
            refused(json!({"minimum_duration": 8, "maximum_duration": 9, "style": "compliance"}))
                .contains("is 7")
        );
        assert_eq!(refused(json!({"formats": []})), "/formats must not be empty");
        assert!(
            refused(json!({"formats": ["ssa"]})).starts_with("/formats/0 must be valid: unknown variant")
        );
    }

    #[test]
    fn the_schema_holds_the_bounds_of_the_specification() {
        let descriptor = tympan_sdk::Descriptor::of::<Subtitles>();
        let schema: serde_json::Value = serde_json::from_str(&descriptor.config_schema).unwrap();
        let property = |name: &str| schema["properties"][name].clone();
        assert_eq!(property("formats")["minItems"], 1);
        let minimum = property("minimum_duration");
        assert_eq!((&minimum["minimum"], &minimum["maximum"]), (&json!(0), &json!(30)));
        assert_eq!(
            (&property("maximum_duration")["minimum"], &property("maximum_duration")["maximum"]),
            (&json!(1), &json!(30))
        );
        let columns = property("maximum_characters_per_row");
        assert_eq!((&columns["minimum"], &columns["maximum"]), (&json!(1), &json!(u32::MAX)));
        let rows = property("maximum_rows_per_caption");
        assert_eq!((&rows["minimum"], &rows["maximum"]), (&json!(1), &json!(5)));
        assert_eq!(schema.get("required"), None);
    }
}
