//! Finds a phrase in what one party says, also across the border of two utterances.

use tympan_sdk::Word;

use crate::party::{Call, Party};

/// A phrase ends where its speaker pauses longer than this: a choice, about two breaths.
const MAX_PAUSE_S: f64 = 2.0;

/// Where a phrase was said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place {
    pub party: Party,
    pub start: f64,
    pub end: f64,
}

/// A word as it is compared.
struct Token {
    text: String,
    start: f64,
    end: f64,
}

/// What a party says, ready to be searched.
pub(crate) struct Spoken {
    party: Party,
    tokens: Vec<Token>,
}

impl Spoken {
    /// All that was said, party by party.
    pub fn of(call: &Call) -> Vec<Self> {
        let words_of = |party| call.turns_of(party).flat_map(|turn| turn.words());
        let spoken_by = |party| Self { party, tokens: words_of(party).filter_map(token).collect() };
        call.parties().into_iter().map(spoken_by).collect()
    }

    pub fn party(&self) -> Party {
        self.party
    }

    /// Every place where the phrase is said as whole words.
    pub fn places(&self, phrase: &str) -> Vec<Place> {
        let wanted = comparable(phrase);
        let starts = (0..self.tokens.len()).filter_map(|at| self.match_at(at, &wanted));
        starts.collect()
    }

    /// Words are joined without spaces, so that "follow-up" is found as "follow up" too, and
    /// languages that write no spaces need no rule of their own.
    fn match_at(&self, first: usize, wanted: &str) -> Option<Place> {
        let mut rest = wanted;
        let mut end = self.tokens[first].start;
        for token in &self.tokens[first..] {
            if token.start - end > MAX_PAUSE_S {
                return None;
            }
            rest = rest.strip_prefix(token.text.as_str())?;
            end = token.end;
            if rest.is_empty() {
                return Some(Place { party: self.party, start: self.tokens[first].start, end });
            }
        }
        None
    }
}

fn token(word: &Word) -> Option<Token> {
    let text = comparable(&word.text);
    (!text.is_empty()).then_some(Token { text, start: word.start, end: word.end })
}

/// Lower case, letters and digits alone.
fn comparable(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_call::call_of;

    fn places(call: &Call, phrase: &str) -> Vec<(f64, f64)> {
        Spoken::of(call).iter().flat_map(|s| s.places(phrase)).map(|p| (p.start, p.end)).collect()
    }

    #[test]
    fn case_and_punctuation_do_not_matter() {
        let call = call_of(&[(0, 0.0, "Well, MY name: is Ana")]);
        assert_eq!(places(&call, "my name is"), [(1.0, 3.5)]);
    }

    #[test]
    fn only_whole_words_count() {
        let call = call_of(&[(0, 0.0, "the scar and the car")]);
        assert_eq!(places(&call, "car"), [(4.0, 4.5)]);
        assert!(places(&call, "sca").is_empty());
    }

    #[test]
    fn a_phrase_may_cross_utterances_of_one_party_but_no_pause() {
        let near = call_of(&[(0, 0.0, "please hold"), (1, 1.2, "what"), (0, 2.0, "the line")]);
        assert_eq!(places(&near, "hold the line"), [(1.0, 3.5)]);
        let far = call_of(&[(0, 0.0, "please hold"), (0, 9.0, "the line")]);
        assert!(places(&far, "hold the line").is_empty());
    }

    #[test]
    fn languages_without_spaces_are_searched_too() {
        let call = call_of(&[(0, 0.0, "请 稍 等 一下")]);
        assert_eq!(places(&call, "稍等"), [(1.0, 2.5)]);
    }
}
