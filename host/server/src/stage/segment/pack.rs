//! From stretches of speech to segments: as long as the model can hear, cut at pauses.

use super::SegmentPlan;
use super::regions::frames;
use super::scan::Step;
use crate::engine::LONGEST_SAMPLES;
use crate::model::segments::{Segment, Span};
use tympan_vad::WINDOW;

/// Longest segment: 20 s. The model hears up to 28 s, but its memory grows with the length.
const LONGEST: u64 = frames(20_000);
const _: () = assert!(LONGEST <= LONGEST_SAMPLES as u64);
/// Silence that is kept before and after speech.
const KEPT: u64 = frames(200);
/// A pause is cut out where at least this much of it would go.
const LEAST_CUT: u64 = frames(200);
/// With the language open, a pause of this length ends a segment ...
const UTTERANCE_PAUSE: u64 = frames(350);
/// ... unless the segment is too short to tell its language ...
const LEAST_UTTERANCE: u64 = frames(2000);
/// ... and the pause not long enough to part speakers.
const LONG_PAUSE: u64 = frames(1000);
/// What is heard to find the language of a file: enough to be sure of it ...
const LEAST_FIRST: u64 = frames(5000);
/// ... and little, because another one may follow; a pause of this length ends it early.
const LONGEST_FIRST: u64 = frames(10_000);
const PARTING_PAUSE: u64 = frames(2500);
/// Pauses beyond this length are all equally good places for a cut.
const GOOD_PAUSE: u64 = frames(1000);

/// Segments of one channel, in order.
pub fn pack(regions: &[Span], steps: &[Step], end: u64, channel: u16, plan: SegmentPlan) -> Vec<Segment> {
    let regions = split_long(regions, steps);
    let mut segments = Vec::new();
    let mut first = 0;
    while first < regions.len() {
        let count = take(&regions[first..], ends(plan, first == 0));
        let before = first.checked_sub(1).map_or(0, |at| regions[at].end_frame);
        let after = regions.get(first + count).map_or(end, |region| region.start_frame);
        segments.push(Segment { channel, spans: spans(&regions[first..first + count], before, after) });
        first += count;
    }
    segments
}

/// Where a segment has to end, in samples.
struct Ends {
    /// Longest length.
    longest: u64,
    /// From this length on ...
    complete_length: u64,
    /// ... at a pause of this one.
    complete_pause: u64,
    /// Whatever its length, at a pause of this one.
    pause: u64,
}

const FILLED: Ends =
    Ends { longest: LONGEST, complete_length: u64::MAX, complete_pause: u64::MAX, pause: u64::MAX };
const UTTERANCE: Ends = Ends {
    longest: LONGEST,
    complete_length: LEAST_UTTERANCE,
    complete_pause: UTTERANCE_PAUSE,
    pause: LONG_PAUSE,
};
const FIRST: Ends = Ends {
    longest: LONGEST_FIRST,
    complete_length: LEAST_FIRST,
    complete_pause: LONG_PAUSE,
    pause: PARTING_PAUSE,
};

fn ends(plan: SegmentPlan, is_first: bool) -> Ends {
    match plan {
        SegmentPlan::PerUtterance => UTTERANCE,
        SegmentPlan::FirstApart if is_first => FIRST,
        SegmentPlan::Filled | SegmentPlan::FirstApart => FILLED,
    }
}

/// How many of the regions make up the next segment; at least one.
fn take(regions: &[Span], ends: Ends) -> usize {
    let length = |count: usize| -> u64 {
        spans(&regions[..count], 0, u64::MAX).iter().map(|span| span.frames()).sum()
    };
    let pause = |count: usize| regions[count].start_frame - regions[count - 1].end_frame;
    let mut fitting = 1;
    while fitting < regions.len() && length(fitting + 1) <= ends.longest {
        let is_complete = length(fitting) >= ends.complete_length && pause(fitting) >= ends.complete_pause;
        if is_complete || pause(fitting) >= ends.pause {
            return fitting;
        }
        fitting += 1;
    }
    if fitting == regions.len() {
        return fitting;
    }
    // The longest pause of the second half; of equal ones the last.
    (1..=fitting)
        .filter(|count| *count == fitting || length(*count) >= ends.longest / 2)
        .max_by_key(|count| (pause(*count).min(GOOD_PAUSE), *count))
        .unwrap_or(fitting)
}

/// The samples to hear: regions with some silence around, long pauses left out. Nothing
/// reaches beyond the middle of a pause, so that neighbouring segments do not overlap.
fn spans(regions: &[Span], before: u64, after: u64) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (at, region) in regions.iter().enumerate() {
        let previous = if at == 0 { before } else { regions[at - 1].end_frame };
        let next = regions.get(at + 1).map_or(after, |next| next.start_frame);
        let lead = KEPT.min((region.start_frame - previous).div_ceil(2));
        let tail = KEPT.min((next - region.end_frame) / 2);
        let span = Span { start_frame: region.start_frame - lead, end_frame: region.end_frame + tail };
        match spans.last_mut() {
            Some(last) if span.start_frame - last.end_frame < LEAST_CUT => last.end_frame = span.end_frame,
            _ => spans.push(span),
        }
    }
    spans
}

