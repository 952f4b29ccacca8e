//! Which language a file is transcribed in: told, found once, or found for every utterance.

use std::collections::BTreeMap;
use std::ops::Range;

use super::run::Run;
use super::votes::{SURE, UNSETTLED, Votes};
use super::{SegmentResult, TranscribeError, TranscribePlan};
use crate::engine::{Effort, EngineError, LanguageChoice, SpeechModelSettings};
use crate::model::language::Language;
use crate::model::segments::Segment;

/// Segments that may be heard before the language of the file is settled.
const MOST_PROBES: usize = 4;
/// A language without a clear share is settled by transcribing in this many.
const RIVALS: usize = 4;
/// An utterance shorter than this (2.5 s) ...
const SHORT_FRAMES: u64 = 5 * crate::engine::SAMPLE_RATE_HZ as u64 / 2;
/// ... or less certain than this takes the language of its neighbour ...
const UNSURE: f32 = 0.7;
/// ... unless it is [`SURE`] in itself, or that one is out of the question.
const POSSIBLE: f32 = 0.05;

/// What the request and the model allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    /// One language.
    Told(Language),
    /// One of these for the whole file; empty means any.
    Once(Vec<Language>),
    /// One of these for each utterance; empty means any.
    Each(Vec<Language>),
}

/// The rules of the model applied to the request.
pub fn plan(plan: &TranscribePlan, rules: &SpeechModelSettings) -> Result<Spoken, TranscribeError> {
    let refuse = |what: String| TranscribeError::Rules { model: plan.model.clone(), what };
    let asked = &plan.language.languages;
    if let Some(allowed) = &rules.languages
        && let Some(other) = asked.iter().find(|language| !allowed.contains(language))
    {
        return Err(refuse(format!("language {other}")));
    }
    if let [language] = asked[..] {
        return Ok(Spoken::Told(language));
    }
    if plan.language.code_switching && !rules.code_switching {
        return Err(refuse("code switching".to_owned()));
    }
    let among = if asked.is_empty() { rules.languages.clone().unwrap_or_default() } else { asked.clone() };
    Ok(if plan.language.code_switching { Spoken::Each(among) } else { Spoken::Once(among) })
}

/// Transcribes every segment under the plan. Results that the log has are not made again.
pub fn transcribe_all(run: &Run<'_>, spoken: &Spoken) -> Result<Vec<SegmentResult>, TranscribeError> {
    let mut results = Results::load(run)?;
    match spoken {
        Spoken::Told(language) => results.fill(&LanguageChoice::Known(*language))?,
        Spoken::Once(among) => {
            let language = results.settle(among)?;
            results.fill(&LanguageChoice::Known(language))?;
        }
        Spoken::Each(among) => {
            results.fill(&LanguageChoice::Among(among.clone()))?;
            results.follow_neighbours()?;
        }
    }
    Ok(results.done.into_iter().map(|result| result.expect("every segment was filled")).collect())
}

struct Results<'a> {
    run: &'a Run<'a>,
    done: Vec<Option<SegmentResult>>,
    done_frames: u64,
    all_frames: u64,
}

impl<'a> Results<'a> {
    fn load(run: &'a Run<'a>) -> Result<Self, TranscribeError> {
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
    fn fill(&mut self, choice: &LanguageChoice) -> Result<(), TranscribeError> {
        let missing: Vec<usize> = (0..self.done.len()).filter(|index| self.done[*index].is_none()).collect();
        let work: Vec<_> = missing.into_iter().map(|index| (index, choice.clone())).collect();
        let run = self.run;
        run.transcribe(&work, Effort::Thorough, |index, result| self.keep(index, result))
    }

    fn keep(&mut self, index: usize, result: SegmentResult) -> Result<(), TranscribeError> {
        self.run.log.save(index, &result).map_err(TranscribeError::Log)?;
        if self.done[index].is_none() {
            self.done_frames += length(&self.run.segments.segments[index]);
        }
        self.done[index] = Some(result);
        self.report();
        Ok(())
    }

    /// The language of the file: that of the first speech, with more of it heard while
    /// there is little or the model is not sure. What was heard is kept.
    fn settle(&mut self, among: &[Language]) -> Result<Language, TranscribeError> {
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

    fn again(
        &self,
        index: usize,
        first: SegmentResult,
        language: Language,
        effort: Effort,
    ) -> Result<SegmentResult, TranscribeError> {
        let second = self.one(index, LanguageChoice::Known(language), effort)?;
        Ok(SegmentResult { odds: first.odds, ..second })
    }

    fn one(
        &self,
        index: usize,
        choice: LanguageChoice,
        effort: Effort,
    ) -> Result<SegmentResult, TranscribeError> {
        let mut heard = self.several(index..index + 1, choice, effort)?;
        heard.pop().ok_or(TranscribeError::Engine(EngineError::Stopped))
    }

    /// Several segments side by side, in one choice for all; not kept yet.
    fn several(
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

    /// Utterances that do not tell their language take that of the nearest one of the same
    /// channel that does.
    fn follow_neighbours(&mut self) -> Result<(), TranscribeError> {
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

/// Mean over the words; 0.0 without words.
fn confidence(result: &SegmentResult) -> f64 {
    result.words.iter().map(|word| word.confidence).sum::<f64>() / result.words.len().max(1) as f64
}

fn length(segment: &Segment) -> u64 {
    segment.spans.iter().map(|span| span.frames()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::LanguageConfig;

    fn language(code: &str) -> Language {
        Language::parse(code).expect("a language")
    }

    fn planned(
        asked: &[&str],
        code_switching: bool,
        of_model: Option<&[&str]>,
    ) -> Result<Spoken, TranscribeError> {
        let list = |codes: &[&str]| codes.iter().map(|code| language(code)).collect::<Vec<_>>();
        let rules = SpeechModelSettings {
            file: "x".into(),
            languages: of_model.map(list),
            code_switching: of_model.is_none(),
        };
        let language = LanguageConfig { languages: list(asked), code_switching };
        plan(&TranscribePlan { model: "m".to_owned(), language, accurate_word_times: false }, &rules)
    }

    #[test]
    fn one_language_is_told_and_switching_ignored() {
        assert_eq!(planned(&["fr"], true, None).expect("allowed"), Spoken::Told(language("fr")));
        assert_eq!(
            planned(&["fr"], true, Some(&["fr", "en"])).expect("allowed"),
            Spoken::Told(language("fr"))
        );
    }

    #[test]
    fn none_or_several_are_found_out() {
        assert_eq!(planned(&[], false, None).expect("allowed"), Spoken::Once(vec![]));
        assert_eq!(
            planned(&["de", "fr"], true, None).expect("allowed"),
            Spoken::Each(vec![language("de"), language("fr")])
        );
    }

    #[test]
    fn a_model_with_a_list_keeps_to_it() {
        let of_model = ["en", "fr"];
        assert_eq!(
            planned(&[], false, Some(&of_model)).expect("allowed"),
            Spoken::Once(vec![language("en"), language("fr")])
        );
        assert!(matches!(planned(&["de"], false, Some(&of_model)), Err(TranscribeError::Rules { .. })));
        assert!(matches!(planned(&[], true, Some(&of_model)), Err(TranscribeError::Rules { .. })));
    }
}
