//! What each account may do.
//!
//! Holds the rules and counts against them in memory; knows no HTTP and no SQL.

mod policies;

pub use policies::Policies;
