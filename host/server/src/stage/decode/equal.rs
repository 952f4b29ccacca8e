//! Finds channels that carry the same sound, while it streams by.
//!
//! Two channels are equal when, in every block of half a second, their difference is at least
//! 8 dB below the louder of them, or below -80 dB of full scale. A voice in the middle of a
//! stereo recording leaves 11 to 53 dB (measured on a LibriVox reading); a second voice, or a
//! second microphone in the room, leaves a difference as loud as the channels themselves. A
//! channel of silence therefore differs from one with sound, and counts.

/// Difference allowed, as a share of the louder channel's level: -8 dB.
const RELATIVE: f64 = 0.4;

/// Difference always allowed, of full scale: -80 dB.
const ABSOLUTE: f64 = 1e-4;

/// Length of a block.
const BLOCK_S: f64 = 0.5;

/// Two channels that have been equal so far.
#[derive(Debug, Clone)]
struct Pair {
    first: usize,
    second: usize,
    difference: f64,
    first_energy: f64,
    second_energy: f64,
}

impl Pair {
    fn new(first: usize, second: usize) -> Self {
        Self { first, second, difference: 0.0, first_energy: 0.0, second_energy: 0.0 }
    }

    fn add(&mut self, first: &[f32], second: &[f32]) {
        let first_energy = energy(first);
        self.first_energy += first_energy;
        if first == second {
            self.second_energy += first_energy;
            return;
        }
        self.second_energy += energy(second);
        self.difference += first.iter().zip(second).map(|(a, b)| f64::from((a - b) * (a - b))).sum::<f64>();
    }

    fn is_equal_over(&self, frames: usize) -> bool {
        let level = |energy: f64| (energy / frames.max(1) as f64).sqrt();
        let loudest = level(self.first_energy.max(self.second_energy));
        level(self.difference) <= (RELATIVE * loudest).max(ABSOLUTE)
    }
}

fn energy(samples: &[f32]) -> f64 {
    samples.iter().map(|sample| f64::from(sample * sample)).sum()
}

/// Compares all channels of a track with each other.
#[derive(Debug)]
pub(super) struct Equality {
    pairs: Vec<Pair>,
    frames: usize,
}

impl Equality {
    /// All of `channels` count as equal until shown otherwise.
    pub(super) fn new(channels: usize) -> Self {
        let pairs =
            (0..channels).flat_map(|first| (first + 1..channels).map(move |second| Pair::new(first, second)));
        Self { pairs: pairs.collect(), frames: 0 }
    }

    /// Another channel, so far a copy of channel 0.
    pub(super) fn add_copy_of_first(&mut self, channel: usize) {
        let like_first: Vec<usize> = (1..channel).filter(|other| self.are_equal(0, *other)).collect();
        self.pairs.push(Pair::new(0, channel));
        self.pairs.extend(like_first.into_iter().map(|other| Pair::new(other, channel)));
    }

    /// Takes the next `frames` of every channel.
    pub(super) fn add(&mut self, planes: &[Vec<f32>], from: usize, to: usize, sample_rate: u32) {
        if self.pairs.is_empty() {
            return;
        }
        for pair in &mut self.pairs {
            pair.add(&planes[pair.first][from..to], &planes[pair.second][from..to]);
        }
        self.frames += to - from;
        if self.frames as f64 >= BLOCK_S * f64::from(sample_rate) {
            self.end_block();
        }
    }

    /// For each channel the first channel that it equals, itself included.
    pub(super) fn finish(mut self, channels: usize) -> Vec<usize> {
        self.end_block();
        (0..channels)
            .map(|channel| (0..channel).find(|first| self.are_equal(*first, channel)).unwrap_or(channel))
            .collect()
    }

    fn are_equal(&self, first: usize, second: usize) -> bool {
        self.pairs.iter().any(|pair| (pair.first, pair.second) == (first, second))
    }

    fn end_block(&mut self) {
        let frames = self.frames;
        self.pairs.retain(|pair| pair.is_equal_over(frames));
        self.pairs.iter_mut().for_each(|pair| *pair = Pair::new(pair.first, pair.second));
        self.frames = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(step: f32, level: f32) -> Vec<f32> {
        (0..32_000).map(|at| level * (at as f32 * step).sin()).collect()
    }

    fn groups(planes: &[Vec<f32>]) -> Vec<usize> {
        let mut equality = Equality::new(planes.len());
        for from in (0..planes[0].len()).step_by(1000) {
            equality.add(planes, from, from + 1000, 16_000);
        }
        equality.finish(planes.len())
    }

    #[test]
    fn copies_are_equal_and_lossy_copies_too() {
        let speech = tone(0.1, 0.5);
        let noisy: Vec<f32> =
            speech.iter().enumerate().map(|(at, s)| s + if at % 2 == 0 { 0.002 } else { -0.002 }).collect();
        assert_eq!(groups(&[speech.clone(), tone(0.2, 0.5), speech.clone(), noisy]), [0, 1, 0, 0]);
    }

    #[test]
    fn one_voice_in_a_stereo_recording_is_one_channel() {
        let speech = tone(0.1, 0.5);
        let wide: Vec<f32> = speech.iter().zip(tone(0.37, 0.1)).map(|(voice, room)| voice + room).collect();
        assert_eq!(groups(&[speech.clone(), wide]), [0, 0]);
        let second_voice: Vec<f32> = speech.iter().zip(tone(0.37, 0.3)).map(|(a, b)| a + b).collect();
        assert_eq!(groups(&[speech, second_voice]), [0, 1]);
    }

    #[test]
    fn a_difference_in_one_block_is_enough() {
        let speech = tone(0.1, 0.5);
        let mut other = speech.clone();
        other[16_000..20_000].iter_mut().for_each(|sample| *sample = 0.0);
        assert_eq!(groups(&[speech, other]), [0, 1]);
    }

    #[test]
    fn equal_parts_count_for_both_channels() {
        let mut pair = Pair::new(0, 1);
        pair.add(&[0.5], &[1.0]);
        pair.add(&[1.0; 3], &[1.0; 3]);
        assert_eq!((pair.first_energy, pair.second_energy, pair.difference), (3.25, 4.0, 0.25));
    }

    #[test]
    fn level_and_sign_matter() {
        let speech = tone(0.1, 0.5);
        let quieter: Vec<f32> = speech.iter().map(|s| s * 0.5).collect();
        let inverted: Vec<f32> = speech.iter().map(|s| -s).collect();
        assert_eq!(groups(&[speech.clone(), quieter, inverted]), [0, 1, 2]);
    }

    #[test]
    fn silence_differs_from_sound_but_not_from_silence() {
        let silence = vec![0.0; 32_000];
        assert_eq!(groups(&[silence.clone(), tone(0.1, 0.5), silence]), [0, 1, 0]);
    }

    #[test]
    fn a_late_channel_starts_as_a_copy() {
        let planes = vec![tone(0.1, 0.5); 2];
        let mut equality = Equality::new(1);
        equality.add(&planes, 0, 16_000, 16_000);
        equality.add_copy_of_first(1);
        equality.add(&planes, 16_000, 32_000, 16_000);
        assert_eq!(equality.finish(2), [0, 0]);
    }
}
