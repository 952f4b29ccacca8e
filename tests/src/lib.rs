//! What the black-box tests share: the real binary, a client for it, and a server of
//! recordings on loopback.

pub mod bomb;
pub mod client;
pub mod disk;
pub mod fixtures;
pub mod load;
pub mod receiver;
pub mod recordings;
pub mod server;
pub mod silence;
pub mod timeless;
pub mod tls;
pub mod wav;
pub mod wer;
