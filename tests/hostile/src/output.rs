//! Outputs that break a rule of the contract, and variants of mixed fate.

use crate::exports::tympan::addon::manifest::ConfigProblem;
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

/// Eight megabytes of text that are hundreds of megabytes as a tree of values.
pub fn wide_result() -> Outcome {
    result_text(&format!("[{}0]", r#"{"":0},"#.repeat(1_100_000)))
}

/// Ten thousand variants.
pub fn variant_flood(mut input: Transcript) -> Outcome {
    input.utterances.truncate(1);
    let variant = |number| VariantOutput {
        id: format!("translation-{number}"),
        language: "fr".to_owned(),
        outcome: Ok(input.clone()),
    };
    Ok(AddonOutput { transcript: None, result: None, variants: (0..10_000).map(variant).collect() })
}

/// Characters that programs trip over, in the transcript and in the result: zero bytes, marks
/// that turn the direction of text, half a surrogate pair, the ends of lines.
pub fn odd_text(mut input: Transcript) -> Outcome {
    let odd = "\u{0}\u{202e}\u{2066}\u{feff}\r\n\u{2028}\u{1b}[2J\u{10ffff}";
    if let Some(utterance) = input.utterances.first_mut() {
        utterance.words[0].text.push_str(odd);
        utterance.text = utterance.words.iter().map(|word| word.text.as_str()).collect();
    }
    let result = Some(r#"{"\u0000": "\ud800", "\u202e": "\udfff\ud800"}"#.to_owned());
    Ok(AddonOutput { transcript: Some(input), result, variants: Vec::new() })
}

/// An error in the words of the host.
pub fn claims_to_be_cancelled() -> Outcome {
    Err(AddonError { status_code: 503, exception: "Cancelled".to_owned(), message: "not true".to_owned() })
}

/// Problems of a config, of a hundred bytes each.
pub fn problems(count: usize) -> Vec<ConfigProblem> {
    let problem = ConfigProblem { pointer: "/act".to_owned(), message: "must be less ".repeat(8) };
    vec![problem; count]
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
