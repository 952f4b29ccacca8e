//! Which words a redaction removed: a token of the transcript before it that the word at the
//! same time of the redacted transcript does not hold.
//!
//! Times pair the words, not an alignment of texts: that takes one pass, and tells which marker
//! stands for which words. A token that stands nowhere in the redacted transcript counts as
//! removed whatever became of the times.

use std::collections::{HashMap, HashSet};

use unicode_segmentation::UnicodeSegmentation;

use crate::model::transcript::{Transcript, Word};

/// A removed token.
#[derive(Debug, PartialEq)]
pub struct Removed {
    /// In lower case.
    pub text: String,
    /// It is not a word that anybody uses by chance.
    pub stands_out: bool,
    /// What stands at its time now.
    pub marker: Option<String>,
}

/// Removed tokens, those that stood in a row together.
pub fn removed_stretches(before: &Transcript, redacted: &Transcript) -> Vec<Vec<Removed>> {
    let words = WordsByTime::of(redacted);
    let ordinary = written_in_lower_case(before);
    let mut stretches = Vec::new();
    let mut open = Vec::new();
    for utterance in &before.utterances {
        for word in &utterance.words {
            let now = words.at(utterance.channel, (word.start + word.end) / 2.0);
            let kept: Vec<String> = now.map(lower_tokens).unwrap_or_default();
            for token in tokens(&word.word) {
                let text = token.to_lowercase();
                if kept.contains(&text) {
                    stretches.push(std::mem::take(&mut open));
                    continue;
                }
                let stands_out = stands_out(token) && !ordinary.contains(&text);
                let marker = now.map(|word| word.word.trim().to_owned());
                open.push(Removed { text, stands_out, marker });
            }
        }
    }
    stretches.push(open);
    stretches.retain(|stretch| !stretch.is_empty());
    stretches
}

/// All tokens of a transcript, in lower case.
pub fn transcript_tokens(transcript: &Transcript) -> Vec<String> {
    transcript.utterances.iter().flat_map(|utterance| &utterance.words).flat_map(lower_tokens).collect()
}

/// Unicode words, cut at apostrophes, so that "Lovelace's" holds "Lovelace", and where there is
/// no digit at dots and the like. Numbers stay whole, or times would hold any four digits.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.unicode_words().flat_map(|word| {
        let has_digit = word.contains(char::is_numeric);
        let cuts = move |c: char| "'\u{2019}".contains(c) || !has_digit && "._:\u{b7}".contains(c);
        word.split(cuts).filter(|token| !token.is_empty())
    })
}

fn lower_tokens(word: &Word) -> Vec<String> {
    tokens(&word.word).map(str::to_lowercase).collect()
}

fn stands_out(token: &str) -> bool {
    let has_capitals = token.contains(|c: char| c.is_lowercase() || c.is_uppercase());
    let is_capital = token.starts_with(char::is_uppercase) && token.chars().nth(1).is_some();
    is_capital || !has_capitals || token.contains(char::is_numeric)
}

/// Tokens that stand somewhere without a capital: "This" at the start of a sentence is no name.
fn written_in_lower_case(transcript: &Transcript) -> HashSet<String> {
    let words = transcript.utterances.iter().flat_map(|utterance| &utterance.words);
    let starts_low = |token: &&str| token.starts_with(char::is_lowercase);
    words.flat_map(|word| tokens(&word.word).filter(starts_low)).map(str::to_lowercase).collect()
}

/// The words of each channel by their start.
struct WordsByTime<'a>(HashMap<u16, Vec<&'a Word>>);

impl<'a> WordsByTime<'a> {
    fn of(transcript: &'a Transcript) -> Self {
        let mut channels: HashMap<u16, Vec<&Word>> = HashMap::new();
        for utterance in &transcript.utterances {
            channels.entry(utterance.channel).or_default().extend(&utterance.words);
        }
        for words in channels.values_mut() {
            words.sort_by(|a, b| a.start.total_cmp(&b.start));
        }
        Self(channels)
    }

    /// The word that sounds at this time, the one that began last where there are several.
    fn at(&self, channel: u16, time_s: f64) -> Option<&'a Word> {
        let words = self.0.get(&channel)?;
        let begun = words.partition_point(|word| word.start <= time_s);
        words[..begun].last().copied().filter(|word| word.end >= time_s)
    }
}
