//! Voice activity detection: the probability that somebody speaks, every 32 ms.
//!
//! The network of Silero VAD 6 (16 kHz), written out: spectra, four convolutions, an LSTM
//! cell, one output. It streams: a detector keeps 64 samples and the LSTM state of one
//! channel, so files and live audio use the same code.

mod multiply;
mod spectrum;
mod weights;

use multiply::multiply;
use spectrum::{COLUMNS, Spectrum};
use weights::{BINS, HIDDEN, Weights};

/// Samples of one step at 16 kHz: 32 ms.
pub const WINDOW: usize = 512;
/// Samples of the step before that a step looks back at.
const CONTEXT: usize = 64;

/// The detector of one channel.
pub struct Vad {
    weights: &'static Weights,
    spectrum: Spectrum,
    /// Context and window.
    sound: [f32; CONTEXT + WINDOW],
    hidden: [f32; HIDDEN],
    cell: [f32; HIDDEN],
}

impl Default for Vad {
    fn default() -> Self {
        Self::new()
    }
}

impl Vad {
    /// A detector that has heard nothing yet.
    pub fn new() -> Self {
        Self {
            weights: Weights::get(),
            spectrum: Spectrum::new(),
            sound: [0.0; CONTEXT + WINDOW],
            hidden: [0.0; HIDDEN],
            cell: [0.0; HIDDEN],
        }
    }

    /// The probability of speech in the next 32 ms, 0.0 to 1.0.
    pub fn push(&mut self, window: &[f32; WINDOW]) -> f32 {
        self.sound.copy_within(WINDOW.., 0);
        self.sound[CONTEXT..].copy_from_slice(window);
        let mut spectra = [[0.0; BINS]; COLUMNS];
        self.spectrum.magnitudes(&self.sound, &mut spectra);
        let features = convolve(self.weights, &spectra);
        self.remember(&features);
        self.judge()
    }

    /// One step of the LSTM.
    fn remember(&mut self, features: &[f32; HIDDEN]) {
        let mut input = [0.0; 2 * HIDDEN];
        input[..HIDDEN].copy_from_slice(features);
        input[HIDDEN..].copy_from_slice(&self.hidden);
        let mut gates = [0.0; 4 * HIDDEN];
        multiply::<1, 64>(&self.weights.lstm, [&input], &mut [&mut gates]);
        for i in 0..HIDDEN {
            let [write, keep, new, read] = [0, 1, 2, 3].map(|gate| gates[gate * HIDDEN + i]);
            self.cell[i] = sigmoid(keep) * self.cell[i] + sigmoid(write) * new.tanh();
            self.hidden[i] = sigmoid(read) * self.cell[i].tanh();
        }
    }

    fn judge(&self) -> f32 {
        let last = &self.weights.last;
        let sum: f32 = self.hidden.iter().zip(&last.matrix).map(|(h, w)| h.max(0.0) * w).sum();
        sigmoid(sum + last.bias[0])
    }
}

/// The four convolutions: 4 columns become 4, 2, 1, 1. Columns beyond the edges are zero.
fn convolve(weights: &Weights, spectra: &[[f32; BINS]; COLUMNS]) -> [f32; HIDDEN] {
    let mut edged = [0.0; (COLUMNS + 2) * BINS];
    edged[BINS..][..COLUMNS * BINS].copy_from_slice(spectra.as_flattened());
    let mut first = [[0.0; 128]; 6];
    let [_, a, b, c, d, _] = &mut first;
    let columns = [0, 1, 2, 3].map(|t| &edged[t * BINS..][..3 * BINS]);
    multiply::<4, 16>(&weights.conv1, columns, &mut [a, b, c, d]);
    rectify(first.as_flattened_mut());

    let mut second = [[0.0; 64]; 2];
    let [a, b] = &mut second;
    let flat = first.as_flattened();
    multiply::<2, 32>(&weights.conv2, [&flat[..384], &flat[256..640]], &mut [a, b]);
    rectify(second.as_flattened_mut());

    let mut third = [0.0; 64];
    multiply::<1, 64>(&weights.conv3, [second.as_flattened()], &mut [&mut third]);
    rectify(&mut third);

    let mut fourth = [0.0; HIDDEN];
    multiply::<1, 64>(&weights.conv4, [&third], &mut [&mut fourth]);
    rectify(&mut fourth);
    fourth
}

fn rectify(values: &mut [f32]) {
    for value in values {
        *value = value.max(0.0);
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Recordings of `tests/fixtures/audio` and what the published network gives for them
    /// (`assets/reference.py`).
    const RECORDINGS: [&str; 4] =
        ["en/jfk", "en/voices_sp0307_ch127535", "es/pv_leopard_test_es", "zh/aishell_BAC009S0724W0121"];
    /// How far rounding takes two orders of summation apart.
    const ROUNDING: f32 = 2e-5;

    fn fixtures() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
    }

    /// Samples of a plain 16-bit WAV file: what follows its `data` header.
    fn samples(recording: &str) -> Vec<f32> {
        let file = fixtures().join("audio").join(recording).with_extension("wav");
        let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let header = bytes.windows(4).position(|word| word == b"data").expect("a data chunk");
        let (samples, _) = bytes[header + 8..].as_chunks::<2>();
        samples.iter().map(|sample| f32::from(i16::from_le_bytes(*sample)) / 32768.0).collect()
    }

    fn reference(recording: &str) -> Vec<f32> {
        let name = recording.rsplit('/').next().expect("a name");
        let file = fixtures().join("vad").join(name).with_extension("f32");
        let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        bytes.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)).collect()
    }

    fn probabilities(samples: &[f32]) -> Vec<f32> {
        let mut vad = Vad::new();
        let step = |window: &[f32]| {
            let mut filled = [0.0; WINDOW];
            filled[..window.len()].copy_from_slice(window);
            vad.push(&filled)
        };
        samples.chunks(WINDOW).map(step).collect()
    }

    #[test]
    fn equals_the_published_network_on_recordings() {
        for recording in RECORDINGS {
            let (ours, theirs) = (probabilities(&samples(recording)), reference(recording));
            assert_eq!(ours.len(), theirs.len(), "{recording}");
            let furthest = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(furthest < ROUNDING, "{recording}: {furthest} apart");
        }
    }

    #[test]
    fn silence_and_hiss_are_no_speech() {
        let mut random = 1_u32;
        let mut noise = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let hiss: Vec<f32> = (0..WINDOW * 200).map(|_| 0.1 * noise()).collect();
        let silence = vec![0.0; WINDOW * 200];
        for sound in [hiss, silence] {
            assert!(probabilities(&sound).iter().all(|probability| *probability < 0.5));
        }
    }
}
