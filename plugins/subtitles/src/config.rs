//! The request's `subtitles_config`, its defaults and its two styles.

use std::borrow::Cow;

use tympan_sdk::Problem;
use tympan_sdk::prelude::*;
use tympan_sdk::schemars::{Schema, SchemaGenerator};

/// A subtitle file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// SubRip.
    Srt,
    /// WebVTT.
    Vtt,
}

/// How strictly cues are formed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Comfortable to read, close to the speech.
    #[default]
    Default,
    /// Broadcast rules: 42 columns in 2 rows, 5/6 s to 7 s, 17 columns per second where the speech
    /// allows it, two frames between cues, breaks at the ends of phrases.
    Compliance,
}

/// The config as resolved: every member has its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Asked")]
pub struct Config {
    /// Files to make, in this order.
    pub formats: Vec<Format>,
    /// Seconds that a cue stays at least, where the next one leaves room.
    pub minimum_duration: f64,
    /// Seconds that a cue stays at most.
    pub maximum_duration: f64,
    /// Columns as displayed: wide characters count two.
    pub maximum_characters_per_row: u32,
    /// Rows of a cue.
    pub maximum_rows_per_caption: u32,
    /// Rules of the style; they only tighten the members above.
    pub style: Style,
}

/// The config as a client writes it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct Asked {
    /// Files to make, in this order; SRT by default.
    #[schemars(length(min = 1))]
    formats: Option<Vec<Format>>,
    /// Seconds that a cue stays at least, where the next one leaves room; 1 by default.
    #[schemars(range(min = 0, max = 30))]
    minimum_duration: Option<f64>,
    /// Seconds that a cue stays at most; 7 by default, or `minimum_duration` where that is longer.
    #[schemars(range(min = 1, max = 30))]
    maximum_duration: Option<f64>,
    /// Columns as displayed, wide characters count two; 42 by default. Only a word that is longer
    /// makes a longer row.
    #[schemars(range(min = 1))]
    maximum_characters_per_row: Option<u32>,
    /// Rows of a cue; 2 by default.
    #[schemars(range(min = 1, max = 5))]
    maximum_rows_per_caption: Option<u32>,
    /// `compliance` tightens the other members to broadcast rules.
    #[serde(default)]
    style: Style,
}

/// Default of both styles.
const MAXIMUM_S: f64 = 7.0;
/// Default of the default style.
const MINIMUM_S: f64 = 1.0;
/// 20 frames of 24 in a second: the usual minimum of broadcasters.
const COMPLIANCE_MINIMUM_S: f64 = 5.0 / 6.0;
/// Default of both styles.
const COLUMNS: u32 = 42;
/// Default of both styles.
const ROWS: u32 = 2;

impl From<Asked> for Config {
    fn from(asked: Asked) -> Self {
        let mut formats = Vec::new();
        for format in asked.formats.unwrap_or_else(|| vec![Format::Srt]) {
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        let minimum_duration = asked.minimum_duration.unwrap_or(match asked.style {
            Style::Default => MINIMUM_S,
            Style::Compliance => COMPLIANCE_MINIMUM_S,
        });
        let config = Self {
            formats,
            minimum_duration,
            // Who asks for long cues alone did not ask for short ones.
            maximum_duration: asked.maximum_duration.unwrap_or(MAXIMUM_S.max(minimum_duration)),
            maximum_characters_per_row: asked.maximum_characters_per_row.unwrap_or(COLUMNS),
            maximum_rows_per_caption: asked.maximum_rows_per_caption.unwrap_or(ROWS),
            style: asked.style,
        };
        match config.style {
            Style::Default => config,
            Style::Compliance => config.tightened(),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Asked::default().into()
    }
}

impl JsonSchema for Config {
    fn schema_name() -> Cow<'static, str> {
        "SubtitlesConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Asked::json_schema(generator)
    }
}

impl Config {
    fn tightened(self) -> Self {
        Self {
            minimum_duration: self.minimum_duration.max(COMPLIANCE_MINIMUM_S),
            maximum_duration: self.maximum_duration.min(MAXIMUM_S),
            maximum_characters_per_row: self.maximum_characters_per_row.min(COLUMNS),
            maximum_rows_per_caption: self.maximum_rows_per_caption.min(ROWS),
            ..self
        }
    }

    /// What a client has to change, beyond the bounds of the schema.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.formats.is_empty() {
            let message = "must not be empty".to_owned();
            problems.push(Problem { pointer: "/formats".to_owned(), message });
        }
        if self.minimum_duration > self.maximum_duration {
            let message =
                format!("must not be greater than maximum_duration, which is {}", self.maximum_duration);
            problems.push(Problem { pointer: "/minimum_duration".to_owned(), message });
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tympan_sdk::serde_json;

    fn config(value: serde_json::Value) -> Config {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn defaults_are_filled_in_and_stay_when_read_again() {
        let filled = config(json!({"formats": ["vtt", "srt", "vtt"]}));
        assert_eq!(filled.formats, [Format::Vtt, Format::Srt]);
        assert_eq!((filled.minimum_duration, filled.maximum_duration), (1.0, 7.0));
        assert_eq!((filled.maximum_characters_per_row, filled.maximum_rows_per_caption), (42, 2));
        assert_eq!(config(serde_json::to_value(&filled).unwrap()), filled);
        assert_eq!(config(json!({})), Config::default());
        let long = config(json!({"minimum_duration": 20}));
        assert_eq!((long.maximum_duration, long.problems().len()), (20.0, 0));
    }

    #[test]
    fn compliance_only_tightens() {
        let wide = config(json!({"style": "compliance", "minimum_duration": 0.1, "maximum_duration": 20,
            "maximum_characters_per_row": 60, "maximum_rows_per_caption": 4}));
        assert_eq!((wide.minimum_duration, wide.maximum_duration), (5.0 / 6.0, 7.0));
        assert_eq!((wide.maximum_characters_per_row, wide.maximum_rows_per_caption), (42, 2));
        let narrow = config(json!({"style": "compliance", "minimum_duration": 1.2, "maximum_duration": 5,
            "maximum_characters_per_row": 32, "maximum_rows_per_caption": 1}));
        assert_eq!((narrow.minimum_duration, narrow.maximum_duration), (1.2, 5.0));
        assert_eq!((narrow.maximum_characters_per_row, narrow.maximum_rows_per_caption), (32, 1));
    }
}
