//! Bytes under keys: audio, checkpoints, results.
