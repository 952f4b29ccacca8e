//! Damage inside MP4 and Matroska files: what is around it is decoded and keeps its time, and what
//! is missing is said.

use crate::generate::{big, ebml, ebml_number, little, mp4_box, quicktime, tone, words};
use crate::support::{Decoded, decoded, fixture};

const RATE: u32 = 16_000;

/// Where the sound of a fragment begins: behind the header of its `mdat`.
const FRAGMENT_HEADER: usize = 8 + 16 + (8 + 16 + 20 + 20) + 8;

fn fragment(second: u32) -> Vec<u8> {
    let parts = [
        mp4_box(b"tfhd", &[words(&[0x2_0000, 1])]),
        mp4_box(b"tfdt", &[words(&[0x100_0000, 0, second * RATE])]),
        mp4_box(b"trun", &[words(&[1, 10, FRAGMENT_HEADER as u32])]),
    ];
    let mfhd = mp4_box(b"mfhd", &[words(&[0, second + 1])]);
    [mp4_box(b"moof", &[mfhd, mp4_box(b"traf", &parts)]), mp4_box(b"mdat", &[big(&tone(RATE, 1.0))])].concat()
}

/// A recording in fragments of a second; `extends` says how long it is.
fn fragments(seconds: u32, extends: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let entry = [words(&[0, 1, 0, 0, 0x1_0010, 0]), (RATE << 16).to_be_bytes().to_vec()].concat();
    let stsd = mp4_box(b"stsd", &[words(&[0, 1]), mp4_box(b"twos", &[entry])]);
    let minf = mp4_box(b"minf", &[mp4_box(b"stbl", &[stsd])]);
    let hdlr = mp4_box(b"hdlr", &[words(&[0, 0]), b"soun".to_vec(), words(&[0, 0, 0])]);
    let mdhd = mp4_box(b"mdhd", &[words(&[0, 0, 0, RATE, 0, 0])]);
    let trak =
        mp4_box(b"trak", &[mp4_box(b"tkhd", &[words(&[1, 0, 0, 1])]), mp4_box(b"mdia", &[mdhd, hdlr, minf])]);
    let trex = mp4_box(b"trex", &[words(&[0, 1, 1, 1600, 3200, 0])]);
    let mvex = mp4_box(b"mvex", &[extends.concat(), trex]);
    let moov = mp4_box(b"moov", &[mp4_box(b"mvhd", &[words(&[0, 0, 0, 1000, 0])]), trak, mvex]);
    std::iter::once(moov).chain((0..seconds).map(fragment)).collect()
}

/// Sound everywhere but from `from_s` to `to_s`, and this said about it.
#[track_caller]
fn assert_lost(found: &Decoded, length_s: f64, from_s: f64, to_s: f64, said: &str) {
    let info = &found.audio.info;
    assert!((info.duration_s - length_s).abs() < 0.005, "{} {:?}", info.duration_s, info.damage);
    assert_eq!(info.damage, [said]);
    assert!(found.peak(0, 0.0, from_s) > 0.45 && found.peak(0, to_s, length_s) > 0.45);
    assert!(found.peak(0, from_s + 0.01, to_s - 0.01) < 0.01, "sound from {from_s} to {to_s}");
}

#[track_caller]
fn assert_whole(found: &Decoded, length_s: f64) {
    let info = &found.audio.info;
    assert_eq!(info.damage, [""; 0]);
    assert!((info.duration_s - length_s).abs() < 1e-9, "{}", info.duration_s);
}

fn passage(length: &str) -> String {
    format!("a damaged passage of {length} seconds could not be decoded and is silent")
}

#[test]
fn a_wrong_size_of_a_box_loses_nothing() {
    let whole = fragments(6, &[]);
    assert_whole(&decoded(&whole.concat()), 6.0);
    // The header of the fragment, then that of its sound.
    for box_at in [0, FRAGMENT_HEADER - 8] {
        for (byte, bits) in [(0, 0x80), (0, 0x01), (2, 0x40), (3, 0x01), (3, 0x20)] {
            let mut parts = whole.clone();
            parts[3][box_at + byte] ^= bits;
            assert_whole(&decoded(&parts.concat()), 6.0);
        }
        let mut parts = whole.clone();
        parts[3][box_at..box_at + 4].fill(0);
        assert_whole(&decoded(&parts.concat()), 6.0);
    }
    let mut parts = whole.clone();
    parts[3].splice(0..0, [0; 10]);
    assert_whole(&decoded(&parts.concat()), 6.0);
}

