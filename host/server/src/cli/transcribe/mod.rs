//! `tympan transcribe`: one file, without a server. The same path as a job of the service,
//! over a temporary data folder.

mod command;
mod job;
mod request;

pub use command::run;
pub use request::TranscribeArguments;
