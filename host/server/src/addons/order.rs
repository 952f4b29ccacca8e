//! In which order add-ons run: resolved once when they are loaded, never per job.
//!
//! The slot comes first. Inside a slot `after` and `requires` decide; where they leave a choice,
//! add-ons that redact come last, so that nothing changes text behind them, then the name decides.
//! A custom add-on that changes text and was not granted `raw-text` comes after redaction,
//! because it must not see what redaction hides.

use std::collections::BTreeSet;

use tympan_runtime::Slot;

/// What the order depends on.
#[derive(Debug, Clone)]
pub struct Place<'a> {
    /// Unique name.
    pub name: &'a str,
    /// Its slot.
    pub slot: Slot,
    /// Names of add-ons that run earlier when they are there.
    pub after: &'a [String],
    /// Names of add-ons whose output it needs, so that they run earlier as well.
    pub requires: &'a [String],
    /// Has the effect `redacts`.
    pub redacts: bool,
    /// May see text before redaction: ours, or granted `raw-text`.
    pub sees_raw_text: bool,
}

/// The resolved order.
#[derive(Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Indices into the input, first to run first.
    pub order: Vec<usize>,
    /// Indices of add-ons that wait for each other.
    pub cyclic: Vec<usize>,
}

/// Sorts add-ons by slot, `after` and `requires`, redaction and name. Absent names are ignored;
/// a cycle takes only the add-ons in it out of the list.
pub fn resolve(places: &[Place<'_>]) -> Resolved {
    let earlier: Vec<BTreeSet<usize>> = places.iter().map(|place| predecessors(places, place)).collect();
    let cyclic: Vec<usize> = (0..places.len()).filter(|&at| reaches(&earlier, at, at)).collect();
    let mut waiting: BTreeSet<usize> = (0..places.len()).filter(|at| !cyclic.contains(at)).collect();
    let mut order = Vec::with_capacity(waiting.len());
    // What is left has no cycle, so some add-on is always ready.
    while let Some(next) = waiting
        .iter()
        .copied()
        .filter(|&at| earlier[at].is_disjoint(&waiting))
        .min_by_key(|&at| rank(&places[at]))
    {
        waiting.remove(&next);
        order.push(next);
    }
    Resolved { order, cyclic }
}

fn rank<'a>(place: &Place<'a>) -> (Slot, u8, &'a str) {
    let layer = match (place.redacts, place.sees_raw_text) {
        (true, _) => 1,
        (false, true) => 0,
        (false, false) => 2,
    };
    let layer = if place.slot == Slot::Transcript { layer } else { u8::from(place.redacts) };
    (place.slot, layer, place.name)
}

/// The add-ons of the same slot that `place` waits for. A redacting add-on waits for none
/// that may not see raw text: that one has to run behind it whatever it declares.
fn predecessors(places: &[Place<'_>], place: &Place<'_>) -> BTreeSet<usize> {
    places
        .iter()
        .enumerate()
        .filter(|(_, other)| {
            let named = place.after.iter().chain(place.requires).any(|name| name == other.name);
            let hidden = place.slot == Slot::Transcript && !other.sees_raw_text && !other.redacts;
            let behind_redaction = hidden && (place.redacts || place.sees_raw_text);
            named && other.slot == place.slot && !behind_redaction
        })
        .map(|(at, _)| at)
        .collect()
}

fn reaches(earlier: &[BTreeSet<usize>], from: usize, target: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<usize> = earlier[from].iter().copied().collect();
    while let Some(at) = open.pop() {
        if at == target {
            return true;
        }
        if seen.insert(at) {
            open.extend(&earlier[at]);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given {
        name: &'static str,
        slot: Slot,
        after: Vec<String>,
        requires: Vec<String>,
        redacts: bool,
        raw: bool,
    }

    fn given(name: &'static str, slot: Slot, after: &[&str]) -> Given {
        Given {
            name,
            slot,
            after: after.iter().map(|s| (*s).to_owned()).collect(),
            requires: Vec::new(),
            redacts: false,
            raw: true,
        }
    }

    fn names(all: &[Given]) -> (Vec<&'static str>, Vec<&'static str>) {
        let places: Vec<Place<'_>> = all
            .iter()
            .map(|g| Place {
                name: g.name,
                slot: g.slot,
                after: &g.after,
                requires: &g.requires,
                redacts: g.redacts,
                sees_raw_text: g.raw,
            })
            .collect();
        let resolved = resolve(&places);
        let pick = |list: Vec<usize>| list.into_iter().map(|at| all[at].name).collect();
        (pick(resolved.order), pick(resolved.cyclic))
    }

    #[test]
    fn slots_then_after_then_redaction_then_name() {
        use Slot::{Analysis, Render, Transcript};
        let mut all = vec![
            given("subtitles", Render, &["sentences"]),
            given("sentences", Analysis, &[]),
            given("moderation", Analysis, &[]),
            given("pii_redaction", Transcript, &[]),
            given("punctuation_enhanced", Transcript, &["name_consistency"]),
            given("name_consistency", Transcript, &["custom_spelling"]),
            given("custom_spelling", Transcript, &["custom_vocabulary", "diarization"]),
            given("custom_vocabulary", Transcript, &["diarization"]),
            given("diarization", Transcript, &["not_there"]),
        ];
        all[3].redacts = true;
        let (order, cyclic) = names(&all);
        assert_eq!(
            order,
            [
                "diarization",
                "custom_vocabulary",
                "custom_spelling",
                "name_consistency",
                "punctuation_enhanced",
                "pii_redaction",
                "moderation",
                "sentences",
                "subtitles"
            ]
        );
        assert!(cyclic.is_empty());
    }

    #[test]
    fn a_cycle_takes_out_only_its_members() {
        let all = [
            given("a", Slot::Analysis, &["b"]),
            given("b", Slot::Analysis, &["c"]),
            given("c", Slot::Analysis, &["b"]),
            given("d", Slot::Analysis, &["d"]),
            given("e", Slot::Analysis, &[]),
        ];
        assert_eq!(names(&all), (vec!["a", "e"], vec!["b", "c", "d"]));
    }

    #[test]
    fn what_is_required_runs_earlier() {
        let mut all = [given("a", Slot::Analysis, &[]), given("b", Slot::Analysis, &[])];
        all[0].requires = vec!["b".to_owned()];
        assert_eq!(names(&all).0, ["b", "a"]);
        all[1].after = vec!["a".to_owned()];
        assert_eq!(names(&all).1, ["a", "b"]);
    }

    #[test]
    fn custom_text_changers_run_behind_redaction_unless_granted() {
        let mut all = vec![
            given("aaa_custom", Slot::Transcript, &[]),
            given("pii_redaction", Slot::Transcript, &["aaa_custom"]),
            given("zzz_granted", Slot::Transcript, &[]),
        ];
        all[0].raw = false;
        all[1].redacts = true;
        assert_eq!(names(&all).0, ["zzz_granted", "pii_redaction", "aaa_custom"]);
    }
}
