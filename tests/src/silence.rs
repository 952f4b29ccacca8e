//! Sound that costs the service everything but Whisper.

use crate::wav;

/// A WAV file without a sound (16 bits, one channel).
pub fn wav(length_s: u32) -> Vec<u8> {
    wav::file(&wav::silence(length_s * 1000))
}
