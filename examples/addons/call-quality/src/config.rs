//! What a team sets: who is who, the script, what to watch for, from when a pause is a silence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tympan_sdk::Problems;

/// The config object `call_quality_config`; every member has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How the people in the call are told apart.
    pub parties: PartyBy,
    /// Channel or speaker number of the agent; everyone else is a customer.
    pub agent: u32,
    /// A pause of everybody that is at least this long counts as silence, seconds.
    #[schemars(range(min = 0.5, max = 600.0))]
    pub silence_s: f64,
    /// Talking into somebody's sentence counts as interruption from this overlap on, seconds.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub interruption_s: f64,
    /// Lines that belong into the call.
    pub script: Vec<ScriptLine>,
    /// Phrases that somebody should look at; by default on-hold and escalation phrases (English).
    pub watch: Vec<Watch>,
}

/// How the people in a call are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartyBy {
    /// By channel where there are several, else by speaker where there was a diarization.
    #[default]
    Auto,
    /// One person per audio track.
    Channel,
    /// One person per speaker of the diarization.
    Speaker,
}

/// Who has to say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The agent.
    Agent,
    /// Anybody but the agent.
    Customer,
    /// Everybody.
    Anyone,
}

/// One line of the script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptLine {
    /// How the report calls it.
    pub name: String,
    /// It is said when one of these is; case and punctuation do not matter.
    #[schemars(length(min = 1))]
    pub any_of: Vec<String>,
    /// Who has to say it.
    #[serde(default = "agent")]
    pub by: By,
    /// It counts only when it is said this early in the call, seconds.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub within_first_s: Option<f64>,
    /// It counts only when it is said this close to the end of the call, seconds.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub within_last_s: Option<f64>,
}

/// Phrases that somebody should look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// How the report calls it.
    pub name: String,
    /// What to look for; case and punctuation do not matter.
    #[schemars(length(min = 1))]
    pub any_of: Vec<String>,
    /// Who has to say it.
    #[serde(default = "anyone")]
    pub by: By,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            parties: PartyBy::Auto,
            agent: 0,
            silence_s: 4.0,
            interruption_s: 0.5,
            script: Vec::new(),
            watch: vec![hold(), escalation()],
        }
    }
}

fn agent() -> By {
    By::Agent
}

fn anyone() -> By {
    By::Anyone
}

fn hold() -> Watch {
    watch("hold", By::Agent, &["hold the line", "put you on hold", "bear with me", "one moment please"])
}

fn escalation() -> Watch {
    let phrases = [
        "speak to a manager",
        "talk to a manager",
        "speak to your supervisor",
        "talk to your supervisor",
        "file a complaint",
        "cancel my contract",
        "cancel my subscription",
        "my lawyer",
        "third time i am calling",
    ];
    watch("escalation", By::Customer, &phrases)
}

fn watch(name: &str, by: By, phrases: &[&str]) -> Watch {
    Watch { name: name.to_owned(), any_of: phrases.iter().map(|p| (*p).to_owned()).collect(), by }
}

impl Config {
    /// Rules that the schema cannot express: a phrase needs something to look for.
    pub(crate) fn check(&self, problems: &mut Problems) {
        let lines = self.script.iter().map(|line| &line.any_of);
        check_phrases("script", lines, problems);
        check_phrases("watch", self.watch.iter().map(|watch| &watch.any_of), problems);
    }
}

fn check_phrases<'a>(member: &str, lists: impl Iterator<Item = &'a Vec<String>>, problems: &mut Problems) {
    for (index, phrases) in lists.enumerate() {
        if phrases.is_empty() {
            problems.add(format!("/{member}/{index}/any_of"), "must have at least one phrase");
        }
        for (at, phrase) in phrases.iter().enumerate() {
            if !phrase.chars().any(char::is_alphanumeric) {
                problems.add(format!("/{member}/{index}/any_of/{at}"), "must have a letter or a digit");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::CallQuality;
    use tympan_sdk::prelude::*;

    #[test]
    fn a_phrase_without_letters_is_refused_with_its_place() {
        let config = json!({"watch": [{"name": "x", "any_of": ["fine", "?!"]}]});
        let error = testing::run::<CallQuality>(config, &["hello"]).unwrap_err();
        assert_eq!(error.message, "/watch/0/any_of/1 must have a letter or a digit");
    }

    #[test]
    fn a_misspelled_member_is_refused() {
        let error = testing::run::<CallQuality>(json!({"silence": 3}), &["hello"]).unwrap_err();
        assert!(error.message.contains("unknown field `silence`"), "{}", error.message);
    }
}
