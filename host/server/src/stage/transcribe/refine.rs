//! Word times moved to where the sound changes, for jobs that ask for accurate ones.
//!
//! The model's times are right to a few positions of 20 ms and know nothing of pauses too
//! short for the voice activity detector. Between two words the quietest place nearby is
//! the likelier border, and a longer quiet stretch belongs to neither. The numbers are those
//! with the least mean error against the reference of `tests/fixtures/words`.

use crate::engine::SAMPLE_RATE_HZ;

/// From one loudness to the next: 10 ms.
const STEP: usize = SAMPLE_RATE_HZ as usize / 100;
/// Samples that one loudness is measured over: 25 ms.
const WINDOW: usize = SAMPLE_RATE_HZ as usize / 40;
const STEPS_A_SECOND: f64 = 100.0;

/// A stretch is quiet below this part of the way from background to speech ...
const QUIET: f32 = 0.2;
/// ... and in any case this far below speech, in dB.
const SURELY_QUIET_DB: f32 = 40.0;
/// Quiet for so long (100 ms) is a pause: the closure of a consonant is shorter.
const PAUSE_STEPS: usize = 10;
/// How far a pause is looked for before a border ...
const BEFORE_S: f64 = 0.1;
/// ... and after it. Farther, because the model's words reach back over pauses.
const AFTER_S: f64 = 0.4;
/// What a word keeps of its length on each side.
const KEPT_S: f64 = 0.05;
/// How far a border moves where there is no pause.
const NEAR_S: f64 = 0.03;
/// What each step away must gain in quiet, in dB.
const GAIN_DB: f32 = 2.0;
/// Words that are farther apart have a border of their own each.
const APART_S: f64 = 0.03;

/// How loud a segment is over time.
pub struct Loudness {
    /// One a step, in dB of full scale.
    steps_db: Vec<f32>,
    /// Below this nobody speaks, in dB.
    quiet_db: f32,
}

impl Loudness {
    /// Measures the samples of a segment.
    pub fn of(samples: &[f32]) -> Self {
        let step_db = |at: usize| {
            let middle = at * STEP;
            let end = (middle + WINDOW / 2).min(samples.len());
            let window = &samples[middle.saturating_sub(WINDOW / 2).min(end)..end];
            let power = window.iter().map(|sample| sample * sample).sum::<f32>() / WINDOW as f32;
            10.0 * (power + 1e-10).log10()
        };
        let steps_db: Vec<f32> = (0..=samples.len() / STEP).map(step_db).collect();
        let mut sorted = steps_db.clone();
        sorted.sort_by(f32::total_cmp);
        let part = |part: usize| sorted[(sorted.len() - 1) * part / 100];
        let (background_db, speech_db) = (part(5), part(90));
        let quiet_db = (background_db + QUIET * (speech_db - background_db)).max(speech_db - SURELY_QUIET_DB);
        Self { steps_db, quiet_db }
    }

    /// The border between two words that follow each other, as the end of the first and the
    /// start of the second. `first` and `second` are their starts and ends in seconds.
    pub fn border(&self, first: (f64, f64), second: (f64, f64)) -> (f64, f64) {
        let from_s = (first.1 - BEFORE_S).max(first.0 + KEPT_S);
        let to_s = (second.0 + AFTER_S).min(second.1 - KEPT_S);
        if second.0 - first.1 > APART_S || to_s <= from_s {
            return (first.1, second.0);
        }
        if let Some((start, end)) = self.pause(self.step(from_s), self.step(to_s)) {
            return (start as f64 / STEPS_A_SECOND, end as f64 / STEPS_A_SECOND);
        }
        let (from, to) = (self.step(from_s.max(second.0 - NEAR_S)), self.step(to_s.min(second.0 + NEAR_S)));
        let border = self.step(second.0);
        let cost = |at: &usize| self.steps_db[*at] + GAIN_DB * at.abs_diff(border) as f32;
        let quietest = (from..=to).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        quietest.map_or((first.1, second.0), |at| (at as f64 / STEPS_A_SECOND, at as f64 / STEPS_A_SECOND))
    }

    /// The longest pause from one step to another: its first step and the first after it.
    fn pause(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let mut longest: Option<(usize, usize)> = None;
        let mut start = from;
        for at in from..=to + 1 {
            if at <= to && self.steps_db[at] < self.quiet_db {
                continue;
            }
            let is_longer = longest.is_none_or(|(start_of, end_of)| at - start > end_of - start_of);
            if at - start >= PAUSE_STEPS && is_longer {
                longest = Some((start, at));
            }
            start = at + 1;
        }
        longest
    }

    fn step(&self, at_s: f64) -> usize {
        // Negative seconds become 0.
        ((at_s * STEPS_A_SECOND).round() as usize).min(self.steps_db.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tone of the given amplitudes, each for so many seconds.
    fn sound(parts: &[(f32, f64)]) -> Loudness {
        let tone = |(amplitude, length_s): &(f32, f64)| {
            let count = (length_s * f64::from(SAMPLE_RATE_HZ)) as usize;
            (0..count).map(|at| amplitude * (at as f32 * 0.3).sin()).collect::<Vec<_>>()
        };
        Loudness::of(&parts.iter().flat_map(tone).collect::<Vec<_>>())
    }

    fn border(loudness: &Loudness, first: (f64, f64), second: (f64, f64)) -> (f64, f64) {
        let round = |s: f64| (s * 100.0).round() / 100.0;
        let (end_s, start_s) = loudness.border(first, second);
        (round(end_s), round(start_s))
    }

    #[test]
    fn a_pause_belongs_to_neither_word() {
        let loudness = sound(&[(0.5, 1.0), (0.0001, 0.2), (0.5, 1.0)]);
        // From the first window without any of the tone to the first with some of it again.
        assert_eq!(border(&loudness, (0.5, 0.95), (0.95, 1.6)), (1.02, 1.19));
    }

    #[test]
    fn without_a_pause_the_border_is_the_quietest_place_nearby() {
        let loudness = sound(&[(0.5, 1.0), (0.05, 0.03), (0.5, 1.0), (0.0001, 0.2)]);
        let (end_s, start_s) = border(&loudness, (0.5, 0.99), (0.99, 1.6));
        assert_eq!(end_s, start_s);
        assert!((1.0..=1.03).contains(&end_s), "{end_s}");
        assert_eq!(border(&loudness, (0.5, 0.8), (0.8, 1.6)), (0.8, 0.8), "none nearby");
    }

    #[test]
    fn short_words_and_words_apart_stay() {
        let loudness = sound(&[(0.5, 1.0), (0.0001, 0.2), (0.5, 1.0)]);
        assert_eq!(border(&loudness, (0.98, 1.0), (1.0, 1.02)), (1.0, 1.0));
        assert_eq!(border(&loudness, (0.5, 1.0), (1.1, 1.5)), (1.0, 1.1));
    }

    #[test]
    fn any_length_of_sound_can_be_measured() {
        for length in [0, 1, STEP, STEP + 1] {
            let loudness = Loudness::of(&vec![0.1; length]);
            assert!(border(&loudness, (0.0, 5.0), (5.0, 9.0)).0.is_finite());
        }
    }
}