#[test]
fn a_lost_fragment_leaves_silence_and_is_said() {
    let whole = fragments(6, &[]);
    // Its whole header; one bit of its name; of the names of the boxes inside.
    for (from, to, flip) in [(0, 88, 0xff), (4, 5, 1), (28, 29, 1), (36, 37, 1), (72, 73, 1)] {
        let mut parts = whole.clone();
        for byte in &mut parts[3][from..to] {
            *byte ^= flip;
        }
        assert_lost(&decoded(&parts.concat()), 6.0, 2.0, 3.0, &passage("1.0"));
    }
    let mut parts = whole.clone();
    parts[2][16_000 + FRAGMENT_HEADER..].fill(0);
    parts[3].fill(0);
    let found = decoded(&parts.concat());
    assert_lost(&found, 6.0, 1.5, 3.0, &passage("1.0"));
}

#[test]
fn a_recording_in_fragments_that_breaks_off_is_said_to() {
    let whole = fragments(6, &[]).concat();
    let start = whole.len() - 3 * fragment(0).len();
    let said = |after: &str| format!("the file is damaged after {after} seconds; the rest is left out");
    let mut zeroed = whole.clone();
    zeroed[start..].fill(0);
    assert_eq!(decoded(&zeroed).audio.info.damage, [said("3.0")]);
    // Half a fragment, then half a header.
    assert_eq!(decoded(&whole[..start + FRAGMENT_HEADER + 16_000]).audio.info.damage, [said("3.5")]);
    assert_eq!(decoded(&whole[..start + 40]).audio.info.damage, [said("3.0")]);
    assert_whole(&decoded(&whole[..start]), 3.0);
}

#[test]
fn a_recording_in_fragments_that_states_its_length_ends_early() {
    let stated = fragments(6, &[mp4_box(b"mehd", &[words(&[0, 6000])])]);
    assert_whole(&decoded(&stated.concat()), 6.0);
    let info = decoded(&stated[..4].concat()).audio.info;
    assert_eq!(info.damage, ["the file ends early: 3.0 of 6.0 seconds could be decoded"]);
}

#[test]
fn a_lost_beginning_is_said() {
    let mut parts = fragments(6, &[]);
    parts[1].fill(0);
    let info = decoded(&parts.concat()).audio.info;
    assert_eq!(info.damage.len(), 1, "{:?}", info.damage);
    assert!(info.damage[0].starts_with("the beginning is damaged"), "{:?}", info.damage);
}

#[test]
fn what_an_edit_list_leaves_out_is_not_missing() {
    let found = decoded(&quicktime(RATE, &tone(RATE, 5.0), &[(2_000, 8_000)], false));
    assert_whole(&found, 2.0);
}

const CLUSTER: [u8; 4] = [0x1f, 0x43, 0xb6, 0x75];

/// Bytes of a block of a tenth of a second, and of what stands before those of a cluster.
const BLOCK_BYTES: usize = 1 + 8 + 4 + 3200;
const CLUSTER_HEADER: usize = 4 + 8 + (1 + 8 + 8);

