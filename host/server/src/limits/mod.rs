//! What each account may do.
//!
//! Holds the rules and counts against them in memory; knows no HTTP and no SQL.

mod downloads;
mod policies;
mod rate;

pub use downloads::{DownloadLimits, Downloads};
pub use policies::Policies;
pub use rate::RequestRates;
