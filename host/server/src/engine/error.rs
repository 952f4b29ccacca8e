//! What can go wrong with native inference.

use std::path::PathBuf;

/// Failures of the engine. None of them blames the audio.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// The binary is built for newer processors than this one.
    #[error(
        "this processor lacks {missing}, which this build needs; build from source with `make build NATIVE=1`"
    )]
    Cpu {
        /// Names of the instruction sets.
        missing: String,
    },
    /// No model has this name.
    #[error("no speech model is named {name:?}")]
    UnknownModel {
        /// As it was asked for.
        name: String,
    },
    /// The model file cannot be used.
    #[error(
        "speech model file {file:?} cannot be loaded: {reason}; `tympan models pull` fetches one that can"
    )]
    Load {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system gives no threads.
    #[error("the inference threads cannot be started: {reason}")]
    Threads {
        /// What the system says.
        reason: String,
    },
    /// whisper.cpp gave up on a segment.
    #[error("whisper failed with code {code}")]
    Inference {
        /// Its return value.
        code: i32,
    },
    /// The job was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The thread that ran the segment died.
    #[error("an inference thread ended unexpectedly")]
    Stopped,
}
