//! Who talks when: the call as turns of agent and customers.

use schemars::JsonSchema;
use serde::Serialize;
use tympan_sdk::{Transcript, Utterance, Word};

use crate::config::{By, Config, PartyBy};

/// The part that somebody plays in the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    Agent,
    Customer,
}

/// Somebody in the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Party {
    pub role: Role,
    /// Channel or speaker number.
    pub number: u32,
}

/// A stretch of speech of one party: one utterance.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub party: Party,
    pub utterance: &'a Utterance,
}

impl Turn<'_> {
    pub fn start(&self) -> f64 {
        self.utterance.start
    }

    pub fn end(&self) -> f64 {
        self.utterance.end
    }

    pub fn words(&self) -> &[Word] {
        self.utterance.words()
    }
}

/// A whole call.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// In order of their start.
    pub turns: Vec<Turn<'a>>,
    /// Length of the recording.
    pub duration_s: f64,
}

impl<'a> Call<'a> {
    /// Sorts the utterances of a transcript into turns of agent and customers.
    pub fn new(transcript: &'a Transcript, duration_s: f64, config: &Config) -> Self {
        let by_channel = match config.parties {
            PartyBy::Channel => true,
            PartyBy::Speaker => false,
            PartyBy::Auto => transcript.utterances.iter().any(|u| u.channel > 0),
        };
        let party_of = |utterance: &Utterance| {
            let number =
                if by_channel { u32::from(utterance.channel) } else { utterance.speaker.unwrap_or(0) };
            let role = if number == config.agent { Role::Agent } else { Role::Customer };
            Party { role, number }
        };
        let spoken = transcript.utterances.iter().filter(|u| !u.words().is_empty());
        let mut turns: Vec<Turn> = spoken.map(|u| Turn { party: party_of(u), utterance: u }).collect();
        turns.sort_by(|a, b| a.start().total_cmp(&b.start()));
        Self { turns, duration_s }
    }

    /// Everybody who says something, the agent first.
    pub fn parties(&self) -> Vec<Party> {
        let mut parties: Vec<Party> = self.turns.iter().map(|turn| turn.party).collect();
        parties.sort_unstable();
        parties.dedup();
        parties
    }

    /// The turns of one party.
    pub fn turns_of(&self, party: Party) -> impl Iterator<Item = &Turn<'a>> {
        self.turns.iter().filter(move |turn| turn.party == party)
    }
}

impl By {
    /// Whether this party is meant.
    pub(crate) fn means(self, party: Party) -> bool {
        match self {
            Self::Agent => party.role == Role::Agent,
            Self::Customer => party.role == Role::Customer,
            Self::Anyone => true,
        }
    }
}

/// Seconds to the millisecond: more digits would only be noise of the arithmetic.
pub(crate) fn rounded_s(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_call::two_channels;

    #[test]
    fn several_channels_are_parties_and_a_single_one_goes_by_speaker() {
        let stereo = two_channels(&[(1, 0.0, "hi"), (0, 2.0, "hello")]);
        let call = Call::new(&stereo, 9.0, &Config::default());
        let roles: Vec<Role> = call.turns.iter().map(|turn| turn.party.role).collect();
        assert_eq!(roles, [Role::Customer, Role::Agent]);

        let mut mono = two_channels(&[(0, 0.0, "hello"), (0, 2.0, "hi")]);
        mono.utterances[1].speaker = Some(1);
        let call = Call::new(&mono, 9.0, &Config::default());
        assert_eq!(call.parties().len(), 2);
    }

    #[test]
    fn the_agent_may_sit_on_another_channel() {
        let stereo = two_channels(&[(0, 0.0, "hi"), (1, 2.0, "hello")]);
        let config = Config { agent: 1, ..Config::default() };
        let call = Call::new(&stereo, 9.0, &config);
        assert_eq!(call.turns[1].party, Party { role: Role::Agent, number: 1 });
        assert_eq!(call.parties()[0].role, Role::Agent);
    }
}
