//! Who speaks: utterances grouped by channel and speaker.

use std::collections::BTreeMap;

use tympan_sdk::{Transcript, Utterance};

/// One source of speech: a speaker of a channel, or the channel where speakers are not told
/// apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Voice {
    /// Audio track, from 0.
    pub channel: u16,
    /// Speaker, from 0; none without diarization.
    pub speaker: Option<u32>,
}

impl Voice {
    /// Whose utterance this is.
    pub fn of(utterance: &Utterance) -> Self {
        Self { channel: utterance.channel, speaker: utterance.speaker }
    }
}

/// The utterances of one voice, in the transcript's order.
#[derive(Debug)]
pub struct Turns<'a> {
    /// Who speaks.
    pub voice: Voice,
    /// What they said, in order.
    pub utterances: Vec<&'a Utterance>,
}

/// Groups a transcript by voice; voices sorted by channel, then speaker.
pub fn turns_by_voice(transcript: &Transcript) -> Vec<Turns<'_>> {
    let mut by_voice: BTreeMap<Voice, Vec<&Utterance>> = BTreeMap::new();
    for utterance in &transcript.utterances {
        by_voice.entry(Voice::of(utterance)).or_default().push(utterance);
    }
    by_voice.into_iter().map(|(voice, utterances)| Turns { voice, utterances }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_voice_gets_its_utterances_in_order() {
        let mut transcript = Transcript::default();
        for (channel, speaker) in [(1, None), (0, Some(1)), (0, Some(0)), (1, None), (0, Some(1))] {
            let mut utterance = Utterance::new(channel, Vec::new());
            utterance.speaker = speaker;
            utterance.start = transcript.utterances.len() as f64;
            transcript.utterances.push(utterance);
        }
        let starts: Vec<_> = turns_by_voice(&transcript)
            .iter()
            .map(|turns| {
                let starts: Vec<f64> = turns.utterances.iter().map(|u| u.start).collect();
                (turns.voice.channel, turns.voice.speaker, starts)
            })
            .collect();
        let expected = [(0, Some(0), vec![2.0]), (0, Some(1), vec![1.0, 4.0]), (1, None, vec![0.0, 3.0])];
        assert_eq!(starts, expected);
    }
}
