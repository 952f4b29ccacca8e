//! The decoder's entry as a plain function over bytes, driven with mutated recordings.

use std::time::{Duration, Instant};

use tympan::stage::decode::DecodeLimits;

use crate::support::{decode_limited, fixture, fixtures, probe_bytes};

/// Longest time for one input; the usual is a few milliseconds.
const TOO_SLOW: Duration = Duration::from_secs(5);

/// Memory that the whole run may need.
const MAX_RESIDENT_KIB: u64 = 400 * 1024;

/// Takes any bytes; must neither panic nor hang, and refuses with a client's error.
pub fn fuzz_decoder(bytes: &[u8]) {
    let limits = DecodeLimits { max_duration_s: 3600.0, ..DecodeLimits::default() };
    let started = Instant::now();
    if let Err(error) = decode_limited(bytes, &limits) {
        assert!((400..500).contains(&error.code().expect("nobody cancelled").status()), "{error}");
    }
    let _ = probe_bytes(bytes, "x.bin");
    assert!(started.elapsed() < TOO_SLOW, "{:?}", started.elapsed());
}

/// Neither these tests nor those beside them in this process have taken much memory.
pub fn assert_small() {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).expect("peak");
    let peak_kib: u64 = peak.split_whitespace().nth(1).and_then(|text| text.parse().ok()).expect("number");
    assert!(peak_kib < MAX_RESIDENT_KIB, "{peak_kib}");
}

/// Xorshift: the same inputs in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let is_head = random.below(2) == 0;
    for _ in 0..1 + random.below(12) {
        let at = random.below(if is_head { bytes.len().min(600) } else { bytes.len() });
        let end = (at + random.below(64)).min(bytes.len());
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 => bytes[at..end].fill(0xff),
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            _ => {
                let piece = bytes[at..end].to_vec();
                let target = random.below(bytes.len());
                drop(bytes.splice(target..target, piece));
            }
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let mut names: Vec<String> = Vec::new();
    for folder in ["formats", "damaged"] {
        for entry in std::fs::read_dir(fixtures().join(folder)).expect(folder) {
            names.push(format!("{folder}/{}", entry.expect(folder).file_name().to_string_lossy()));
        }
    }
    names.sort();
    names.iter().map(|name| fixture(name)).collect()
}

#[test]
fn mutated_recordings_neither_panic_nor_hang() {
    let seeds = seeds();
    let mut random = Random(0x5eed);
    for _ in 0..1_500 {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        bytes.truncate(60_000);
        mutate(&mut bytes, &mut random);
        fuzz_decoder(&bytes);
    }
    assert_small();
}

#[test]
fn bytes_without_any_sense_are_refused() {
    let mut random = Random(7);
    for size in [1, 2, 3, 7, 12, 44, 1000, 20_000] {
        let bytes: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
        fuzz_decoder(&bytes);
    }
    for start in
        [&b"RIFF"[..], b"RIFF\0\0\0\0WAVE", b"OggS", b"fLaC", b"ID3\x04\0\0\0\0\0\x10", b"\0\0\0\x08moov"]
    {
        fuzz_decoder(start);
        fuzz_decoder(&[start, &[0; 5000]].concat());
        fuzz_decoder(&[start, &[0xff; 5000]].concat());
    }
}
