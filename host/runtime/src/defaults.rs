//! Every limit of the sandbox with its default, in one place.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one call of an add-on may use up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time of a call, time in host calls included.
    pub timeout: Duration,
    /// Linear memory of all the instance's memories together; more than
    /// [`MEMORY_SLOT_BYTES`] is never given.
    pub memory_bytes: usize,
    /// Everything that crosses the border in one call, counted as it is copied: a list
    /// that points a million times at the same word counts a million times.
    pub output_bytes: usize,
    /// Length of the result, JSON text.
    pub result_bytes: usize,
    /// Elements of all the instance's tables together.
    pub table_elements: usize,
    /// Log lines, standard output and standard error together; what comes after is
    /// dropped and counted.
    pub log_bytes: usize,
    /// Resources (streams, timers, …) open at the same time.
    pub handles: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            timeout: Duration::from_secs(60),
            memory_bytes: 128 << 20,
            output_bytes: 32 << 20,
            result_bytes: 16 << 20,
            table_elements: TABLE_SLOT_ELEMENTS,
            log_bytes: 64 << 10,
            handles: 1_000,
        }
    }
}

/// Time for `describe`, which must be pure. A Python component needs tens of
/// milliseconds on a busy machine.
pub const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Time for `validate-config`, which runs while a client waits for the answer to a POST.
pub const VALIDATE_TIMEOUT: Duration = Duration::from_secs(2);

/// Everything that `describe` or `validate-config` may return.
pub const MANIFEST_BYTES: usize = 2 << 20;

/// Answers of `validate-config` kept per add-on.
pub const VALIDATE_CACHE_ENTRIES: usize = 256;

/// Largest config that is handed to an add-on.
pub const CONFIG_BYTES: usize = 1 << 20;

/// Deepest nesting of JSON text of an add-on; every reader of ours takes that.
pub const JSON_DEPTH: usize = 100;

/// Most objects in JSON text of an add-on. One takes seven bytes of text and about 670 of memory
/// as a tree (measured).
pub const JSON_OBJECTS: usize = 200_000;

/// Problems of a config that are passed on, as many as the server shows to a client.
pub const CONFIG_PROBLEMS: usize = 50;

/// Longest pointer and longest message of one problem; longer ones are cut.
pub const CONFIG_PROBLEM_BYTES: usize = 500;

/// Largest component file that is read. A Python component has 18 MB.
pub const COMPONENT_BYTES: u64 = 256 << 20;

/// Calls that run at the same time, of all add-ons together.
pub const MAX_INSTANCES: u32 = 64;

/// Config checks that run at the same time; they have room of their own, so that a
/// client never waits for a job.
pub const MAX_VALIDATIONS: u32 = 4;

/// Longest config whose answer is kept, and longest answer.
pub const VALIDATE_CACHE_CONFIG_BYTES: usize = 64 << 10;

/// Address space of one memory in the pool; the highest `memory_bytes` that can be set.
pub const MEMORY_SLOT_BYTES: usize = 512 << 20;

/// Elements of one table in the pool; the highest `table_elements` that has an effect.
pub const TABLE_SLOT_ELEMENTS: usize = 100_000;

/// Time between two looks at the clock while a component computes.
pub const TICK: Duration = Duration::from_millis(10);

/// Stack of compiled code.
pub const WASM_STACK_BYTES: usize = 1 << 20;

/// Stack on which a call runs: `WASM_STACK_BYTES` and room for host functions.
pub const FIBER_STACK_BYTES: usize = 2 << 20;

/// Languages of a transcript, and variants of one output.
pub const OUTPUT_LANGUAGES: usize = 200;

/// A transcript may grow to this many times the words it had …
pub const OUTPUT_WORDS_FACTOR: usize = 4;

/// … plus this many.
pub const OUTPUT_WORDS_EXTRA: usize = 1_000;
