//! Reads a file in large pieces, forwards.

use std::io;

use super::super::window::Window;

/// Bytes read at once.
const PIECE_BYTES: usize = 128 * 1024;

/// A file with the piece of it that was read last.
pub(super) struct Ahead {
    body: Window,
    at: u64,
    piece: Vec<u8>,
}

impl Ahead {
    pub(super) fn new(body: Window) -> Self {
        Self { body, at: 0, piece: Vec::new() }
    }

    /// Bytes from `at` on: as many as are in memory, at least `wanted` unless the file ends.
    pub(super) fn bytes(&mut self, at: u64, wanted: usize) -> io::Result<&[u8]> {
        let left = self.body.len().saturating_sub(at);
        let wanted = wanted.min(usize::try_from(left).unwrap_or(usize::MAX));
        let held = |ahead: &Self| {
            let index = usize::try_from(at.checked_sub(ahead.at)?).ok()?;
            ahead.piece.get(index..).filter(|rest| rest.len() >= wanted).map(|_| index)
        };
        if let Some(index) = held(self) {
            return Ok(&self.piece[index..]);
        }
        self.piece = self.body.slice(at, wanted.max(PIECE_BYTES))?;
        self.at = at;
        Ok(&self.piece)
    }
}
