//! What an author does, with the real program, in folders outside the repository.
//!
//! The component is built once, with Debian's compiler, into cargo's own target folder, so that
//! the standard library is compiled once per checkout.
#![allow(clippy::unwrap_used)]

mod build;
mod examples;
mod first_addon;
mod hostile_python;
mod scripts;
mod support;
mod toolchain;
mod trial;
