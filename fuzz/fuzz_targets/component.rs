//! Any bytes as the file of an add-on, up to the compiler.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tympan_runtime::Runtime;

fuzz_target!(|bytes: &[u8]| {
    match Runtime::inspect(bytes) {
        Ok(inspection) => assert_eq!(inspection.size_bytes, bytes.len() as u64),
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
