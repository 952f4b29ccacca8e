//! Files whose few bytes ask for much memory or time.

use crate::fuzz::{assert_small, fuzz_decoder};
use crate::generate::{ebml, ebml_number, iff_chunk, mp4_box, wave_raw, words};
use crate::support::{decode_bytes, decoded, probe_bytes};

/// Header of the samples of a track: 16 bits, one channel, 16,000 a second.
fn description() -> Vec<u8> {
    let entry = [words(&[0, 1, 0, 0, 0x1_0010, 0]), (16_000u32 << 16).to_be_bytes().to_vec()].concat();
    mp4_box(b"stsd", &[words(&[0, 1]), mp4_box(b"twos", &[entry])])
}

fn track() -> Vec<u8> {
    let hdlr = mp4_box(b"hdlr", &[words(&[0, 0]), b"soun".to_vec(), words(&[0, 0, 0])]);
    let mdhd = mp4_box(b"mdhd", &[words(&[0, 0, 0, 16_000, 0, 0])]);
    let minf = mp4_box(b"minf", &[mp4_box(b"stbl", &[description()])]);
    let tkhd = mp4_box(b"tkhd", &[words(&[1, 0, 0, 1, 0, 0])]);
    mp4_box(b"trak", &[tkhd, mp4_box(b"mdia", &[mdhd, hdlr, minf])])
}

/// An MP4 file with these samples of `size_bytes` in each run.
fn fragmented(tracks: usize, runs: &[u32], size_bytes: u32, data: &[u8]) -> Vec<u8> {
    let trex = mp4_box(b"trex", &[words(&[0, 1, 1, size_bytes / 2, size_bytes, 0])]);
    let moov = mp4_box(b"moov", &[track().repeat(tracks), mp4_box(b"mvex", &[trex])]);
    let mut parts = vec![mp4_box(b"tfhd", &[words(&[0x2_0000, 1])])];
    // The data follows the fragment's header.
    let shift = 8 + 8 + 16 + 20 * runs.len() as u32 + 8;
    parts.extend(runs.iter().map(|count| mp4_box(b"trun", &[words(&[1, *count, shift])])));
    let moof = mp4_box(b"moof", &[mp4_box(b"traf", &parts)]);
    [moov, moof, mp4_box(b"mdat", &[data.to_vec()])].concat()
}

#[test]
fn runs_without_rows_cost_what_they_take_in_the_file() {
    let found = decoded(&fragmented(1, &[10], 3200, &[7; 32_000]));
    assert!((found.audio.info.duration_s - 1.0).abs() < 1e-9, "{}", found.audio.info.duration_s);
    for size_bytes in [0, 2, u32::MAX] {
        fuzz_decoder(&fragmented(1, &[u32::MAX; 2000], size_bytes, &[7; 32]));
    }
    assert_small();
}

#[test]
fn an_index_of_many_tracks_is_read_in_time() {
    fuzz_decoder(&fragmented(20_000, &[10], 3200, &[7; 32_000]));
}

/// A Matroska file of one cluster.
fn matroska(tracks: &[u8], cluster: &[u8]) -> Vec<u8> {
    let parts = [ebml(&[0x16, 0x54, 0xae, 0x6b], tracks), ebml(&[0x1f, 0x43, 0xb6, 0x75], cluster)];
    let head = ebml(&[0x1a, 0x45, 0xdf, 0xa3], &ebml(&[0x42, 0x82], b"matroska"));
    [head, ebml(&[0x18, 0x53, 0x80, 0x67], &parts.concat())].concat()
}

/// What stands in the entry of an audio track.
fn sound_track() -> Vec<u8> {
    [ebml_number(&[0xd7], 1), ebml_number(&[0x83], 2), ebml(&[0x86], b"A_PCM/INT/LIT")].concat()
}

