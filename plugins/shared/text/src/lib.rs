//! What several add-ons need to know about text: where sentences begin, spaces between words,
//! voices.
//!
//! Pure functions over the SDK's transcript types. Nothing here decides what an add-on does
//! with them.

mod abbreviated;
mod abbreviations;
mod boundary;
mod chain;
mod quoted;
mod script;
mod stop;
mod unpunctuated;
mod voice;
mod words;

pub use boundary::sentence_begins;
pub use chain::{Chain, chains, opens_before};
pub use script::{needs_space, writes_no_spaces};
pub use stop::{Stops, trailing_punctuation};
pub use voice::{Turns, Voice, turns_by_voice};
pub use words::words_of;
