//! Where sentences begin in a chain of words.
//!
//! Unicode's sentence rules (UAX #29) decide; this module only corrects them where they cannot
//! know better: abbreviations, initials and ordinals, quoted questions, the ends of utterances.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use crate::abbreviated::is_abbreviated;
use crate::abbreviations::Abbreviations;
use crate::chain::{Chain, opens_before};
use crate::quoted::is_quoted_inside;
use crate::stop::Stops;
use crate::unpunctuated;

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
    at > 0 && (is_quoted_inside(chain, at) || is_abbreviated(chain, at, abbreviations))
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
