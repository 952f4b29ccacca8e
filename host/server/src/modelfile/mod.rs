//! Model files: check, convert, quantise, download, import.
