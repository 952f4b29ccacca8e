//! The matrix products of Whisper's encoder, in the widest form that the processor has.
//!
//! whisper.cpp chooses its instructions when it is compiled; this crate chooses when it runs.
//! The linker sends whisper.cpp's calls of `llamafile_sgemm` to [`entry`] (`--wrap`, in the build
//! scripts of the crates that link it): what is large and of a kind known here is computed here, all
//! else goes on to the function that was meant. See `docs/decisions/0011-own-matrix-products.md`.
#![allow(unsafe_code)]
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod cpu;
mod entry;
mod float;
mod packed;
mod product;
mod quantised;

pub use cpu::in_use;
