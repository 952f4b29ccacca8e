//! Every recording of the formats and the damaged ones, against what their manifest expects.

use std::time::Duration;

use serde_json::Value;
use tympan::stage::decode::DecodeError;

use crate::generate::{aiff, big, caf, caf_raw, interleave, tone, wave_raw, words};
use crate::support::{decode_bytes, decoded, fixture, probe_bytes};

/// Encoders pad, and the manifest's lengths come from headers.
const TOLERANCE_S: f64 = 0.1;

/// Recordings in codecs that are not decoded, and the name that the error must say.
const UNSUPPORTED: [(&str, &str); 2] = [("formats/amr_nb.amr", "AMR"), ("formats/wma.wma", "WMA")];

/// Damaged files for which decoding a part is wanted although the manifest allows an error.
const DECODED_IN_PART: [&str; 8] = [
    "damaged/bit_flips.mp3",
    "damaged/truncated.flac",
    "damaged/truncated.mp3",
    "damaged/truncated.ogg",
    "damaged/truncated.wav",
    "damaged/truncated.webm",
    "damaged/chunk_size_lies.wav",
    "damaged/data_before_fmt.wav",
];

fn manifest(folder: &str) -> Vec<Value> {
    let manifest: Value = serde_json::from_slice(&fixture("manifest.json")).expect("manifest");
    let files = manifest["files"].as_array().expect("files").clone();
    files.into_iter().filter(|entry| name(entry).starts_with(folder)).collect()
}

fn name(entry: &Value) -> &str {
    entry["file"].as_str().expect("file")
}

#[test]
fn every_format_decodes_to_its_length() {
    let entries = manifest("formats/");
    assert!(entries.len() > 30);
    for entry in entries {
        let (name, bytes) = (name(&entry), fixture(name(&entry)));
        if let Some((_, codec)) = UNSUPPORTED.iter().find(|(unsupported, _)| *unsupported == name) {
            let error = decode_bytes(&bytes).err().expect(name);
            assert!(
                error.code().expect("nobody cancelled").status() == 422 && error.to_string().contains(codec),
                "{name}: {error}"
            );
            assert!(error.to_string().contains("ffmpeg"), "{name}: {error}");
            assert!(probe_bytes(&bytes, name).is_err(), "{name}");
            continue;
        }
        let info = decoded(&bytes).audio.info;
        let expected_s = entry["duration"].as_f64().expect("duration");
        assert!((info.duration_s - expected_s).abs() < TOLERANCE_S, "{name}: {}", info.duration_s);
        assert_eq!(u64::from(info.source_channels), entry["channels"].as_u64().expect("channels"), "{name}");
        assert_eq!(info.damage, [""; 0], "{name}");
        let probed = probe_bytes(&bytes, name).expect(name);
        assert!((probed.duration_s - info.duration_s).abs() < 0.15, "{name}: {}", probed.duration_s);
        assert_eq!((probed.container, probed.codec), (info.container, info.codec), "{name}");
    }
}

#[test]
fn all_encodings_of_one_recording_sound_the_same() {
    let original = decoded(&fixture("formats/pcm_s16.wav")).samples(0);
    for name in [
        "pcm_s24.wav",
        "pcm_s32.wav",
        "pcm_f32.wav",
        "pcm_u8_8k.wav",
        "alaw_8k.wav",
        "mulaw_8k.wav",
        "adpcm_ima.wav",
        "cbr64.mp3",
        "aac.m4a",
        "video.mp4",
        "video.mkv",
        "opus.opus",
        "opus.webm",
        "vorbis.ogg",
        "flac.flac",
        "stereo_48k.flac",
        "mp3_big_id3_art.mp3",
        "mp3_garbage_first.mp3",
    ] {
        let samples = decoded(&fixture(&format!("formats/{name}"))).samples(0);
        let (shift, likeness) = best_shift(&original, &samples);
        assert!(likeness > 0.9, "{name}: likeness {likeness}");
        // Four milliseconds: the delay of an encoder that its file does not state.
        assert!(shift.abs() <= 64, "{name}: shifted by {shift} samples");
    }
}

