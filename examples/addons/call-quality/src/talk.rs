//! How much each party talks.

use schemars::JsonSchema;
use serde::Serialize;

use crate::party::{Call, Party, Role, rounded_s};

/// One party's share of the call.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Talk {
    party: Role,
    /// Channel or speaker number.
    number: u32,
    /// Seconds.
    talk_s: f64,
    /// Of the talk time of all parties, 0 to 1.
    share: f64,
    words: usize,
    words_per_minute: f64,
    /// The longest stretch without anybody else's words, seconds.
    longest_monologue_s: f64,
    /// When the party first says something, seconds.
    first_word_at: f64,
}

/// Every party, the agent first.
pub(crate) fn measure(call: &Call) -> Vec<Talk> {
    let total_s: f64 = call.turns.iter().map(|turn| turn.end() - turn.start()).sum();
    call.parties().into_iter().map(|party| talk_of(call, party, total_s)).collect()
}

fn talk_of(call: &Call, party: Party, total_s: f64) -> Talk {
    let talk_s: f64 = call.turns_of(party).map(|turn| turn.end() - turn.start()).sum();
    let words = call.turns_of(party).map(|turn| turn.words().len()).sum();
    let per = |amount: f64, of: f64| if of > 0.0 { amount / of } else { 0.0 };
    Talk {
        party: party.role,
        number: party.number,
        talk_s: rounded_s(talk_s),
        share: rounded_s(per(talk_s, total_s)),
        words,
        words_per_minute: per(words as f64, talk_s / 60.0).round(),
        longest_monologue_s: rounded_s(longest_monologue_s(call, party)),
        first_word_at: call.turns_of(party).next().map_or(0.0, |turn| turn.start()),
    }
}

fn longest_monologue_s(call: &Call, party: Party) -> f64 {
    let runs = call.turns.chunk_by(|a, b| a.party == b.party);
    let own = runs.filter(|run| run[0].party == party);
    own.map(|run| run[run.len() - 1].end() - run[0].start()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_call::call_of;

    #[test]
    fn shares_speed_and_monologues_are_measured() {
        // One word lasts half a second and starts every second.
        let call =
            call_of(&[(0, 0.0, "good morning how are you"), (0, 6.0, "still there"), (1, 10.0, "yes I am")]);
        let talk = measure(&call);
        assert_eq!((talk[0].talk_s, talk[0].words), (6.0, 7));
        assert_eq!(talk[0].longest_monologue_s, 7.5);
        assert_eq!((talk[1].talk_s, talk[1].share, talk[1].first_word_at), (2.5, 0.294, 10.0));
        assert_eq!(talk[1].words_per_minute, 72.0);
    }
}
