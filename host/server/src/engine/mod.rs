//! Native inference: Whisper and voice activity detection.
