//! Any bytes as a recording: refused with a client's error, or decoded within limits.
#![no_main]

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use tympan::stage::decode::{ChannelFiles, DecodeLimits, decode, probe};

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).expect("the disk takes it");
    file
}

fuzz_target!(|bytes: &[u8]| {
    let limits = DecodeLimits { max_duration_s: 3600.0, max_channel_s: 7200.0, max_channels: 16 };
    let folder = tempfile::tempdir().expect("a temporary folder");
    if let Err(error) = decode(file(bytes), &ChannelFiles::nameless(folder.path()), &limits, &Arc::default()) {
        assert!((400..500).contains(&error.code().expect("nobody cancelled").status()), "{error}");
    }
    // An answer of either kind will do.
    let _ = probe(file(bytes), Some("x.bin"));
});
