//! Finds frames of MPEG audio and ADTS in a file.

use std::io;

use super::super::mpeg::{self, Frame, HEADER_BYTES};
use super::super::window::Window;
use super::ahead::Ahead;

/// Bytes that hold a run of frames of any size.
const RUN_BYTES: usize = mpeg::RUN * mpeg::MOST_FRAME_BYTES + HEADER_BYTES;

/// A file, and the frame that others have to agree with.
pub(super) struct Finder {
    len: u64,
    pub(super) ahead: Ahead,
    /// The frame before.
    pub(super) last: Option<Frame>,
}

impl Finder {
    pub(super) fn new(body: Window) -> Self {
        Self { len: body.len(), ahead: Ahead::new(body), last: None }
    }

    /// The frame at `at`, if it can be of the same recording as the one before.
    pub(super) fn frame(&mut self, at: u64) -> io::Result<Option<Frame>> {
        let last = self.last;
        let frame = Frame::parse(self.ahead.bytes(at, HEADER_BYTES)?);
        Ok(frame.filter(|frame| last.is_some_and(|last| frame.agrees(&last))))
    }

    /// Whether the end or another such frame comes behind `frame` at `at`.
    pub(super) fn is_followed(&mut self, at: u64, frame: &Frame) -> io::Result<bool> {
        let bytes = self.ahead.bytes(at, frame.size_bytes + HEADER_BYTES)?;
        Ok(is_followed(bytes, frame))
    }

    /// Where the next frame begins, from `from` on: one that agrees with those before and is
    /// followed, or a run of others.
    pub(super) fn search(&mut self, from: u64) -> io::Result<Option<u64>> {
        let last = self.last;
        let is_start = |bytes: &[u8]| {
            let agreeing = Frame::parse(bytes).filter(|frame| last.is_some_and(|last| frame.agrees(&last)));
            agreeing.is_some_and(|frame| is_followed(bytes, &frame))
                || mpeg::starts_with_frames(bytes)
                    .is_some_and(|kind| last.is_none_or(|last| last.kind == kind))
        };
        let mut at = from;
        loop {
            let piece = self.ahead.bytes(at, RUN_BYTES + 1)?;
            let is_last = at + piece.len() as u64 >= self.len;
            let starts = if is_last { piece.len() } else { piece.len() - RUN_BYTES };
            if let Some(found) = (0..starts).find(|index| is_start(&piece[*index..])) {
                return Ok(Some(at + found as u64));
            }
            if is_last {
                return Ok(None);
            }
            at += starts as u64;
        }
    }
}

/// Whether `frame`, with which `bytes` begin, goes to their end, or a frame like it follows.
fn is_followed(bytes: &[u8], frame: &Frame) -> bool {
    let behind = bytes.get(frame.size_bytes..).unwrap_or_default();
    bytes.len() == frame.size_bytes || Frame::parse(behind).is_some_and(|next| next.agrees(frame))
}
