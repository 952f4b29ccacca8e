//! The segments of a file while they are heard, and what the log keeps of them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::run::Run;
use super::{SegmentResult, TranscribeError};
use crate::engine::{Effort, EngineError, LanguageChoice};
use crate::model::language::Language;
use crate::model::segments::Segment;

/// What was heard of each segment so far.
pub(super) struct Results<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) done: Vec<Option<SegmentResult>>,
    done_frames: u64,
    all_frames: u64,
}

impl<'a> Results<'a> {
    /// What the log has from an earlier run.
    pub(super) fn load(run: &'a Run<'a>) -> Result<Self, TranscribeError> {
        let segments = &run.segments.segments;
        let done: Result<Vec<_>, _> = (0..segments.len()).map(|index| run.log.load(index)).collect();
        let done = done.map_err(TranscribeError::Log)?;
        let done_frames =
            segments.iter().zip(&done).filter(|(_, done)| done.is_some()).map(|(s, _)| length(s)).sum();
        let results = Self { run, done, done_frames, all_frames: segments.iter().map(length).sum() };
        results.report();
        Ok(results)
    }

    fn report(&self) {
        (self.run.on_progress)(self.done_frames as f32 / self.all_frames.max(1) as f32);
    }

    /// Transcribes what is missing, in one language choice for all.
    pub(super) fn fill(&mut self, choice: &LanguageChoice) -> Result<(), TranscribeError> {
        let missing = (0..self.done.len()).filter(|index| self.done[*index].is_none());
        let work: Vec<_> = missing.map(|index| (index, choice.clone())).collect();
        let run = self.run;
        run.transcribe(&work, Effort::Thorough, |index, result| self.keep(index, result))
    }

    pub(super) fn keep(&mut self, index: usize, result: SegmentResult) -> Result<(), TranscribeError> {
        self.run.log.save(index, &result).map_err(TranscribeError::Log)?;
        if self.done[index].is_none() {
            self.done_frames += length(&self.run.segments.segments[index]);
        }
        self.done[index] = Some(result);
        self.report();
        Ok(())
    }

    /// The same segment once more, in this language; not kept yet.
    pub(super) fn again(
        &self,
        index: usize,
        first: SegmentResult,
        language: Language,
        effort: Effort,
    ) -> Result<SegmentResult, TranscribeError> {
        let mut heard = self.several(index..index + 1, LanguageChoice::Known(language), effort)?;
        let second = heard.pop().ok_or(TranscribeError::Engine(EngineError::Stopped))?;
        Ok(SegmentResult { odds: first.odds, ..second })
    }

    /// Several segments side by side, in one choice for all; not kept yet.
    pub(super) fn several(
        &self,
        indices: Range<usize>,
        choice: LanguageChoice,
        effort: Effort,
    ) -> Result<Vec<SegmentResult>, TranscribeError> {
        let work: Vec<_> = indices.map(|index| (index, choice.clone())).collect();
        let mut heard = BTreeMap::new();
        self.run.transcribe(&work, effort, |index, result| {
            heard.insert(index, result);
            Ok(())
        })?;
        Ok(heard.into_values().collect())
    }
}

/// In frames.
pub(super) fn length(segment: &Segment) -> u64 {
    segment.spans.iter().map(|span| span.frames()).sum()
}
