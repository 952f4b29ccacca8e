//! What holds for the subtitles of every transcript, read back from the files.

use proptest::prelude::*;
use serde_json::json;
use tympan_plugin_subtitles::{Config, Style, render};
use tympan_sdk::{Transcript, Utterance, Word};
use unicode_width::UnicodeWidthStr;

/// A cue as a player sees it.
#[derive(Debug)]
struct Cue {
    start_ms: u64,
    end_ms: u64,
    rows: Vec<String>,
}

/// Reads a file strictly: anything that is not a cue of this format fails the test.
fn parse(format: &str, file: &str) -> Vec<Cue> {
    let (body, point) = match format {
        "vtt" => (file.strip_prefix("WEBVTT\n").expect("begins with WEBVTT").trim_start_matches('\n'), '.'),
        _ => (file, ','),
    };
    if body.is_empty() {
        return Vec::new();
    }
    assert!(body.ends_with('\n') && !body.ends_with("\n\n"));
    let mut cues = Vec::new();
    for (index, block) in body.trim_end_matches('\n').split("\n\n").enumerate() {
        let mut lines = block.split('\n');
        if format == "srt" {
            assert_eq!(lines.next(), Some((index + 1).to_string().as_str()));
        }
        let (start, end) = lines.next().and_then(|line| line.split_once(" --> ")).expect("a line of times");
        let rows: Vec<String> = lines.map(|row| displayed(format, row)).collect();
        assert!(!rows.is_empty() && rows.iter().all(|row| !row.trim().is_empty()), "{block:?}");
        cues.push(Cue { start_ms: parse_time(start, point), end_ms: parse_time(end, point), rows });
    }
    cues
}

fn parse_time(text: &str, point: char) -> u64 {
    let (clock, ms) = text.split_once(point).expect("milliseconds");
    let parts: Vec<u64> = clock.split(':').map(|part| part.parse().expect("a number")).collect();
    assert!(ms.len() == 3 && parts.len() == 3 && parts[1] < 60 && parts[2] < 60, "{text}");
    ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + ms.parse::<u64>().expect("a number")
}

/// The row without the tag of the voice and without escapes.
fn displayed(format: &str, row: &str) -> String {
    assert!(!row.contains("-->"), "{row:?}");
    if format == "srt" {
        return row.to_owned();
    }
    let text = match row.strip_prefix("<v ") {
        Some(tagged) => tagged.split_once('>').expect("the tag ends").1,
        None => row,
    };
    assert!(!text.contains(['<', '>']), "{row:?}");
    let unescaped = text.replace("&lt;", "<").replace("&gt;", ">");
    assert!(!unescaped.replace("&amp;", "").contains('&'), "{row:?}");
    unescaped.replace("&amp;", "&")
}

const KNOWN: [&str; 24] = [
    "Hello",
    "world.",
    "a",
    "well,",
    "Donaudampfschifffahrtsgesellschaft",
    "你",
    "好",
    "。",
    "「",
    "です",
    "ครับ",
    "ๆ",
    "👩‍💻",
    "👍🏽",
    "🇫🇷",
    "e\u{301}",
    "שלום",
    "مرحبا",
    "؟",
    "-->",
    "<b>",
    "&amp;",
    "a\n\nb",
    "\u{200b}",
];

fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned),
        2 => "[a-zA-Z]{1,12}[,.]?",
        1 => "\\PC{1,6}",
        1 => any::<char>().prop_map(String::from),
    ]
}

/// Pauses and lengths in seconds, most of them like speech.
fn length() -> impl Strategy<Value = f64> {
    prop_oneof![6 => 0.0..0.6f64, 2 => Just(0.0), 1 => 0.0..20.0f64, 1 => Just(0.0004)]
}

fn utterance() -> impl Strategy<Value = Utterance> {
    let word = (token(), proptest::bool::weighted(0.7), length(), length());
    let language = proptest::option::of(proptest::sample::select(&["en", "zh", "th", "fr"][..]));
    let voice = (0..3u16, proptest::option::of(0..2u32));
    let words = proptest::collection::vec(word, 0..25);
    (words, 0.0..30.0f64, language, voice).prop_map(|(parts, start, language, (channel, speaker))| {
        let mut at = start;
        let mut words = Vec::new();
        for (text, space, pause_s, length_s) in parts {
            let start = at + pause_s / 4.0;
            at = start + length_s;
            let text = if space && !words.is_empty() { format!(" {text}") } else { text };
            words.push(Word { text, start, end: at, confidence: 1.0 });
        }
        let mut utterance = Utterance::new(channel, words);
        utterance.speaker = speaker;
        utterance.language = language.map(str::to_owned);
        utterance
    })
}

