//! Short words whose dot does not end a sentence, by language.
//!
//! Only those that speech recognition writes in running text. What may as well end a sentence
//! (etc., p.m., Inc.) is left to the Unicode rules, which look at the next letter.

mod before_names;
mod before_numbers;

use before_names::BEFORE_NAMES;
use before_numbers::{BEFORE_NUMBERS, BEFORE_NUMBERS_OF};

/// Two words that count years together. The second one may end a sentence.
const ERAS: &str =
    "v.chr n.chr f.kr e.kr pr.kr po.kr př.kr pred.kr î.hr d.hr av.j.-c apr.j.-c ap.j.-c a.c d.c";

/// Languages in which a number with a dot is an ordinal: "am 3. Mai".
const ORDINALS_WITH_STOP: [&str; 20] = [
    "bs", "cs", "da", "de", "et", "eu", "fi", "fo", "hr", "hu", "is", "lb", "lv", "nn", "no", "pl", "sk",
    "sl", "sr", "tr",
];

/// English words that never stand inside a name: after an initial they begin a sentence, as in
/// "in the U.S. And then".
const ENGLISH_BEGINNINGS: &str = "a an and are but by can did do does he her here his how if in is it it's i'm my no \
    not now of on or she so that that's the their then there there's these they this those to was we we're well were \
    what when where which who why will yes you you're your";

/// What one language abbreviates.
#[derive(Debug, Clone, Copy)]
pub struct Abbreviations {
    before_names: &'static str,
    before_numbers: &'static str,
    ordinals: bool,
    beginnings: &'static str,
}

impl Abbreviations {
    /// Those of a language code; none for a language that is not listed.
    pub fn of(language: Option<&str>) -> Self {
        let code = language.unwrap_or_default();
        let beginnings = if code == "en" { ENGLISH_BEGINNINGS } else { "" };
        Self {
            before_names: list_of(BEFORE_NAMES, code),
            before_numbers: list_of(BEFORE_NUMBERS_OF, code),
            ordinals: ORDINALS_WITH_STOP.contains(&code),
            beginnings,
        }
    }

    /// Whether the word, given without its last dot, announces a name or a noun.
    pub fn stands_before_name(self, word: &str) -> bool {
        contains(self.before_names, without_article(word))
    }

    /// Whether the word, given without its last dot, announces a number.
    pub fn stands_before_number(self, word: &str) -> bool {
        let word = without_article(word);
        contains(BEFORE_NUMBERS, word) || contains(self.before_numbers, word)
    }

    /// Whether the words, given without their last dots, count years: "v. Chr."
    pub fn is_era(self, first: &str, second: &str) -> bool {
        contains(ERAS, &format!("{first}.{second}"))
    }

    /// Whether the word cannot go on with a name that an initial began.
    pub fn begins_sentence(self, word: &str) -> bool {
        contains(self.beginnings, word.trim_end_matches(|c: char| !c.is_alphanumeric()))
    }

    /// Whether the language writes ordinals as a number with a dot.
    pub fn writes_ordinals_with_stop(self) -> bool {
        self.ordinals
    }
}

fn list_of(table: &[(&str, &'static str)], code: &str) -> &'static str {
    table.binary_search_by_key(&code, |(language, _)| *language).map_or("", |at| table[at].1)
}

/// Some languages join an article or a preposition to a word: l'avv. Bianchi, dell'art. 5.
fn without_article(word: &str) -> &str {
    word.rsplit(['\'', '’']).next().unwrap_or(word)
}

fn contains(list: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    list.split_whitespace().any(|entry| entry == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_for_the_search() {
        for table in [BEFORE_NAMES, BEFORE_NUMBERS_OF] {
            assert!(table.is_sorted_by_key(|(language, _)| *language));
        }
        assert!(ORDINALS_WITH_STOP.is_sorted());
    }

    #[test]
    fn entries_are_lower_case_without_the_last_dot() {
        let tables = BEFORE_NAMES.iter().chain(BEFORE_NUMBERS_OF);
        let lists = tables.map(|(_, list)| *list).chain([BEFORE_NUMBERS, ERAS]);
        for entry in lists.flat_map(str::split_whitespace) {
            assert_eq!(entry, entry.to_lowercase().trim_end_matches('.'));
        }
    }

    #[test]
    fn a_language_knows_its_own_only() {
        assert!(Abbreviations::of(Some("en")).stands_before_name("Dr"));
        assert!(Abbreviations::of(Some("de")).stands_before_name("bzw"));
        assert!(!Abbreviations::of(Some("en")).stands_before_name("bzw"));
        assert!(!Abbreviations::of(None).stands_before_name("Dr"));
        assert!(Abbreviations::of(None).stands_before_number("No"));
        assert!(Abbreviations::of(Some("en")).stands_before_number("Ch"));
        assert!(!Abbreviations::of(None).stands_before_number("Ch"));
    }
}
