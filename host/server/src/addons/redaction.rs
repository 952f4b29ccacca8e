//! What a job with redaction has to remember, and the proof at its end.

use serde_json::json;
use tympan_runtime::CancellationToken;

use super::assemble::Assembled;
use super::masked::MaskedValues;
use super::outcome::Outcome;
use super::run::EnrichError;
use crate::model::job::PlannedAddon;
use crate::model::transcript::Transcript;

/// A masked value stands in what would be delivered.
const LEAK: &str = "MaskedValueInResult";

/// The search for masked values itself failed.
const NO_PROOF: &str = "NoProof";

/// The redaction of one job, by one or more add-ons.
pub struct Redaction {
    /// The first that redacts; who is blamed.
    addon: Option<String>,
    before: Option<Transcript>,
    redacted: Option<Transcript>,
    /// Names of add-ons whose output nobody behind redaction may see.
    hidden: Vec<String>,
}

impl Redaction {
    /// Nothing is redacted yet.
    pub fn of(planned: &[PlannedAddon]) -> Self {
        let addon = planned.iter().find(|planned| planned.redacts).map(|planned| planned.name.clone());
        Self { addon, before: None, redacted: None, hidden: Vec::new() }
    }

    /// Whether anything redacts.
    pub fn is_planned(&self) -> bool {
        self.addon.is_some()
    }

    /// An add-on that redacts is about to run.
    pub fn begins(&mut self, transcript: &Transcript) {
        self.before.get_or_insert_with(|| transcript.clone());
    }

    /// It has run; `outcomes` are of all that ran so far.
    pub fn ended(&mut self, transcript: &Transcript, outcomes: &[Outcome]) {
        self.redacted = Some(transcript.clone());
        self.hidden = outcomes.iter().map(|outcome| outcome.name.clone()).collect();
    }

    /// Whether the output of that add-on may hold what redaction hides.
    pub fn hides(&self, addon: &str) -> bool {
        self.hidden.iter().any(|hidden| hidden == addon)
    }

    /// Lets a result pass only if no masked value stands in it. The search takes a while in a
    /// long result, so it has a thread of its own.
    pub async fn prove(
        self,
        assembled: Assembled,
        cancel: &CancellationToken,
    ) -> Result<Assembled, EnrichError> {
        let Some(addon) = self.addon else { return Ok(assembled) };
        let (Some(before), Some(redacted)) = (self.before, self.redacted) else {
            return Err(EnrichError::Redaction { addon, exception: NO_PROOF });
        };
        let search = tokio::task::spawn_blocking(move || {
            let masked = MaskedValues::between(&before, &redacted);
            let has_leak = masked.leak_in(&json!(assembled.transcription))
                || assembled.addons.values().any(|member| masked.leak_in(member));
            (!has_leak).then_some(assembled)
        });
        let searched = tokio::select! {
            () = cancel.cancelled() => return Err(EnrichError::Cancelled),
            searched = search => searched,
        };
        let exception = if searched.is_ok() { LEAK } else { NO_PROOF };
        searched.ok().flatten().ok_or(EnrichError::Redaction { addon, exception })
    }
}
