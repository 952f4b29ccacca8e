//! Progress on standard error: a bar for people, plain lines for logs.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output;
use crate::modelfile::Report;

const BAR: &str = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";
const SPINNER: &str = "{spinner} {msg} {elapsed}";
/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(120);
/// Least time between two plain lines of one step.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// The report that fits standard error.
pub fn for_stderr() -> Box<dyn Report> {
    if std::io::stderr().is_terminal() { Box::new(Bar::default()) } else { Box::new(Lines::default()) }
}

/// Draws one bar per step, or a spinner where the length is unknown.
#[derive(Default)]
struct Bar {
    current: Mutex<Option<ProgressBar>>,
}

impl Bar {
    fn with(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        act(&mut self.current.lock().expect("drawing does not panic"));
    }
}

impl Report for Bar {
    fn begin(&self, step: &str, size_bytes: Option<u64>) {
        let bar = size_bytes.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        let template = if size_bytes.is_some() { BAR } else { SPINNER };
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        bar.set_message(step.to_owned());
        bar.enable_steady_tick(TICK);
        self.with(|current| *current = Some(bar));
    }

    fn advance(&self, bytes: u64) {
        self.with(|current| current.iter().for_each(|bar| bar.inc(bytes)));
    }

    fn end(&self) {
        self.with(|current| current.take().iter().for_each(ProgressBar::finish));
    }

    fn note(&self, text: &str) {
        self.with(|current| current.take().iter().for_each(ProgressBar::abandon));
        output::note(text);
    }
}

/// Prints a line when a step starts and, for long steps, every few seconds.
#[derive(Default)]
struct Lines {
    current: Mutex<Option<Step>>,
}

struct Step {
    name: String,
    size_bytes: Option<u64>,
    done_bytes: u64,
    printed: Instant,
}

impl Report for Lines {
    fn begin(&self, step: &str, size_bytes: Option<u64>) {
        output::note(step);
        let step = Step { name: step.to_owned(), size_bytes, done_bytes: 0, printed: Instant::now() };
        *self.current.lock().expect("printing does not panic") = Some(step);
    }

    fn advance(&self, bytes: u64) {
        let mut current = self.current.lock().expect("printing does not panic");
        let Some(step) = current.as_mut() else { return };
        step.done_bytes += bytes;
        if step.printed.elapsed() < LINE_EVERY {
            return;
        }
        step.printed = Instant::now();
        let size_bytes = step.size_bytes.unwrap_or(step.done_bytes).max(1);
        output::note(format_args!("{}: {} %", step.name, 100 * step.done_bytes / size_bytes));
    }

    fn end(&self) {
        *self.current.lock().expect("printing does not panic") = None;
    }

    fn note(&self, text: &str) {
        output::note(text);
    }
}
