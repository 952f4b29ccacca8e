//! Damage in MPEG audio and ADTS, which have no clock: what lies behind it keeps its time.

use tympan::model::segments::SAMPLE_RATE_HZ;

use crate::support::{decoded, fixture, probe_bytes};

/// Recordings with the length of a frame, seconds.
const RECORDINGS: [(&str, f64); 2] = [("formats/cbr64.mp3", 0.036), ("formats/aac_adts.aac", 0.064)];

/// Where frames begin in the recordings.
fn frames(bytes: &[u8]) -> Vec<usize> {
    let is_adts = bytes[1] & 0xf6 == 0xf0;
    let mut starts = vec![];
    // The other one begins with a tag.
    let mut at = if is_adts { 0 } else { 45 };
    while at + 8 <= bytes.len() {
        starts.push(at);
        at += match is_adts {
            true => {
                usize::from(bytes[at + 3] & 3) << 11
                    | usize::from(bytes[at + 4]) << 3
                    | usize::from(bytes[at + 5]) >> 5
            }
            // 64 kbit/s at 16 kHz.
            false => 288,
        };
    }
    starts
}

/// What both have in common at their ends, from a time in `whole` on.
#[track_caller]
fn assert_equal_behind(found: &[f32], whole: &[f32], from_s: f64) {
    let count = whole.len() - (from_s * f64::from(SAMPLE_RATE_HZ)) as usize;
    let (found, whole) = (&found[found.len() - count..], &whole[whole.len() - count..]);
    let apart = found.iter().zip(whole).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 0.001, "{apart} apart behind {from_s} s");
}

#[test]
fn what_lies_behind_damage_keeps_its_time_and_the_loss_is_said() {
    for (name, frame_s) in RECORDINGS {
        let bytes = fixture(name);
        let (starts, whole) = (frames(&bytes), decoded(&bytes));
        for (first, count) in [(60, 40), (100, 1), (30, 100)] {
            let mut damaged = bytes.clone();
            damaged[starts[first]..starts[first + count]].fill(0);
            let found = decoded(&damaged);
            let info = &found.audio.info;
            let off_s = (info.duration_s - whole.audio.info.duration_s).abs();
            // Frames of AAC differ in their size, so that the loss can only be estimated.
            let allowed_s = if name.ends_with("aac") { 0.15 * count as f64 * frame_s } else { 1e-9 };
            assert!(off_s <= allowed_s, "{name}, {count} frames: off by {off_s}");
            assert_eq!(info.damage.len(), 1, "{name} {:?}", info.damage);
            assert!(info.damage[0].starts_with("a damaged passage of "), "{name} {:?}", info.damage);
            let behind_s = (first + count + 8) as f64 * frame_s;
            assert_equal_behind(&found.samples(0), &whole.samples(0), behind_s);
            let told_s = probe_bytes(&damaged, name).expect("probe").duration_s;
            assert!((told_s - info.duration_s).abs() < 1e-6, "{name} {told_s}");
        }
    }
}

#[test]
fn one_wrong_bit_in_a_header_costs_a_frame_at_most() {
    for (name, frame_s) in RECORDINGS {
        let bytes = fixture(name);
        let (starts, whole) = (frames(&bytes), decoded(&bytes));
        for bit in 0..40 {
            let mut damaged = bytes.clone();
            damaged[starts[80] + bit / 8] ^= 0x80 >> (bit % 8);
            let found = decoded(&damaged);
            let off_s = found.audio.info.duration_s - whole.audio.info.duration_s;
            assert!(off_s.abs() < 1.01 * frame_s, "{name}, bit {bit}: {off_s}");
        }
    }
}

#[test]
fn sound_that_is_lost_to_the_end_is_said() {
    for (name, _) in RECORDINGS {
        let mut bytes = fixture(name);
        let half = bytes.len() / 2;
        bytes[half..].fill(0);
        let info = decoded(&bytes).audio.info;
        let said = info.damage.last().expect("a note");
        assert!(said.contains("ends early") || said.contains("damaged after 5."), "{name} {said}");
    }
}

#[test]
fn tags_between_joined_files_are_no_damage() {
    let id3v1 = [b"TAG".as_slice(), &[b'x'; 125]].concat();
    let id3v2 = [b"ID3\x04\0\0\0\0\x0f\x50".as_slice(), &[b'y'; 0x7d0]].concat();
    let ape = [b"APETAGEX\xd0\x07\0\0".as_slice(), &3000u32.to_le_bytes(), &[0; 16], &[b'z'; 3000]].concat();
    for (name, _) in RECORDINGS {
        let bytes = fixture(name);
        let joined = decoded(&[&bytes[..], &ape, &id3v1, &id3v2, &bytes, &ape, &id3v1].concat()).audio.info;
        let plain = decoded(&[&bytes[..], &bytes].concat()).audio.info;
        assert_eq!((joined.damage, joined.frames), (plain.damage, plain.frames), "{name}");
    }
}

#[test]
fn joined_adts_may_change_its_rate() {
    let bytes = fixture("formats/aac_adts.aac");
    let mut slower = bytes.clone();
    for start in frames(&bytes) {
        // 12 instead of 16 kHz: the same frame lasts a third longer.
        slower[start + 2] = slower[start + 2] & 0xc3 | 9 << 2;
    }
    let one_s = decoded(&bytes).audio.info.duration_s;
    for joined in [[&bytes[..], &slower, &bytes].concat(), [&slower[..], &bytes, &bytes].concat()] {
        let info = decoded(&joined).audio.info;
        assert!((info.duration_s - one_s * (2.0 + 4.0 / 3.0)).abs() < 0.01, "{}", info.duration_s);
        assert_eq!(info.damage, [""; 0]);
        let told_s = probe_bytes(&joined, "a.aac").expect("probe").duration_s;
        assert!((told_s - info.duration_s).abs() < 0.01, "{told_s}");
    }
}
