//! Reads MPEG audio and ADTS: frames that follow each other without a clock or an index. What
//! lies between two of them and is no tag is damage, as long as that many bytes usually last.

use std::io;

use symphonia::core::packet::Packet;
use symphonia::core::units::{Duration, Timestamp};

use super::super::error::DecodeError;
use super::super::mpeg::{self, Frame, HEADER_BYTES};
use super::super::sniff::Kind;
use super::super::tags;
use super::super::window::Window;
use super::ahead::Ahead;
use super::library::Library;
use super::{Next, Selected};

/// Bytes that hold a run of frames of any size.
const RUN_BYTES: usize = mpeg::RUN * mpeg::MOST_FRAME_BYTES + HEADER_BYTES;

/// What is no frame at the end of a file is padding up to this length, else sound that is lost,
/// seconds.
const PADDING_S: f64 = 1.0;

/// Frames whose mean size is the usual one: some seconds.
const USUAL_FRAMES: u32 = 100;

/// Frames of one file, or of files that were joined.
pub(in super::super) struct FrameReader {
    body: Window,
    ahead: Ahead,
    at: u64,
    /// The frame before.
    last: Option<Frame>,
    /// How many frames were found, and the mean size of the last of them.
    frames: u32,
    usual_bytes: f64,
    /// When the next frame begins, samples.
    stamp: i64,
}

impl FrameReader {
    /// Opens `body`, which starts with frames of `kind`.
    pub(super) fn open(kind: Kind, body: Window) -> Result<(Self, Selected), DecodeError> {
        let (library, selected) = Library::open(kind, body.clone())?;
        let reader = Self {
            ahead: Ahead::new(body.clone()),
            body,
            at: 0,
            last: None,
            frames: 0,
            usual_bytes: 0.0,
            stamp: -i64::from(library.delay()),
        };
        Ok((reader, selected))
    }

    /// See [`super::Source::next`].
    pub(super) fn next(&mut self) -> io::Result<Next> {
        loop {
            let Some(frame) = self.here()? else {
                match self.go_on()? {
                    Some(next) => return Ok(next),
                    None => continue,
                }
            };
            let size = frame.size_bytes as u64;
            if !self.is_followed(&frame)? {
                // Its header may be damaged, or what follows it.
                match self.search(self.at + 1)? {
                    Some(found) if found < self.at + size => return Ok(self.lose(found)),
                    None if self.at + size > self.body.len() => return Ok(Next::End),
                    _ => {}
                }
            }
            if let Some(packet) = self.take(&frame)? {
                return Ok(Next::Packet(packet));
            }
        }
    }

    /// The frame at this place, if it can be of the same recording as the one before.
    fn here(&mut self) -> io::Result<Option<Frame>> {
        let last = self.last;
        let frame = Frame::parse(self.ahead.bytes(self.at, HEADER_BYTES)?);
        Ok(frame.filter(|frame| last.is_some_and(|last| frame.agrees(&last))))
    }

    /// Whether the end or another such frame comes behind `frame`.
    fn is_followed(&mut self, frame: &Frame) -> io::Result<bool> {
        let bytes = self.ahead.bytes(self.at, frame.size_bytes + HEADER_BYTES)?;
        Ok(is_followed(bytes, frame))
    }

    /// What to do where no such frame is: `None` when there is one now.
    fn go_on(&mut self) -> io::Result<Option<Next>> {
        if let Some(size_bytes) = tags::size(self.ahead.bytes(self.at, tags::HEADER_BYTES)?) {
            self.at += size_bytes;
            return Ok(None);
        }
        let Some(found) = self.search(self.at)? else { return Ok(Some(self.end())) };
        if self.last.is_some() && found > self.at {
            return Ok(Some(self.lose(found)));
        }
        self.at = found;
        let frame = Frame::parse(self.ahead.bytes(found, HEADER_BYTES)?);
        let is_other = matches!((self.last, frame), (Some(last), Some(frame)) if !frame.agrees(&last));
        if is_other && frame.is_some_and(|frame| frame.kind == Kind::Adts) {
            return self.new_stream().map(Some);
        }
        self.last = frame;
        Ok(None)
    }

    /// Of ADTS, frames of another rate or of other channels need another decoder.
    fn new_stream(&mut self) -> io::Result<Next> {
        match Self::open(Kind::Adts, self.body.part(self.at, u64::MAX)) {
            Ok((reader, selected)) => {
                *self = reader;
                Ok(Next::NewStream(Box::new(selected)))
            }
            Err(DecodeError::Read(cause)) => Err(cause),
            Err(_) => Ok(Next::Broken),
        }
    }

    /// Where the next frame begins, from `from` on: one that agrees with those before and is
    /// followed, or a run of others.
    fn search(&mut self, from: u64) -> io::Result<Option<u64>> {
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
            let is_last = at + piece.len() as u64 >= self.body.len();
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

    /// Passes over what is damaged.
    fn lose(&mut self, found: u64) -> Next {
        let length_s = self.length_s(found - self.at);
        self.at = found;
        Next::Lost { length_s }
    }

    /// How long so many bytes last, in whole frames.
    fn length_s(&self, bytes: u64) -> f64 {
        let frame_s = self.last.map_or(0.0, |last| last.length_s());
        if self.frames == 0 { 0.0 } else { (bytes as f64 / self.usual_bytes).round() * frame_s }
    }

    fn end(&self) -> Next {
        if self.length_s(self.body.len().saturating_sub(self.at)) > PADDING_S {
            Next::Broken
        } else {
            Next::End
        }
    }

    /// The frame at this place as a packet; `None` when it has no sound.
    fn take(&mut self, frame: &Frame) -> io::Result<Option<Packet>> {
        let bytes = self.ahead.bytes(self.at, frame.size_bytes)?;
        let Some(bytes) = bytes.get(..frame.size_bytes) else {
            // The file has become shorter.
            self.at = self.body.len();
            return Ok(None);
        };
        let sound = (!mpeg::is_info(bytes)).then(|| bytes[frame.head_bytes..].to_vec());
        self.at += frame.size_bytes as u64;
        self.last = Some(*frame);
        let Some(sound) = sound else { return Ok(None) };
        self.frames = self.frames.saturating_add(1);
        self.usual_bytes +=
            (frame.size_bytes as f64 - self.usual_bytes) / f64::from(self.frames.min(USUAL_FRAMES));
        let stamp = self.stamp;
        self.stamp += i64::from(frame.samples);
        Ok(Some(Packet::new(0, Timestamp::new(stamp), Duration::new(frame.samples.into()), sound)))
    }
}

/// Whether `frame`, with which `bytes` begin, goes to their end, or a tag or a frame like it follows.
fn is_followed(bytes: &[u8], frame: &Frame) -> bool {
    let behind = bytes.get(frame.size_bytes..).unwrap_or_default();
    bytes.len() == frame.size_bytes || Frame::parse(behind).is_some_and(|next| next.agrees(frame))
}
