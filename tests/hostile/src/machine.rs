//! Attacks on time, memory, stack and log.

use core::hint::black_box;
use std::panic;

use crate::exports::tympan::addon::transform::{AddonError, AddonOutput};
use crate::runtime::{self, Level};

pub fn spin() -> ! {
    loop {
        black_box(());
    }
}

pub fn spin_until_cancelled() -> Result<AddonOutput, AddonError> {
    while !runtime::cancelled() {
        black_box(());
    }
    spin()
}

pub fn memory_bomb() -> ! {
    let mut hoard = Vec::new();
    loop {
        hoard.push(vec![1_u8; 1 << 20]);
        black_box(&hoard);
    }
}

pub fn recursion() -> ! {
    black_box(dig(0));
    spin()
}

#[inline(never)]
fn dig(depth: u64) -> u64 {
    let pit = black_box([depth; 64]);
    if depth == u64::MAX { 0 } else { dig(depth + 1) + black_box(pit)[7] }
}

pub fn panic() -> ! {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
        runtime::panicked(&info.to_string(), &place.unwrap_or_default());
    }));
    let empty: Vec<u8> = black_box(Vec::new());
    let _ = black_box(empty[1007]);
    spin()
}

/// A hundred thousand lines, about ten megabytes.
pub fn log_flood() -> Result<AddonOutput, AddonError> {
    let line = "the secret word is swordfish ".repeat(4);
    for _ in 0..100_000 {
        runtime::log(Level::Warn, &line);
    }
    Ok(crate::with_result(None))
}
