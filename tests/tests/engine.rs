//! Inference gives the same bytes whatever came before it and however many threads it gets:
//! a resumed job must equal an uninterrupted one.
#![allow(clippy::unwrap_used)]

use std::sync::mpsc;
use std::time::Duration;

use tympan::engine::{Effort, Engine, LanguageChoice, Piece, Recognised, Recogniser};
use tympan::model::language::Language;
use tympan_tests::fixtures;

const LIMIT: Duration = Duration::from_secs(300);

/// Samples of a plain 16-bit WAV file at 16 kHz: what follows its `data` header.
fn samples(file: &str) -> Vec<f32> {
    let bytes = fixtures::bytes(file);
    let header = bytes.windows(4).position(|word| word == b"data").unwrap();
    let (samples, _) = bytes[header + 8..].as_chunks::<2>();
    samples.iter().map(|sample| f32::from(i16::from_le_bytes(*sample)) / 32768.0).collect()
}

fn engine(threads: u32) -> Engine {
    let mut config = tympan::config::load().unwrap();
    config.speech.threads = threads;
    tympan::app::open_engine(&config).unwrap()
}

fn known(code: &str) -> LanguageChoice {
    LanguageChoice::Known(Language::parse(code).unwrap())
}

/// All at once; the results in the order of the segments.
fn recognised(recogniser: &Recogniser, segments: &[(&[f32], LanguageChoice)]) -> Vec<Recognised> {
    let (answer, answers) = mpsc::channel();
    let piece = |(key, (samples, choice)): (usize, &(&[f32], LanguageChoice))| Piece {
        key,
        samples: samples.to_vec(),
        choice: choice.clone(),
        effort: Effort::Thorough,
    };
    recogniser.submit(segments.iter().enumerate().map(piece).collect(), &answer);
    let mut results: Vec<_> = segments.iter().map(|_| answers.recv_timeout(LIMIT).unwrap()).collect();
    results.sort_by_key(|(key, _)| *key);
    results.into_iter().map(|(_, result)| result.unwrap()).collect()
}

#[test]
fn a_segment_gives_the_same_bytes_after_others_and_on_any_number_of_threads() {
    let (clear, spanish) = (samples("en/voices_sp0307_ch127535.wav"), samples("es/pv_leopard_test_es.wav"));
    // Spanish taken for Korean is doubtful in every way of decoding it.
    let doubtful = (&spanish[..4 * 16_000], known("ko"));
    let open = (&clear[..], LanguageChoice::Among(Vec::new()));

    let alone = engine(1);
    let alone = alone.recogniser("stt-1").unwrap();
    let first = recognised(&alone, std::slice::from_ref(&doubtful)).remove(0);
    assert!(first.attempts > 1, "the fallback is not reached: {first:?}");
    let second = recognised(&alone, std::slice::from_ref(&open)).remove(0);
    assert!(!second.tokens.is_empty() && second.language.code() == "en", "{second:?}");
    assert_eq!(
        recognised(&alone, std::slice::from_ref(&doubtful)),
        std::slice::from_ref(&first),
        "on a used state"
    );
    drop(alone);

    let both = engine(2);
    let both = both.recogniser("stt-1").unwrap();
    assert_eq!(
        recognised(&both, std::slice::from_ref(&doubtful)),
        std::slice::from_ref(&first),
        "on two threads"
    );
    assert_eq!(recognised(&both, &[open, doubtful]), [second, first], "on two lanes");
}
