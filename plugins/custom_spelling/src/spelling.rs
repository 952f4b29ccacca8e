//! Finds the variants of a dictionary in utterances and writes the spellings in their place.

use tympan_sdk::{Utterance, Word};

use crate::atoms::Atoms;
use crate::dictionary::Dictionary;
use crate::fold::Casing;
use crate::rewrite::{Replacement, rewrite};

/// The changed words of one utterance.
#[derive(Debug, PartialEq)]
pub enum Change {
    /// New words.
    Words(Vec<Word>),
    /// A new text, for an utterance without words.
    Text(String),
}

/// The changes that a dictionary makes: position of the utterance, and what it becomes.
pub fn changes(dictionary: &Dictionary, utterances: &[Utterance]) -> Vec<(usize, Change)> {
    let mut changes = Vec::new();
    for (position, utterance) in utterances.iter().enumerate() {
        if let Some(change) = change(dictionary, utterance) {
            changes.push((position, change));
        }
    }
    changes
}

/// Writes changes into the utterances that they were made for.
pub fn apply(changes: Vec<(usize, Change)>, utterances: &mut [Utterance]) {
    for (position, change) in changes {
        match change {
            Change::Words(words) => utterances[position].set_words(words),
            Change::Text(text) => utterances[position].set_text(&text),
        }
    }
}

fn change(dictionary: &Dictionary, utterance: &Utterance) -> Option<Change> {
    let words = utterance.words();
    if words.is_empty() {
        let found = find(dictionary, utterance.text(), &[], utterance.language.as_deref());
        return (!found.is_empty()).then(|| Change::Text(replace(utterance.text(), &found)));
    }
    let mut text = String::with_capacity(utterance.text().len());
    let mut starts = Vec::with_capacity(words.len());
    for word in words {
        starts.push(text.len());
        text.push_str(&word.text);
    }
    let found = find(dictionary, &text, &starts, utterance.language.as_deref());
    (!found.is_empty()).then(|| Change::Words(rewrite(words.to_vec(), &starts, &found)))
}

/// All stretches to replace, in order; those already spelled right are left out.
fn find<'a>(
    dictionary: &'a Dictionary,
    text: &str,
    word_starts: &[usize],
    language: Option<&str>,
) -> Vec<Replacement<'a>> {
    let atoms = Atoms::new(text, word_starts, language);
    let casing = Casing::of(language);
    let mut replacements = Vec::new();
    let mut at = 0;
    while at < atoms.len() {
        let Some(found) = dictionary.longest_from(&atoms, at, casing) else {
            at += 1;
            continue;
        };
        let range = atoms.offset(at)..atoms.offset(at + found.atoms);
        if &text[range.clone()] != found.key {
            replacements.push(Replacement { range, key: found.key });
        }
        at += found.atoms;
    }
    replacements
}

fn replace(text: &str, replacements: &[Replacement]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for replacement in replacements {
        out.push_str(&text[copied..replacement.range.start]);
        out.push_str(replacement.key);
        copied = replacement.range.end;
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Spellings;

    /// The words after spelling, `|` between them.
    fn spelled(pairs: &[(&str, &[&str])], language: &str, words: &[&str]) -> String {
        let spellings: Spellings = pairs
            .iter()
            .map(|(key, variants)| ((*key).to_owned(), variants.iter().map(|&v| v.to_owned()).collect()))
            .collect();
        let word = |(n, text): (usize, &&str)| {
            let start = n as f64;
            Word { text: (*text).to_owned(), start, end: start + 0.5, confidence: 0.9 }
        };
        let mut utterance = Utterance::new(0, words.iter().enumerate().map(word).collect());
        utterance.language = Some(language.to_owned());
        let mut utterances = [utterance];
        apply(changes(&Dictionary::new(&spellings), &utterances), &mut utterances);
        let texts: Vec<&str> = utterances[0].words().iter().map(|w| w.text.as_str()).collect();
        assert_eq!(utterances[0].text(), texts.concat());
        texts.join("|")
    }

    #[test]
    fn whole_words_in_any_case_keep_their_punctuation() {
        let george: &[(&str, &[&str])] = &[("George", &["gorge"])];
        assert_eq!(
            spelled(george, "en", &["GORGE,", " \"gorge\"", " gorges", " (Gorge)."]),
            "George,| \"George\"| gorges| (George)."
        );
        assert_eq!(
            spelled(george, "en", &["Gorge's", " gorge’s", " pre-gorge"]),
            "George's| George’s| pre-George"
        );
    }

    #[test]
    fn variants_of_several_words_match_across_words_only_without_punctuation() {
        let york: &[(&str, &[&str])] = &[("NYC", &["new york"]), ("Yorkshire", &["york shire"])];
        assert_eq!(
            spelled(york, "en", &["In", " New", " York,", " not", " new,", " york."]),
            "In| NYC,| not| new,| york."
        );
        assert_eq!(spelled(york, "en", &["york", " shire"]), "Yorkshire");
    }

    #[test]
    fn a_key_with_spaces_becomes_several_words() {
        assert_eq!(
            spelled(&[("Open AI", &["openai"])], "en", &["so", " OpenAI's", " api"]),
            "so| Open| AI's| api"
        );
    }

    #[test]
    fn elisions_and_endings_behind_an_apostrophe() {
        assert_eq!(
            spelled(&[("Oréal", &["oreal", "oréal"])], "fr", &["chez", " l'ore\u{301}al."]),
            "chez| l'Oréal."
        );
        assert_eq!(spelled(&[("Ankara", &["ANKARA"])], "tr", &["ankara’da"]), "Ankara’da");
        assert_eq!(spelled(&[("Brian", &["brien"])], "en", &["O'Brien"]), "O'Brien");
    }

    #[test]
    fn letters_follow_the_language() {
        assert_eq!(spelled(&[("Işık", &["IŞIK"])], "tr", &["ışık", " işik"]), "Işık| işik");
        assert_eq!(
            spelled(&[("Strauß", &["strauss"])], "de", &["STRAUẞ", " Strauss", " Strausse"]),
            "Strauß| Strauß| Strausse"
        );
    }

    #[test]
    fn scripts_without_spaces_match_whole_units() {
        let tesla: &[(&str, &[&str])] = &[("特斯拉", &["特斯啦"])];
        assert_eq!(spelled(tesla, "zh", &["我", "买", "特", "斯", "啦", "。"]), "我|买|特斯拉|。");
        assert_eq!(spelled(tesla, "zh", &["我", "买特", "斯", "啦", "。"]), "我|买特|斯|啦|。");
        assert_eq!(
            spelled(&[("トヨタ", &["とよた"])], "ja", &["これ", "は", "とよた", "です"]),
            "これ|は|トヨタ|です"
        );
        assert_eq!(spelled(&[("สมชาย", &["สมใช"])], "th", &["คุณ", "สม", "ใช", "ครับ"]), "คุณ|สมชาย|ครับ");
    }

    #[test]
    fn what_is_spelled_right_stays_untouched() {
        let spellings = Spellings::from([("北京".to_owned(), vec!["北京".to_owned()])]);
        let words = ["北", "京"].map(|t| Word { text: t.into(), start: 0.0, end: 1.0, confidence: 1.0 });
        assert_eq!(changes(&Dictionary::new(&spellings), &[Utterance::new(0, words.to_vec())]), []);
    }
}
