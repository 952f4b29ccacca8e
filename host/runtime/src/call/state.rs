//! What the host keeps for one instance, and the empty WASI context it lives in:
//! nothing preopened, no environment, no network, a wall clock that stands still at the
//! acceptance of the job and random numbers that repeat with it.

use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::StdRng;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, ResourceTable, WasiCtx, WasiCtxView, WasiView};

use super::limiter::Limiter;
use super::log::{Level, Log};
use super::report::ProgressFn;
use crate::defaults::Limits;

/// Longest panic text that is kept.
const PANIC_TEXT_BYTES: usize = 4 << 10;

/// Longest `file:line` that is taken for one.
const PANIC_LOCATION_BYTES: usize = 200;

/// What source files end with, in the languages that add-ons are written in.
const SOURCE_FILES: [&str; 12] =
    [".rs", ".py", ".js", ".mjs", ".ts", ".go", ".c", ".cc", ".cpp", ".cs", ".kt", ".zig"];

/// Most bytes of randomness in one call; a larger request traps.
const RANDOM_BYTES: u64 = 1 << 20;

/// The part of a call that its instance can see.
#[derive(Default)]
pub struct Surroundings {
    /// With the component's digest, the seed of its random numbers.
    pub job_id: String,
    /// Milliseconds.
    pub accepted_at_unix_ms: u64,
    /// Whether somebody waits no longer.
    pub cancel: CancellationToken,
    /// Who wants to know how far it is.
    pub on_progress: Option<ProgressFn>,
}

/// What an add-on said about its own panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panic {
    /// Text of the add-on: as private as the transcript.
    pub message: String,
    /// `file:line` or `file:line:column`, if it looks like one.
    pub location: Option<String>,
}

/// What the host keeps for one instance.
pub struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    surroundings: Surroundings,
    /// Memory and tables.
    pub limiter: Limiter,
    /// Everything it writes.
    pub log: Log,
    /// Set just before the trap.
    pub panic: Option<Panic>,
}

impl State {
    /// For an instance of the component with this digest.
    pub fn new(surroundings: Surroundings, digest: &str, limits: &Limits, keeps_text: bool) -> State {
        let log = Log::new(limits.log_bytes, keeps_text);
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles);
        State {
            wasi: empty_wasi(&surroundings, digest, &log),
            table,
            surroundings,
            limiter: Limiter::new(limits),
            log,
            panic: None,
        }
    }

    /// Passes progress on, unless it is nonsense.
    pub fn report_progress(&self, fraction: f32) {
        if let Some(on_progress) = &self.surroundings.on_progress
            && fraction.is_finite()
        {
            on_progress(fraction.clamp(0.0, 1.0));
        }
    }

    /// Whether the job was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.surroundings.cancel.is_cancelled()
    }

    /// When the job was accepted.
    pub fn unix_ms(&self) -> u64 {
        self.surroundings.accepted_at_unix_ms
    }

    /// Keeps what the add-on says about its panic.
    pub fn note_panic(&mut self, mut message: String, location: &str) {
        message.truncate(message.floor_char_boundary(PANIC_TEXT_BYTES));
        let location = looks_like_location(location).then(|| location.to_owned());
        self.panic = Some(Panic { message, location });
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Stands still, so that a repeated run sees the same time. Waiting takes its time nevertheless.
#[derive(Clone, Copy)]
struct AcceptanceClock(Duration);

impl HostMonotonicClock for AcceptanceClock {
    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn now(&self) -> u64 {
        0
    }
}

impl HostWallClock for AcceptanceClock {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        self.0
    }
}

fn empty_wasi(surroundings: &Surroundings, digest: &str, log: &Log) -> WasiCtx {
    let seed = |purpose: &str| -> [u8; 32] {
        Sha256::new()
            .chain_update(purpose)
            .chain_update([0])
            .chain_update(&surroundings.job_id)
            .chain_update([0])
            .chain_update(digest)
            .finalize()
            .into()
    };
    let hash_seed = seed("hash");
    let clock = AcceptanceClock(Duration::from_millis(surroundings.accepted_at_unix_ms));
    WasiCtx::builder()
        .stdout(log.stream(Level::Stdout))
        .stderr(log.stream(Level::Stderr))
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .wall_clock(clock)
        .monotonic_clock(clock)
        .secure_random(StdRng::from_seed(seed("secure")))
        .insecure_random(StdRng::from_seed(seed("insecure")))
        .insecure_random_seed(u128::from_le_bytes(*hash_seed.first_chunk().expect("32 bytes hold 16")))
        .max_random_size(RANDOM_BYTES)
        .build()
}

/// Logs carry the location, so it must not be free text: a path of a source file with a
/// line, and a column where there is one.
fn looks_like_location(text: &str) -> bool {
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./\\:@+".contains(&byte);
    let is_file = |path: &str| SOURCE_FILES.iter().any(|extension| path.ends_with(extension));
    let Some((path, _line_or_column)) = without_number(text) else { return false };
    text.len() <= PANIC_LOCATION_BYTES
        && text.bytes().all(is_path)
        && (is_file(path) || without_number(path).is_some_and(|(path, _line)| is_file(path)))
}

/// Takes a number behind a colon off the end.
fn without_number(text: &str) -> Option<(&str, u32)> {
    let (rest, number) = text.rsplit_once(':')?;
    Some((rest, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_path_with_a_line() {
        assert!(looks_like_location("src/lib.rs:31:137"));
        assert!(looks_like_location("app.py:7"));
        assert!(!looks_like_location("what the caller said:7"));
        assert!(!looks_like_location("Ada-Lovelace-said-so:7"));
        assert!(!looks_like_location("src/lib.rs:7:5:5550199"));
        assert!(!looks_like_location("src/lib.rs5550199:7"));
        assert!(!looks_like_location("src/lib.rs"));
        assert!(!looks_like_location(""));
    }

    #[test]
    fn panic_text_is_cut_between_characters() {
        let mut state = State::new(Surroundings::default(), "", &Limits::default(), false);
        state.note_panic("ä".repeat(PANIC_TEXT_BYTES), "src/lib.rs:1");
        let panic = state.panic.unwrap();
        assert_eq!(panic.message.len(), PANIC_TEXT_BYTES);
        assert_eq!(panic.location.as_deref(), Some("src/lib.rs:1"));
    }
}
