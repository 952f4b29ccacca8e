//! Opens a file of any container and gives the packets of its audio track.

mod ahead;
mod aiff;
mod finder;
mod flac;
mod frames;
mod library;
mod ogg;
mod open;
mod repair;

use std::io;

use symphonia::core::codecs::audio::AudioCodecParameters;
use symphonia::core::errors::Result;
use symphonia::core::packet::Packet;

use super::codec::{self, Decoder, Made};
use super::guard::is_final;
use super::mkv::MkvReader;
use super::mp4::Mp4Reader;
use super::mpeg;
use super::wave::WaveReader;
use frames::FrameReader;
use library::Library;

pub(super) use open::open;

/// A stated end this close before the decoded one is where the encoder's padding starts.
const PADDING_S: f64 = 0.2;

/// How far timestamps can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// The container has timestamps of its own.
    Container,
    /// The reader only counts samples; the first timestamp shows the encoder's delay.
    Samples,
}

/// A container by its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Container {
    /// Short name for the client.
    pub(super) name: &'static str,
    /// Usual extension of its files.
    pub(super) extension: &'static str,
    /// What its timestamps are worth.
    pub(super) clock: Clock,
}

/// The audio track that was chosen.
pub(super) struct Selected {
    pub(super) container: Container,
    /// Length of one unit of its timestamps.
    pub(super) tick_s: f64,
    /// What the header says about the length.
    pub(super) stated_s: Option<f64>,
    /// The length that the size of the file allows, where that is known.
    pub(super) held_s: Option<f64>,
    /// The stated length is exact to the sample.
    pub(super) is_exact: bool,
    /// The stated length counts from the clock's zero, not from the first packet.
    pub(super) is_stated_from_zero: bool,
    /// Another stream may come after this one, whose length is not in the header.
    pub(super) is_followed: bool,
    /// What lies before its first packet may be lost, and does not make it begin later.
    pub(super) is_late: bool,
    /// Silence before the first timestamp.
    pub(super) offset_s: f64,
    /// Where the container says that the audio ends, whatever follows.
    pub(super) cut_s: Option<f64>,
    pub(super) params: AudioCodecParameters,
    pub(super) made: Made,
}

impl Selected {
    fn new(container: Container, tick_s: f64, params: AudioCodecParameters, made: Made) -> Self {
        Self {
            container,
            tick_s,
            stated_s: None,
            held_s: None,
            is_exact: false,
            is_stated_from_zero: false,
            is_followed: false,
            is_late: false,
            offset_s: 0.0,
            cut_s: None,
            params,
            made,
        }
    }

    /// Its length as far as can be said without reading all of it.
    pub(super) fn promised_s(&self) -> Option<f64> {
        self.held_s.or(self.stated_s)
    }

    /// The stated end of the audio, where what was found behind it, up to `end_s`, can only be the
    /// padding of an encoder.
    pub(super) fn padded_end_s(&self, end_s: f64) -> Option<f64> {
        self.stated_s.filter(|stated_s| self.is_exact && (*stated_s..*stated_s + PADDING_S).contains(&end_s))
    }

    /// Decodes a packet into `planes` and returns the sample rate.
    pub(super) fn decode(&mut self, packet: &Packet, planes: &mut Vec<Vec<f32>>) -> Result<u32> {
        let tick_s = self.tick_s;
        let first = self.made.decoder.decode(packet, tick_s, planes);
        first.or_else(|cause| {
            // MPEG audio may change its rate or channels, or be of another layer than its container
            // says, which needs a new decoder; after a panic the old one must go as well.
            match mpeg::layer(&packet.data).filter(|_| self.is_mpeg_audio()) {
                Some(codec) => self.params.codec = codec,
                None if !is_final(&cause) => return Err(cause),
                None => {}
            }
            let made = codec::make(&self.params).map_err(|_| cause)?;
            (self.made.decoder, self.made.name) = (made.decoder, made.name);
            self.made.decoder.decode(packet, tick_s, planes)
        })
    }

    /// Whether it is MPEG audio, whose decoder takes the encoder's delay off by itself.
    pub(super) fn is_mpeg_audio(&self) -> bool {
        matches!(self.made.decoder, Decoder::Symphonia(_)) && self.made.name.starts_with("mp")
    }

    /// Takes what lies before the first packet off a length that counts it.
    pub(super) fn begins_at(&mut self, start_s: f64) {
        if std::mem::take(&mut self.is_stated_from_zero) {
            self.stated_s = self.stated_s.map(|stated_s| (stated_s - start_s).max(0.0));
        }
    }

    /// Whether a gap in its timestamps can only be damage: these formats have no pauses.
    pub(super) fn has_no_pauses(&self) -> bool {
        matches!(self.container.name, "flac" | "ogg")
    }
}

/// What comes next.
pub(super) enum Next {
    /// A packet of the selected track.
    Packet(Packet),
    /// Something before the next packet could not be read: what its timestamp leaves out is lost.
    Damaged,
    /// So much could not be read before the next packet, in a format without a clock.
    Lost { length_s: f64 },
    /// A new stream begins in the same file (chained Ogg, joined FLAC).
    NewStream(Box<Selected>),
    /// The regular end.
    End,
    /// The container cannot be read any further.
    Broken,
}

/// An open file.
pub(super) enum Source {
    /// Our own readers.
    Wave(Box<WaveReader>),
    Mp4(Box<Mp4Reader>),
    Mkv(Box<MkvReader>),
    Frames(Box<FrameReader>),
    /// Everything else.
    Library(Library),
}

impl Source {
    /// Reads until a packet of the selected track or another event comes.
    ///
    /// # Errors
    /// Only when our own disk fails.
    pub(super) fn next(&mut self) -> io::Result<Next> {
        match self {
            Self::Wave(reader) => Ok(reader.next_packet()?.map_or(Next::End, Next::Packet)),
            Self::Mp4(reader) => reader.next(),
            Self::Mkv(reader) => reader.next(),
            Self::Frames(reader) => reader.next(),
            Self::Library(library) => library.next(),
        }
    }

    /// When the recording starts on the track's clock, as far as other tracks show it.
    pub(super) fn others_start_s(&self) -> Option<f64> {
        match self {
            Self::Wave(_) | Self::Frames(_) | Self::Library(_) => None,
            Self::Mp4(reader) => reader.zero_s,
            Self::Mkv(reader) => reader.others_start_s,
        }
    }
}
