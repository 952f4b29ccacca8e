//! Sound without speech gives no word. Whisper alone writes subtitles under all of these.
#![allow(clippy::unwrap_used)]

use std::f64::consts::TAU;
use std::path::Path;

use serde_json::json;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};

const RATE: usize = 16_000;
const LENGTH: usize = 8 * RATE;

/// Seconds to amplitude.
type Sound = Box<dyn FnMut(f64) -> f64>;

/// Equally likely from -1 to 1, the same in each run.
fn noise() -> impl FnMut() -> f64 {
    let mut seed = 1_u32;
    move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1 << 23) - 1.0
    }
}

/// A plucked string with its overtones, struck anew every `beat_s`.
fn string(pitch_hz: f64, beat_s: f64, at_s: f64) -> f64 {
    let overtones: f64 =
        (1..6).map(|k| (TAU * pitch_hz * f64::from(k) * at_s).sin() / f64::from(k).powf(1.5)).sum();
    overtones * (-3.0 * (at_s % beat_s)).exp()
}

/// A melody over the major scale with a chord under it.
fn music(at_s: f64) -> f64 {
    const SCALE: [i32; 8] = [0, 4, 7, 12, 9, 5, 2, 11];
    let semitone = |step: i32| 2_f64.powf(f64::from(step) / 12.0);
    let note = SCALE[(at_s / 0.25) as usize % SCALE.len()];
    let chord: f64 = [0, 4, 7].map(|step| string(130.8 * semitone(step), 1.0, at_s)).iter().sum();
    0.2 * string(261.6 * semitone(note), 0.25, at_s) + 0.1 * chord
}

fn sounds() -> Vec<(&'static str, Sound)> {
    let (mut white, mut steps, mut drum, mut clap, mut engine) =
        (noise(), noise(), noise(), noise(), noise());
    let mut brown = 0.0;
    vec![
        ("digital silence", Box::new(|_| 0.0)),
        ("white noise", Box::new(move |_| 0.2 * white())),
        (
            "rumble",
            Box::new(move |_| {
                brown = 0.995 * brown + 0.03 * steps();
                brown
            }),
        ),
        (
            "mains hum",
            Box::new(|at_s| {
                (1..9).map(|k| (TAU * 50.0 * f64::from(k) * at_s).sin() / f64::from(k)).sum::<f64>() * 0.2
            }),
        ),
        ("tone", Box::new(|at_s| 0.5 * (TAU * 1000.0 * at_s).sin())),
        ("sweep", Box::new(|at_s| 0.5 * (TAU * (100.0 + 200.0 * at_s) * at_s).sin())),
        ("siren", Box::new(|at_s| 0.4 * (TAU * 700.0 * at_s + 600.0 * (TAU * 0.5 * at_s).sin()).sin())),
        (
            "ringing telephone",
            Box::new(|at_s| {
                let rings = f64::from(u8::from(at_s % 6.0 < 2.0));
                0.2 * rings * ((TAU * 440.0 * at_s).sin() + (TAU * 480.0 * at_s).sin())
            }),
        ),
        ("music", Box::new(music)),
        ("drums", Box::new(move |at_s| 0.7 * drum() * (-25.0 * (at_s % 0.25)).exp())),
        (
            "applause",
            Box::new(move |at_s| {
                0.3 * clap() * (0.5 + 0.5 * (TAU * 7.0 * at_s).sin() * (TAU * 3.1 * at_s).sin())
            }),
        ),
        (
            "engine",
            Box::new(move |at_s| {
                0.4 * (TAU * 80.0 * at_s + 15.0 * (TAU * 0.2 * at_s).sin()).sin().signum()
                    * (0.8 + 0.2 * engine())
            }),
        ),
    ]
}

/// A 16-bit mono WAV file.
fn write(path: &Path, sound: &mut Sound) {
    let sample = |at: usize| (sound(at as f64 / RATE as f64).clamp(-1.0, 1.0) * 32767.0) as i16;
    let data: Vec<u8> = (0..LENGTH).map(sample).flat_map(i16::to_le_bytes).collect();
    let size = u32::try_from(data.len()).unwrap();
    let rate = u32::try_from(RATE).unwrap();
    let mut bytes = Vec::new();
    bytes.extend_from_slice(b"RIFF");
    bytes.extend_from_slice(&(36 + size).to_le_bytes());
    bytes.extend_from_slice(b"WAVEfmt ");
    bytes.extend_from_slice(&16_u32.to_le_bytes());
    bytes.extend([1_u16, 1].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend([rate, 2 * rate].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend([2_u16, 16].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend_from_slice(b"data");
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&data);
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn sound_without_speech_gives_no_word() {
    let folder = tempfile::tempdir().unwrap();
    let (server, files) = (Server::start(Options::default()), Recordings::serve(folder.path().to_owned()));
    let client = server.client();
    let mut jobs = Vec::new();
    for (name, mut sound) in sounds() {
        let file = format!("{name}.wav");
        write(&folder.path().join(&file), &mut sound);
        jobs.push((name, client.create(&json!({"audio_url": files.url(&file)})).await));
    }
    assert!(jobs.len() >= 10);
    for (name, id) in jobs {
        let job = client.wait(&id).await;
        assert_eq!(job["status"], "done", "{name}: {job}");
        assert_eq!(job["result"]["transcription"]["full_transcript"], "", "{name}");
        assert_eq!(job["file"]["audio_duration"], 8.0, "{name}");
    }
}
