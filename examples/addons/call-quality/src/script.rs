//! Which lines of the script were said in time.

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::ScriptLine;
use crate::party::{Call, rounded_s};
use crate::phrase::{Place, Spoken};

/// How much of the script was followed.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Compliance {
    /// Lines that were said of all lines, 0 to 1; null without a script.
    score: Option<f64>,
    lines: Vec<Line>,
}

/// One line of the script.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Line {
    name: String,
    said: bool,
    /// When, seconds; null when it was not said, or not in time.
    start: Option<f64>,
    /// When it was said outside its time, seconds.
    too_early_or_late_at: Option<f64>,
}

/// Looks for every line of the script.
pub(crate) fn check(call: &Call, script: &[ScriptLine]) -> Compliance {
    let spoken = Spoken::of(call);
    let lines: Vec<Line> = script.iter().map(|line| check_line(call, &spoken, line)).collect();
    let said = lines.iter().filter(|line| line.said).count();
    let score = (!lines.is_empty()).then(|| rounded_s(said as f64 / lines.len() as f64));
    Compliance { score, lines }
}

fn check_line(call: &Call, spoken: &[Spoken], line: &ScriptLine) -> Line {
    let mut places: Vec<Place> = Vec::new();
    for speaker in spoken.iter().filter(|speaker| line.by.means(speaker.party())) {
        places.extend(line.any_of.iter().flat_map(|phrase| speaker.places(phrase)));
    }
    places.sort_by(|a, b| a.start.total_cmp(&b.start));
    let in_time = places.iter().find(|place| is_in_time(call, line, place));
    Line {
        name: line.name.clone(),
        said: in_time.is_some(),
        start: in_time.map(|place| place.start),
        too_early_or_late_at: if in_time.is_none() { places.first().map(|place| place.start) } else { None },
    }
}

fn is_in_time(call: &Call, line: &ScriptLine, place: &Place) -> bool {
    let early_enough = line.within_first_s.is_none_or(|limit_s| place.start <= limit_s);
    let late_enough = line.within_last_s.is_none_or(|limit_s| place.end >= call.duration_s - limit_s);
    early_enough && late_enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::By;
    use crate::test_call::call_of;

    fn line(name: &str, phrase: &str) -> ScriptLine {
        ScriptLine {
            name: name.into(),
            any_of: vec!["never said".into(), phrase.into()],
            by: By::Agent,
            within_first_s: None,
            within_last_s: None,
        }
    }

    #[test]
    fn a_line_counts_when_the_right_party_says_it_in_time() {
        let call = call_of(&[(1, 0.0, "this call is recorded"), (0, 10.0, "my name is Ana goodbye")]);
        let in_time = ScriptLine { within_first_s: Some(15.0), ..line("name", "my name is") };
        let too_late = ScriptLine { within_first_s: Some(5.0), ..line("name early", "my name is") };
        let farewell = ScriptLine { within_last_s: Some(3.0), ..line("farewell", "goodbye") };
        let by_the_customer = line("notice", "call is recorded");
        let result = check(&call, &[in_time, too_late, farewell, by_the_customer]);
        let said: Vec<bool> = result.lines.iter().map(|line| line.said).collect();
        assert_eq!(said, [true, false, true, false]);
        assert_eq!(result.lines[0].start, Some(10.0));
        assert_eq!(result.lines[1].too_early_or_late_at, Some(10.0));
        assert_eq!(result.lines[3].too_early_or_late_at, None);
        assert_eq!(result.score, Some(0.5));
    }

    #[test]
    fn without_a_script_there_is_no_score() {
        assert_eq!(check(&call_of(&[(0, 0.0, "hello")]), &[]), Compliance { score: None, lines: vec![] });
    }
}