/// Cuts regions without a pause that are longer than a segment, at their quietest places.
fn split_long(regions: &[Span], steps: &[Step]) -> Vec<Span> {
    let mut short = Vec::with_capacity(regions.len());
    for region in regions {
        let mut rest = *region;
        while rest.frames() + 2 * KEPT > LONGEST {
            let cut = quietest(steps, rest.start_frame + LONGEST / 2, rest.start_frame + LONGEST - 2 * KEPT);
            short.push(Span { end_frame: cut, ..rest });
            rest.start_frame = cut;
        }
        short.push(rest);
    }
    short
}

/// The middle of the quietest 96 ms between two places.
fn quietest(steps: &[Step], from: u64, to: u64) -> u64 {
    let step = |frame: u64| usize::try_from(frame).unwrap_or(usize::MAX) / WINDOW;
    let power = |at: usize| -> f32 { steps[at - 1..=at + 1].iter().map(|step| step.power).sum() };
    let inner = step(from).max(1)..step(to).min(steps.len().saturating_sub(1));
    let quiet = inner.min_by(|a, b| power(*a).total_cmp(&power(*b)));
    quiet.map_or(to, |at| (at * WINDOW + WINDOW / 2) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::seconds;
    use super::*;

    fn packed(regions: &[(f64, f64)], end_s: f64, plan: SegmentPlan) -> Vec<Vec<(f64, f64)>> {
        let regions: Vec<Span> = regions.iter().map(|(start, end)| seconds(*start, *end)).collect();
        let end = seconds(0.0, end_s).end_frame;
        let steps =
            vec![Step { probability: 1.0, power: 1.0 }; usize::try_from(end).expect("small") / WINDOW + 1];
        let round = |frame: u64| (frame as f64 / 160.0).round() / 100.0;
        let spans = |segment: Segment| {
            segment.spans.iter().map(|s| (round(s.start_frame), round(s.end_frame))).collect()
        };
        pack(&regions, &steps, end, 0, plan).into_iter().map(spans).collect()
    }

    #[test]
    fn long_pauses_are_left_out_and_short_ones_kept() {
        assert_eq!(
            packed(&[(1.0, 2.0), (2.5, 3.0), (9.0, 10.0)], 10.1, SegmentPlan::Filled),
            [[(0.8, 3.2), (8.8, 10.05)]]
        );
    }

    #[test]
    fn a_full_segment_ends_at_its_longest_late_pause() {
        let regions = [(0.0, 6.0), (6.2, 11.5), (12.4, 14.5), (14.7, 20.0), (20.2, 27.0)];
        let segments = packed(&regions, 27.0, SegmentPlan::Filled);
        assert_eq!(segments, [[(0.0, 11.7)], [(12.2, 27.0)]]);
    }

    #[test]
    fn nothing_is_longer_than_the_model_hears_and_nothing_is_lost() {
        let segments = packed(&[(0.0, 100.0)], 100.0, SegmentPlan::Filled);
        assert!(segments.len() >= 5);
        let mut at = 0.0;
        for segment in &segments {
            let [(start, end)] = segment[..] else { panic!("one span each") };
            assert_eq!(start, at);
            assert!(end - start <= 20.0);
            at = end;
        }
        assert_eq!(at, 100.0);
    }

    #[test]
    fn with_the_language_open_pauses_part_utterances_but_not_fragments() {
        let regions = [(0.0, 3.0), (3.5, 4.0), (4.5, 8.0), (10.0, 12.5)];
        let segments = packed(&regions, 12.5, SegmentPlan::PerUtterance);
        assert_eq!(segments, [vec![(0.0, 3.2)], vec![(3.3, 8.2)], vec![(9.8, 12.5)]]);
    }

    #[test]
    fn the_first_utterance_is_apart_where_it_tells_the_language() {
        let regions = [(0.0, 2.5), (3.5, 6.0), (7.0, 9.0), (12.0, 13.0)];
        let apart = packed(&regions, 13.0, SegmentPlan::FirstApart);
        let expected = [vec![(0.0, 2.7), (3.3, 6.2)], vec![(6.8, 9.2), (11.8, 13.0)]];
        assert_eq!(apart, expected, "5 s, then to a pause of 1 s");
        let short = packed(&[(0.0, 2.0), (4.5, 6.0)], 6.0, SegmentPlan::FirstApart);
        assert_eq!(short, [[(0.0, 2.2)], [(4.3, 6.0)]], "to a pause of 2.5 s");
        let steady = [(0.0, 4.0), (4.5, 7.0), (7.3, 9.9), (10.2, 14.0)];
        assert_eq!(packed(&steady, 14.0, SegmentPlan::FirstApart)[0], [(0.0, 7.15)], "at most 10 s");
    }
}
