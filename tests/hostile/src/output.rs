//! Outputs that break a rule of the contract, and variants of mixed fate.

use crate::exports::tympan::addon::transform::{AddonError, AddonOutput, Transcript};
use crate::tympan::addon::types::{Utterance, VariantOutput, Word};
use crate::with_result;

type Outcome = Result<AddonOutput, AddonError>;

pub fn result_text(text: &str) -> Outcome {
    Ok(with_result(Some(text.to_owned())))
}

/// A JSON string of about so many bytes.
pub fn result_of_bytes(count: usize) -> Outcome {
    let mut text = Vec::with_capacity(count + 2);
    text.push(b'"');
    text.resize(count, b'a');
    text.push(b'"');
    Ok(with_result(String::from_utf8(text).ok()))
}

/// The transcript after `spoil` on its last utterance.
pub fn changed(mut input: Transcript, spoil: impl FnOnce(&mut Utterance)) -> Outcome {
    if let Some(utterance) = input.utterances.last_mut() {
        spoil(utterance);
    }
    transcript(input)
}

pub fn dropped(mut input: Transcript) -> Outcome {
    input.utterances.clear();
    transcript(input)
}

/// Ten thousand utterances where there were few.
pub fn word_flood(mut input: Transcript) -> Outcome {
    let last = input.utterances.last().expect("the tests send utterances");
    let (start, end, channel) = (last.start, last.end, last.channel);
    for _ in 0..10_000 {
        let word = Word { text: "spam".to_owned(), start, end, confidence: 1.0 };
        input.utterances.push(Utterance {
            id: 0,
            start,
            end,
            confidence: 1.0,
            channel,
            speaker: None,
            language: None,
            text: "spam".to_owned(),
            words: vec![word],
            extra: None,
        });
    }
    transcript(input)
}

/// A good one, one that failed, and one that breaks a rule.
pub fn variants(input: Transcript) -> Outcome {
    let mut broken = input.clone();
    broken.utterances[0].confidence = 7.0;
    let failed = AddonError {
        status_code: 503,
        exception: "NoModel".to_owned(),
        message: "no model for this language".to_owned(),
    };
    let outcomes = [("fr", Ok(input)), ("xx", Err(failed)), ("de", Ok(broken))];
    let variant = |(language, outcome): (&str, _)| VariantOutput {
        id: format!("translation-{language}"),
        language: language.to_owned(),
        outcome,
    };
    Ok(AddonOutput { transcript: None, result: None, variants: outcomes.map(variant).into() })
}

pub fn own_error() -> Outcome {
    Err(AddonError {
        status_code: 422,
        exception: "TooShort".to_owned(),
        message: "the secret word is swordfish".to_owned(),
    })
}

pub fn nonsense_error() -> Outcome {
    Err(AddonError { status_code: 7, exception: "what was said".to_owned(), message: "a".repeat(1 << 20) })
}

fn transcript(transcript: Transcript) -> Outcome {
    Ok(AddonOutput { transcript: Some(transcript), result: None, variants: Vec::new() })
}
