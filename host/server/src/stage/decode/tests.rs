//! Whole files through the decoder: recordings of the fixtures, joined and cut, and containers
//! written here.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Audio, ChannelFiles, DecodeError, DecodeLimits, decode, probe};

fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/audio").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn decoded(bytes: &[u8]) -> Result<Audio, DecodeError> {
    let folder = tempfile::tempdir().unwrap();
    let files = ChannelFiles::nameless(folder.path());
    decode(file(bytes), &files, &DecodeLimits::default(), &Arc::default())
}

fn refusal(bytes: &[u8]) -> String {
    decoded(bytes).unwrap_err().to_string()
}

/// Length of what is decoded, of what an upload is told, and what was lost.
fn lengths(bytes: &[u8]) -> (f64, f64, Vec<String>) {
    let info = decoded(bytes).unwrap().info;
    (info.duration_s, probe(file(bytes), None).unwrap().duration_s, info.damage)
}

#[track_caller]
fn assert_length(bytes: &[u8], expected_s: f64) {
    let (decoded_s, probed_s, damage) = lengths(bytes);
    let is_near = |length_s: f64| (length_s - expected_s).abs() < 0.01;
    assert!(is_near(decoded_s) && is_near(probed_s), "{decoded_s} {probed_s}, not {expected_s}");
    assert_eq!(damage, [""; 0]);
}

#[test]
fn joined_flac_files_are_decoded_one_after_the_other() {
    let (one, other) = (fixture("formats/flac.flac"), fixture("formats/stereo_48k.flac"));
    let (one_s, other_s) = (lengths(&one).0, lengths(&other).0);
    assert_length(&[&one[..], &one].concat(), 2.0 * one_s);
    assert_length(&[&one[..], &other, &one].concat(), 2.0 * one_s + other_s);
}

#[test]
fn what_is_lost_of_joined_flac_files_is_told() {
    let whole = fixture("formats/flac.flac");
    let half = &whole[..whole.len() / 2];
    for joined in [[&whole[..], half].concat(), [half, &whole].concat()] {
        let (_, _, damage) = lengths(&joined);
        assert!(damage.iter().any(|note| note.contains("ends early")), "{damage:?}");
    }
    let header_only = [&whole[..], b"fLaC\0\0\0\x22", &[0xff; 3000]].concat();
    let (_, _, damage) = lengths(&header_only);
    assert!(damage[0].ends_with("the rest is left out"), "{damage:?}");
}

#[test]
fn joined_mp3_files_are_told_in_full_length() {
    let one = fixture("formats/cbr64.mp3");
    let (one_s, told_s, _) = lengths(&one);
    assert!((told_s - one_s).abs() < 0.001, "{told_s}, not {one_s}");
    let (joined_s, told_s, _) = lengths(&[&one[..], &one, &one].concat());
    assert!(joined_s > 2.9 * one_s && (told_s - joined_s).abs() < 0.01, "{told_s}, not {joined_s}");
}

#[test]
fn text_is_called_text_in_whatever_encoding() {
    let text = "Dear all, the minutes of the meeting are below.\r\nBäcker, 東京\r\n".repeat(40);
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [&b"\xff\xfe"[..], b""].map(|mark| [mark, &little].concat()) {
        assert_eq!(refusal(&bytes), refusal(text.as_bytes()));
    }
    for bytes in [&b"\xfe\xff"[..], b""].map(|mark| [mark, &big].concat()) {
        assert_eq!(refusal(&bytes), refusal(text.as_bytes()));
    }
    assert_eq!(refusal(b"\xff\xfeH\0i\0"), refusal(b"Hi"));
}

/// An element of Matroska with a size of four bytes.
fn element(id: &[u8], body: &[u8]) -> Vec<u8> {
    let size = 0x1000_0000 | u32::try_from(body.len()).unwrap();
    [id, &size.to_be_bytes(), body].concat()
}

