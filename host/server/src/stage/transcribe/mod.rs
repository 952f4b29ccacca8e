//! Turns segments into a transcript.
//!
//! Each segment goes through the speech model alone; nothing is carried over. What comes
//! back becomes words with times of the file, words become utterances. A finished segment
//! is a checkpoint.

mod coverage;
mod invented;
mod language;
mod missed;
mod neighbours;
mod open;
mod piece;
mod refine;
mod results;
mod run;
mod settle;
mod timeline;
mod utterances;
mod votes;
mod words;

use std::io;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

pub use coverage::{Coverage, Uncovered};

use crate::engine::{ChannelInput, Engine, EngineError};
use crate::model::job::LanguageConfig;
use crate::model::language::Language;
use crate::model::segments::Segments;
use crate::model::transcript::{Transcript, Word};

/// What the job asks of the speech model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscribePlan {
    /// Model name of the engine's settings (`stt-1`).
    pub model: String,
    /// Expected languages.
    pub language: LanguageConfig,
    /// Refine word times.
    pub accurate_word_times: bool,
}

/// What is known of one segment after its inference; enough to resume from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentResult {
    /// With times of the file; the first one of a spaced language has its space too.
    pub words: Vec<Word>,
    /// The language it was transcribed in.
    pub language: Language,
    /// What the model thought of the language, most probable first; empty when it was told.
    pub odds: Vec<(Language, f32)>,
    /// What was unusual.
    pub flag: Option<Flag>,
}

/// Where finished segments are kept, so that a crash costs one segment and not the file.
/// Indexes count `Segments::segments`.
pub trait SegmentLog {
    /// The result that was saved under this index.
    fn load(&self, index: usize) -> io::Result<Option<SegmentResult>>;
    /// Keeps a result; a second call with the same index replaces it.
    fn save(&self, index: usize, result: &SegmentResult) -> io::Result<()>;
}

/// Keeps nothing: for jobs without checkpoints.
pub struct NoLog;

impl SegmentLog for NoLog {
    fn load(&self, _index: usize) -> io::Result<Option<SegmentResult>> {
        Ok(None)
    }

    fn save(&self, _index: usize, _result: &SegmentResult) -> io::Result<()> {
        Ok(())
    }
}

/// What was unusual about a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// It took further attempts: the first was doubtful, or had passed over speech. The words
    /// may still be those of the first.
    DecodedAgain,
    /// Every attempt was doubtful; the best one was kept.
    Doubtful,
    /// The text was judged invented and left out.
    Dropped,
}

/// A flagged stretch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flagged {
    /// What happened.
    pub flag: Flag,
    /// Audio track of the file, from 0.
    pub channel: u16,
    /// Seconds of the file.
    pub start_s: f64,
    /// Seconds of the file.
    pub end_s: f64,
}

/// The transcript and what to know about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transcribed {
    /// All that was said.
    pub transcript: Transcript,
    /// How much of the speech has words.
    pub coverage: Coverage,
    /// In order of time.
    pub flagged: Vec<Flagged>,
}

/// Why no transcript came out.
#[derive(Debug, thiserror::Error)]
pub enum TranscribeError {
    /// The plan asks for what the model does not do.
    #[error("model {model:?} does not serve {what}")]
    Rules {
        /// Name of the model.
        model: String,
        /// Language or feature.
        what: String,
    },
    /// Inference failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The decoded audio could not be read back.
    #[error("decoded audio cannot be read")]
    Read(#[source] io::Error),
    /// A finished segment could not be saved or loaded.
    #[error("a segment checkpoint cannot be written or read")]
    Log(#[source] io::Error),
    /// The job was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Transcribes all segments. Blocks; run it on a thread of its own. `on_progress` gets
/// 0.0 to 1.0. A run resumed from `log` gives the same transcript, byte for byte.
pub fn transcribe(
    channels: &[ChannelInput<'_>],
    segments: &Segments,
    plan: &TranscribePlan,
    engine: &Engine,
    log: &dyn SegmentLog,
    cancel: &AtomicBool,
    on_progress: &(dyn Fn(f32) + Sync),
) -> Result<Transcribed, TranscribeError> {
    let rules = engine.model(&plan.model)?;
    let spoken = language::plan(plan, rules)?;
    if segments.segments.is_empty() {
        return Ok(Transcribed::default());
    }
    let recogniser = engine.recogniser(&plan.model)?;
    let run = run::Run {
        channels,
        segments,
        recogniser,
        accurate_word_times: plan.accurate_word_times,
        threads: engine.threads(),
        log,
        cancel,
        on_progress,
    };
    let results = language::transcribe_all(&run, &spoken)?;
    Ok(Transcribed {
        transcript: utterances::assemble(segments, &results),
        coverage: coverage::measure(segments, &results),
        flagged: flagged(segments, &results),
    })
}

fn flagged(segments: &Segments, results: &[SegmentResult]) -> Vec<Flagged> {
    let place = |(segment, result): (&crate::model::segments::Segment, &SegmentResult)| {
        let (first, last) = (segment.spans.first()?, segment.spans.last()?);
        Some(Flagged {
            flag: result.flag?,
            channel: segment.channel,
            start_s: timeline::seconds(first.start_frame),
            end_s: timeline::seconds(last.end_frame),
        })
    };
    segments.segments.iter().zip(results).filter_map(place).collect()
}
