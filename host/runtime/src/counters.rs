//! Counts what an add-on did since it was loaded. Never acts on it: one client's bad
//! input must not switch an add-on off for all.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::call::report::{CallReport, exception};
use crate::data::job::AddonError;

/// What an add-on did since it was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Calls of `process`.
    pub calls: u64,
    /// Calls and config checks that ended with an error of any kind, the ones below
    /// included.
    pub failures: u64,
    /// Those that trapped, panicked or broke a limit of memory, tables, stack or handles.
    pub traps: u64,
    /// Those that ran into the wall-clock limit.
    pub timeouts: u64,
    /// Those whose output was too large or broke a rule of the contract.
    pub invalid_outputs: u64,
    /// Lines written.
    pub log_lines: u64,
    /// Bytes written past the limit.
    pub dropped_bytes: u64,
}

/// Counts while calls run side by side.
#[derive(Debug, Default)]
pub struct Tally {
    calls: AtomicU64,
    failures: AtomicU64,
    traps: AtomicU64,
    timeouts: AtomicU64,
    invalid_outputs: AtomicU64,
    log_lines: AtomicU64,
    dropped_bytes: AtomicU64,
}

impl Tally {
    /// Counts one call.
    pub fn count(&self, report: &CallReport) {
        add(&self.calls, 1);
        add(&self.log_lines, report.log_lines);
        add(&self.dropped_bytes, report.dropped_bytes);
        if let Err(error) = &report.outcome {
            self.count_failure(error);
        }
    }

    /// Counts a call or config check that failed.
    pub fn count_failure(&self, error: &AddonError) {
        add(&self.failures, 1);
        match error.exception.as_str() {
            exception::TIMEOUT => add(&self.timeouts, 1),
            exception::INVALID_OUTPUT | exception::OUTPUT_TOO_LARGE => add(&self.invalid_outputs, 1),
            exception::MEMORY_LIMIT
            | exception::TABLE_LIMIT
            | exception::HANDLE_LIMIT
            | exception::STACK_OVERFLOW
            | exception::PANIC
            | exception::TRAP => add(&self.traps, 1),
            _ => {}
        }
    }

    /// The numbers so far.
    pub fn read(&self) -> Counters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            calls: read(&self.calls),
            failures: read(&self.failures),
            traps: read(&self.traps),
            timeouts: read(&self.timeouts),
            invalid_outputs: read(&self.invalid_outputs),
            log_lines: read(&self.log_lines),
            dropped_bytes: read(&self.dropped_bytes),
        }
    }
}

fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}
