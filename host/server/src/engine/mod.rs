//! Native inference with Whisper.
//!
//! The only part of the server with `unsafe`. Knows nothing of jobs or requests: it gets
//! samples and settings, and gives tokens and probabilities.

mod cpu;
mod error;
mod lanes;
mod models;
mod pcm;
mod settings;
mod states;
mod whisper;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

pub use crate::model::segments::SAMPLE_RATE_HZ;
pub use error::EngineError;
pub use pcm::{ChannelInput, Pcm};
pub use settings::{EngineSettings, SpeechModelSettings};
pub use whisper::{Effort, LONGEST_SAMPLES, LanguageChoice, Odds, Recognised, Token};

use lanes::{Lanes, Report, Turn, Work};
use models::Models;
use states::States;
use whisper::{Context, recognise};

/// Loaded models and the threads that run them; clones share both.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    models: Models,
    lanes: Lanes,
    states: States,
    threads: usize,
}

impl Engine {
    /// Checks the processor and starts the inference threads. Model files load at first use.
    pub fn new(settings: EngineSettings) -> Result<Self, EngineError> {
        cpu::check()?;
        whisper::silence();
        tracing::info!(products = cpu::products(), "instructions for inference");
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if settings.threads == 0 { available } else { settings.threads };
        let lanes =
            Lanes::start(threads).map_err(|cause| EngineError::Threads { reason: cause.to_string() })?;
        Ok(Self {
            shared: Arc::new(Shared {
                models: Models::new(settings.models),
                lanes,
                states: States::default(),
                threads,
            }),
        })
    }

    /// Settings of a model by the name that clients use.
    pub fn model(&self, name: &str) -> Result<&SpeechModelSettings, EngineError> {
        self.shared.models.settings(name)
    }

    /// Loads the file of a model now instead of at its first segment.
    pub fn load(&self, name: &str) -> Result<(), EngineError> {
        self.shared.models.get(name).map(drop)
    }

    /// Cores that inference uses.
    pub fn threads(&self) -> usize {
        self.shared.threads
    }

    /// Opens a place among the jobs that share the engine.
    pub fn recogniser(&self, model: &str) -> Result<Recogniser, EngineError> {
        let context = self.shared.models.get(model)?;
        let turn = self.shared.lanes.turn();
        Ok(Recogniser { engine: self.clone(), context, turn, cancel: Arc::new(AtomicBool::new(false)) })
    }
}

/// One job's use of the engine. Dropping it cancels what it still has queued or running.
pub struct Recogniser {
    engine: Engine,
    context: Arc<Context>,
    turn: Turn,
    cancel: Arc<AtomicBool>,
}

impl Recogniser {
    /// Whether the model can transcribe a language.
    pub fn knows(&self, language: crate::model::language::Language) -> bool {
        self.context.language_id(language).is_some()
    }

    /// Queues segments; `answer` gets the result of each with its key.
    pub fn submit<K: Send + 'static>(
        &self,
        pieces: Vec<Piece<K>>,
        answer: &mpsc::Sender<(K, Result<Recognised, EngineError>)>,
    ) {
        let works = pieces.into_iter().map(|piece| self.work(piece, answer.clone())).collect();
        self.engine.shared.lanes.submit(self.turn, works);
    }

    fn work<K: Send + 'static>(
        &self,
        piece: Piece<K>,
        answer: mpsc::Sender<(K, Result<Recognised, EngineError>)>,
    ) -> Work {
        let (context, cancel) = (Arc::clone(&self.context), Arc::clone(&self.cancel));
        // Weak, because the work stands in a queue that the engine owns.
        let shared = Arc::downgrade(&self.engine.shared);
        let Piece { key, samples, choice, effort } = piece;
        Box::new(move |threads: usize| {
            let run = || {
                let shared = shared.upgrade().filter(|_| !cancel.load(Ordering::Relaxed));
                let shared = shared.ok_or(EngineError::Cancelled)?;
                let mut state = shared.states.take(&context)?;
                let result = recognise(&mut state, &samples, &choice, effort, threads, &cancel);
                shared.states.put_back(state);
                result
            };
            let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(EngineError::Stopped));
            // The job may have ended meanwhile.
            Box::new(move || drop(answer.send((key, result)))) as Report
        })
    }
}

/// A segment to recognise.
pub struct Piece<K> {
    /// Comes back with the result.
    pub key: K,
    /// 16 kHz, at most [`LONGEST_SAMPLES`].
    pub samples: Vec<f32>,
    /// The language, or among which to find it.
    pub choice: LanguageChoice,
    /// How much to try.
    pub effort: Effort,
}

impl Drop for Recogniser {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}