/// The shift of `other` with the highest correlation, and that correlation.
fn best_shift(original: &[f32], other: &[f32]) -> (i64, f64) {
    let (from, to) = (16_000i64, 64_000i64);
    let energy = |samples: &[f32]| samples.iter().map(|s| f64::from(s * s)).sum::<f64>().sqrt();
    let reference = &original[from as usize..to as usize];
    let likeness = |shift: i64| {
        let shifted = &other[(from + shift) as usize..(to + shift) as usize];
        let product: f64 = reference.iter().zip(shifted).map(|(a, b)| f64::from(a * b)).sum();
        product / (energy(reference) * energy(shifted))
    };
    (-400..=400).map(|shift| (shift, likeness(shift))).max_by(|a, b| a.1.total_cmp(&b.1)).expect("shifts")
}

#[test]
fn damaged_files_decode_in_part_or_say_what_is_wrong() {
    let entries = manifest("damaged/");
    assert!(entries.len() > 30);
    for entry in entries {
        let (name, bytes) = (name(&entry), fixture(name(&entry)));
        let outcome = decode_bytes(&bytes);
        match (entry["expect"].as_str().expect("expect"), &outcome) {
            ("error", Ok(_)) => panic!("{name} must not decode"),
            ("decode", Err(error)) => panic!("{name}: {error}"),
            (_, Err(error)) => {
                assert!(!DECODED_IN_PART.contains(&name), "{name}: {error}");
                assert!(
                    (400..500).contains(&error.code().expect("nobody cancelled").status()),
                    "{name}: {error}"
                );
                assert!(error.to_string().len() > 15, "{name}: {error}");
            }
            (_, Ok(decoded)) => {
                let expected_s = entry["duration"].as_f64().expect("duration");
                let length_s = decoded.audio.info.duration_s;
                // Lost passages stay as silence, so a damaged file may be longer than its sound.
                assert!(
                    length_s > expected_s - TOLERANCE_S && length_s < expected_s + 1.0,
                    "{name}: {length_s}"
                );
            }
        }
    }
}

