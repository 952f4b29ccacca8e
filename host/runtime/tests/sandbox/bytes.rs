//! The loader takes any bytes: whatever they are, it answers with a sentence.

use crate::raw::Raw;
use crate::support::runtime;
use tympan_runtime::{Policy, Runtime};

/// What a fuzzer calls with anything. Does not compile.
fn inspect_anything(bytes: &[u8]) {
    match Runtime::inspect(bytes) {
        Ok(inspection) => assert_eq!(inspection.size_bytes, bytes.len() as u64),
        Err(error) => {
            let sentence = error.to_string();
            assert!(!sentence.is_empty() && !sentence.contains('\n'), "{sentence}");
        }
    }
}

/// Numbers that look random and repeat with the seed (xorshift64*, Vigna 2016).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.roll() % limit as u64) as usize
    }
}

#[test]
fn every_truncation() {
    let bytes = Raw::default().component();
    for length in 0..bytes.len() {
        inspect_anything(&bytes[..length]);
    }
}

#[test]
fn random_bytes_behind_every_kind_of_start() {
    let mut dice = Dice(7);
    for round in 0..20_000 {
        let start: &[u8] = [b"".as_slice(), b"\0asm", b"\0asm\x01\0\0\0", b"\0asm\x0d\0\x01\0"][round % 4];
        let length = dice.below(200);
        let bytes: Vec<u8> = start.iter().copied().chain((0..length).map(|_| dice.roll() as u8)).collect();
        inspect_anything(&bytes);
    }
}

#[test]
fn flipped_bits() {
    let original = Raw::default().component();
    let mut dice = Dice(8);
    for _ in 0..20_000 {
        let mut bytes = original.clone();
        for _ in 0..=dice.below(4) {
            let at = dice.below(bytes.len());
            bytes[at] ^= 1 << dice.below(8);
        }
        inspect_anything(&bytes);
    }
}

#[tokio::test]
async fn damaged_components_never_break_the_loader() {
    let original = Raw::default().component();
    let runtime = runtime();
    let mut dice = Dice(9);
    let mut refused = 0;
    for _ in 0..300 {
        let mut bytes = original.clone();
        if dice.below(3) == 0 {
            bytes.truncate(dice.below(original.len()));
        } else {
            let at = dice.below(bytes.len());
            bytes[at] ^= 1 << dice.below(8);
        }
        if let Err(error) = runtime.load_bytes(bytes, &Policy::default()).await {
            refused += 1;
            let sentence = error.to_string();
            assert!(!sentence.is_empty() && !sentence.contains('\n'), "{sentence}");
        }
    }
    assert!(refused > 100, "only {refused} of 300 were refused");
}
