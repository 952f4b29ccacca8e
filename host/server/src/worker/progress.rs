//! How far a job is, for those who poll.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use serde_json::{Map, Value, json};

/// A step of a job's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Default)]
pub struct Progress {
    step: AtomicUsize,
    permille: AtomicU32,
}

impl Progress {
    /// That of a job whose last claim left this.
    pub fn since(metadata: &Map<String, Value>) -> Self {
        let is_there = |step: &Step| metadata.get("step").is_some_and(|name| name == step.name());
        let step = Step::ALL.into_iter().find(is_there).unwrap_or(Step::Fetch);
        Self { step: AtomicUsize::new(step as usize), permille: AtomicU32::new(0) }
    }

    /// A step begins.
    pub fn begin(&self, step: Step) {
        self.permille.store(0, Ordering::Relaxed);
        self.step.store(step as usize, Ordering::Relaxed);
    }

    /// The present step is so far, 0.0 to 1.0.
    pub fn advance(&self, part: f32) {
        self.permille.store((part.clamp(0.0, 1.0) * 1000.0) as u32, Ordering::Relaxed);
    }

    /// The present step.
    pub fn step(&self) -> Step {
        Step::ALL[self.step.load(Ordering::Relaxed)]
    }

    /// `{"step": …, "progress": 0.0 to 1.0}` of the present step.
    pub fn to_metadata(&self) -> Map<String, Value> {
        let part = f64::from(self.permille.load(Ordering::Relaxed)) / 1000.0;
        let mut metadata = Map::new();
        metadata.insert("step".to_owned(), json!(self.step().name()));
        metadata.insert("progress".to_owned(), json!(part));
        metadata
    }
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
}
