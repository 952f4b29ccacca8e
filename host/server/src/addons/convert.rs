//! Between the transcript of the model and the transcript of the contract.

use std::collections::HashMap;

use tympan_runtime as runtime;

use crate::model::result::AddonError;
use crate::model::transcript::{Transcript, Utterance, Word};

/// The contract's form, utterances numbered from 1.
pub fn to_runtime(transcript: &Transcript) -> runtime::Transcript {
    let utterances =
        transcript.utterances.iter().zip(1..).map(|(utterance, id)| runtime_utterance(utterance, id));
    runtime::Transcript {
        utterances: utterances.collect(),
        languages: transcript.languages.clone(),
        extra: None,
    }
}

/// The model's form. An utterance without a language keeps the one it had, or takes
/// `fallback_language`. Utterances come back sorted by start, then channel.
pub fn from_runtime(
    returned: &runtime::Transcript,
    before: &runtime::Transcript,
    fallback_language: &str,
) -> Transcript {
    let known: HashMap<u32, &str> =
        before.utterances.iter().filter_map(|u| Some((u.id, u.language.as_deref()?))).collect();
    let mut utterances: Vec<Utterance> = returned
        .utterances
        .iter()
        .map(|utterance| {
            let inherited = || known.get(&utterance.id).copied().unwrap_or(fallback_language);
            model_utterance(utterance, utterance.language.as_deref().unwrap_or_else(inherited))
        })
        .collect();
    utterances.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.channel.cmp(&b.channel)));
    let languages = if returned.languages.is_empty() { &before.languages } else { &returned.languages };
    Transcript { utterances, languages: languages.clone() }
}

/// The model's form of a failure.
pub fn error(error: runtime::AddonError) -> AddonError {
    AddonError { status_code: error.status_code, exception: error.exception, message: error.message }
}

fn runtime_utterance(utterance: &Utterance, id: u32) -> runtime::Utterance {
    let word = |word: &Word| runtime::Word {
        text: word.word.clone(),
        start: word.start,
        end: word.end,
        confidence: word.confidence,
    };
    runtime::Utterance {
        id,
        start: utterance.start,
        end: utterance.end,
        confidence: utterance.confidence,
        channel: utterance.channel,
        speaker: utterance.speaker,
        language: Some(utterance.language.clone()),
        text: utterance.text.clone(),
        words: utterance.words.iter().map(word).collect(),
        extra: None,
    }
}

fn model_utterance(utterance: &runtime::Utterance, language: &str) -> Utterance {
    let word = |word: &runtime::Word| Word {
        word: word.text.clone(),
        start: word.start,
        end: word.end,
        confidence: word.confidence,
    };
    Utterance {
        start: utterance.start,
        end: utterance.end,
        confidence: utterance.confidence,
        channel: utterance.channel,
        speaker: utterance.speaker,
        words: utterance.words.iter().map(word).collect(),
        text: utterance.text.clone(),
        language: language.to_owned(),
    }
}