fn transcript() -> impl Strategy<Value = Transcript> {
    proptest::collection::vec(utterance(), 0..10).prop_map(|mut utterances| {
        utterances.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.channel.cmp(&b.channel)));
        Transcript { utterances, ..Default::default() }
    })
}

fn config() -> impl Strategy<Value = Config> {
    let columns = prop_oneof![Just(42u32), 1..20u32, Just(u32::MAX)];
    let minimum = prop_oneof![3 => 0.0..3.0f64, 1 => Just(0.0)];
    (minimum, 3.0..30.0f64, columns, 1..=5u32, any::<bool>()).prop_map(
        |(minimum, maximum, columns, rows, strict)| {
            let style = if strict { "compliance" } else { "default" };
            serde_json::from_value(json!({"formats": ["srt", "vtt"], "minimum_duration": minimum,
            "maximum_duration": maximum, "maximum_characters_per_row": columns,
            "maximum_rows_per_caption": rows, "style": style}))
            .expect("a valid config")
        },
    )
}

/// Everything visible, without spaces and marks of speakers.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn files(transcript: &Transcript, config: &Config) -> [Vec<Cue>; 2] {
    let files = render(transcript, config);
    assert_eq!(files.len(), 2);
    [parse("srt", &files[0].subtitles), parse("vtt", &files[1].subtitles)]
}

/// The letters of every word, and of it with the combining marks that follow as words of their own.
fn words(transcript: &Transcript) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let is_shown = |word: &Word| word.text.chars().any(|c| !c.is_whitespace() && !c.is_control());
    let shown =
        transcript.utterances.iter().flat_map(|u| u.words().iter().filter(|w| is_shown(w)).enumerate());
    for (at, word) in shown {
        let first = word.text.chars().next();
        let is_mark =
            first.is_some_and(|c| !c.is_whitespace() && unicode_width::UnicodeWidthChar::width(c) == Some(0));
        let joined = match words.last() {
            Some(previous) if is_mark && at > 0 => format!("{previous}{}", letters(&word.text)),
            _ => letters(&word.text),
        };
        words.push(joined);
    }
    words
}

fn check(transcript: &Transcript, config: &Config) -> Result<(), TestCaseError> {
    let gap_ms = if config.style == Style::Compliance { 84 } else { 0 };
    let maximum_ms = (config.maximum_duration * 1000.0).round() as u64;
    let words = words(transcript);
    for cues in files(transcript, config) {
        for cue in &cues {
            prop_assert!(cue.start_ms < cue.end_ms, "{:?}", cue);
            prop_assert!(cue.end_ms - cue.start_ms <= maximum_ms, "{:?}", cue);
            prop_assert!(cue.rows.len() <= config.maximum_rows_per_caption as usize, "{:?}", cue);
            for row in &cue.rows {
                let is_one_word = words.contains(&letters(row)) || letters(row).is_empty();
                let fits = row.width() <= config.maximum_characters_per_row as usize;
                prop_assert!(fits || is_one_word, "{:?} in {:?}", row, cue);
            }
        }
        for pair in cues.windows(2) {
            prop_assert!(pair[0].end_ms + gap_ms <= pair[1].start_ms, "{:?}", pair);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn cues_are_in_order_in_time_and_in_their_rows(transcript in transcript(), config in config()) {
        check(&transcript, &config)?;
    }

    #[test]
    fn every_letter_of_one_voice_is_shown_in_order(utterance in utterance(), config in config()) {
        let expected = letters(utterance.text());
        let transcript = Transcript { utterances: vec![utterance], ..Default::default() };
        for cues in files(&transcript, &config) {
            let shown: String = cues.iter().flat_map(|cue| &cue.rows).map(|row| letters(row)).collect();
            prop_assert_eq!(&shown, &expected);
        }
    }

    #[test]
    fn broken_times_still_give_valid_files(
        mut transcript in transcript(),
        times in proptest::collection::vec(
            prop_oneof![any::<f64>(), Just(f64::NAN), Just(-5.0), Just(f64::INFINITY), Just(0.9996)], 1..40),
        config in config(),
    ) {
        let mut times = times.into_iter().cycle();
        for utterance in &mut transcript.utterances {
            utterance.edit_words(|words| for word in words {
                (word.start, word.end) = (times.next().unwrap_or(0.0), times.next().unwrap_or(0.0));
            });
        }
        check(&transcript, &config)?;
    }
}

#[test]
fn thousands_of_words_in_one_instant() {
    let word = |n: usize| Word { text: format!(" w{n}."), start: 1.0, end: 1.0, confidence: 1.0 };
    let utterances = vec![Utterance::new(0, (0..5000).map(word).collect())];
    let transcript = Transcript { utterances, ..Default::default() };
    for style in ["default", "compliance"] {
        let config =
            serde_json::from_value(json!({"formats": ["srt", "vtt"], "style": style})).expect("valid");
        check(&transcript, &config).expect("the rules hold");
    }
}
