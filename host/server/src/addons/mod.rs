//! Add-ons of a job: which there are, in what order they run, and where their outcomes
//! stand in the result.
//!
//! Knows the runtime, and neither wasmtime nor the API nor SQL. There is no list of
//! add-ons here; what the specification names is placed in [`assemble`].

mod assemble;
mod call;
mod convert;
mod copies;
mod library;
mod masked;
mod order;
mod outcome;
mod progress;
mod redaction;
mod removed;
mod run;
mod set;
mod settings;
mod step;

pub use assemble::Assembled;
pub use call::JobFacts;
pub use library::Library;
pub use run::{EnrichError, enrich};
pub use set::{AddonSet, Entry, Refusal};
pub use settings::{LibrarySettings, MOST_MEMORY_MB, OperatorSettings};
pub use tympan_runtime::{AudioInfo, OFFERED_CAPABILITIES};
