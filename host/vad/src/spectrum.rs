//! The detector's view of sound: four magnitude spectra of a 32 ms window.

use std::sync::Arc;

use realfft::num_complex::Complex32;
use realfft::{RealFftPlanner, RealToComplex};

use super::weights::BINS;
use super::{CONTEXT, WINDOW};

/// Length of one transform.
const SIZE: usize = 256;
/// Samples from one spectrum to the next.
const STEP: usize = 128;
/// Spectra of a window.
pub const COLUMNS: usize = 4;
/// The window, its context, and the mirrored end that completes the last transform.
const PADDED: usize = (COLUMNS - 1) * STEP + SIZE;

/// Transform, its Hann window and its buffers.
pub struct Spectrum {
    transform: Arc<dyn RealToComplex<f32>>,
    hann: [f32; SIZE],
    samples: [f32; SIZE],
    bins: Vec<Complex32>,
    scratch: Vec<Complex32>,
}

impl Spectrum {
    pub fn new() -> Self {
        let transform = RealFftPlanner::<f32>::new().plan_fft_forward(SIZE);
        let hann = std::array::from_fn(|n| {
            let angle = 2.0 * std::f64::consts::PI * n as f64 / SIZE as f64;
            (0.5 - 0.5 * angle.cos()) as f32
        });
        Self {
            hann,
            samples: [0.0; SIZE],
            bins: transform.make_output_vec(),
            scratch: transform.make_scratch_vec(),
            transform,
        }
    }

    /// Magnitudes of the four spectra of a window with its context in front.
    pub fn magnitudes(&mut self, sound: &[f32; CONTEXT + WINDOW], out: &mut [[f32; BINS]; COLUMNS]) {
        let mut padded = [0.0; PADDED];
        let length = sound.len();
        padded[..length].copy_from_slice(sound);
        for (i, sample) in padded[length..].iter_mut().enumerate() {
            *sample = sound[length - 2 - i];
        }
        for (column, magnitudes) in out.iter_mut().enumerate() {
            let part = &padded[column * STEP..][..SIZE];
            for (sample, (sound, hann)) in self.samples.iter_mut().zip(part.iter().zip(&self.hann)) {
                *sample = sound * hann;
            }
            self.transform
                .process_with_scratch(&mut self.samples, &mut self.bins, &mut self.scratch)
                .expect("the buffers come from the transform");
            for (magnitude, bin) in magnitudes.iter_mut().zip(&self.bins) {
                *magnitude = bin.norm_sqr().sqrt();
            }
        }
    }
}
