//! Text without stops: Thai and Lao have none, and recognisers leave them out in Khmer and
//! Burmese. There, a space or a pause ends a sentence.

use std::collections::BTreeSet;

use crate::chain::Chain;
use crate::stop::Stops;

/// A pause that ends a sentence by itself.
const LONG_PAUSE_S: f64 = 0.7;
/// A pause that ends a sentence together with a space.
const SHORT_PAUSE_S: f64 = 0.3;
/// Characters after which a space ends a sentence without any pause. A space also stands between
/// clauses, around numbers and names: too early a cut would leave fragments.
const LONG_TEXT: usize = 50;

/// Whether the language of the chain is written without stops.
pub fn applies(chain: &Chain, stops: Stops) -> bool {
    match chain.language.as_deref() {
        Some("th" | "lo") => true,
        Some("my" | "km") => !chain.words.iter().any(|word| word.text.contains(|c| stops.is_stop(c))),
        _ => false,
    }
}

/// Adds the places where spaces and pauses end a sentence.
pub fn add_boundaries(chain: &Chain, begins: &mut BTreeSet<usize>) {
    let mut length = 0;
    for at in 0..chain.words.len() {
        if begins.contains(&at) || (at > 0 && ends_before(chain, at, length)) {
            begins.insert(at);
            length = 0;
        }
        length += chain.words[at].text.trim().chars().count();
    }
}

fn ends_before(chain: &Chain, at: usize, length: usize) -> bool {
    let word = &chain.words[at].text;
    if word.trim().is_empty() || length == 0 {
        return false;
    }
    let pause_s = chain.pause_before_s(at);
    let has_space = word.starts_with(char::is_whitespace)
        || chain.words[at - 1].text.ends_with(char::is_whitespace)
        || chain.joints.binary_search(&at).is_ok();
    pause_s >= LONG_PAUSE_S || (has_space && (pause_s >= SHORT_PAUSE_S || length >= LONG_TEXT))
}
