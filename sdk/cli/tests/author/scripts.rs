//! The built-in components on writing without spaces, from right to left, and with letters of
//! several code points: no sentence and no row of a subtitle may cut a character as people see it.

use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use crate::support::{target_dir, trial_of};

/// Language, the words as the recogniser gives them divided by `|`, and the sentences.
const TEXTS: &[(&str, &str, &[&str])] = &[
    (
        "zh",
        "我|们|今|天|去|公|园|。|你|想|一|起|来|吗|？|“|当|然|！|”|他|说|，|天|气|很|好|。",
        &["我们今天去公园。", "你想一起来吗？", "“当然！”他说，天气很好。"],
    ),
    (
        "ja",
        "今|日|は|「|パ|ー|ティ|ー|」|が|あ|り|ま|す|。|何|時|で|す|か|？|か|\u{3099}|ん|ば|っ|て|！",
        &["今日は「パーティー」があります。", "何時ですか？", "か\u{3099}んばって！"],
    ),
    ("th", "ผู้|ที่|ทำ|น้ำ|ให้|เด็ก|ๆ|ดื่ม| วัน|นี้|อา|กา|ศ|ร้อ|น|มา|ก", &[]),
    (
        "ar",
        "مَرْحَبًا| بِكُمْ| فِي| مَدِينَتِنَا.| كَيْفَ| حَالُكَ؟| أَنَا| بِخَيْرٍ،| شُكْرًا.",
        &["مَرْحَبًا بِكُمْ فِي مَدِينَتِنَا.", "كَيْفَ حَالُكَ؟", "أَنَا بِخَيْرٍ، شُكْرًا."],
    ),
    (
        "hi",
        "नमस्ते,| आप| कैसे| हैं?| मैं| क्षेत्रीय| विद्यालय| में| पढ़ता| हूँ।| धन्यवाद।",
        &["नमस्ते, आप कैसे हैं?", "मैं क्षेत्रीय विद्यालय में पढ़ता हूँ।", "धन्यवाद।"],
    ),
];

/// Marks that no row may begin with.
const CLOSING: &[char] = &['。', '？', '！', '，', '」', '”', 'ー', 'ๆ', '؟', '،', '।', '.', ','];

fn transcription(language: &str, words: &str) -> Value {
    let spoken = words.split('|').zip(0_u32..).map(|(word, at)| {
        let start = 0.3 * f64::from(at);
        json!({"word": word, "start": start, "end": start + 0.3, "confidence": 0.9})
    });
    let spoken: Vec<Value> = spoken.collect();
    let end = 0.3 * spoken.len() as f64;
    json!({"languages": [language], "utterances": [{
        "start": 0.0, "end": end, "confidence": 0.9, "channel": 0, "language": language,
        "text": words.replace('|', ""), "words": spoken,
    }]})
}

fn results(addon: &str, transcription: &Value, config: &str) -> Value {
    let component = target_dir().join(format!("addons/tympan_plugin_{addon}.wasm"));
    assert!(component.is_file(), "{} is missing: run `make build` first", component.display());
    let run = trial_of(component.to_str().unwrap(), transcription, &["--config", config]);
    let mut out: Value = serde_json::from_str(&run.succeeded()).unwrap();
    out["wrapper"]["results"].take()
}

/// Whether these parts are the text, spaces aside, each cut between two characters as seen.
#[track_caller]
fn assert_cut_between_characters(language: &str, text: &str, parts: &[&str]) {
    let without_spaces = |text: &str| text.split_whitespace().collect::<String>();
    let whole = without_spaces(text);
    assert_eq!(parts.iter().map(|part| without_spaces(part)).collect::<String>(), whole, "{language}");
    let characters = |text: &str| text.graphemes(true).count();
    let counted: usize = parts.iter().map(|part| characters(&without_spaces(part))).sum();
    assert_eq!(counted, characters(&whole), "a character is cut in {language}: {parts:?}");
}

#[test]
fn sentences_end_at_the_stops_of_each_script() {
    for (language, words, expected) in TEXTS {
        let found = results("sentences", &transcription(language, words), "{}");
        let found: Vec<&str> = found.as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
        assert_cut_between_characters(language, &words.replace('|', ""), &found);
        if !expected.is_empty() {
            assert_eq!(found, *expected, "{language}");
        }
    }
}

#[test]
fn rows_of_subtitles_never_cut_a_character_or_begin_with_a_closing_mark() {
    for (language, words, _) in TEXTS {
        for columns in [8, 12, 42] {
            let config = json!({"maximum_characters_per_row": columns}).to_string();
            let files = results("subtitles", &transcription(language, words), &config);
            let srt = files[0]["subtitles"].as_str().unwrap().to_owned();
            let is_row =
                |line: &&str| !line.is_empty() && !line.contains("-->") && line.parse::<u32>().is_err();
            let rows: Vec<&str> = srt.lines().filter(is_row).collect();
            assert_cut_between_characters(language, &words.replace('|', ""), &rows);
            for row in &rows {
                assert!(!row.starts_with(CLOSING), "{language}, {columns} columns: {rows:#?}");
            }
        }
    }
}
