//! The client's dictionary: checked once, then looked up from every word.

use std::collections::{BTreeMap, HashMap};

use tympan_sdk::Problem;

use crate::atoms::Atoms;
use crate::fold::{Casing, fold};

/// Spellings and the variants that become them, as in the request.
pub type Spellings = BTreeMap<String, Vec<String>>;

/// More would be a word list, not a spelling of names; keeps a call far below its time limit.
const MAX_VARIANTS: usize = 10_000;
/// A name or term, not a paragraph.
const MAX_CHARS: usize = 200;

/// A variant and the spelling that takes its place.
#[derive(Debug)]
struct Entry {
    /// Comparable form.
    variant: String,
    /// Index into the keys.
    key: usize,
}

/// A dictionary ready for look-up.
#[derive(Debug)]
pub struct Dictionary {
    keys: Vec<String>,
    /// Sorted by variant, so that those with a common beginning stand together.
    usual: Vec<Entry>,
    turkic: Vec<Entry>,
}

/// A variant found in a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Found<'a> {
    /// Number of atoms it takes.
    pub atoms: usize,
    /// What to write in its place.
    pub key: &'a str,
}

impl Dictionary {
    /// Prepares a dictionary. Spellings that are not valid are passed over.
    pub fn new(spellings: &Spellings) -> Self {
        let keys = spellings.keys().map(|key| collapse_spaces(key)).collect();
        Self { keys, usual: entries(spellings, Casing::Usual), turkic: entries(spellings, Casing::Turkic) }
    }

    /// The longest variant that begins at an atom and ends with one.
    pub fn longest_from(&self, atoms: &Atoms, begin: usize, casing: Casing) -> Option<Found<'_>> {
        let mut candidates = match casing {
            Casing::Usual => &self.usual[..],
            Casing::Turkic => &self.turkic[..],
        };
        let mut longest = None;
        for end in begin + 1..=atoms.len() {
            let text = atoms.folded(begin, end);
            let first = candidates.partition_point(|entry| entry.variant.as_str() < text);
            let count = candidates[first..].partition_point(|entry| entry.variant.starts_with(text));
            candidates = &candidates[first..first + count];
            match candidates.first() {
                None => break,
                Some(entry) if entry.variant == text => {
                    longest = Some(Found { atoms: end - begin, key: &self.keys[entry.key] });
                }
                Some(_) => {}
            }
        }
        longest
    }
}

fn entries(spellings: &Spellings, casing: Casing) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (key, (spelling, variants)) in spellings.iter().enumerate() {
        if spelling.trim().is_empty() {
            continue;
        }
        for variant in variants {
            let variant = fold(variant.trim(), casing);
            if !variant.is_empty() {
                entries.push(Entry { variant, key });
            }
        }
    }
    // Stable: of two equal variants the one with the first key stays.
    entries.sort_by(|a, b| a.variant.cmp(&b.variant));
    entries.dedup_by(|later, earlier| later.variant == earlier.variant);
    entries
}

fn collapse_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Everything that a client has to change in a dictionary.
pub fn problems(spellings: &Spellings) -> Vec<Problem> {
    let count: usize = spellings.values().map(Vec::len).sum();
    if count > MAX_VARIANTS {
        let message = format!("must not hold more than {MAX_VARIANTS} variants, it has {count}");
        return vec![Problem { pointer: "/spelling_dictionary".to_owned(), message }];
    }
    let mut problems = Vec::new();
    let mut owners: HashMap<String, &str> = HashMap::new();
    for (key, variants) in spellings {
        let pointer = format!("/spelling_dictionary/{}", key.replace('~', "~0").replace('/', "~1"));
        if let Some(flaw) = flaw(key) {
            problems
                .push(Problem { pointer: pointer.clone(), message: format!("must have a key that {flaw}") });
        }
        for (index, variant) in variants.iter().enumerate() {
            let owner = owners.entry(fold(variant.trim(), Casing::Usual)).or_insert(key);
            let message = match flaw(variant) {
                Some(flaw) => format!("must be a variant that {flaw}"),
                None if *owner != key => format!("must not be {variant:?}, which is under {owner:?} already"),
                None => continue,
            };
            problems.push(Problem { pointer: format!("{pointer}/{index}"), message });
        }
    }
    problems
}

/// Why a key or a variant cannot be used.
fn flaw(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        Some("is not empty".to_owned())
    } else if text.chars().count() > MAX_CHARS {
        Some(format!("has at most {MAX_CHARS} characters"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(pairs: &[(&str, &[&str])]) -> Spellings {
        pairs
            .iter()
            .map(|(key, variants)| ((*key).to_owned(), variants.iter().map(|&v| v.to_owned()).collect()))
            .collect()
    }

    fn lookup(dictionary: &Dictionary, text: &str) -> Option<(usize, String)> {
        let atoms = Atoms::new(text, &[0], None);
        dictionary.longest_from(&atoms, 0, Casing::Usual).map(|f| (f.atoms, f.key.to_owned()))
    }

    #[test]
    fn the_longest_variant_wins() {
        let dictionary = Dictionary::new(&spellings(&[
            ("NY", &["new york"]),
            ("New", &["neu", "new"]),
            ("NYC", &["new york city"]),
        ]));
        assert_eq!(lookup(&dictionary, "New York City hall"), Some((5, "NYC".to_owned())));
        assert_eq!(lookup(&dictionary, "NEW YORK CITYWIDE"), Some((3, "NY".to_owned())));
        assert_eq!(lookup(&dictionary, "new yorker"), Some((1, "New".to_owned())));
        assert_eq!(lookup(&dictionary, "newer"), None);
        assert_eq!(lookup(&dictionary, ""), None);
    }

    fn found(dictionary: &Spellings) -> Vec<(String, String)> {
        problems(dictionary).into_iter().map(|p| (p.pointer, p.message)).collect()
    }

    #[test]
    fn unusable_entries_are_named_with_their_place() {
        let found = found(&spellings(&[("", &["x"]), ("a/b~c", &["ok", " "])]));
        assert_eq!(found[0].0, "/spelling_dictionary/");
        assert_eq!(
            found[1],
            ("/spelling_dictionary/a~1b~0c/1".into(), "must be a variant that is not empty".into())
        );
        let long = "x".repeat(201);
        let found = problems(&spellings(&[("k", &[&long])]));
        assert!(found[0].message.contains("at most 200 characters"));
    }

    #[test]
    fn one_variant_cannot_have_two_spellings() {
        let found = found(&spellings(&[("George", &["Gorge", "gorge"]), ("Jorge", &["GORGE"])]));
        let message = "must not be \"GORGE\", which is under \"George\" already";
        assert_eq!(found, [("/spelling_dictionary/Jorge/0".to_owned(), message.to_owned())]);
    }

    #[test]
    fn too_many_variants_are_refused() {
        let many: Vec<String> = (0..10_001).map(|n| n.to_string()).collect();
        let dictionary = Spellings::from([("k".to_owned(), many)]);
        assert!(found(&dictionary)[0].1.contains("10001"));
    }
}
