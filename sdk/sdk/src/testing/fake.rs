//! The scripted side of the host.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::runtime::{Level, Runtime};

/// A line that the add-on logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Its severity.
    pub level: Level,
    /// Its text.
    pub message: String,
}

/// Follows a script and writes down what the add-on did.
#[derive(Default)]
pub(super) struct Fake {
    pub log: RefCell<Vec<LogLine>>,
    pub progress: RefCell<Vec<(f32, String)>>,
    /// `cancelled` answers yes after this many questions; none: never.
    pub cancelled_after: Option<u32>,
    pub questions: Cell<u32>,
    pub unix_millis: u64,
}

impl Runtime for Rc<Fake> {
    fn log(&self, level: Level, message: &str) {
        self.log.borrow_mut().push(LogLine { level, message: message.to_owned() });
    }

    fn progress(&self, fraction: f32, note: &str) {
        self.progress.borrow_mut().push((fraction, note.to_owned()));
    }

    fn cancelled(&self) -> bool {
        let asked = self.questions.get();
        self.questions.set(asked + 1);
        self.cancelled_after.is_some_and(|after| asked >= after)
    }

    fn unix_millis(&self) -> u64 {
        self.unix_millis
    }
}
