//! Which language a file is transcribed in: told, found once, or found for every utterance.

use super::results::Results;
use super::run::Run;
use super::{SegmentResult, TranscribeError, TranscribePlan};
use crate::engine::{LanguageChoice, SpeechModelSettings};
use crate::model::language::Language;

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
