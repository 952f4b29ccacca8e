//! Channels: kept apart, equal ones found, limits.

use std::sync::Arc;

use tympan::model::segments::SAMPLE_RATE_HZ;
use tympan::stage::decode::{Audio, ChannelFiles, DecodeError, DecodeLimits, decode};

use crate::generate::{tone, wave, wave_raw};
use crate::support::{decode_bytes, decode_limited, decoded, fixture, fixtures};

#[test]
fn equal_channels_count_once() {
    let (speech, silence) = (tone(48_000, 2.0), vec![0i16; 96_000]);
    let found = decoded(&wave(48_000, &[silence.clone(), speech.clone(), silence, speech]));
    assert_eq!((found.audio.info.source_channels, found.audio.info.distinct.as_slice()), (4, &[0, 1][..]));
    assert_eq!(found.audio.channels.iter().map(|channel| channel.index()).collect::<Vec<_>>(), [0, 1]);
    assert!(found.peak(0, 0.0, 2.0) == 0.0 && found.peak(1, 0.0, 2.0) > 0.45);
    assert_eq!(std::fs::read_dir(found.folder.path()).expect("folder").count(), 2);
}

#[test]
fn both_sides_of_a_call_stay_apart() {
    let found = decoded(&fixture("stereo/call_8k_mulaw.wav"));
    assert_eq!(found.audio.info.distinct, [0, 1]);
    assert_ne!(found.samples(0), found.samples(1));
}

#[test]
fn the_channels_of_a_copied_stereo_file_are_one() {
    assert_eq!(decoded(&fixture("formats/stereo_48k.flac")).audio.info.distinct, [0]);
}

#[test]
fn sixteen_channels_pass_and_more_are_refused() {
    let channels: Vec<Vec<i16>> =
        (0..17).map(|step| tone(8_000 + step * 100, 0.2)[..1600].to_vec()).collect();
    assert_eq!(decoded(&wave(16_000, &channels[..16])).audio.info.distinct.len(), 16);
    let refused = decode_bytes(&wave(16_000, &channels)).err().expect("too many");
    assert!(matches!(refused, DecodeError::TooManyChannels { channels: 17, limit: 16 }), "{refused}");
    let absurd = decode_bytes(&wave_raw(1, 65_535, 8_000, 65_534, 8, &[0; 70_000])).err().expect("absurd");
    assert_eq!(absurd.code().expect("nobody cancelled").status(), 422);
}

#[test]
fn audio_over_the_limit_is_refused() {
    let limits = DecodeLimits { max_duration_s: 2.0, ..DecodeLimits::default() };
    let refused = decode_limited(&wave(16_000, &[tone(16_000, 2.5)]), &limits).err().expect("too long");
    assert!(
        refused.code().expect("nobody cancelled").status() == 413
            && refused.to_string().contains("2 seconds"),
        "{refused}"
    );
    for length_s in [1.9, 2.0] {
        assert!(decode_limited(&wave(16_000, &[tone(16_000, length_s)]), &limits).is_ok(), "{length_s}");
    }
}

#[test]
fn channels_share_one_limit() {
    let limits = DecodeLimits { max_channel_s: 4.0, ..DecodeLimits::default() };
    let of = |channels: usize, length_s: f64| wave(16_000, &vec![tone(16_000, length_s); channels]);
    for (channels, length_s, is_taken) in [(1, 4.0, true), (1, 4.5, false), (2, 2.0, true), (2, 2.5, false)] {
        let outcome = decode_limited(&of(channels, length_s), &limits);
        assert_eq!(outcome.is_ok(), is_taken, "{channels} channels of {length_s} s");
        if let Err(refused) = outcome {
            assert_eq!(refused.code().expect("nobody cancelled").status(), 413);
            assert!(refused.to_string().contains("all channels together"), "{refused}");
        }
    }
}

#[test]
fn a_stereo_part_behind_a_mono_part_is_kept() {
    let mut bytes = fixture("formats/cbr64.mp3");
    let frames_behind_tag = bytes.clone();
    bytes.extend(frames_behind_tag);
    let joined = decoded(&bytes).audio.info;
    // Joined files: the length in the first header does not cut the second.
    assert!((joined.duration_s - 22.0).abs() < 0.3, "{}", joined.duration_s);
    let stereo = fixture("en/sonnet_01.mp3");
    let mixed = decoded(&[fixture("formats/cbr64.mp3"), stereo].concat()).audio.info;
    assert!((mixed.duration_s - 64.3).abs() < 0.3, "{}", mixed.duration_s);
    assert_eq!(mixed.source_channels, 2);
}

#[test]
fn files_of_an_earlier_run_open_again() {
    let found = decoded(&wave(16_000, &[tone(16_000, 1.0)]));
    let text = serde_json::to_string(&found.audio.info).expect("info");
    let again =
        Audio::open(&ChannelFiles::named(found.folder.path()), serde_json::from_str(&text).expect("info"))
            .expect("files");
    assert_eq!(again.info, found.audio.info);
    let mut part = [0.0; 100];
    assert_eq!(again.channels[0].read(8_000, &mut part).expect("read"), 100);
    assert_eq!(part, found.samples(0)[8_000..8_100]);
    assert_eq!(again.channels[0].read(u64::from(SAMPLE_RATE_HZ) - 10, &mut part).expect("read"), 10);
    assert_eq!(again.channels[0].read(u64::MAX, &mut part).expect("read"), 0);
    let longer = tympan::stage::decode::AudioInfo { frames: 16_001, ..found.audio.info.clone() };
    assert!(Audio::open(&ChannelFiles::named(found.folder.path()), longer).is_err());
}

#[test]
fn cancelling_stops_at_once() {
    let file = std::fs::File::open(fixtures().join("long/long_en_5readers.mp3")).expect("fixture");
    let folder = tempfile::tempdir().expect("folder");
    let outcome =
        decode(file, &ChannelFiles::named(folder.path()), &DecodeLimits::default(), &Arc::new(true.into()));
    assert!(matches!(outcome, Err(DecodeError::Cancelled)));
}

#[test]
fn floats_that_are_no_numbers_are_silence() {
    let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -7.0, 0.25];
    let data: Vec<u8> = values.iter().cycle().take(48_000).flat_map(|value| value.to_le_bytes()).collect();
    let found = decoded(&wave_raw(3, 1, 16_000, 4, 32, &data));
    let samples = found.samples(0);
    assert_eq!(samples[..3], [0.0; 3]);
    assert!(samples[3] > 0.99 && samples[4] == -1.0 && (samples[5] - 0.25).abs() < 1e-4);
}
