//! Calls for the tests: a word lasts half a second and starts every second.

use tympan_sdk::{Transcript, Utterance, Word};

use crate::config::Config;
use crate::party::Call;

/// A transcript of utterances on channels, each from its start on.
pub(crate) fn two_channels(lines: &[(u16, f64, &str)]) -> Transcript {
    let mut utterances = Vec::new();
    for &(channel, start, line) in lines {
        let mut words = Vec::new();
        for (index, text) in line.split_whitespace().enumerate() {
            let text = if index == 0 { text.to_owned() } else { format!(" {text}") };
            let word_start = start + index as f64;
            words.push(Word { text, start: word_start, end: word_start + 0.5, confidence: 0.9 });
        }
        utterances.push(Utterance::new(channel, words));
    }
    Transcript { utterances, ..Transcript::default() }
}

/// A call with the default config, as long as its last word.
pub(crate) fn call_of(lines: &[(u16, f64, &str)]) -> Call<'static> {
    let transcript = Box::leak(Box::new(two_channels(lines)));
    // Channels are parties here, also when only one of them talks.
    let config = Config { parties: crate::config::PartyBy::Channel, ..Config::default() };
    let end = transcript.utterances.iter().map(|u| u.end).fold(0.0, f64::max);
    Call::new(transcript, end, &config)
}
