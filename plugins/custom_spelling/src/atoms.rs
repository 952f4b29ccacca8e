//! Cuts the text of an utterance where a whole word may begin or end.

use unicode_segmentation::UnicodeSegmentation;

use crate::fold::{Casing, fold_into};

/// Languages in which an apostrophe stands between two words (l'Oréal) or before an ending
/// (Ankara'da), so that the parts on both sides are whole words.
const APOSTROPHE_DIVIDES: [&str; 9] = ["az", "br", "ca", "fi", "fr", "it", "lb", "oc", "tr"];

/// The text of an utterance between two neighbouring word edges: a word, a mark, a space.
#[derive(Debug)]
pub struct Atoms {
    /// Byte offsets into the text, both ends included.
    edges: Vec<usize>,
    /// The comparable forms, one after the other.
    folded: String,
    /// Where each form begins in `folded`, and the end.
    folded_edges: Vec<usize>,
}

impl Atoms {
    /// Cuts a text. `word_starts` are the byte offsets of the transcript's words in it: where a
    /// script has no spaces, they are the only edges inside a run of letters.
    pub fn new(text: &str, word_starts: &[usize], language: Option<&str>) -> Self {
        let edges = edges(text, word_starts, language);
        let casing = Casing::of(language);
        let mut folded = String::with_capacity(text.len());
        let mut folded_edges = Vec::with_capacity(edges.len());
        for pair in edges.windows(2) {
            folded_edges.push(folded.len());
            fold_into(&mut folded, &text[pair[0]..pair[1]], casing);
        }
        folded_edges.push(folded.len());
        Self { edges, folded, folded_edges }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// The comparable form of atoms `begin..end`.
    pub fn folded(&self, begin: usize, end: usize) -> &str {
        &self.folded[self.folded_edges[begin]..self.folded_edges[end]]
    }

    /// Where an edge lies in the text, in bytes.
    pub fn offset(&self, edge: usize) -> usize {
        self.edges[edge]
    }
}

fn edges(text: &str, word_starts: &[usize], language: Option<&str>) -> Vec<usize> {
    let divides = language.is_some_and(|code| APOSTROPHE_DIVIDES.contains(&code));
    let mut edges = Vec::with_capacity(text.len() / 3);
    for (start, part) in text.split_word_bound_indices() {
        if word_starts.len() < 2 || !is_inside_unspaced(text, start) {
            edges.push(start);
        }
        if part.len() > 2 && part.contains(is_apostrophe) {
            edges.extend(apostrophe_edges(part, divides).map(|at| start + at));
        }
    }
    edges.extend(word_starts.iter().filter(|&&at| at < text.len()));
    edges.push(0);
    edges.push(text.len());
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Whether letters of a script without spaces stand on both sides.
fn is_inside_unspaced(text: &str, at: usize) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && tympan_text::writes_no_spaces(c);
    text[..at].chars().next_back().is_some_and(is_letter) && text[at..].chars().next().is_some_and(is_letter)
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʼ' | '＇')
}

/// Edges inside a word with an apostrophe: on both sides of it where the language divides there,
/// before a final 's everywhere.
fn apostrophe_edges(part: &str, divides: bool) -> impl Iterator<Item = usize> {
    part.char_indices().filter(|(_, c)| is_apostrophe(*c)).flat_map(move |(at, c)| {
        let after = at + c.len_utf8();
        let is_possessive = part[after..].eq_ignore_ascii_case("s");
        let before = (divides || is_possessive).then_some(at);
        before.into_iter().chain(divides.then_some(after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(text: &str, word_starts: &[usize], language: &str) -> Vec<String> {
        let atoms = Atoms::new(text, word_starts, Some(language));
        (0..atoms.len()).map(|n| text[atoms.offset(n)..atoms.offset(n + 1)].to_owned()).collect()
    }

    #[test]
    fn words_marks_and_spaces_are_apart() {
        assert_eq!(
            atoms("\"Hi, you-two!\"", &[0], "en"),
            ["\"", "Hi", ",", " ", "you", "-", "two", "!", "\""]
        );
        assert_eq!(atoms("Node.js 3.5 cafe\u{301}", &[0], "en"), ["Node.js", " ", "3.5", " ", "cafe\u{301}"]);
        assert_eq!(atoms("", &[], "en"), Vec::<String>::new());
    }

    #[test]
    fn apostrophes_divide_by_language() {
        assert_eq!(atoms("Gorge's don't", &[0], "en"), ["Gorge", "'s", " ", "don't"]);
        assert_eq!(atoms("l’Oréal", &[0], "fr"), ["l", "’", "Oréal"]);
        assert_eq!(atoms("Ankara'da", &[0], "tr"), ["Ankara", "'", "da"]);
        assert_eq!(atoms("O'Brien", &[0], "en"), ["O'Brien"]);
    }

    #[test]
    fn without_spaces_the_transcripts_words_are_the_edges() {
        let text = "我爱北京。";
        assert_eq!(atoms(text, &[0, 3, 6], "zh"), ["我", "爱", "北京", "。"]);
        assert_eq!(atoms(text, &[0], "zh"), ["我", "爱", "北", "京", "。"]);
    }
}