/// Clusters of a second and ten blocks, with or without their sizes; grouped or simple blocks.
fn clusters(seconds: u64, is_sized: bool) -> Vec<Vec<u8>> {
    let sound = [ebml(&[0xb5], &f64::from(RATE).to_be_bytes()), ebml_number(&[0x62, 0x64], 16)];
    let entry = [
        ebml_number(&[0xd7], 1),
        ebml_number(&[0x83], 2),
        ebml(&[0x86], b"A_PCM/INT/LIT"),
        ebml(&[0xe1], &sound.concat()),
    ];
    let tracks = ebml(&[0x16, 0x54, 0xae, 0x6b], &ebml(&[0xae], &entry.concat()));
    let head = ebml(&[0x1a, 0x45, 0xdf, 0xa3], &ebml(&[0x42, 0x82], b"matroska"));
    let segment = [&[0x18, 0x53, 0x80, 0x67, 0x01][..], &[0xff; 7]].concat();
    let mut parts = vec![[head, segment, tracks].concat()];
    for second in 0..seconds {
        let mut content = ebml_number(&[0xe7], 1000 * second);
        for block in 0..10u16 {
            let header = [&[0x81][..], &(block * 100).to_be_bytes(), &[0x80]].concat();
            content.extend(ebml(&[0xa3], &[header, little(&tone(RATE, 0.1))].concat()));
        }
        let mut cluster = ebml(&CLUSTER, &content);
        if !is_sized {
            cluster[5..12].fill(0xff);
        }
        parts.push(cluster);
    }
    parts
}

#[test]
fn damage_in_a_cluster_costs_the_blocks_that_it_hits() {
    for is_sized in [true, false] {
        let whole = clusters(4, is_sized);
        assert_whole(&decoded(&whole.concat()), 4.0);
        let block = |number: usize| CLUSTER_HEADER + number * BLOCK_BYTES;
        // The headers of three blocks in a row.
        let mut parts = whole.clone();
        parts[2][block(3)..block(5) + 12].fill(0);
        assert_lost(&decoded(&parts.concat()), 4.0, 1.3, 1.6, &passage("0.3"));
        // A size that is far too large.
        let mut parts = whole.clone();
        parts[2][block(3) + 6] ^= 0x80;
        let found = decoded(&parts.concat());
        assert!((found.audio.info.duration_s - 4.0).abs() < 0.005, "{}", found.audio.info.duration_s);
        // Ten bytes taken out of a block: the next one's header is swallowed.
        let mut parts = whole.clone();
        parts[2].drain(block(3) + 1000..block(3) + 1010);
        assert_lost(&decoded(&parts.concat()), 4.0, 1.4, 1.5, &passage("0.1"));
    }
}

#[test]
fn blocks_are_not_taken_for_those_of_a_cluster_that_is_gone() {
    for is_sized in [true, false] {
        let mut parts = clusters(4, is_sized);
        let after = CLUSTER_HEADER + 7 * BLOCK_BYTES;
        parts[2][after..].fill(0);
        parts[3][..CLUSTER_HEADER + 200].fill(0);
        // Of the third cluster neither header nor clock is left.
        assert_lost(&decoded(&parts.concat()), 4.0, 1.7, 3.0, &passage("1.3"));
    }
}

#[test]
fn damage_to_a_cluster_that_has_no_clock_yet_is_said() {
    for range in [0..1, 0..4, 0..12, 3..4, 12..13, 12..22] {
        let mut parts = clusters(4, true);
        for byte in &mut parts[3][range] {
            *byte ^= 0x01;
        }
        let info = decoded(&parts.concat()).audio.info;
        assert!((info.duration_s - 4.0).abs() < 0.005, "{} {:?}", info.duration_s, info.damage);
        assert_eq!(info.damage, [passage("1.0")]);
    }
}

#[test]
fn a_pause_in_whole_clusters_is_no_damage() {
    let parts = clusters(4, true);
    assert_whole(&decoded(&[&parts[0][..], &parts[1], &parts[4]].concat()), 4.0);
}

#[test]
fn a_damaged_recording_of_a_browser_loses_next_to_nothing() {
    let whole = fixture("long/long_de_kerstin.webm");
    let whole = &whole[..91_319];
    let early = decoded(whole).audio.info;
    assert_eq!(early.damage.len(), 1);
    let mut zeroed = whole.to_vec();
    zeroed[28_000..28_300].fill(0);
    let taken = [28_300, 28_010].map(|end| [&whole[..28_000], &whole[end..]].concat());
    for bytes in [&zeroed, &taken[0], &taken[1]] {
        let info = decoded(bytes).audio.info;
        assert!((info.duration_s - early.duration_s).abs() < 0.05, "{}", info.duration_s);
        assert!(info.damage[0].starts_with("a damaged passage of"), "{:?}", info.damage);
    }
}
