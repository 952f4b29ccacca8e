//! Decides whether a component may be loaded: what it imports, what it calls itself,
//! what it asks for. Knows no wasm.

pub mod descriptor;
pub mod imports;

/// Longest text of a file or an add-on in a message, characters.
const SHOWN: usize = 500;

/// A text of a file or an add-on as part of a message: it may hold anything, so line ends and the
/// like are escaped, and it is cut.
pub fn shown(text: &str) -> String {
    text.escape_debug().take(SHOWN).collect()
}
