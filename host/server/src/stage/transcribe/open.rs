//! A segment of which parts are still out, and what becomes of the parts that came back.

use super::invented::is_invented;
use super::missed::{around, missed};
use super::piece::characters;
use super::refine::Loudness;
use super::run::Run;
use super::timeline::Timeline;
use super::words::words;
use super::{Flag, SegmentResult, TranscribeError};
use crate::engine::{Effort, Recognised, SAMPLE_RATE_HZ};
use crate::model::language::Language;

/// Not halved any further when the text runs out of room: 4 s.
const LEAST_HALVED: usize = 4 * SAMPLE_RATE_HZ as usize;

/// A segment or a part of it: samples of the segment's own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Which segment.
    pub index: usize,
    /// First sample.
    pub start: usize,
    /// One past the last sample.
    pub end: usize,
}

/// What is known of a segment so far.
pub struct Open {
    /// Which segment.
    pub index: usize,
    /// Parts that the model still has.
    pub parts_out: usize,
    heard: Vec<(Part, Recognised)>,
    odds: Vec<(Language, f32)>,
    was_missed: bool,
}

impl Open {
    /// The whole segment is out.
    pub fn new(index: usize) -> Self {
        Self { index, parts_out: 1, heard: Vec::new(), odds: Vec::new(), was_missed: false }
    }

    /// Keeps what was heard of a part, and says which parts of it have to be heard by themselves:
    /// both halves where the text ran out of room, and speech that was passed over. A quick
    /// pass that passed over speech is only called doubtful.
    pub fn take(
        &mut self,
        part: Part,
        mut recognised: Recognised,
        effort: Effort,
        timeline: &Timeline,
    ) -> Vec<Part> {
        if !recognised.odds.is_empty() {
            self.odds = odds(&recognised);
        }
        let mut further = Vec::new();
        if recognised.is_cut && part.end - part.start > LEAST_HALVED {
            let middle = timeline.pause_near(part.start, part.end);
            further.extend([Part { end: middle, ..part }, Part { start: middle, ..part }]);
        } else if let Some(missed) = missed(&recognised, part, timeline) {
            if effort == Effort::Quick {
                recognised.is_doubtful = true;
                self.heard.push((part, recognised));
            } else {
                self.was_missed = true;
                self.heard.extend(around(recognised, part, missed));
                further.push(missed);
            }
        } else {
            self.heard.push((part, recognised));
        }
        self.parts_out = self.parts_out - 1 + further.len();
        further
    }

    /// All parts as one segment.
    pub fn result(mut self, run: &Run<'_>) -> Result<SegmentResult, TranscribeError> {
        self.heard.sort_by_key(|(part, _)| part.start);
        let segment = &run.segments.segments[self.index];
        let timeline = run.timeline(self.index);
        let language = self.heard.first().expect("a segment has a part").1.language;
        let flag = self.was_missed.then_some(Flag::DecodedAgain);
        let mut result = SegmentResult { words: Vec::new(), language, odds: self.odds, flag };
        let mut all = Vec::new();
        for (part, recognised) in &self.heard {
            let offset_s = part.start as f64 / f64::from(SAMPLE_RATE_HZ);
            let onset_s = timeline.onset_after(offset_s);
            let heard = characters(&recognised.tokens, onset_s, offset_s);
            let text: String = heard.iter().map(|character| character.character).collect();
            if is_invented(recognised, &text) {
                result.flag = Some(Flag::Dropped);
                continue;
            }
            let is_again = recognised.attempts > 1;
            result.flag = match result.flag {
                None if is_again => Some(Flag::DecodedAgain),
                flag => flag,
            };
            if recognised.is_doubtful && result.flag != Some(Flag::Dropped) {
                result.flag = Some(Flag::Doubtful);
            }
            all.extend(heard);
        }
        let loudness = if run.accurate_word_times { Some(Loudness::of(&run.read(segment)?)) } else { None };
        result.words = words(&all, result.language, &timeline, loudness.as_ref());
        Ok(result)
    }
}
/// To four digits, so that they are the same after a checkpoint is read back.
fn odds(recognised: &Recognised) -> Vec<(Language, f32)> {
    let round = |share: f32| (share * 10_000.0).round() / 10_000.0;
    recognised
        .odds
        .iter()
        .map(|(language, share)| (*language, round(*share)))
        .filter(|(_, share)| *share > 0.0)
        .collect()
}
