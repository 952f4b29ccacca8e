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
use super::finder::Finder;
use super::library::Library;
use super::{Next, Selected};

/// What is no frame at the end of a file is padding up to this length, else sound that is lost,
/// seconds.
const PADDING_S: f64 = 1.0;

/// Frames whose mean size is the usual one: some seconds.
const USUAL_FRAMES: u32 = 100;

/// Frames of one file, or of files that were joined.
pub(in super::super) struct FrameReader {
    body: Window,
    finder: Finder,
    at: u64,
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
            finder: Finder::new(body.clone()),
            body,
            at: 0,
            frames: 0,
            usual_bytes: 0.0,
            stamp: -i64::from(library.delay()),
        };
        Ok((reader, selected))
    }

    /// See [`super::Source::next`].
    pub(super) fn next(&mut self) -> io::Result<Next> {
        loop {
            let Some(frame) = self.finder.frame(self.at)? else {
                match self.go_on()? {
                    Some(next) => return Ok(next),
                    None => continue,
                }
            };
            let size = frame.size_bytes as u64;
            if !self.finder.is_followed(self.at, &frame)? {
                // Its header may be damaged, or what follows it.
                match self.finder.search(self.at + 1)? {
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

    /// What to do where no such frame is: `None` when there is one now.
    fn go_on(&mut self) -> io::Result<Option<Next>> {
        if let Some(size_bytes) = tags::size(self.finder.ahead.bytes(self.at, tags::HEADER_BYTES)?) {
            self.at += size_bytes;
            return Ok(None);
        }
        let Some(found) = self.finder.search(self.at)? else { return Ok(Some(self.end())) };
        if self.finder.last.is_some() && found > self.at {
            return Ok(Some(self.lose(found)));
        }
        self.at = found;
        let frame = Frame::parse(self.finder.ahead.bytes(found, HEADER_BYTES)?);
        let is_other = matches!((self.finder.last, frame), (Some(last), Some(frame)) if !frame.agrees(&last));
        if is_other && frame.is_some_and(|frame| frame.kind == Kind::Adts) {
            return self.new_stream().map(Some);
        }
        self.finder.last = frame;
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

    /// Passes over what is damaged.
    fn lose(&mut self, found: u64) -> Next {
        let length_s = self.length_s(found - self.at);
        self.at = found;
        Next::Lost { length_s }
    }

    /// How long so many bytes last, in whole frames.
    fn length_s(&self, bytes: u64) -> f64 {
        let frame_s = self.finder.last.map_or(0.0, |last| last.length_s());
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
        let bytes = self.finder.ahead.bytes(self.at, frame.size_bytes)?;
        let Some(bytes) = bytes.get(..frame.size_bytes) else {
            // The file has become shorter.
            self.at = self.body.len();
            return Ok(None);
        };
        let sound = (!mpeg::is_info(bytes)).then(|| bytes[frame.head_bytes..].to_vec());
        self.at += frame.size_bytes as u64;
        self.finder.last = Some(*frame);
        let Some(sound) = sound else { return Ok(None) };
        self.frames = self.frames.saturating_add(1);
        self.usual_bytes +=
            (frame.size_bytes as f64 - self.usual_bytes) / f64::from(self.frames.min(USUAL_FRAMES));
        let stamp = self.stamp;
        self.stamp += i64::from(frame.samples);
        Ok(Some(Packet::new(0, Timestamp::new(stamp), Duration::new(frame.samples.into()), sound)))
    }
}
