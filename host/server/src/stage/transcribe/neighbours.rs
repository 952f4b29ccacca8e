//! A language for each utterance, and what it is where one alone does not tell.

use super::TranscribeError;
use super::results::{Results, length};
use super::votes::{POSSIBLE, SURE};
use crate::engine::Effort;
use crate::model::language::Language;

/// An utterance shorter than this (2.5 s) ...
const SHORT_FRAMES: u64 = 5 * crate::engine::SAMPLE_RATE_HZ as u64 / 2;
/// ... or less certain than this takes the language of its neighbour, unless it is [`SURE`] in
/// itself, or that one is not even [`POSSIBLE`].
const UNSURE: f32 = 0.7;

impl Results<'_> {
    /// Utterances that do not tell their language take that of the nearest one of the same
    /// channel that does.
    pub(super) fn follow_neighbours(&mut self) -> Result<(), TranscribeError> {
        let segments = &self.run.segments.segments;
        let clear: Vec<Option<Language>> =
            (0..self.done.len()).map(|index| self.clear_language(index)).collect();
        for index in 0..self.done.len() {
            let Some(result) = self.done[index].clone().filter(|_| clear[index].is_none()) else {
                continue;
            };
            let channel = segments[index].channel;
            let near = |other: &usize| segments[*other].channel == channel && clear[*other].is_some();
            let neighbour = (0..index).rev().find(near).or_else(|| (index + 1..clear.len()).find(near));
            let Some(language) = neighbour.and_then(|other| clear[other]) else {
                continue;
            };
            let is_possible =
                result.odds.iter().any(|(other, share)| *other == language && *share >= POSSIBLE);
            if language != result.language && is_possible {
                let result = self.again(index, result, language, Effort::Thorough)?;
                self.keep(index, result)?;
            }
        }
        Ok(())
    }

    /// The language of an utterance that is long and certain enough, by what was first heard.
    fn clear_language(&self, index: usize) -> Option<Language> {
        let result = self.done[index].as_ref()?;
        let (language, share) = *result.odds.first()?;
        let is_long = length(&self.run.segments.segments[index]) >= SHORT_FRAMES;
        (share >= UNSURE && is_long || share >= SURE).then_some(language)
    }
}
