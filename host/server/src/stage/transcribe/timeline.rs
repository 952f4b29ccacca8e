//! Places in a segment and the same places in the file.
//!
//! A segment leaves out silence, so its clock is not the file's. Everything here is exact
//! to the sample.

use crate::engine::SAMPLE_RATE_HZ;
use crate::model::segments::{Segment, Segments, Span};

/// Seconds of a number of samples.
pub fn seconds(frames: u64) -> f64 {
    frames as f64 / f64::from(SAMPLE_RATE_HZ)
}

/// Rounds to thousandths, so that numbers are the same after a checkpoint is read back.
pub fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The clock of one segment.
pub struct Timeline {
    spans: Vec<Span>,
    /// Speech in seconds of the segment, in order.
    pub speech_s: Vec<(f64, f64)>,
    /// Length of the segment in seconds.
    pub length_s: f64,
}

impl Timeline {
    /// For a segment of `segments`.
    pub fn new(segment: &Segment, segments: &Segments) -> Self {
        let mut speech_s = Vec::new();
        let mut joined = 0;
        for span in &segment.spans {
            let of_channel = segments.speech.iter().filter(|speech| speech.channel == segment.channel);
            for speech in of_channel {
                let start = speech.span.start_frame.max(span.start_frame);
                let end = speech.span.end_frame.min(span.end_frame);
                if start < end {
                    let place = |frame: u64| seconds(joined + frame - span.start_frame);
                    speech_s.push((place(start), place(end)));
                }
            }
            joined += span.frames();
        }
        Self { spans: segment.spans.clone(), speech_s, length_s: seconds(joined) }
    }

    /// Seconds of the file where something begins. Where two spans meet, the later one.
    pub fn start_in_file(&self, at_s: f64) -> f64 {
        self.place(at_s, |position, end| position < end)
    }

    /// Seconds of the file where something ends. Where two spans meet, the earlier one.
    pub fn end_in_file(&self, at_s: f64) -> f64 {
        self.place(at_s, |position, end| position <= end)
    }

    /// Where speech next begins, in seconds of the segment; the place itself inside speech.
    pub fn onset_after(&self, at_s: f64) -> f64 {
        let next = self.speech_s.iter().find(|(_, end_s)| *end_s > at_s);
        next.map_or(at_s, |(start_s, _)| start_s.max(at_s))
    }

    /// The place for a cut near the middle of a part, in samples of the segment: a pause in
    /// its inner half, or else the middle.
    pub fn pause_near(&self, start: usize, end: usize) -> usize {
        let sample = |at_s: f64| (at_s * f64::from(SAMPLE_RATE_HZ)) as usize;
        let quarter = (end - start) / 4;
        let pauses = self.speech_s.windows(2).map(|pair| sample((pair[0].1 + pair[1].0) / 2.0));
        let middle = start + 2 * quarter;
        pauses
            .filter(|at| (start + quarter..=end - quarter).contains(at))
            .min_by_key(|at| at.abs_diff(middle))
            .unwrap_or(middle)
    }

    fn place(&self, at_s: f64, is_inside: impl Fn(f64, f64) -> bool) -> f64 {
        let mut joined_s = 0.0;
        for span in &self.spans {
            let length_s = seconds(span.frames());
            if is_inside(at_s, joined_s + length_s) {
                return seconds(span.start_frame) + (at_s - joined_s).max(0.0);
            }
            joined_s += length_s;
        }
        self.spans.last().map_or(0.0, |span| seconds(span.end_frame))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::model::segments::Speech;
    use crate::model::transcript::Word;

    pub fn span(start_s: f64, end_s: f64) -> Span {
        let frame = |s: f64| (s * f64::from(SAMPLE_RATE_HZ)).round() as u64;
        Span { start_frame: frame(start_s), end_frame: frame(end_s) }
    }

    pub fn segment(channel: u16, spans: &[(f64, f64)]) -> Segment {
        Segment { channel, spans: spans.iter().map(|(start, end)| span(*start, *end)).collect() }
    }

    pub fn word(text: &str, start: f64, end: f64) -> Word {
        Word { word: text.to_owned(), start, end, confidence: 0.5 }
    }

    #[test]
    fn places_after_a_cut_are_moved_by_what_was_cut() {
        let segment = segment(1, &[(10.0, 12.0), (20.0, 25.0)]);
        let speech = [(1, 10.2, 11.8), (0, 0.0, 60.0), (1, 20.5, 24.0)];
        let speech = speech.map(|(channel, start, end)| Speech { channel, span: span(start, end) }).to_vec();
        let timeline = Timeline::new(&segment, &Segments { segments: vec![], speech });
        assert_eq!(timeline.length_s, 7.0);
        let speech_s: Vec<_> =
            timeline.speech_s.iter().map(|(a, b)| (thousandths(*a), thousandths(*b))).collect();
        assert_eq!(speech_s, [(0.2, 1.8), (2.5, 6.0)]);
        assert_eq!(thousandths(timeline.start_in_file(1.5)), 11.5);
        assert_eq!(thousandths(timeline.start_in_file(2.5)), 20.5);
        assert_eq!((timeline.start_in_file(2.0), timeline.end_in_file(2.0)), (20.0, 12.0));
        assert_eq!(timeline.end_in_file(99.0), 25.0);
    }
}
