//! Phrases that somebody should look at.

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::Watch;
use crate::party::{Call, Role};
use crate::phrase::Spoken;

/// One place where a watched phrase was said.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Hit {
    name: String,
    phrase: String,
    by: Role,
    start: f64,
    end: f64,
}

/// Every place of every watched phrase, in order of time.
pub(crate) fn find(call: &Call, watched: &[Watch]) -> Vec<Hit> {
    let spoken = Spoken::of(call);
    let mut hits = Vec::new();
    for watch in watched {
        for speaker in spoken.iter().filter(|speaker| watch.by.means(speaker.party())) {
            for phrase in &watch.any_of {
                hits.extend(speaker.places(phrase).into_iter().map(|place| Hit {
                    name: watch.name.clone(),
                    phrase: phrase.clone(),
                    by: place.party.role,
                    start: place.start,
                    end: place.end,
                }));
            }
        }
    }
    hits.sort_by(|a, b| a.start.total_cmp(&b.start));
    hits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::test_call::call_of;

    #[test]
    fn hits_are_in_order_of_time_and_of_the_right_party() {
        let call = call_of(&[
            (1, 0.0, "I want to talk to a manager, my lawyer says"),
            (0, 20.0, "please hold the line"),
            (1, 30.0, "you hold the line"),
        ]);
        let hits = find(&call, &Config::default().watch);
        let seen: Vec<(&str, f64)> = hits.iter().map(|hit| (hit.phrase.as_str(), hit.start)).collect();
        assert_eq!(seen, [("talk to a manager", 3.0), ("my lawyer", 7.0), ("hold the line", 21.0)]);
    }
}
