//! Sound that costs the service everything but Whisper.

/// Samples a second.
const RATE_HZ: u32 = 16_000;

/// A WAV file without a sound (16 bits, one channel).
pub fn wav(length_s: u32) -> Vec<u8> {
    let size_bytes = length_s * RATE_HZ * 2;
    let mut file = Vec::with_capacity(44 + size_bytes as usize);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(36 + size_bytes).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    // PCM, one channel.
    file.extend_from_slice(&[1, 0, 1, 0]);
    file.extend_from_slice(&RATE_HZ.to_le_bytes());
    file.extend_from_slice(&(RATE_HZ * 2).to_le_bytes());
    // Bytes in a frame, bits in a sample.
    file.extend_from_slice(&[2, 0, 16, 0]);
    file.extend_from_slice(b"data");
    file.extend_from_slice(&size_bytes.to_le_bytes());
    file.resize(44 + size_bytes as usize, 0);
    file
}
