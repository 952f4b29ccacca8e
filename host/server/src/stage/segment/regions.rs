//! From probabilities to stretches of speech.

use super::scan::Step;
use crate::engine::SAMPLE_RATE_HZ;
use crate::model::segments::Span;
use tympan_vad::WINDOW;

/// Speech begins at this probability ...
const ONSET: f32 = 0.5;
/// ... and goes on down to this one.
const OFFSET: f32 = 0.35;
/// Speech ends when it stays below for this many steps (192 ms).
const SILENT_STEPS: usize = 6;
/// Shorter stretches are clicks and coughs (160 ms) ...
const LEAST_STEPS: usize = 5;
/// ... and so are those in which the detector is never sure.
const LEAST_PEAK: f32 = 0.6;

/// Stretches of speech in order, without padding, at least [`SILENT_STEPS`] apart.
pub fn find(steps: &[Step], frames: u64) -> Vec<Span> {
    let mut regions = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    for (at, step) in steps.iter().enumerate() {
        open = match open {
            None if step.probability >= ONSET => Some((at, at)),
            Some((start, _)) if step.probability >= OFFSET => Some((start, at)),
            Some((start, last)) if at - last >= SILENT_STEPS => {
                regions.extend(close(steps, start, last, frames));
                None
            }
            unchanged => unchanged,
        };
    }
    if let Some((start, last)) = open {
        regions.extend(close(steps, start, last, frames));
    }
    regions
}

fn close(steps: &[Step], start: usize, last: usize, frames: u64) -> Option<Span> {
    let peak = steps[start..=last].iter().map(|step| step.probability).fold(0.0, f32::max);
    let is_speech = last + 1 - start >= LEAST_STEPS && peak >= LEAST_PEAK;
    let frame = |step: usize| ((step * WINDOW) as u64).min(frames);
    is_speech.then(|| Span { start_frame: frame(start), end_frame: frame(last + 1) })
}

/// Samples of a number of milliseconds.
pub const fn frames(milliseconds: u64) -> u64 {
    milliseconds * SAMPLE_RATE_HZ as u64 / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(probabilities: &[(f32, usize)]) -> Vec<Step> {
        let repeat = |(probability, count): &(f32, usize)| {
            vec![Step { probability: *probability, power: 0.0 }; *count]
        };
        probabilities.iter().flat_map(repeat).collect()
    }

    fn found(probabilities: &[(f32, usize)]) -> Vec<(u64, u64)> {
        let steps = steps(probabilities);
        let regions = find(&steps, (steps.len() * WINDOW) as u64);
        let step = |frame: u64| frame / WINDOW as u64;
        regions.iter().map(|span| (step(span.start_frame), step(span.end_frame))).collect()
    }

    #[test]
    fn hysteresis_holds_through_doubt_and_short_gaps() {
        assert_eq!(found(&[(0.1, 5), (0.9, 10), (0.4, 10), (0.1, 5), (0.9, 5), (0.1, 9)]), [(5, 35)]);
    }

    #[test]
    fn a_pause_parts_two_stretches() {
        assert_eq!(found(&[(0.9, 10), (0.1, 6), (0.9, 10)]), [(0, 10), (16, 26)]);
    }

    #[test]
    fn clicks_and_doubts_are_no_speech() {
        assert_eq!(found(&[(0.1, 5), (0.9, 4), (0.1, 9), (0.55, 20), (0.0, 9)]), []);
    }

    #[test]
    fn the_end_of_the_file_bounds_the_last_stretch() {
        let steps = steps(&[(0.9, 10)]);
        assert_eq!(find(&steps, 5000), [Span { start_frame: 0, end_frame: 5000 }]);
    }
}
