//! Reading a CTranslate2 Whisper model: `model.bin` of a faster-whisper folder.
//!
//! Binary versions 4 to 6 share one layout: a list of named arrays, then a list of second
//! names. Values are read a few rows at a time; nothing holds a whole model.

mod index;
mod model;
mod rows;
mod variable;

pub(super) use model::Ct2Model;
pub use model::check_ctranslate2_bytes;