/// One track of 8,000 samples a second and one channel, two seconds long, from `start_ms` on.
fn matroska(codec: &str, private: &[u8], start_ms: u16) -> Vec<u8> {
    let end_ms = f32::from(start_ms) + 2000.0;
    let info = element(&[0x15, 0x49, 0xa9, 0x66], &element(&[0x44, 0x89], &end_ms.to_be_bytes()));
    let sound = [element(&[0xb5], &8000f32.to_be_bytes()), element(&[0x62, 0x64], &[16])].concat();
    let entry = [
        element(&[0xd7], &[1]),
        element(&[0x83], &[2]),
        element(&[0x86], codec.as_bytes()),
        element(&[0x63, 0xa2], private),
        element(&[0xe1], &sound),
    ];
    let tracks = element(&[0x16, 0x54, 0xae, 0x6b], &element(&[0xae], &entry.concat()));
    let mut cluster = element(&[0xe7], &start_ms.to_be_bytes());
    for block in 0..20u16 {
        let header = [&[0x81][..], &(block * 100).to_be_bytes(), &[0x80]].concat();
        cluster.extend(element(&[0xa3], &[header, vec![7; 1600]].concat()));
    }
    let cluster = element(&[0x1f, 0x43, 0xb6, 0x75], &cluster);
    let segment = element(&[0x18, 0x53, 0x80, 0x67], &[info, tracks, cluster].concat());
    [element(&[0x1a, 0x45, 0xdf, 0xa3], &element(&[0x42, 0x82], b"matroska")), segment].concat()
}

/// A format chunk of a wave file with this tag: one channel of 16 bits, 8,000 samples a second.
fn format(tag: u16) -> Vec<u8> {
    let rates = [8000u32.to_le_bytes(), 16_000u32.to_le_bytes()].concat();
    [&tag.to_le_bytes()[..], &[1, 0], &rates, &[2, 0, 16, 0, 0, 0]].concat()
}

#[test]
fn a_recording_that_starts_late_does_not_end_early() {
    for start_ms in [0, 3000] {
        assert_length(&matroska("A_PCM/INT/LIT", b"", start_ms), 2.0);
    }
}

#[test]
fn codecs_of_other_systems_in_matroska_are_decoded_or_named() {
    assert_length(&matroska("A_MS/ACM", &format(1), 0), 2.0);
    for (tag, name) in [(2, "Microsoft ADPCM"), (0x161, "WMA"), (0xa109, "Speex"), (0x28f, "G.722")] {
        let sentence = refusal(&matroska("A_MS/ACM", &format(tag), 0));
        assert!(sentence.starts_with(name) && sentence.contains("ffmpeg"), "{sentence}");
    }
    let sentence = refusal(&matroska("A_REAL/COOK", b"", 0));
    assert!(sentence.starts_with("the audio codec A_REAL/COOK is not supported"), "{sentence}");
}

#[test]
fn streamed_files_without_sizes_are_decoded() {
    let description = [&8000f64.to_be_bytes()[..], b"lpcm", &[0; 4]].concat();
    let numbers = [2u32, 1, 1, 16].map(u32::to_be_bytes).concat();
    let caf = [b"caff\0\x01\0\0desc", &32i64.to_be_bytes()[..], &description, &numbers].concat();
    let sound = vec![7; 32_000];
    assert_length(&[&caf[..], b"data", &(-1i64).to_be_bytes(), &[0; 4], &sound].concat(), 2.0);
    // 8,000 Hz as an 80-bit float.
    let comm = [&[0, 1, 0, 0, 0, 0, 0, 16][..], &[0x40, 0x0b, 0xfa, 0, 0, 0, 0, 0, 0, 0]].concat();
    let form = [b"FORM\0\0\0\0AIFFCOMM", &18u32.to_be_bytes()[..], &comm].concat();
    assert_length(&[&form[..], b"SSND", &[0; 12], &sound].concat(), 2.0);
}
