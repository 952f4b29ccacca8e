//! Tells the host about a panic before it becomes a trap, which carries no text.

use std::panic::PanicHookInfo;
use std::sync::Once;

use super::bindings::tympan::addon::runtime;

/// Installs the hook; further calls do nothing.
pub(super) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(report)));
}

fn report(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("panic without a text");
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    runtime::panicked(message, &location);
}
