//! Who talks into whose sentence.

use schemars::JsonSchema;
use serde::Serialize;

use crate::party::{Call, Role, rounded_s};

/// Somebody starts while another party is talking.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Interruption {
    start: f64,
    /// Seconds that both talk.
    overlap_s: f64,
    by: Role,
    of: Role,
}

/// Starts of a party inside a turn of another one, with at least this overlap. Short remarks
/// ("mhm") stay below it.
pub(crate) fn find(call: &Call, min_overlap_s: f64) -> Vec<Interruption> {
    let mut found = Vec::new();
    for (index, turn) in call.turns.iter().enumerate() {
        let earlier = call.turns[..index].iter().filter(|other| other.party != turn.party);
        let overlap_s = |other: &crate::party::Turn| other.end().min(turn.end()) - turn.start();
        let Some(of) = earlier.max_by(|a, b| overlap_s(a).total_cmp(&overlap_s(b))) else { continue };
        let overlap_s = overlap_s(of);
        if overlap_s >= min_overlap_s {
            found.push(Interruption {
                start: turn.start(),
                overlap_s: rounded_s(overlap_s),
                by: turn.party.role,
                of: of.party.role,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_call::call_of;

    #[test]
    fn talking_into_a_sentence_is_found_and_taking_turns_is_not() {
        let call =
            call_of(&[(0, 0.0, "let me explain this to you"), (1, 3.0, "no no no"), (0, 9.0, "right")]);
        assert_eq!(
            find(&call, 0.5),
            [Interruption { start: 3.0, overlap_s: 2.5, by: Role::Customer, of: Role::Agent }]
        );
    }

    #[test]
    fn a_short_remark_is_none() {
        let call = call_of(&[(0, 0.0, "let me explain this to you"), (1, 3.0, "mhm")]);
        assert!(find(&call, 0.6).is_empty());
        assert_eq!(find(&call, 0.5).len(), 1);
    }
}
