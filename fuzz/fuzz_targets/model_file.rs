//! Any bytes as a model file, and as the file that one is converted from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tympan::modelfile::{check_bytes, check_ctranslate2_bytes};

fuzz_target!(|bytes: &[u8]| {
    match check_bytes(bytes) {
        Ok(info) => assert_eq!(info.size_bytes, bytes.len() as u64),
        Err(fault) => assert!(!fault.to_string().contains('\n')),
    }
    if let Err(fault) = check_ctranslate2_bytes(bytes) {
        assert!(!fault.to_string().contains('\n'));
    }
});
