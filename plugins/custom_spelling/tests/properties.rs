//! What holds for every transcript and every dictionary.

use proptest::prelude::*;
use tympan_plugin_custom_spelling::{Dictionary, Spellings, apply, changes};
use tympan_sdk::{Utterance, Word};

fn token() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 11] =
        ["new", "York", "gorge's", "straße", "İzmir", "l'eau", "北", "京", "とよた", "a-b", "cafe\u{301}"];
    prop_oneof![
        4 => proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned),
        1 => "[a-zA-ZäßıΣ'’.,!-]{1,6}",
        1 => "\\PC{1,4}".prop_filter("a word is not blank", |text| !text.trim().is_empty()),
    ]
}

fn utterance() -> impl Strategy<Value = Utterance> {
    let word = (token(), any::<bool>(), 0.0..2.0f64, 0.0..1.0f64, 0.0..=1.0f64);
    let language = proptest::option::of(proptest::sample::select(&["en", "tr", "fr", "zh"][..]));
    (proptest::collection::vec(word, 0..20), language).prop_map(|(parts, language)| {
        let mut at = 0.0;
        let mut words = Vec::new();
        for (text, space, pause_s, length_s, confidence) in parts {
            let start = at + pause_s;
            at = start + length_s;
            let text = if space && !words.is_empty() { format!(" {text}") } else { text };
            words.push(Word { text, start, end: at, confidence });
        }
        let mut utterance = Utterance::new(0, words);
        utterance.language = language.map(str::to_owned);
        utterance
    })
}

fn spellings() -> impl Strategy<Value = Spellings> {
    let phrase = || proptest::collection::vec(token(), 1..4).prop_map(|tokens| tokens.join(" "));
    proptest::collection::btree_map(phrase(), proptest::collection::vec(phrase(), 0..4), 0..6)
}

fn spelled(dictionary: &Spellings, utterance: &Utterance) -> Option<Utterance> {
    let mut utterances = [utterance.clone()];
    let changes = changes(&Dictionary::new(dictionary), &utterances);
    let changed = !changes.is_empty();
    apply(changes, &mut utterances);
    let [utterance] = utterances;
    changed.then_some(utterance)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn text_is_the_words_and_times_stay_in_order(dictionary in spellings(), before in utterance()) {
        let Some(after) = spelled(&dictionary, &before) else { return Ok(()) };
        let joined: String = after.words().iter().map(|w| w.text.as_str()).collect();
        prop_assert_eq!(after.text(), joined);
        prop_assert_eq!((after.start, after.end), (before.start, before.end));
        for word in after.words() {
            prop_assert!(word.start <= word.end && !word.text.is_empty());
            prop_assert!((0.0..=1.0).contains(&word.confidence));
        }
        for pair in after.words().windows(2) {
            prop_assert!(pair[0].end <= pair[1].start, "{:?}", pair);
        }
    }

    #[test]
    fn a_dictionary_that_does_not_match_changes_nothing(before in utterance()) {
        let dictionary = Spellings::from([("Key".to_owned(), vec!["neverheardof".to_owned(), "never heard".to_owned()])]);
        prop_assert_eq!(spelled(&dictionary, &before), None);
    }

    #[test]
    fn a_variant_in_any_case_becomes_the_key(upper in any::<bool>(), comma in any::<bool>(), count in 1..6usize) {
        let variant = if upper { "GORGE" } else { "gorge" };
        let tail = if comma { "," } else { "" };
        let words = (0..count).map(|n| Word {
            text: format!("{}{variant}{tail}", if n == 0 { "" } else { " " }),
            start: n as f64, end: n as f64 + 0.5, confidence: 1.0,
        });
        let dictionary = Spellings::from([("George".to_owned(), vec!["gorge".to_owned()])]);
        let after = spelled(&dictionary, &Utterance::new(0, words.collect()));
        let expected = vec![format!("George{tail}"); count].join(" ");
        prop_assert_eq!(after.map(|u| u.text().to_owned()), Some(expected));
    }
}
