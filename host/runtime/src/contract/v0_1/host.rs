//! The `runtime` interface of version 0.1: what every add-on may call.

use super::bindings::tympan::addon::{runtime, types};
use crate::call::log::Level;
use crate::call::state::State;

impl types::Host for State {}

impl runtime::Host for State {
    fn log(&mut self, level: runtime::Level, message: String) {
        let level = match level {
            runtime::Level::Trace => Level::Trace,
            runtime::Level::Debug => Level::Debug,
            runtime::Level::Info => Level::Info,
            runtime::Level::Warn => Level::Warn,
            runtime::Level::Error => Level::Error,
        };
        self.log.line(level, &message);
    }

    // The note is text of the add-on and has no reader yet.
    fn progress(&mut self, fraction: f32, _note: String) {
        self.report_progress(fraction);
    }

    fn cancelled(&mut self) -> bool {
        self.is_cancelled()
    }

    fn unix_millis(&mut self) -> u64 {
        self.unix_ms()
    }

    fn panicked(&mut self, message: String, location: String) {
        self.note_panic(message, &location);
    }
}
