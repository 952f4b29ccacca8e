//! What whisper.cpp prints: counted, never shown, because it may hold transcript text.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::sync::Once;

use whisper_rs::whisper_rs_sys as sys;

/// Sends whisper.cpp's own lines here instead of to standard error. Idempotent.
pub fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the callback is a static function and uses no data. whisper.cpp passes it
        // on to ggml.
        unsafe { sys::whisper_log_set(Some(receive), std::ptr::null_mut()) };
    });
}

unsafe extern "C" fn receive(level: sys::ggml_log_level, text: *const c_char, _data: *mut c_void) {
    let length = if text.is_null() {
        0
    } else {
        // SAFETY: whisper.cpp passes a string.
        unsafe { std::ffi::CStr::from_ptr(text) }.count_bytes()
    };
    match level {
        sys::ggml_log_level_GGML_LOG_LEVEL_ERROR => {
            tracing::warn!(length_bytes = length, "whisper.cpp reported an error");
        }
        sys::ggml_log_level_GGML_LOG_LEVEL_WARN => {
            tracing::debug!(length_bytes = length, "whisper.cpp reported a warning");
        }
        _ => {}
    }
}
