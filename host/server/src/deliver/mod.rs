//! What is told about a job: rows written with its final state, sent later.

mod outbox;

pub use outbox::for_ending;
