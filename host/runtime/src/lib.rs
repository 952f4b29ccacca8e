//! Loads, checks and runs add-ons. Wasmtime lives only here.
//!
//! An add-on is one component file. [`Runtime::load`] reads, checks and compiles it into
//! an [`Addon`]; [`Addon::process`] runs it once on a transcript in an instance of its
//! own and reports the outcome as data: nothing that a component does is an error of the
//! host. This crate knows the contract in `wit/` and must never know the server.

mod addon;
mod call;
mod check;
mod contract;
mod counters;
mod data;
pub mod defaults;
mod engine;
mod load;
mod runtime;
mod validated;

pub use addon::{Addon, ConfigError};
pub use call::report::{Call, CallReport, LogLine, ProgressFn, exception};
pub use check::descriptor::{DescriptorError, OFFERED_CAPABILITIES};
pub use check::imports::ImportError;
pub use counters::Counters;
pub use data::descriptor::{CapabilityRequest, ConfigProblem, Descriptor, Slot};
pub use data::job::{AddonError, AddonOutput, AudioInfo, JobContext, PreviousOutput, VariantOutput};
pub use data::result::ResultParts;
pub use data::transcript::{Transcript, Utterance, Word};
pub use defaults::Limits;
pub use load::binary::{FileError, Inspection};
pub use load::{LoadError, Policy};
pub use runtime::{Runtime, RuntimeError, RuntimeSettings};
pub use tokio_util::sync::CancellationToken;
