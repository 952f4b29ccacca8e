//! What is told about a job: rows written with the change of its state, sent later.
//!
//! `outbox` makes the message to the callback that a job names, and the store those to webhooks,
//! all in the transaction of the change. `sender` sends what is due: it claims rows, so that
//! several processes may work on one outbox, and a crash in the middle of an attempt leads to
//! another attempt under the same id. A body is built from the kept result each time it is sent
//! and never stored. Nothing here knows how a result was made, and no log line holds an address,
//! a body or a secret.

mod attempt;
mod body;
mod failure;
mod outbox;
mod post;
mod sender;
mod settings;
mod sign;
#[cfg(test)]
mod tests;

pub use outbox::for_ending;
pub use sender::{Parts, Sender};
pub use settings::Settings;
