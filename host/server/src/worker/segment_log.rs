//! Checkpoints inside the transcribe step: one per finished segment.

use std::io;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::checkpoint::{Checkpoints, Identity};
use super::failure::Stop;
use super::run::{from_json, to_json};
use crate::stage::transcribe::{SegmentLog, SegmentResult};

/// Keeps segments under the identity of their step. Used from threads that may block.
pub struct SegmentCheckpoints {
    checkpoints: Arc<Checkpoints>,
    identity: Identity,
    runtime: Handle,
}

impl SegmentCheckpoints {
    /// Must be made on a thread of the runtime.
    pub fn new(checkpoints: Arc<Checkpoints>, identity: Identity) -> Self {
        Self { checkpoints, identity, runtime: Handle::current() }
    }
}

impl SegmentLog for SegmentCheckpoints {
    fn load(&self, index: usize) -> io::Result<Option<SegmentResult>> {
        let saved = self.runtime.block_on(self.checkpoints.load(&name(index), &self.identity));
        Ok(saved.and_then(|bytes| from_json(&bytes).ok()))
    }

    fn save(&self, index: usize, result: &SegmentResult) -> io::Result<()> {
        let name = name(index);
        let saving = self.checkpoints.save(&name, &self.identity, to_json(result));
        self.runtime.block_on(saving).map_err(to_io)
    }
}

fn name(index: usize) -> String {
    format!("transcribe/{index:06}")
}

/// The stage passes the error on as it is; `Stop::from` takes it apart again.
fn to_io(stop: Stop) -> io::Error {
    match stop {
        Stop::Cancelled => io::ErrorKind::Interrupted.into(),
        Stop::Failed(failure) => io::Error::other(failure),
    }
}
