//! How much of the speech has words: what a client would otherwise have to find by ear.

use serde::{Deserialize, Serialize};

use super::SegmentResult;
use super::timeline::{seconds, thousandths};
use crate::model::segments::Segments;

/// Pauses between words up to this length belong to the words.
const BRIDGED_S: f64 = 0.5;
/// Shorter stretches without words are not worth a look.
const LEAST_UNCOVERED_S: f64 = 1.0;

/// A stretch of speech without words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Uncovered {
    /// Audio track of the file, from 0.
    pub channel: u16,
    /// Seconds of the file.
    pub start_s: f64,
    /// Seconds of the file.
    pub end_s: f64,
}

/// How much of the speech has words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Speech by the voice activity detector, all channels together.
    pub speech_s: f64,
    /// The part of it that lies under words.
    pub covered_s: f64,
    /// The longer stretches without words.
    pub uncovered: Vec<Uncovered>,
}

/// Compares the speech with the words of the same channel.
pub fn measure(segments: &Segments, results: &[SegmentResult]) -> Coverage {
    let mut coverage = Coverage::default();
    let mut channels: Vec<u16> = segments.speech.iter().map(|speech| speech.channel).collect();
    channels.dedup();
    for channel in channels {
        let covered = covered(segments, results, channel);
        for speech in segments.speech.iter().filter(|speech| speech.channel == channel) {
            let (start_s, end_s) = (seconds(speech.span.start_frame), seconds(speech.span.end_frame));
            coverage.speech_s += end_s - start_s;
            let mut at_s = start_s;
            let inside = covered.iter().filter(|(from_s, to_s)| *to_s > start_s && *from_s < end_s);
            for (from_s, to_s) in inside {
                coverage.gap(channel, at_s, from_s.max(start_s));
                coverage.covered_s += to_s.min(end_s) - from_s.max(at_s).min(end_s);
                at_s = to_s.min(end_s);
            }
            coverage.gap(channel, at_s, end_s);
        }
    }
    coverage.speech_s = thousandths(coverage.speech_s);
    coverage.covered_s = thousandths(coverage.covered_s);
    coverage
}

impl Coverage {
    fn gap(&mut self, channel: u16, start_s: f64, end_s: f64) {
        if end_s - start_s >= LEAST_UNCOVERED_S {
            self.uncovered.push(Uncovered { channel, start_s, end_s });
        }
    }
}

/// Stretches under words, bridged, in order.
fn covered(segments: &Segments, results: &[SegmentResult], channel: u16) -> Vec<(f64, f64)> {
    let mut stretches: Vec<(f64, f64)> = Vec::new();
    let of_channel = segments.segments.iter().zip(results).filter(|(segment, _)| segment.channel == channel);
    for word in of_channel.flat_map(|(_, result)| &result.words) {
        match stretches.last_mut() {
            Some((_, end_s)) if word.start - *end_s <= BRIDGED_S => *end_s = end_s.max(word.end),
            _ => stretches.push((word.start, word.end)),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::super::timeline::tests::{segment, word};
    use super::*;
    use crate::model::language::Language;
    use crate::model::segments::Speech;

    #[test]
    fn speech_without_words_is_reported() {
        let segment = segment(0, &[(0.0, 10.0)]);
        let speech = vec![Speech { channel: 0, span: segment.spans[0] }];
        let segments = Segments { segments: vec![segment], speech };
        let language = Language::parse("en").expect("a language");
        let words = vec![word(" a", 1.5, 2.0), word(" b", 2.4, 3.0), word(" c", 8.0, 9.5)];
        let results = [SegmentResult { words, language, odds: vec![], flag: None }];
        let coverage = measure(&segments, &results);
        assert_eq!((coverage.speech_s, coverage.covered_s), (10.0, 3.0));
        let places: Vec<_> = coverage.uncovered.iter().map(|gap| (gap.start_s, gap.end_s)).collect();
        assert_eq!(places, [(0.0, 1.5), (3.0, 8.0)]);
    }
}
