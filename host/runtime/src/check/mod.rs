//! Decides whether a component may be loaded: what it imports, what it calls itself,
//! what it asks for. Knows no wasm.

pub mod descriptor;
pub mod imports;
