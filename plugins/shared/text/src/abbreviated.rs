//! Whether a dot belongs to an abbreviation, an initial or an ordinal, so that the sentence goes on.

use unicode_segmentation::UnicodeSegmentation;

use crate::abbreviations::Abbreviations;
use crate::chain::Chain;

/// Between two sentences speakers usually stop for longer; within a name they do not.
const NAME_PAUSE_S: f64 = 0.3;
/// The longest part of an abbreviation of several words: "т. зв.", "f. eks.".
const LONGEST_PART: usize = 4;
/// Most words of one abbreviation: "i. d. R."
const MOST_PARTS: usize = 4;

/// Whether the dot before the word at this position ends no sentence.
pub fn is_abbreviated(chain: &Chain, at: usize, abbreviations: Abbreviations) -> bool {
    let Some(core) = core(chain, at - 1) else {
        return false;
    };
    let after = chain.words[at].text.trim();
    if stands_before_name(chain, at, core, abbreviations) {
        return true;
    }
    if is_number(after) && abbreviations.stands_before_number(core) {
        return true;
    }
    if abbreviations.is_era(core, after.trim_end_matches(|c: char| !c.is_alphanumeric())) {
        return true;
    }
    let is_tight = chain.pause_before_s(at) < NAME_PAUSE_S;
    let previous = at.checked_sub(2).and_then(|position| self::core(chain, position));
    if core.chars().all(|c| c.is_ascii_digit()) {
        let is_counted = previous.is_some_and(|word| abbreviations.stands_before_number(word));
        return core.len() <= 2 && is_tight && !is_counted && abbreviations.writes_ordinals_with_stop();
    }
    is_initial(core)
        && !abbreviations.begins_sentence(after)
        && !previous.is_some_and(|word| abbreviations.is_era(word, core))
        && initial_goes_on(chain, at, core, after, is_tight)
}

/// The word at a position without its last dot, if it has one, and without the marks before it.
fn core(chain: &Chain, position: usize) -> Option<&str> {
    let word = chain.words[position].text.trim().trim_start_matches(|c: char| !c.is_alphanumeric());
    word.strip_suffix('.').filter(|core| !core.is_empty() && !core.ends_with('.'))
}

/// Whether the abbreviation announces a name, written as one word or as several: "d.h.", "d. h."
fn stands_before_name(chain: &Chain, at: usize, core: &str, abbreviations: Abbreviations) -> bool {
    if abbreviations.stands_before_name(core) {
        return !is_unit(chain, at, core);
    }
    let mut joined = core.to_owned();
    for position in (0..at - 1).rev().take(MOST_PARTS - 1) {
        let Some(part) = self::core(chain, position) else { break };
        if part.chars().count() > LONGEST_PART {
            break;
        }
        joined = format!("{part}.{joined}");
        if abbreviations.stands_before_name(&joined) {
            return true;
        }
    }
    false
}

/// `г` before a name is a city, behind a number a year: a small letter there is a unit.
fn is_unit(chain: &Chain, at: usize, core: &str) -> bool {
    let is_letter = core.starts_with(char::is_lowercase) && core.chars().count() == 1;
    let previous = at.checked_sub(2).map(|position| chain.words[position].text.trim());
    is_letter && previous.is_some_and(|word| word.starts_with(char::is_numeric))
}

/// In digits or in Roman numerals; a single `I` is rather a word.
fn is_number(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_roman = !word.is_empty() && word.chars().all(|c| matches!(c, 'I' | 'V' | 'X' | 'L'));
    word.starts_with(char::is_numeric) || (is_roman && !matches!(word, "I" | "L"))
}

/// `J`, `Ph.D`, `U.S`, `J.-P`, `ए`: single letters, each with its dot but the last.
fn is_initial(core: &str) -> bool {
    core.split('.')
        .map(|part| part.strip_prefix('-').unwrap_or(part))
        .all(|part| part.graphemes(true).count() == 1 && part.starts_with(char::is_alphabetic))
}

fn initial_goes_on(chain: &Chain, at: usize, core: &str, after: &str, is_tight: bool) -> bool {
    let next_is_initial = after.strip_suffix('.').is_some_and(is_initial);
    if next_is_initial {
        return true;
    }
    if core.starts_with(char::is_lowercase) {
        // The end of "z. B." and its like; "p.m." may end a sentence.
        return false;
    }
    if core == "I" {
        return false;
    }
    let previous = at.checked_sub(2).map(|n| chain.words[n].text.trim());
    let is_in_name = previous.is_none_or(|word| {
        word.starts_with(char::is_uppercase) && !word.ends_with(['.', '?', '!'])
            || word.strip_suffix('.').is_some_and(is_initial)
    });
    is_in_name || is_tight
}
