//! Streams any sample rate to 16 kHz: no delay, no drift, exact length.

use rubato::audioadapter_buffers::direct::SequentialSliceOfVecs;
use rubato::{Fft, FixedSync, Resampler as _};

use crate::model::segments::SAMPLE_RATE_HZ;

/// Wanted frames per step; the real number is a multiple that suits the two rates.
const STEP_FRAMES: u32 = 4096;

/// Resamples all channels of a stretch of audio with one sample rate.
pub(super) struct Resampler {
    sample_rate: u32,
    fft: Option<Fft<f32>>,
    pending: Vec<Vec<f32>>,
    output: Vec<Vec<f32>>,
    frames_in: u64,
    frames_out: u64,
    /// Frames of the filter's delay that are still to be dropped.
    delay: usize,
}

impl Resampler {
    /// `None` when the rate cannot be handled.
    pub(super) fn new(sample_rate: u32, channels: usize) -> Option<Self> {
        let mut delay = 0;
        let mut fft = None;
        if sample_rate != SAMPLE_RATE_HZ {
            let (from, to) = (sample_rate as usize, SAMPLE_RATE_HZ as usize);
            let made = Fft::<f32>::new(from, to, step_frames(sample_rate), channels, FixedSync::Both).ok()?;
            delay = made.output_delay();
            fft = Some(made);
        }
        let output = match &fft {
            Some(fft) => vec![vec![0.0; fft.output_frames_max()]; channels],
            None => vec![Vec::new(); channels],
        };
        Some(Self {
            sample_rate,
            fft,
            pending: vec![Vec::new(); channels],
            output,
            frames_in: 0,
            frames_out: 0,
            delay,
        })
    }

    /// The rate that goes in.
    pub(super) fn sample_rate(&self) -> u32 {
        self.sample_rate
    }

    /// Channels that go in and out.
    pub(super) fn channels(&self) -> usize {
        self.pending.len()
    }

    /// Takes frames `from..to` of every channel and hands each finished piece to `emit`, all
    /// channels at once.
    pub(super) fn push<E>(
        &mut self,
        planes: &[Vec<f32>],
        from: usize,
        to: usize,
        mut emit: impl FnMut(&[Vec<f32>], usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.frames_in += (to - from) as u64;
        if self.fft.is_none() {
            self.frames_out += (to - from) as u64;
            return emit(planes, from, to);
        }
        for (pending, plane) in self.pending.iter_mut().zip(planes) {
            pending.extend_from_slice(&plane[from..to]);
        }
        self.run(&mut emit)
    }

    /// Emits what is still inside, so that the output is as long as the input was.
    pub(super) fn finish<E>(
        mut self,
        mut emit: impl FnMut(&[Vec<f32>], usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(step) = self.fft.as_ref().map(|fft| fft.input_frames_next()) else { return Ok(()) };
        let (rate_in, rate_out) = (u64::from(self.sample_rate), u64::from(SAMPLE_RATE_HZ));
        let wanted = (self.frames_in * rate_out + rate_in / 2) / rate_in;
        while self.frames_out < wanted {
            for pending in &mut self.pending {
                pending.resize(step, 0.0);
            }
            let mut left = wanted - self.frames_out;
            self.run(&mut |planes: &[Vec<f32>], from: usize, to: usize| {
                let to = to.min(from + usize::try_from(left).unwrap_or(usize::MAX));
                left -= (to - from) as u64;
                emit(planes, from, to)
            })?;
        }
        Ok(())
    }

    fn run<E>(&mut self, emit: &mut impl FnMut(&[Vec<f32>], usize, usize) -> Result<(), E>) -> Result<(), E> {
        let channels = self.channels();
        let Some(fft) = &mut self.fft else { return Ok(()) };
        let step = fft.input_frames_next();
        let mut used = 0;
        while self.pending.first().is_some_and(|pending| pending.len() - used >= step) {
            let indexing = rubato::Indexing::new().input_offset(used);
            let frames_out = self.output[0].len();
            let input = SequentialSliceOfVecs::new(&self.pending, channels, used + step)
                .expect("every channel holds the step");
            let mut output = SequentialSliceOfVecs::new_mut(&mut self.output, channels, frames_out)
                .expect("output was made for these channels");
            let (_, made) = fft
                .process_into_buffer(&input, &mut output, Some(&indexing))
                .expect("buffers have the sizes that the resampler asks for");
            used += step;
            let dropped = self.delay.min(made);
            self.delay -= dropped;
            self.frames_out += (made - dropped) as u64;
            emit(&self.output, dropped, made)?;
        }
        for pending in &mut self.pending {
            pending.drain(..used);
        }
        Ok(())
    }
}

/// An even multiple of the smallest step, so that the delay is a whole number of frames.
fn step_frames(sample_rate: u32) -> usize {
    let (mut divisor, mut rest) = (sample_rate, SAMPLE_RATE_HZ);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    let smallest = 2 * (sample_rate / divisor);
    (STEP_FRAMES.div_ceil(smallest) * smallest) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(sample_rate: u32, seconds: f64) -> Vec<f32> {
        let frames = (f64::from(sample_rate) * seconds).round() as usize;
        let step = 440.0 * std::f64::consts::TAU / f64::from(sample_rate);
        (0..frames).map(|at| (0.5 * (at as f64 * step).sin()) as f32).collect()
    }

    fn resampled(sample_rate: u32, input: Vec<f32>) -> Vec<f32> {
        let mut resampler = Resampler::new(sample_rate, 1).expect("rate");
        let mut output = Vec::new();
        let mut collect = |planes: &[Vec<f32>], from: usize, to: usize| {
            output.extend_from_slice(&planes[0][from..to]);
            Ok::<(), ()>(())
        };
        let planes = [input];
        for from in (0..planes[0].len()).step_by(777) {
            let to = (from + 777).min(planes[0].len());
            resampler.push(&planes, from, to, &mut collect).expect("infallible");
        }
        resampler.finish(&mut collect).expect("infallible");
        output
    }

    #[test]
    fn length_is_exact_and_nothing_is_shifted() {
        for rate in [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 44_101] {
            let output = resampled(rate, tone(rate, 3.21));
            assert_eq!(output.len(), (3.21 * 16_000.0) as usize, "{rate}");
            let expected = tone(16_000, 3.21);
            // The ends lack what lies beyond them.
            let worst =
                (800..output.len() - 800).map(|at| (output[at] - expected[at]).abs()).fold(0.0, f32::max);
            assert!(worst < 0.01, "{rate}: {worst}");
        }
    }

    #[test]
    fn a_few_frames_are_enough() {
        assert_eq!(resampled(48_000, vec![0.1; 30]).len(), 10);
        assert_eq!(resampled(44_100, Vec::new()).len(), 0);
    }

    #[test]
    fn sound_above_the_new_limit_does_not_fold_back() {
        let step = 12_000.0 * std::f64::consts::TAU / 48_000.0;
        let high = (0..48_000).map(|at| (0.5 * (f64::from(at) * step).sin()) as f32).collect();
        let output = resampled(48_000, high);
        let worst = output[800..15_200].iter().fold(0.0f32, |worst, sample| worst.max(sample.abs()));
        assert!(worst < 0.001, "{worst}");
    }
}
