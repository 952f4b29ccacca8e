//! The container's clock: gaps, late starts, edit lists, jumps, chained streams.

use crate::generate::{Block, little, matroska, quicktime, tone};
use crate::support::{Decoded, decoded, fixture};

const RATE: u32 = 16_000;

/// Blocks of 100 ms of tone at these times.
fn blocks(times_ms: &[u64]) -> Vec<Block> {
    times_ms
        .iter()
        .map(|time_ms| Block { track: 1, time_ms: *time_ms, data: little(&tone(RATE, 0.1)) })
        .collect()
}

fn assert_sound(found: &Decoded, from_s: f64, to_s: f64) {
    assert!(found.peak(0, from_s, to_s) > 0.45, "no sound from {from_s} to {to_s}");
}

fn assert_silence(found: &Decoded, from_s: f64, to_s: f64) {
    assert!(found.peak(0, from_s, to_s) < 0.01, "sound from {from_s} to {to_s}");
}

#[test]
fn a_gap_in_the_timestamps_is_silence() {
    let found = decoded(&matroska(RATE, &blocks(&[0, 100, 5_000, 5_100])));
    assert!((found.audio.info.duration_s - 5.2).abs() < 1e-9);
    assert_sound(&found, 0.0, 0.2);
    assert_silence(&found, 0.21, 4.99);
    assert_sound(&found, 5.0, 5.2);
}

#[test]
fn audio_that_starts_after_the_video_keeps_its_place() {
    let mut all = vec![Block { track: 2, time_ms: 10_000, data: vec![0; 50] }];
    all.extend(blocks(&[11_500, 11_600]));
    let found = decoded(&matroska(RATE, &all));
    assert!((found.audio.info.duration_s - 1.7).abs() < 1e-9);
    assert_silence(&found, 0.0, 1.49);
    assert_sound(&found, 1.5, 1.7);
}

#[test]
fn audio_alone_starts_at_zero() {
    let found = decoded(&matroska(RATE, &blocks(&[10_000, 10_100])));
    assert!((found.audio.info.duration_s - 0.2).abs() < 1e-9);
}

#[test]
fn a_clock_that_jumps_back_loses_nothing() {
    let found = decoded(&matroska(RATE, &blocks(&[60_000, 60_100, 0, 100, 1_000])));
    assert!((found.audio.info.duration_s - 1.3).abs() < 1e-9, "{}", found.audio.info.duration_s);
    assert!(found.audio.info.damage[0].contains("jump"));
}

#[test]
fn an_absurd_timestamp_is_joined() {
    let found = decoded(&matroska(RATE, &blocks(&[0, 100, u64::MAX / 4_000_000, 300])));
    assert!(found.audio.info.duration_s < 1.0, "{}", found.audio.info.duration_s);
}

#[test]
fn a_damaged_cluster_costs_only_itself() {
    let mut bytes = matroska(RATE, &blocks(&[0, 100, 200, 300]));
    // The third cluster's header.
    let clusters: Vec<usize> =
        (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(&[0x1f, 0x43, 0xb6, 0x75])).collect();
    bytes[clusters[2]..clusters[2] + 40].fill(0);
    let found = decoded(&bytes);
    assert!((found.audio.info.duration_s - 0.4).abs() < 1e-9);
    assert_silence(&found, 0.21, 0.29);
    assert_sound(&found, 0.3, 0.4);
}

#[test]
fn an_edit_list_delays_and_trims() {
    let samples = tone(RATE, 3.0);
    // A pause of 0.5 s, then 1 s from frame 8,000 on.
    let edits = [(500, -1), (1_000, 8_000)];
    let found = decoded(&quicktime(RATE, &samples, &edits, true));
    assert!((found.audio.info.duration_s - 1.5).abs() < 1e-9, "{}", found.audio.info.duration_s);
    assert_silence(&found, 0.0, 0.5);
    let expected: Vec<f32> = samples[8_000..24_000].iter().map(|s| f32::from(*s) / 32_768.0).collect();
    assert_eq!(found.samples(0)[8_000..], expected);
    let alone = decoded(&quicktime(RATE, &samples, &edits, false));
    assert!((alone.audio.info.duration_s - 1.0).abs() < 1e-9, "{}", alone.audio.info.duration_s);
}

#[test]
fn an_edit_list_of_several_stretches_loses_no_sound() {
    let found = decoded(&quicktime(RATE, &tone(RATE, 3.0), &[(1_000, 16_000), (1_000, 0)], false));
    assert!((found.audio.info.duration_s - 3.0).abs() < 1e-9);
}

#[test]
fn chained_ogg_streams_follow_each_other() {
    let bytes = fixture("formats/opus.opus");
    let found = decoded(&[bytes.clone(), bytes].concat());
    assert!((found.audio.info.duration_s - 22.0).abs() < 0.05, "{}", found.audio.info.duration_s);
}

#[test]
fn lost_ogg_pages_leave_silence() {
    let bytes = fixture("formats/vorbis.ogg");
    let pages: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"OggS")).collect();
    let (from, to) = (pages[pages.len() / 2], pages[pages.len() / 2 + 1]);
    let found = decoded(&[&bytes[..from], &bytes[to..]].concat());
    assert!((found.audio.info.duration_s - 11.0).abs() < 0.05, "{}", found.audio.info.duration_s);
    assert!(found.audio.info.damage[0].contains("damaged passage"), "{:?}", found.audio.info.damage);
}

#[test]
fn the_gain_of_an_opus_header_is_applied() {
    let plain = fixture("formats/opus.opus");
    let mut quieter = plain.clone();
    let head = plain.windows(8).position(|window| window == b"OpusHead").expect("header");
    // -6.02 dB in units of 1/256 dB.
    quieter[head + 16..head + 18].copy_from_slice(&(-1541i16).to_le_bytes());
    let page = plain.windows(4).position(|window| window == b"OggS").expect("page");
    let end = plain.windows(4).skip(1).position(|window| window == b"OggS").expect("second page") + 1;
    quieter[page + 22..page + 26].fill(0);
    let checksum = ogg_checksum(&quieter[page..end]);
    quieter[page + 22..page + 26].copy_from_slice(&checksum.to_le_bytes());
    let (loud, quiet) = (decoded(&plain).peak(0, 0.0, 11.0), decoded(&quieter).peak(0, 0.0, 11.0));
    assert!((quiet / loud - 0.5).abs() < 0.01, "{loud} {quiet}");
}

/// The checksum of an Ogg page: CRC-32 of polynomial 0x04c11db7, not reflected.
fn ogg_checksum(page: &[u8]) -> u32 {
    page.iter().fold(0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte) << 24, |sum, _| {
            if sum & 0x8000_0000 != 0 { sum << 1 ^ 0x04c1_1db7 } else { sum << 1 }
        })
    })
}
