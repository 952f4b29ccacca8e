//! Reads Matroska and WebM: gives the packets of one audio track and steps over everything else.
//!
//! Sizes of the large elements are not relied on, so that a file that was cut off, or recorded
//! by a program that never went back to fill them in, reads to its end. Behind damage it goes on
//! with the next block or cluster.

mod ebml;
mod header;
mod lacing;
mod reader;
mod search;
mod tracks;

pub(super) use header::{MkvTrack, open};
pub(super) use reader::{MkvReader, TICK_S};
