//! Where sentences begin in a chain of words.
//!
//! Unicode's sentence rules (UAX #29) decide; this module only corrects them where they cannot
//! know better: abbreviations, initials and ordinals, quoted questions, the ends of utterances.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::abbreviations::Abbreviations;
use crate::chain::{Chain, opens_before};
use crate::stop::{Stops, trailing_punctuation};
use crate::unpunctuated;

/// Between two sentences speakers usually stop for longer; within a name they do not.
const NAME_PAUSE_S: f64 = 0.3;
/// An utterance that ends without a stop ends a sentence which is already this long: without
/// punctuation the whole file would be one sentence.
const LONGEST_UNPUNCTUATED_S: f64 = 30.0;

/// Positions of the words that begin a sentence, the first word included.
pub fn sentence_begins(chain: &Chain) -> BTreeSet<usize> {
    let language = chain.language.as_deref();
    let stops = Stops::of(language);
    let abbreviations = Abbreviations::of(language);
    let mut begins: BTreeSet<usize> = unicode_boundaries(chain, stops)
        .into_iter()
        .chain(joint_boundaries(chain, stops))
        .map(|at| behind_closing_marks(chain, at))
        .filter(|&at| at < chain.words.len() && !goes_on(chain, at, abbreviations))
        .collect();
    begins.insert(0);
    if unpunctuated::applies(chain, stops) {
        unpunctuated::add_boundaries(chain, &mut begins);
    }
    cut_at_joints(chain, &mut begins);
    begins
}

/// What the Unicode rules say, at the edges of words.
fn unicode_boundaries(chain: &Chain, stops: Stops) -> BTreeSet<usize> {
    let mut text = String::new();
    let mut starts = Vec::with_capacity(chain.words.len());
    for word in &chain.words {
        // The rules count a space as part of the sentence before it.
        starts.push(text.len() + word.text.len() - word.text.trim_start().len());
        text.extend(word.text.chars().map(|c| shown_to_rules(c, stops)));
    }
    let mut begins = BTreeSet::new();
    let mut next = 0;
    for (offset, _) in text.split_sentence_bound_indices() {
        while next < starts.len() && starts[next] < offset {
            next += 1;
        }
        if let Some(begin) = nearest_word(&text, &starts, next, offset) {
            begins.insert(begin);
        }
    }
    begins
}

/// The word that begins at an offset, `next` being the first one not before it. Where the offset
/// lies inside a word, between letters and marks, the marks go to the sentence they belong to.
fn nearest_word(text: &str, starts: &[usize], next: usize, offset: usize) -> Option<usize> {
    let mut begin = next;
    // The rules leave an opening mark without a space before it to the sentence before.
    let following = text[offset..].chars().next();
    let opens = |mark: char| opens_before(mark, following);
    while begin > 0 && text[starts[begin - 1]..offset].trim().chars().all(opens) {
        begin -= 1;
    }
    let rest_end = starts.get(next).copied().unwrap_or(text.len());
    let is_at_edge = begin < next || !text[offset..rest_end].contains(char::is_alphanumeric);
    (is_at_edge && begin < starts.len()).then_some(begin)
}

/// Stops that the default rules do not know are shown to them as ones that they do know.
fn shown_to_rules(c: char, stops: Stops) -> char {
    match c {
        '…' | ':' if stops.is_extra(c) => '.',
        _ if stops.is_extra(c) => '?',
        _ => c,
    }
}

/// Utterances that begin after a stop, in whatever case: the recogniser made the cut.
fn joint_boundaries(chain: &Chain, stops: Stops) -> impl Iterator<Item = usize> {
    chain.joints.iter().copied().filter(move |&at| stops.end(&chain.words[at - 1].text))
}

/// Words of closing marks only belong to the sentence before them: `« Oui. »`.
fn behind_closing_marks(chain: &Chain, begin: usize) -> usize {
    const CLOSING: &[char] =
        &['"', '”', '’', '»', '›', ')', ']', '」', '』', '）', '】', '》', '.', '!', '?', '…', '。'];
    let is_closing = |text: &str| text.starts_with(CLOSING) && !text.contains(char::is_alphanumeric);
    let later = chain.words[begin..].iter().take_while(|word| is_closing(word.text.trim())).count();
    if begin == 0 { 0 } else { begin + later }
}

/// Whether the sentence goes on at a place where the rules would end it.
fn goes_on(chain: &Chain, at: usize, abbreviations: Abbreviations) -> bool {
    if at == 0 {
        return false;
    }
    let before = chain.words[at - 1].text.trim();
    let after = chain.words[at].text.trim();
    is_quoted_part(before, after)
        || is_quoted_in_japanese(before, after)
        || is_abbreviated(chain, at, before.trim_start_matches(|c: char| !c.is_alphanumeric()), abbreviations)
}

/// `"Why?" he asked`: a quote that the sentence goes on after.
fn is_quoted_part(before: &str, after: &str) -> bool {
    let tail = trailing_punctuation(before);
    tail.ends_with(['"', '”', '“', '\'', '’', '»', '«', '›', '‹']) && after.starts_with(char::is_lowercase)
}

/// `「行く？」と聞いた`: the particle that puts a quote into a sentence.
fn is_quoted_in_japanese(before: &str, after: &str) -> bool {
    let is_particle = after.starts_with('と') || after.starts_with("って");
    trailing_punctuation(before).ends_with(['」', '』', '”']) && is_particle
}

fn is_abbreviated(chain: &Chain, at: usize, before: &str, abbreviations: Abbreviations) -> bool {
    let Some(core) = before.strip_suffix('.') else {
        return false;
    };
    if core.is_empty() || core.ends_with('.') {
        return false;
    }
    let after = chain.words[at].text.trim();
    if abbreviations.stands_before_name(core) {
        return true;
    }
    if after.starts_with(char::is_numeric) && abbreviations.stands_before_number(core) {
        return true;
    }
    let is_tight = chain.pause_before_s(at) < NAME_PAUSE_S;
    if core.chars().all(|c| c.is_ascii_digit()) {
        return core.len() <= 2 && is_tight && abbreviations.writes_ordinals_with_stop();
    }
    is_initial(core)
        && !abbreviations.begins_sentence(after)
        && initial_goes_on(chain, at, core, after, is_tight)
}

/// `J`, `Ph.D`, `U.S`, `ए`: single letters, each with its dot but the last.
fn is_initial(core: &str) -> bool {
    core.split('.').all(|part| part.graphemes(true).count() == 1 && part.starts_with(char::is_alphabetic))
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

/// Ends overlong sentences where an utterance ends.
fn cut_at_joints(chain: &Chain, begins: &mut BTreeSet<usize>) {
    for &joint in &chain.joints {
        let begin = begins.range(..=joint).next_back().copied().unwrap_or(0);
        if chain.words[joint - 1].end - chain.words[begin].start >= LONGEST_UNPUNCTUATED_S {
            begins.insert(joint);
        }
    }
}
