//! Turns segments into a transcript.
