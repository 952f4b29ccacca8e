//! Where nobody talks.

use schemars::JsonSchema;
use serde::Serialize;

use crate::party::{Call, Role, rounded_s};

/// All long pauses of the call.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Silences {
    /// Seconds of all of them together.
    total_s: f64,
    /// Of the call, 0 to 1.
    share: f64,
    items: Vec<Silence>,
}

/// One long pause.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Silence {
    start: f64,
    end: f64,
    /// Who talked last; nobody before the first word.
    after: Option<Role>,
    /// Who broke it; nobody at the end of the call.
    broken_by: Option<Role>,
}

/// Pauses of everybody that last at least `min_s`, the ends of the recording included.
pub(crate) fn find(call: &Call, min_s: f64) -> Silences {
    let mut items = Vec::new();
    let mut quiet_since = 0.0;
    let mut after = None;
    for turn in &call.turns {
        if turn.start() - quiet_since >= min_s {
            let broken_by = Some(turn.party.role);
            items.push(Silence { start: quiet_since, end: turn.start(), after, broken_by });
        }
        if turn.end() > quiet_since {
            quiet_since = turn.end();
            after = Some(turn.party.role);
        }
    }
    if call.duration_s - quiet_since >= min_s {
        items.push(Silence { start: quiet_since, end: call.duration_s, after, broken_by: None });
    }
    // An empty sum of floats is minus zero, which would show in the JSON.
    let total_s = items.iter().fold(0.0, |sum, silence| sum + (silence.end - silence.start));
    let share = if call.duration_s > 0.0 { total_s / call.duration_s } else { 0.0 };
    Silences { total_s: rounded_s(total_s), share: rounded_s(share), items }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_call::call_of;

    #[test]
    fn only_pauses_of_everybody_count() {
        // The customer talks from 1.0 to 7.5, so the agent's pause from 1.5 to 9.0 is none of 4 s.
        let call = call_of(&[(0, 0.0, "one two"), (1, 1.0, "a b c d e f g"), (0, 9.0, "three")]);
        assert!(find(&call, 4.0).items.is_empty());
        let short = find(&call, 1.5);
        assert_eq!(short.items.len(), 1);
        assert_eq!((short.items[0].start, short.items[0].end), (7.5, 9.0));
        assert_eq!(short.items[0].after, Some(Role::Customer));
        assert_eq!(short.items[0].broken_by, Some(Role::Agent));
    }

    #[test]
    fn the_ends_of_the_recording_count() {
        let mut call = call_of(&[(0, 5.0, "hello")]);
        call.duration_s = 20.0;
        let silences = find(&call, 4.0);
        assert_eq!(silences.items[0].after, None);
        assert_eq!(silences.items[1].broken_by, None);
        assert_eq!((silences.total_s, silences.share), (19.5, 0.975));
    }
}
