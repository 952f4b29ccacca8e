//! What all these tests need: fixtures, decoding of bytes, whole channels.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;
use tympan::model::segments::SAMPLE_RATE_HZ;
use tympan::stage::decode::{Audio, ChannelFiles, DecodeError, DecodeLimits, Probe, decode, probe};

/// Decoded audio with the folder that holds it.
pub struct Decoded {
    pub audio: Audio,
    pub folder: TempDir,
}

impl Decoded {
    /// All samples of the distinct channel `position`.
    pub fn samples(&self, position: usize) -> Vec<f32> {
        let channel = &self.audio.channels[position];
        let mut samples = vec![0.0; channel.frames() as usize];
        let count = channel.read(0, &mut samples).expect("channel file");
        assert_eq!(count, samples.len());
        samples
    }

    /// Loudest sample between two times, seconds.
    pub fn peak(&self, position: usize, from_s: f64, to_s: f64) -> f32 {
        let rate = f64::from(SAMPLE_RATE_HZ);
        let samples = self.samples(position);
        samples[(from_s * rate) as usize..(to_s * rate) as usize]
            .iter()
            .fold(0.0, |peak, s| peak.max(s.abs()))
    }
}

/// The folder of the recordings.
pub fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/audio")
}

/// The content of a recording.
pub fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(name)).expect(name)
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("temporary file");
    file.write_all(bytes).expect("write");
    file
}

/// Decodes `bytes` with the usual limits.
pub fn decode_bytes(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    decode_limited(bytes, &DecodeLimits::default())
}

/// Decodes `bytes`.
pub fn decode_limited(bytes: &[u8], limits: &DecodeLimits) -> Result<Decoded, DecodeError> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let audio = decode(file(bytes), &ChannelFiles::named(folder.path()), limits, &Arc::default())?;
    Ok(Decoded { audio, folder })
}

/// Probes `bytes`.
pub fn probe_bytes(bytes: &[u8], name: &str) -> Result<Probe, DecodeError> {
    probe(file(bytes), Some(name))
}

/// Decodes what must decode.
pub fn decoded(bytes: &[u8]) -> Decoded {
    decode_bytes(bytes).expect("decodes")
}
