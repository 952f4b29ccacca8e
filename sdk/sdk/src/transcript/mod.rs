//! Words, utterances and the whole transcript.
//!
//! The first word of an utterance has no leading space; later words of languages that write
//! spaces have one, so that the words concatenated give the text. The types keep it that way:
//! whoever changes words gets the text rebuilt.

mod text;
mod types;
mod utterance;

pub use types::{Transcript, Utterance, Word};