#[test]
fn errors_name_the_problem() {
    for (name, words) in [
        ("empty.mp3", "empty"),
        ("text_named.mp3", "plain text"),
        ("html_named.wav", "HTML"),
        ("json_named.flac", "JSON"),
        ("png_named.mp3", "PNG"),
        ("zip_bomb_like_name.zip.wav", "ZIP"),
        ("header_only.wav", "no audio data"),
        ("video_without_audio.mp4", "no audio track"),
        ("unknown_codec_0x7777.wav", "0x7777"),
        ("truncated_no_moov.mp4", "index"),
        ("zero_channels.wav", "0 channels"),
        ("zero_sample_rate.wav", "0 samples per second"),
        ("sample_rate_4e9.wav", "4000000000"),
    ] {
        let error = decode_bytes(&fixture(&format!("damaged/{name}"))).err().expect(name).to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}

#[test]
fn what_was_lost_is_said() {
    for (name, words) in [
        ("truncated.wav", "ends early: 5.5 of 11.0"),
        ("truncated.flac", "ends early"),
        ("truncated.webm", "ends early"),
        ("bit_flips.mp3", "damaged passage"),
        ("bit_flips.flac", "damaged passage"),
    ] {
        let damage = decoded(&fixture(&format!("damaged/{name}"))).audio.info.damage;
        assert!(damage.iter().any(|note| note.contains(words)), "{name}: {damage:?}");
    }
}

#[test]
fn caf_and_aiff_decode() {
    let samples = interleave(&[tone(16_000, 1.5), vec![0; 24_000]]);
    for (container, bytes) in [("caf", caf(16_000, 2, &samples)), ("aiff", aiff(2, &samples))] {
        let found = decoded(&bytes);
        assert_eq!(found.audio.info.container, container);
        assert_eq!((found.audio.info.frames, found.audio.info.distinct.as_slice()), (24_000, &[0, 1][..]));
        assert!((found.peak(0, 0.0, 1.5) - 0.5).abs() < 0.01 && found.peak(1, 0.0, 1.5) == 0.0);
    }
}

#[test]
fn telephone_sound_in_a_core_audio_file_decodes() {
    for (codec, name, byte) in [(b"ulaw", "pcm_mulaw", 0x80), (b"alaw", "pcm_alaw", 0xaa)] {
        // The loudest value of either law, and its opposite.
        let data = [byte, byte ^ 0x80].repeat(4000);
        let found = decoded(&caf_raw(8_000, codec, &[0, 1, 1, 1, 8], &data));
        assert_eq!((found.audio.info.codec.as_str(), found.audio.info.frames), (name, 16_000));
    }
}

#[test]
fn codecs_that_the_readers_do_not_know_are_named() {
    // The compression type stands where an AIFF-C file continues its COMM chunk.
    let mut apple = aiff(1, &tone(16_000, 0.5));
    apple[8..12].copy_from_slice(b"AIFC");
    apple.splice(38..38, *b"ima4\0\0");
    apple[19] += 6;
    let mut speex = b"OggS\0\x02".to_vec();
    speex.extend([0; 20]);
    speex.extend([1, 80]);
    speex.extend(b"Speex   1.2.1");
    speex.extend([0; 67]);
    for (name, bytes) in [("ima4", apple), ("Speex", speex)] {
        let error = decode_bytes(&bytes).err().expect(name);
        assert!(matches!(error, DecodeError::Unsupported(_)) && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn of_high_efficiency_aac_the_core_is_decoded_and_that_is_said() {
    let plain = fixture("formats/aac.m4a");
    // The same packets, declared as a core of 16 kHz with an extension to 32 kHz, or as LD.
    let declared = |config: [u8; 5]| {
        let at = plain.windows(5).position(|bytes| bytes == [0x14, 0x08, 0x56, 0xe5, 0x00]).expect("config");
        [&plain[..at], &config, &plain[at + 5..]].concat()
    };
    let expected = decoded(&plain);
    let core = decoded(&declared([0x2c, 0x0a, 0x88, 0x00, 0x00]));
    assert!(core.samples(0) == expected.samples(0));
    assert_eq!(expected.audio.info.damage, [""; 0]);
    assert!(
        core.audio.info.damage[0].contains("HE-AAC: its core was decoded"),
        "{:?}",
        core.audio.info.damage
    );
    let error = decode_bytes(&declared([0xbc, 0x08, 0x00, 0x00, 0x00])).err().expect("LD").to_string();
    assert!(error.contains("AAC-LD") && error.contains("ffmpeg"), "{error}");
}

#[test]
fn microsoft_adpcm_decodes() {
    // A block of predictor 0, step 16 and two samples, then 4-bit steps of zero: constant sound.
    let mut block = vec![0, 16, 0];
    block.extend(8192i16.to_le_bytes());
    block.extend(8192i16.to_le_bytes());
    block.extend([0; 249]);
    let found = decoded(&wave_raw(2, 1, 8_000, 256, 4, &block.repeat(40)));
    assert_eq!((found.audio.info.codec.as_str(), found.audio.info.frames), ("adpcm_ms", 2 * 40 * 500));
    assert!((found.peak(0, 0.5, 1.0) - 0.25).abs() < 0.01);
}

#[test]
fn mpeg_audio_inside_a_wave_file_decodes() {
    let found = decoded(&wave_raw(0x55, 1, 16_000, 1, 0, &fixture("formats/cbr64.mp3")));
    assert_eq!((found.audio.info.container.as_str(), found.audio.info.codec.as_str()), ("wav", "mp3"));
    assert!((found.audio.info.duration_s - 11.0).abs() < TOLERANCE_S);
}

#[test]
fn codecs_of_telephones_are_named() {
    for (tag, name) in [(0x31, "GSM"), (0x161, "WMA"), (0x83, "G.729")] {
        let error = decode_bytes(&wave_raw(tag, 1, 8_000, 65, 0, &[1; 650])).err().expect(name);
        assert!(matches!(error, DecodeError::Unsupported(_)) && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn the_name_only_chooses_among_usual_extensions() {
    let bytes = fixture("formats/aac.m4a");
    for (name, extension) in [("a.m4a", "m4a"), ("a.MOV", "mov"), ("a.wav", "mp4"), ("a", "mp4")] {
        assert_eq!(probe_bytes(&bytes, name).expect(name).extension, extension);
    }
}

#[test]
fn decoding_takes_far_less_than_listening() {
    let bytes = fixture("long/long_en_5readers.mp3");
    let started = std::time::Instant::now();
    decoded(&bytes);
    // A tenth of the 404 seconds that it plays, and fifty times what a free machine needs.
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
}

#[test]
fn a_lost_data_chunk_is_found_whichever_end_comes_first() {
    let format = words(&[16, 0x1_0001, 16_000, 32_000, 0x2_0010]);
    let hidden = [&b"junk"[..], &words(&[0x7fff_ffff]), b"data", &words(&[32_000])].concat();
    let start = [&b"RIFX"[..], &words(&[40_000]), b"WAVEfmt ", &format, &hidden].concat();
    let found = decoded(&[&start[..], &big(&tone(16_000, 1.0)), &[0; 4000]].concat());
    assert!((found.audio.info.duration_s - 1.0).abs() < 1e-9, "{}", found.audio.info.duration_s);
    assert!(found.peak(0, 0.0, 1.0) > 0.45);
}

#[test]
fn caf_and_aiff_that_are_cut_off_or_longer_than_they_say_decode() {
    let samples = interleave(&[tone(16_000, 4.0), tone(16_000, 4.0)]);
    for whole in [caf(16_000, 2, &samples), aiff(2, &samples)] {
        for (bytes, length_s, note) in [
            (whole[..whole.len() - 1].to_vec(), 4.0, None),
            ([&whole[..], b"\n"].concat(), 4.0, None),
            (whole[..whole.len() / 2].to_vec(), 2.0, Some("ends early: 2.0 of 4.0")),
        ] {
            let info = decoded(&bytes).audio.info;
            assert!((info.duration_s - length_s).abs() < 0.01, "{}: {}", info.container, info.duration_s);
            assert_eq!(
                info.damage.len(),
                usize::from(note.is_some()),
                "{}: {:?}",
                info.container,
                info.damage
            );
            assert!(note.is_none_or(|note| info.damage[0].contains(note)), "{:?}", info.damage);
        }
    }
}

/// Where the pages of an Ogg file start.
fn pages(file: &[u8]) -> Vec<usize> {
    (0..file.len()).filter(|at| file[*at..].starts_with(b"OggS")).collect()
}

#[test]
fn a_damaged_page_at_the_start_of_ogg_costs_that_page_alone() {
    for name in ["formats/opus.opus", "formats/vorbis.ogg"] {
        let whole = fixture(name);
        let (at, length_s) = (pages(&whole), decoded(&whole).audio.info.duration_s);
        let mut broken = whole.clone();
        // Both have two pages of headers.
        broken[at[2] + 200] ^= 1;
        let info = decoded(&broken).audio.info;
        assert!((info.duration_s - length_s).abs() < 0.01, "{name}: {}", info.duration_s);
        assert!(info.damage.iter().any(|note| note.contains("damaged at its start")), "{:?}", info.damage);
    }
}

#[test]
fn of_chained_ogg_every_recording_is_read_or_its_loss_is_said() {
    let one = fixture("formats/opus.opus");
    let chain = [&one[..], &one, &one].concat();
    let length_s = decoded(&chain).audio.info.duration_s;
    let second: Vec<usize> = pages(&chain).into_iter().filter(|at| *at >= one.len()).take(3).collect();
    for (page, at) in second.into_iter().enumerate() {
        let mut broken = chain.clone();
        broken[at + 30] ^= 1;
        let info = decoded(&broken).audio.info;
        assert!(info.damage.iter().any(|note| note.contains("damaged at its start")), "{:?}", info.damage);
        assert!(info.duration_s > length_s * 0.6, "{page}: {}", info.duration_s);
    }
}
