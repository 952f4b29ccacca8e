//! WAV files of 16 bits, one channel, 16 kHz.

/// Samples a second.
pub const RATE_HZ: u32 = 16_000;

/// The file around these samples.
pub fn file(samples: &[u8]) -> Vec<u8> {
    let size_bytes = u32::try_from(samples.len()).expect("a short recording");
    let mut file = Vec::with_capacity(44 + samples.len());
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
    file.extend_from_slice(samples);
    file
}

/// This many milliseconds without a sound, as samples.
pub fn silence(length_ms: u32) -> Vec<u8> {
    vec![0; (RATE_HZ / 1000 * length_ms * 2) as usize]
}

/// Recordings one after the other, with a pause of this length between them.
pub fn joined(files: &[Vec<u8>], pause_ms: u32) -> Vec<u8> {
    let all: Vec<&[u8]> = files.iter().map(|file| samples(file)).collect();
    file(&all.join(&silence(pause_ms)[..]))
}

/// What follows the head of the data, in a file whose last chunk that is.
fn samples(file: &[u8]) -> &[u8] {
    let at = file.windows(4).position(|name| name == b"data").expect("a WAV file has data");
    &file[at + 8..]
}
