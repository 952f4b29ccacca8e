//! Takes jobs from the store along their path to a result.
//!
//! Read [`run_job`] first: it is the path. Around it: `queue` claims jobs, `slots` decides
//! which of them may compute, `attempt` takes one claim from its lease to its end,
//! `verdict` decides what that end is, `checkpoint` keeps the values of finished steps, `sweep` removes what crashes left behind.
//! The worker knows nothing of HTTP, SQL or WASM.

mod assemble;
mod attempt;
mod blocking;
mod checkpoint;
mod clock;
mod failure;
mod heartbeat;
mod instance;
mod model_digest;
mod progress;
mod queue;
mod retry;
mod run;
mod scratch;
mod segment_log;
mod settings;
mod settle;
mod slots;
mod stages;
mod steps;
mod sweep;
#[cfg(test)]
mod tests;
mod verdict;

#[cfg(test)]
pub use clock::ManualClock;
pub use clock::{Clock, SystemClock};
pub use failure::{Failure, Stop};
pub use instance::Instance;
pub use model_digest::ModelDigests;
pub use progress::{Progress, Step};
pub use queue::{Parts, Worker};
pub use run::{Run, run_job};
pub use settings::Settings;
pub use slots::{CROWD, Place};
pub use stages::Stages;
pub use steps::{Heard, Media, Steps};
