//! The host's own view of what crosses the border to an add-on, the same for every
//! version of the contract. Plain data: nothing here knows wasm.

pub mod descriptor;
pub mod job;
pub mod result;
pub mod transcript;
