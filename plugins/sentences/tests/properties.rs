//! Nothing is lost, whatever the transcript.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tympan_plugin_sentences::sentences;
use tympan_sdk::{Transcript, Utterance, Word};

fn token() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 16] = [
        "Hello",
        "Dr.",
        "J.",
        "end.",
        "why?",
        "…",
        "3.",
        "e.g.",
        "\"",
        "」",
        "你",
        "好。",
        "ครับ",
        "؟",
        "।",
        " ",
    ];
    prop_oneof![4 => proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned), 1 => "\\PC{1,5}"]
}

fn utterance() -> impl Strategy<Value = Utterance> {
    let word = (token(), any::<bool>(), 0.0..1.5f64, 0.0..0.6f64);
    let language = proptest::option::of(proptest::sample::select(&["en", "de", "zh", "th", "my", "el"][..]));
    let voice = (0..2u16, proptest::option::of(0..2u32));
    (proptest::collection::vec(word, 0..15), language, voice).prop_map(
        |(parts, language, (channel, speaker))| {
            let mut at = 0.0;
            let mut words = Vec::new();
            for (text, space, pause_s, length_s) in parts {
                let start = at + pause_s;
                at = start + length_s;
                let text = if space && !words.is_empty() { format!(" {text}") } else { text };
                words.push(Word { text, start, end: at, confidence: 0.5 });
            }
            let mut utterance = Utterance::new(channel, words);
            utterance.speaker = speaker;
            utterance.language = language.map(str::to_owned);
            utterance
        },
    )
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn every_word_is_in_one_sentence_of_its_voice(utterances in proptest::collection::vec(utterance(), 0..8)) {
        let mut at = 0.0;
        let mut expected: BTreeMap<(u16, Option<u32>), String> = BTreeMap::new();
        let mut shifted = Vec::new();
        for mut utterance in utterances {
            utterance.edit_words(|words| words.iter_mut().for_each(|w| { w.start += at; w.end += at; }));
            at = utterance.words().last().map_or(at, |w| w.end);
            expected.entry((utterance.channel, utterance.speaker)).or_default().push_str(&letters(utterance.text()));
            shifted.push(utterance);
        }
        expected.retain(|_, text| !text.is_empty());
        let found = sentences(&Transcript { utterances: shifted, ..Default::default() });
        let mut joined: BTreeMap<(u16, Option<u32>), String> = BTreeMap::new();
        for sentence in &found {
            prop_assert!(!sentence.words.is_empty() && !sentence.sentence.trim().is_empty());
            let text: String = sentence.words.iter().map(|w| w.text.as_str()).collect();
            prop_assert_eq!(&sentence.sentence, &text);
            prop_assert_eq!(sentence.start, sentence.words[0].start);
            prop_assert!(sentence.start <= sentence.end);
            joined.entry((sentence.channel, sentence.speaker)).or_default().push_str(&letters(&text));
        }
        prop_assert_eq!(joined, expected);
        prop_assert!(found.is_sorted_by(|a, b| a.start <= b.start));
    }
}
