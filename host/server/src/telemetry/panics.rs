//! What is told of a panic: where it was, never what it says.

use std::io::Write;
use std::panic::PanicHookInfo;

/// From now on a panic of any thread is reported by its place alone. What it says may quote a
/// request or a transcript, so only the length of that is told.
pub fn hide_panic_texts() {
    std::panic::set_hook(Box::new(report));
}

fn report(panic: &PanicHookInfo<'_>) {
    let (file, line) = panic.location().map_or(("-", 0), |place| (place.file(), place.line()));
    let text_bytes = panic.payload_as_str().map_or(0, str::len);
    if tracing::dispatcher::has_been_set() {
        tracing::error!(file, line, text_bytes, "panicked");
    } else {
        // A command that keeps no log. Standard error may be closed, which is no reason to
        // panic within a panic.
        let mut stderr = std::io::stderr();
        let _ = writeln!(stderr, "panicked at {file}:{line} ({text_bytes} bytes of text are not shown)");
    }
}
