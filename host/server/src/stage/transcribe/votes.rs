//! The language of a file by what its first segments tell, one after the other.

use super::{Flag, SegmentResult};
use crate::model::language::Language;

/// Enough speech to be sure of its language, in samples of a segment (10 s) ...
const ENOUGH_FRAMES: u64 = 10 * crate::engine::SAMPLE_RATE_HZ as u64;
/// ... or enough certainty.
pub(super) const SURE: f32 = 0.9;
/// With a smaller share than this a language is not settled by its share.
pub(super) const UNSETTLED: f32 = 0.6;
/// With a smaller share than this a language is out of the question.
pub(super) const POSSIBLE: f32 = 0.05;

/// Votes so far.
#[derive(Default)]
pub(super) struct Votes {
    /// Frames that speak for each language, the most first.
    frames: Vec<(Language, f32)>,
    heard_frames: u64,
}

impl Votes {
    /// Counts a segment. Text that nobody said has no language.
    pub(super) fn count(&mut self, segment: &SegmentResult, length_frames: u64) {
        if segment.flag == Some(Flag::Dropped) {
            return;
        }
        self.heard_frames += length_frames;
        for (language, share) in &segment.odds {
            let weight = share * length_frames as f32;
            match self.frames.iter_mut().find(|(other, _)| other == language) {
                Some((_, total)) => *total += weight,
                None => self.frames.push((*language, weight)),
            }
        }
        // Stable: of equal ones the first to be heard stays first.
        self.frames.sort_by(|a, b| b.1.total_cmp(&a.1));
    }

    /// Whether more speech would hardly change the outcome.
    pub(super) fn are_settled(&self) -> bool {
        let highest = self.shares().next().map_or(0.0, |(_, share)| share);
        highest >= SURE || highest >= UNSETTLED && self.heard_frames >= ENOUGH_FRAMES
    }

    /// Each language with its share, 0.0 to 1.0, the highest first.
    pub(super) fn shares(&self) -> impl Iterator<Item = (Language, f32)> {
        let heard_frames = self.heard_frames.max(1) as f32;
        self.frames.iter().map(move |(language, frames)| (*language, frames / heard_frames))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = crate::engine::SAMPLE_RATE_HZ as u64;

    fn heard(odds: &[(&str, f32)]) -> SegmentResult {
        let odds = odds.iter().map(|(code, share)| (Language::parse(code).expect("a language"), *share));
        let odds: Vec<_> = odds.collect();
        SegmentResult { words: Vec::new(), language: odds[0].0, odds, flag: None }
    }

    #[test]
    fn certainty_or_length_settles_it() {
        for (share, seconds, is_settled) in
            [(0.9, 1, true), (0.89, 9, false), (0.6, 10, true), (0.59, 20, false)]
        {
            let mut votes = Votes::default();
            votes.count(&heard(&[("en", share), ("de", 1.0 - share)]), seconds * SECOND);
            assert_eq!(votes.are_settled(), is_settled, "{share} of {seconds} s");
        }
    }

    #[test]
    fn long_segments_weigh_more_and_invented_ones_nothing() {
        let mut votes = Votes::default();
        votes.count(&heard(&[("en", 0.8)]), SECOND);
        votes.count(&heard(&[("de", 0.8)]), 3 * SECOND);
        votes.count(&SegmentResult { flag: Some(Flag::Dropped), ..heard(&[("fr", 1.0)]) }, 60 * SECOND);
        let shares: Vec<_> = votes.shares().map(|(language, share)| (language.code(), share)).collect();
        assert_eq!(shares.iter().map(|(code, _)| *code).collect::<Vec<_>>(), ["de", "en"]);
        assert!((shares[0].1 - 0.6).abs() < 1e-6 && (shares[1].1 - 0.2).abs() < 1e-6, "{shares:?}");
    }
}
