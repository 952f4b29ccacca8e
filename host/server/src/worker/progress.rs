//! How far a job is, for those who poll.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

/// A step of a job's path; a later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The audio comes to our disk.
    Fetch,
    /// It becomes samples.
    Decode,
    /// Speech is found.
    Segment,
    /// Speech becomes text.
    Transcribe,
    /// Add-ons run.
    AddOns,
}

impl Step {
    /// All, in order.
    pub const ALL: [Self; 5] = [Self::Fetch, Self::Decode, Self::Segment, Self::Transcribe, Self::AddOns];

    /// Name in checkpoints, logs and debug data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Decode => "decode",
            Self::Segment => "segment",
            Self::Transcribe => "transcribe",
            Self::AddOns => "add-ons",
        }
    }
}

/// Written by the stages, read by the heartbeat.
///
/// What the last claim of the job left is shown until this one gets further, so that those who
/// poll see no steps that are only read back.
pub struct Progress(Mutex<State>);

struct State {
    at: Place,
    left: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    step: Step,
    permille: u32,
}

impl Place {
    const START: Self = Self { step: Step::Fetch, permille: 0 };
}

impl Default for Progress {
    fn default() -> Self {
        Self::from(Place::START)
    }
}

impl From<Place> for Progress {
    fn from(left: Place) -> Self {
        Self(Mutex::new(State { at: left, left }))
    }
}

impl Progress {
    /// That of a job whose last claim left this.
    pub fn since(metadata: &Map<String, Value>) -> Self {
        let is_there = |step: &Step| metadata.get("step").is_some_and(|name| name == step.name());
        let Some(step) = Step::ALL.into_iter().find(is_there) else { return Self::default() };
        let part = metadata.get("progress").and_then(Value::as_f64).unwrap_or_default();
        Self::from(Place { step, permille: permille(part) })
    }

    /// A step begins: its value is read back or made.
    pub fn begin(&self, step: Step) {
        self.lock().at = Place { step, permille: 0 };
    }

    /// The present step must be done. If the last claim had got further, that is lost.
    pub fn make(&self) {
        let mut state = self.lock();
        if state.at.step < state.left.step {
            state.left = Place::START;
        }
    }

    /// The present step is so far, 0.0 to 1.0.
    pub fn advance(&self, part: f32) {
        self.lock().at.permille = permille(part.into());
    }

    /// The present step.
    pub fn step(&self) -> Step {
        self.lock().at.step
    }

    /// `{"step": …, "progress": 0.0 to 1.0}` of the present step, or of the place that the last
    /// claim had reached.
    pub fn to_metadata(&self) -> Map<String, Value> {
        let shown = {
            let state = self.lock();
            state.at.max(state.left)
        };
        let mut metadata = Map::new();
        metadata.insert("step".to_owned(), json!(shown.step.name()));
        metadata.insert("progress".to_owned(), json!(f64::from(shown.permille) / 1000.0));
        metadata
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn permille(part: f64) -> u32 {
    (part.clamp(0.0, 1.0) * 1000.0).round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_belongs_to_its_step() {
        let progress = Progress::default();
        progress.advance(0.5);
        progress.begin(Step::Transcribe);
        assert_eq!(Value::Object(progress.to_metadata()), json!({"step": "transcribe", "progress": 0.0}));
        progress.advance(0.25);
        assert_eq!(progress.to_metadata()["progress"], json!(0.25));
        assert_eq!(Progress::since(&progress.to_metadata()).step(), Step::Transcribe);
        assert_eq!(Progress::since(&Map::new()).step(), Step::Fetch);
        progress.advance(7.0);
        assert_eq!(progress.to_metadata()["progress"], json!(1.0));
    }

    /// A claim whose last one left this.
    fn resumed(step: Step, part: f32) -> Progress {
        let left = Progress::default();
        left.begin(step);
        left.advance(part);
        Progress::since(&left.to_metadata())
    }

    #[test]
    fn a_further_claim_goes_on_from_what_the_last_one_showed() {
        let progress = resumed(Step::Transcribe, 0.5);
        let shown = |progress: &Progress| Value::Object(progress.to_metadata());
        let left = json!({"step": "transcribe", "progress": 0.5});
        assert_eq!(shown(&progress), left);
        for step in Step::ALL.into_iter().take(4) {
            progress.begin(step);
            assert_eq!(shown(&progress), left, "{step:?} is read back");
        }
        progress.advance(0.4);
        assert_eq!(shown(&progress), left);
        progress.advance(0.75);
        assert_eq!(progress.to_metadata()["progress"], json!(0.75));
        progress.begin(Step::AddOns);
        assert_eq!(shown(&progress), json!({"step": "add-ons", "progress": 0.0}));
    }

    #[test]
    fn what_must_be_done_again_is_shown() {
        let progress = resumed(Step::Transcribe, 0.5);
        progress.begin(Step::Fetch);
        progress.begin(Step::Decode);
        progress.make();
        progress.begin(Step::Segment);
        progress.make();
        assert_eq!(Value::Object(progress.to_metadata()), json!({"step": "segment", "progress": 0.0}));
    }
}
