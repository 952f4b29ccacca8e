//! The steps of the path, as the worker needs them: the real ones, or a test's script.

use std::future::Future;

use serde::{Deserialize, Serialize};

use super::failure::Stop;
use super::progress::Step;
use super::run::Run;
use crate::addons::Assembled;
use crate::model::id::BlobKey;
use crate::model::segments::Segments;
use crate::stage::decode::AudioInfo;
use crate::stage::transcribe::Transcribed;

/// Audio on our disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Where the bytes lie; `None`: in the nameless file of this claim.
    pub blob_key: Option<BlobKey>,
    /// SHA-256 of the bytes, hex.
    pub sha256: String,
}

/// A transcript and the time it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// What was said.
    pub transcribed: Transcribed,
    /// Seconds of work of the run that finished it.
    pub transcription_time_s: f64,
}

/// What each step does. Every method but the last two makes the value of one step; the
/// worker decides when, and keeps it.
pub trait Steps: Send + Sync + 'static {
    /// Brings the audio to our disk.
    fn fetch(&self, run: &Run) -> impl Future<Output = Result<Media, Stop>> + Send;

    /// Turns it into samples in the run's scratch folder.
    fn decode(&self, run: &Run, media: &Media) -> impl Future<Output = Result<AudioInfo, Stop>> + Send;

    /// Finds speech.
    fn segment(&self, run: &Run, audio: &AudioInfo) -> impl Future<Output = Result<Segments, Stop>> + Send;

    /// Turns speech into text.
    fn transcribe(
        &self,
        run: &Run,
        audio: &AudioInfo,
        segments: &Segments,
    ) -> impl Future<Output = Result<Heard, Stop>> + Send;

    /// Runs the add-ons.
    fn enrich(
        &self,
        run: &Run,
        audio: &AudioInfo,
        heard: &Heard,
    ) -> impl Future<Output = Result<Assembled, Stop>> + Send;

    /// All that decides the value of a step besides the values before it.
    fn settings(&self, run: &Run, step: Step) -> impl Future<Output = Result<String, Stop>> + Send;

    /// Whether a saved value (JSON) can be used: what it refers to must still be there.
    fn still_holds(&self, run: &Run, step: Step, value: &[u8]) -> bool;
}
