//! Where the log lines and the standard output of an add-on go: they are counted, kept
//! up to a limit if anybody wants to read them, and dropped past it. A full log must
//! never make a write fail, or `println!` would panic in the add-on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError};

use super::report::LogLine;

/// Bytes that a guest may write to a stream in one go.
const STREAM_WINDOW_BYTES: usize = 64 << 10;

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Stdout,
    Stderr,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Trace => "trace",
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
            Level::Stdout => "stdout",
            Level::Stderr => "stderr",
        }
    }
}

/// What a call has written so far; cloning shares it.
#[derive(Debug, Clone)]
pub struct Log(Arc<Mutex<Written>>);

/// Counts, and the text if it is kept.
#[derive(Debug, Default)]
pub struct Written {
    /// Log calls, and lines of both streams.
    pub lines: u64,
    /// All bytes, dropped ones included.
    pub bytes: u64,
    /// Bytes past the limit.
    pub dropped_bytes: u64,
    /// Lines within the limit, if they are kept.
    pub kept: Option<Vec<LogLine>>,
    limit_bytes: u64,
    stdout: OpenLine,
    stderr: OpenLine,
}

/// A line of a stream that has not ended yet.
#[derive(Debug, Default)]
struct OpenLine {
    is_open: bool,
    text: Vec<u8>,
}

impl Log {
    /// An empty log that keeps text only if `keeps_text`.
    pub fn new(limit_bytes: usize, keeps_text: bool) -> Log {
        let kept = keeps_text.then(Vec::new);
        Log(Arc::new(Mutex::new(Written { limit_bytes: limit_bytes as u64, kept, ..Written::default() })))
    }

    /// Takes one call of `runtime.log`.
    pub fn line(&self, level: Level, text: &str) {
        let mut written = self.lock();
        written.lines += 1;
        let room = written.take_room(text.len());
        if written.kept.is_some() {
            let text = String::from_utf8_lossy(&text.as_bytes()[..room]).into_owned();
            written.keep(level, text);
        }
    }

    /// A stream for standard output or error.
    pub fn stream(&self, level: Level) -> LogStream {
        LogStream { log: self.clone(), level }
    }

    /// Ends open lines and takes what was written out of the log.
    pub fn finish(&self) -> Written {
        let mut written = self.lock();
        written.end_line(Level::Stdout);
        written.end_line(Level::Stderr);
        std::mem::take(&mut *written)
    }

    fn bytes(&self, level: Level, bytes: &[u8]) {
        let mut written = self.lock();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = written.take_room(part.len());
            let keeps_text = written.kept.is_some();
            let line = written.open_line(level);
            line.is_open = true;
            if keeps_text {
                line.text.extend_from_slice(&part[..room]);
            }
            if part.ends_with(b"\n") {
                written.end_line(level);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Written {
    /// Counts `wanted` bytes and says how many of them fit.
    fn take_room(&mut self, wanted: usize) -> usize {
        let free = self.limit_bytes.saturating_sub(self.bytes - self.dropped_bytes);
        let room = free.min(wanted as u64);
        self.bytes += wanted as u64;
        self.dropped_bytes += wanted as u64 - room;
        room as usize
    }

    fn open_line(&mut self, level: Level) -> &mut OpenLine {
        if level == Level::Stderr { &mut self.stderr } else { &mut self.stdout }
    }

    fn end_line(&mut self, level: Level) {
        let line = std::mem::take(self.open_line(level));
        if !line.is_open {
            return;
        }
        self.lines += 1;
        let text = String::from_utf8_lossy(&line.text);
        self.keep(level, text.trim_end_matches('\n').to_owned());
    }

    /// Keeps a line. Lines without text take no room, so their number needs limits too: none
    /// once bytes were dropped, and never more lines than the log may have bytes.
    fn keep(&mut self, level: Level, text: String) {
        let was_dropped = text.is_empty() && self.dropped_bytes > 0;
        let limit = self.limit_bytes;
        let Some(kept) = self.kept.as_mut() else { return };
        if !was_dropped && (kept.len() as u64) < limit {
            kept.push(LogLine { level: level.name(), text });
        }
    }
}

/// Standard output or error of an add-on.
#[derive(Debug, Clone)]
pub struct LogStream {
    log: Log,
    level: Level,
}

impl IsTerminal for LogStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LogStream {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    // Only WASI 0.3 asks for this, and that is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }
}

#[async_trait]
impl Pollable for LogStream {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for LogStream {
    fn write(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        self.log.bytes(self.level, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StreamError> {
        Ok(())
    }

    fn check_write(&mut self) -> Result<usize, StreamError> {
        Ok(STREAM_WINDOW_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_of_streams_and_calls() {
        let log = Log::new(100, true);
        log.line(Level::Info, "one");
        log.bytes(Level::Stdout, b"two\nth");
        log.bytes(Level::Stderr, b"other");
        log.bytes(Level::Stdout, b"ree\n");
        let written = log.finish();
        let texts: Vec<_> =
            written.kept.iter().flatten().map(|line| (line.level, line.text.as_str())).collect();
        assert_eq!(texts, [("info", "one"), ("stdout", "two"), ("stdout", "three"), ("stderr", "other")]);
        assert_eq!((written.lines, written.bytes, written.dropped_bytes), (4, 18, 0));
    }

    #[test]
    fn drops_past_the_limit_and_goes_on_counting() {
        let log = Log::new(5, true);
        log.line(Level::Warn, "abcdefg");
        log.bytes(Level::Stdout, b"xyz\n");
        let written = log.finish();
        assert_eq!((written.lines, written.bytes, written.dropped_bytes), (2, 11, 6));
        assert_eq!(written.kept.unwrap()[0].text, "abcde");
    }

    #[test]
    fn lines_without_text_are_limited_as_well() {
        let log = Log::new(5, true);
        for _ in 0..100 {
            log.line(Level::Info, "");
        }
        let written = log.finish();
        assert_eq!((written.lines, written.kept.unwrap().len()), (100, 5));

        let log = Log::new(5, true);
        log.bytes(Level::Stdout, b"abcd\nefg\nhij\n");
        assert_eq!(log.finish().kept.unwrap().len(), 1);
    }

    #[test]
    fn keeps_no_text_unless_asked() {
        let log = Log::new(100, false);
        log.line(Level::Info, "secret");
        log.bytes(Level::Stdout, b"secret");
        let written = log.finish();
        assert_eq!((written.lines, written.bytes), (2, 12));
        assert!(written.kept.is_none());
    }
}
