//! Checks what came back from an add-on before anybody else sees it, and puts in order
//! what may be put in order: utterance numbers, the order of utterances.

use std::collections::BTreeSet;

use super::{failure, json};
use crate::data::job::{AddonError, AddonOutput, AudioInfo};
use crate::data::transcript::{Transcript, Utterance, Word};
use crate::defaults::{Limits, OUTPUT_LANGUAGES, OUTPUT_WORDS_EXTRA, OUTPUT_WORDS_FACTOR};

/// Rounding that is forgiven.
const TOLERANCE_S: f64 = 0.001;

/// What an output is measured against.
pub struct Expectation<'a> {
    /// What the add-on was given.
    pub input: &'a Transcript,
    /// The recording.
    pub audio: &'a AudioInfo,
    /// Its limits.
    pub limits: &'a Limits,
    /// Whether messages of failed variants may be shown.
    pub shows_text: bool,
}

/// Gives the output back in order, or says which rule it breaks. A variant that breaks a
/// rule fails alone.
pub fn check(mut output: AddonOutput, expected: &Expectation<'_>) -> Result<AddonOutput, AddonError> {
    if let Some(result) = &output.result {
        if result.len() > expected.limits.result_bytes {
            return Err(failure::output_too_large(expected.limits.result_bytes));
        }
        if !json::is_sound(result) {
            return Err(failure::invalid_output(
                "the result is not JSON, nested too deeply, or of too many objects".to_owned(),
            ));
        }
    }
    if let Some(transcript) = output.transcript.as_mut() {
        put_right(transcript, expected).map_err(failure::invalid_output)?;
    }
    if output.variants.len() > OUTPUT_LANGUAGES {
        return Err(failure::invalid_output(format!("more than {OUTPUT_LANGUAGES} variants")));
    }
    let mut ids = BTreeSet::new();
    for variant in &mut output.variants {
        if variant.id.is_empty() || !ids.insert(variant.id.clone()) {
            return Err(failure::invalid_output("variant ids are empty or repeat".to_owned()));
        }
        if !is_language(&variant.language) {
            return Err(failure::invalid_output("a variant has no language code".to_owned()));
        }
        match &mut variant.outcome {
            Ok(transcript) => {
                if let Err(broken) = put_right(transcript, expected) {
                    variant.outcome = Err(failure::invalid_output(broken));
                }
            }
            Err(error) => *error = failure::returned(error.clone(), expected.shows_text),
        }
    }
    Ok(output)
}

fn put_right(transcript: &mut Transcript, expected: &Expectation<'_>) -> Result<(), String> {
    let bounds = Bounds::of(expected);
    let words = transcript.word_count();
    if words > bounds.max_words {
        return Err(format!("{words} words, at most {} are allowed", bounds.max_words));
    }
    if words == 0 && expected.input.word_count() > 0 {
        return Err("every word of the transcript is gone".to_owned());
    }
    if transcript.languages.len() > OUTPUT_LANGUAGES {
        return Err(format!("more than {OUTPUT_LANGUAGES} languages"));
    }
    if !transcript.languages.iter().all(|language| is_language(language)) {
        return Err("`languages` holds something that is no language code".to_owned());
    }
    check_extra(&transcript.extra)?;
    for (at, utterance) in transcript.utterances.iter().enumerate() {
        check_utterance(utterance, &bounds).map_err(|broken| format!("utterance {at}: {broken}"))?;
    }
    number(transcript, expected.input)?;
    transcript.utterances.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.channel.cmp(&b.channel)));
    Ok(())
}

/// What the input allows.
struct Bounds {
    end_s: f64,
    channels: u16,
    max_words: usize,
}

impl Bounds {
    // The input itself must always pass, whatever the container says about its length.
    fn of(expected: &Expectation<'_>) -> Bounds {
        let utterances = &expected.input.utterances;
        let last_end_s = utterances.iter().map(|utterance| utterance.end).fold(0.0, f64::max);
        let last_channel = utterances.iter().map(|utterance| utterance.channel).max();
        Bounds {
            end_s: expected.audio.duration.max(last_end_s) + TOLERANCE_S,
            channels: expected.audio.channels.max(last_channel.map_or(0, |last| last.saturating_add(1))),
            max_words: expected.input.word_count() * OUTPUT_WORDS_FACTOR + OUTPUT_WORDS_EXTRA,
        }
    }
}

fn check_utterance(utterance: &Utterance, bounds: &Bounds) -> Result<(), String> {
    let Utterance { start, end, .. } = *utterance;
    check_times(start, end)?;
    if start < 0.0 || end > bounds.end_s {
        return Err("its times are outside the recording".to_owned());
    }
    if utterance.channel >= bounds.channels {
        return Err(format!("the recording has no channel {}", utterance.channel));
    }
    check_confidence(utterance.confidence)?;
    if utterance.language.as_deref().is_some_and(|language| !is_language(language)) {
        return Err("its language is no language code".to_owned());
    }
    check_extra(&utterance.extra)?;
    check_words(utterance)?;
    let mut rest = utterance.text.as_str();
    for word in &utterance.words {
        rest = rest.strip_prefix(word.text.as_str()).ok_or("its text differs from its words")?;
    }
    if rest.is_empty() { Ok(()) } else { Err("its text differs from its words".to_owned()) }
}

fn check_words(utterance: &Utterance) -> Result<(), String> {
    let first = utterance.words.first().ok_or("it has no words")?;
    if first.text.starts_with(char::is_whitespace) {
        return Err("its first word starts with a space".to_owned());
    }
    let mut previous_start = f64::NEG_INFINITY;
    for word in &utterance.words {
        let Word { start, end, .. } = *word;
        if word.text.trim().is_empty() {
            return Err("it has a word without text".to_owned());
        }
        check_times(start, end)?;
        if start < utterance.start - TOLERANCE_S || end > utterance.end + TOLERANCE_S {
            return Err("a word lies outside of it".to_owned());
        }
        if start < previous_start {
            return Err("its words are not in order of time".to_owned());
        }
        previous_start = start;
        check_confidence(word.confidence)?;
    }
    Ok(())
}

fn check_times(start: f64, end: f64) -> Result<(), String> {
    if !start.is_finite() || !end.is_finite() {
        return Err("a time is not a number".to_owned());
    }
    if start > end {
        return Err("a time range ends before it starts".to_owned());
    }
    Ok(())
}

fn check_confidence(confidence: f64) -> Result<(), String> {
    if (0.0..=1.0).contains(&confidence) {
        return Ok(());
    }
    Err("a confidence is not between 0 and 1".to_owned())
}

fn check_extra(extra: &Option<String>) -> Result<(), String> {
    match extra {
        Some(text) if !json::is_object(text) => Err("`extra` is not a JSON object".to_owned()),
        _ => Ok(()),
    }
}

fn is_language(code: &str) -> bool {
    (2..=16).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Numbers new utterances past every number of the input, so that no number comes back
/// with another meaning.
fn number(transcript: &mut Transcript, input: &Transcript) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    for utterance in transcript.utterances.iter().filter(|utterance| utterance.id != 0) {
        if !ids.insert(utterance.id) {
            return Err(format!("the utterance id {} repeats", utterance.id));
        }
    }
    let used = ids.last().copied().unwrap_or(0);
    let mut next = input.utterances.iter().map(|utterance| utterance.id).fold(used, u32::max);
    for utterance in transcript.utterances.iter_mut().filter(|utterance| utterance.id == 0) {
        next = next.checked_add(1).ok_or("an utterance id is too large")?;
        utterance.id = next;
    }
    Ok(())
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
