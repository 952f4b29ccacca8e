//! Joins what one voice said without a long pause, in one language: a sentence lies inside such
//! a chain, and may span utterances.

use crate::script::{needs_space, writes_no_spaces};
use crate::voice::Turns;
use crate::words::words_of;
use tympan_sdk::Word;

/// A pause after which a sentence does not go on, even without a stop.
const LONGEST_PAUSE_S: f64 = 2.0;

/// Words of one voice that may form sentences together.
#[derive(Debug, Default)]
pub struct Chain {
    /// Code of the language, where it is known.
    pub language: Option<String>,
    /// The words, concatenated they give the text: the first of an utterance has a leading space
    /// where its script wants one.
    pub words: Vec<Word>,
    /// Positions of words that begin a further utterance.
    pub joints: Vec<usize>,
}

/// Cuts the turns of a voice into chains.
pub fn chains(turns: &Turns) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    for utterance in &turns.utterances {
        let mut words = words_of(utterance).into_owned();
        move_opening_marks(&mut words);
        if words.is_empty() {
            continue;
        }
        match chains.last_mut() {
            Some(chain) if chain.language == utterance.language && !is_long_pause(chain, &words) => {
                chain.append(words);
            }
            _ => chains.push(Chain { language: utterance.language.clone(), words, joints: Vec::new() }),
        }
    }
    chains
}

/// Gives opening marks at the end of a word to the next one, which they belong to: recognisers
/// that know no quotes leave `dit «` and ` Oui` behind.
fn move_opening_marks(words: &mut [Word]) {
    for at in 1..words.len() {
        let text = &words[at - 1].text;
        let next = words[at].text.chars().next();
        let is_mark = |c: char| is_opening(c) || opens_after_space(c) || c.is_whitespace();
        let kept = text.trim_end_matches(is_mark).len();
        let moved = &text[kept..];
        let opens = moved.starts_with(char::is_whitespace) && moved.contains(opens_after_space);
        if kept > 0 && (opens || moved.contains(|c| opens_before(c, next))) {
            let moved = words[at - 1].text.split_off(kept);
            words[at].text.insert_str(0, &moved);
        }
    }
}

/// Marks that open a quote or a bracket and never close one.
fn is_opening(c: char) -> bool {
    matches!(c, '「' | '『' | '（' | '【' | '《' | '〈' | '(' | '[')
}

/// Whether the mark opens a quote or a bracket before this character. Scripts without spaces write
/// `“` at the beginning only; elsewhere it may close.
pub fn opens_before(mark: char, next: Option<char>) -> bool {
    is_opening(mark) || (matches!(mark, '“' | '‘') && next.is_some_and(writes_no_spaces))
}

/// Marks that open in some languages and close in others: a space before them tells.
fn opens_after_space(c: char) -> bool {
    matches!(c, '“' | '‘' | '«' | '„' | '‹')
}

fn is_long_pause(chain: &Chain, next: &[Word]) -> bool {
    let end = chain.words.last().map_or(0.0, |word| word.end);
    next[0].start - end > LONGEST_PAUSE_S
}

impl Chain {
    fn append(&mut self, mut words: Vec<Word>) {
        if let Some(last) = self.words.last()
            && needs_space(&last.text, &words[0].text)
        {
            words[0].text.insert(0, ' ');
        }
        self.joints.push(self.words.len());
        self.words.append(&mut words);
    }

    /// Silence before a word, in seconds; 0 before the first.
    pub fn pause_before_s(&self, position: usize) -> f64 {
        match position.checked_sub(1) {
            Some(previous) => self.words[position].start - self.words[previous].end,
            None => 0.0,
        }
    }
}
