//! What goes into a call and what is known about it afterwards.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::data::job::{AddonError, AddonOutput, JobContext};
use crate::data::transcript::Transcript;

/// One call of an add-on on one transcript.
pub struct Call<'a> {
    /// The job around it.
    pub context: JobContext,
    /// The transcript so far; every utterance numbered.
    pub input: &'a Transcript,
    /// When the job was accepted, Unix milliseconds: the only time that the add-on sees,
    /// so that a repeated run gives the same result.
    pub accepted_at_unix_ms: u64,
    /// Ends the call soon after it is cancelled.
    pub cancel: CancellationToken,
    /// Called with 0.0 to 1.0 as the add-on reports progress, from the thread that runs
    /// it: must return at once.
    pub on_progress: Option<ProgressFn>,
    /// Whether what the add-on wrote about a failure (message, exception, place of a panic)
    /// may be shown to anybody. False in a job with redaction.
    pub shows_text: bool,
}

/// Receives progress, 0.0 to 1.0.
pub type ProgressFn = Arc<dyn Fn(f32) + Send + Sync>;

impl<'a> Call<'a> {
    /// A call that nobody cancels or watches.
    pub fn new(context: JobContext, input: &'a Transcript) -> Call<'a> {
        Call {
            context,
            input,
            accepted_at_unix_ms: 0,
            cancel: CancellationToken::new(),
            on_progress: None,
            shows_text: true,
        }
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("job_id", &self.context.job_id).finish_non_exhaustive()
    }
}

/// How a call went.
#[derive(Debug, Clone)]
pub struct CallReport {
    /// What the add-on returned, checked, or why it failed.
    pub outcome: Result<AddonOutput, AddonError>,
    /// Wall-clock time, waiting for a free instance excluded.
    pub exec_time: Duration,
    /// Largest linear memory during the call.
    pub peak_memory_bytes: u64,
    /// Log calls and lines of standard output and error.
    pub log_lines: u64,
    /// Bytes of them, dropped ones included.
    pub log_bytes: u64,
    /// Bytes past the limit.
    pub dropped_bytes: u64,
    /// The kept lines; only when the runtime was made with `log_text`.
    pub log_text: Option<Vec<LogLine>>,
    /// Source file and line of a panic, as the add-on gave it; none where text is withheld.
    pub panic_location: Option<String>,
}

/// A line that an add-on wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// `trace` to `error`, `stdout` or `stderr`.
    pub level: &'static str,
    /// As written.
    pub text: String,
}

/// Values of [`AddonError::exception`] that the host itself gives.
pub mod exception {
    /// The wall-clock limit passed.
    pub const TIMEOUT: &str = "Timeout";
    /// It asked for more memory than its limit.
    pub const MEMORY_LIMIT: &str = "MemoryLimit";
    /// It asked for more table elements than its limit.
    pub const TABLE_LIMIT: &str = "TableLimit";
    /// Too many open resources.
    pub const HANDLE_LIMIT: &str = "HandleLimit";
    /// Recursion without end, or a wild memory access.
    pub const STACK_OVERFLOW: &str = "StackOverflow";
    /// It panicked and said so.
    pub const PANIC: &str = "Panic";
    /// It stopped for another reason.
    pub const TRAP: &str = "Trap";
    /// Its output is larger than its limit.
    pub const OUTPUT_TOO_LARGE: &str = "OutputTooLarge";
    /// Its output breaks a rule of the contract.
    pub const INVALID_OUTPUT: &str = "InvalidOutput";
    /// The job was cancelled.
    pub const CANCELLED: &str = "Cancelled";
    /// Stands for every name that an add-on chose itself, where its text must not appear.
    pub const ADDON_ERROR: &str = "AddonError";

    const OF_THE_HOST: [&str; 10] = [
        TIMEOUT,
        MEMORY_LIMIT,
        TABLE_LIMIT,
        HANDLE_LIMIT,
        STACK_OVERFLOW,
        PANIC,
        TRAP,
        OUTPUT_TOO_LARGE,
        INVALID_OUTPUT,
        CANCELLED,
    ];

    /// The exception as it may stand in logs and metrics: one of the host's names, or
    /// [`ADDON_ERROR`] for what an add-on invented, which may be anything that was said.
    pub fn label(exception: &str) -> &'static str {
        OF_THE_HOST.into_iter().find(|known| *known == exception).unwrap_or(ADDON_ERROR)
    }
}
