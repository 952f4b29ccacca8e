//! The sandbox from outside: components that attack it, in one program, because each program
//! of tests that holds the compiler takes seconds to link.
#![allow(clippy::unwrap_used)]

mod attacks_raw;
mod bytes;
mod hostile;
mod python;
mod raw;
mod refused;
mod short_of_space;
mod support;