#[test]
fn tracks_of_two_bytes_and_laced_frames_are_bounded() {
    let empty = [0xae, 0x80].repeat(2_000_000);
    fuzz_decoder(&matroska(&empty, &[]));
    // Every frame begins with a megabyte that the file holds once.
    let compression = [ebml_number(&[0x42, 0x54], 3), ebml(&[0x42, 0x55], &vec![7; 1 << 20])].concat();
    let encoding = ebml(&[0x6d, 0x80], &ebml(&[0x62, 0x40], &ebml(&[0x50, 0x34], &compression)));
    let entry = [sound_track(), encoding].concat();
    let laced = [&[0x81, 0, 0, 0x84, 255][..], &[7; 512]].concat();
    let blocks = ebml(&[0xa3], &laced).repeat(10);
    let refused = decode_bytes(&matroska(&ebml(&[0xae], &entry), &blocks)).err().expect("refused");
    assert!(refused.to_string().starts_with("compression"), "{refused}");
    assert_small();
}

#[test]
fn markers_that_crowd_are_stepped_over_in_time() {
    let markers = [0x1f, 0x43, 0xb6, 0x75, 0].repeat(400_000);
    fuzz_decoder(&matroska(&ebml(&[0xae], &sound_track()), &markers));
}

#[test]
fn a_wave_file_with_the_start_of_a_frame_is_refused() {
    for length in 1..8 {
        let bytes = wave_raw(0x55, 1, 8_000, 1, 0, &[0xff, 0xfd, 0xe0, 0xc0, 0, 0, 0, 0][..length]);
        let refused = decode_bytes(&bytes).err().expect("refused");
        assert_eq!(refused.code().expect("nobody cancelled").status(), 422, "{refused}");
        assert!(probe_bytes(&bytes, "x.wav").is_err());
    }
}

#[test]
fn a_seek_table_in_disorder_is_not_sorted() {
    let description =
        [&[16, 0, 16, 0, 0, 0, 0, 0, 0, 0, 3, 0xe8, 0, 0xf0, 0, 0, 0, 0][..], &[0; 16]].concat();
    let points: Vec<u8> = (0..900_000u64)
        .rev()
        .flat_map(|frame| [&frame.to_be_bytes()[..], &frame.to_be_bytes(), &[16, 0]].concat())
        .collect();
    let size = (points.len() as u32).to_be_bytes();
    fuzz_decoder(&[b"fLaC\0\0\0\x22", &description[..], &[0x83], &size[1..], &points, &[0xff; 100]].concat());
}

#[test]
fn a_table_of_packets_is_bounded() {
    let description = [&8000f64.to_be_bytes()[..], b"alac", &words(&[0, 0, 4096, 1, 16])].concat();
    let chunk = |id: &[u8], body: &[u8]| [id, &(body.len() as u64).to_be_bytes(), body].concat();
    let packets = 30_000_000u64;
    let table = [&packets.to_be_bytes()[..], &[0; 16], &vec![0; packets as usize]].concat();
    let start = [&b"caff\0\x01\0\0"[..], &chunk(b"desc", &description)].concat();
    let data = chunk(b"data", &[0; 100]);
    for between in [0, 1000] {
        let free = chunk(b"free", &[]).repeat(between);
        fuzz_decoder(&[&start[..], &free, &chunk(b"pakt", &table), &data].concat());
        fuzz_decoder(&[&start[..], &free, &data, &chunk(b"pakt", &table)].concat());
    }
    assert_small();
}

#[test]
fn tags_of_a_few_bytes_are_bounded() {
    let tags = 2_000_000u32;
    let body = [b"\0\0\0\0", &tags.to_le_bytes()[..], &b"\x02\0\0\0A=".repeat(tags as usize)].concat();
    let size = (body.len() as u32).to_be_bytes();
    let description =
        [&[16, 0, 16, 0, 0, 0, 0, 0, 0, 0, 3, 0xe8, 0, 0xf0, 0, 0, 0, 0][..], &[0; 16]].concat();
    fuzz_decoder(&[b"fLaC\0\0\0\x22", &description[..], &[0x84], &size[1..], &body, &[0xff; 100]].concat());
    fuzz_decoder(&iff_chunk(b"FORM", &[&b"AIFF"[..], &iff_chunk(b"NAME", b"").repeat(2_000_000)].concat()));
    assert_small();
}
