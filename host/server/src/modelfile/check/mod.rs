//! The complete check of a ggml file before whisper.cpp sees it.
//!
//! whisper.cpp ends the process on many faults, so each number it relies on is verified
//! here. The values of the tensors are stepped over: a check takes milliseconds.

mod head;
mod scan;
mod tensors;

pub(super) use head::MAGIC;
pub use scan::{ModelInfo, check, check_bytes};
pub(super) use scan::{Scan, scan};
