//! One language for a whole file, found from its first speech.

use super::results::{Results, length};
use super::votes::{POSSIBLE, UNSETTLED, Votes};
use super::{SegmentResult, TranscribeError};
use crate::engine::{Effort, LanguageChoice};
use crate::model::language::Language;

/// Segments that may be heard before the language of the file is settled.
const MOST_PROBES: usize = 4;
/// A language without a clear share is settled by transcribing in this many.
const RIVALS: usize = 4;

impl Results<'_> {
    /// The language of the file: that of the first speech, with more of it heard while
    /// there is little or the model is not sure. What was heard is kept.
    pub(super) fn settle(&mut self, among: &[Language]) -> Result<Language, TranscribeError> {
        if let Some(first) = &self.done[0] {
            // It was saved after the language had been settled.
            return Ok(first.language);
        }
        let (mut probes, votes) = self.probe(among)?;
        let highest = votes.shares().next();
        let mut language = highest.map_or(probes[0].language, |(language, _)| language);
        if highest.is_some_and(|(_, share)| share < UNSETTLED) {
            let rivals = votes.shares().take(RIVALS).filter(|(_, share)| *share >= POSSIBLE);
            language = self.most_confident(&mut probes[0], rivals.map(|(language, _)| language))?;
        }
        for (index, probe) in probes.into_iter().enumerate() {
            let is_final = probe.language == language && probe.flag.is_none();
            let result = if is_final { probe } else { self.again(index, probe, language, Effort::Thorough)? };
            if self.done[index].is_none() {
                self.keep(index, result)?;
            }
        }
        Ok(language)
    }

    /// The first segments, each in a language of its own and quickly, and how they voted. As
    /// many are heard at a time as there are threads; their votes count one after the other,
    /// so that the number of threads decides nothing.
    fn probe(&self, among: &[Language]) -> Result<(Vec<SegmentResult>, Votes), TranscribeError> {
        let segments = &self.run.segments.segments;
        let most = segments.len().min(MOST_PROBES);
        let (mut probes, mut votes) = (Vec::new(), Votes::default());
        while probes.len() < most && !votes.are_settled() {
            let next = probes.len()..most.min(probes.len() + self.run.threads.max(1));
            let heard = self.several(next.clone(), LanguageChoice::Among(among.to_vec()), Effort::Quick)?;
            for (index, probe) in next.zip(heard) {
                if !votes.are_settled() {
                    votes.count(&probe, length(&segments[index]));
                }
                probes.push(probe);
            }
        }
        Ok((probes, votes))
    }

    /// Of several languages the one in which the model is surest of the words of the first
    /// segment, at one pass each. `first` becomes what was heard in that language.
    fn most_confident(
        &self,
        first: &mut SegmentResult,
        rivals: impl Iterator<Item = Language>,
    ) -> Result<Language, TranscribeError> {
        for language in rivals {
            if language != first.language {
                let rival = self.again(0, first.clone(), language, Effort::Quick)?;
                if confidence(&rival) > confidence(first) {
                    *first = rival;
                }
            }
        }
        Ok(first.language)
    }
}

/// Mean over the words; 0.0 without words.
fn confidence(result: &SegmentResult) -> f64 {
    result.words.iter().map(|word| word.confidence).sum::<f64>() / result.words.len().max(1) as f64
}
