//! The containers that symphonia reads for us: FLAC, Ogg, CAF and AIFF, and the first frame of ADTS
//! and MPEG audio.

use std::io;

use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::AudioCodecParameters;
use symphonia::core::errors::{Error, Result};
use symphonia::core::formats::{FormatOptions, FormatReader, Track, TrackFlags};
use symphonia::default::formats as readers;

use super::super::codec::{self, Made};
use super::super::error::DecodeError;
use super::super::guard::{guarded, is_final};
use super::super::mpeg;
use super::super::sniff::Kind;
use super::super::window::Window;
use super::open::first_decodable;
use super::{Clock, Container, Next, Selected, aiff, flac, ogg, repair};

/// Errors in a row after which a reader is given up.
const MAX_ERRORS: usize = 64;

/// Of Ogg, where pages that begin a recording are damaged.
const LOST_START: &str =
    "a recording in the file is damaged at its start; what could not be read of it is missing";

/// A reader of symphonia and the track that was chosen.
pub(in super::super) struct Library {
    reader: Box<dyn FormatReader>,
    container: Container,
    track: u32,
    errors: usize,
    /// FLAC files behind this one.
    rest: Option<Window>,
}

impl Library {
    /// Opens `body`, which starts as `kind` does.
    pub(super) fn open(kind: Kind, body: Window) -> std::result::Result<(Self, Selected), DecodeError> {
        let container = container(kind);
        let (body, rest) = match kind {
            Kind::Flac => {
                let (first, rest) = flac::first(&body).map_err(DecodeError::Read)?;
                (flac::without_metadata(first)?, rest)
            }
            _ => (body, None),
        };
        let (body, missing) = match kind {
            Kind::Aiff => aiff::closed(body).map_err(DecodeError::Read)?,
            Kind::Caf => repair::closed_caf(body)?,
            _ => (body, 1.0),
        };
        let (body, is_lost, is_late) = match kind {
            Kind::Ogg => {
                let ogg::Readable { body, is_lost, is_late } =
                    ogg::readable(body).map_err(DecodeError::Read)?;
                (repair::placed_opus(body)?, is_lost, is_late)
            }
            _ => (body, false, false),
        };
        let reader = open_reader(kind, body.clone()).map_err(|cause| {
            tracing::debug!(container = container.name, %cause, "the header of a media file cannot be read");
            let fault = match kind {
                Kind::Aiff => aiff::fault(&body),
                Kind::MpegAudio => mpeg::fault(&body),
                _ => None,
            };
            let damaged = || DecodeError::Damaged(format!("its {} header cannot be read", container.name));
            fault.unwrap_or_else(damaged)
        })?;
        let (track, selected) = select(reader.tracks(), container)?;
        // The tag of an MPEG file knows nothing of files that were joined behind it.
        let is_followed = rest.is_some() || matches!(kind, Kind::Ogg | Kind::MpegAudio);
        // The reader counts the frames of plain samples in the bytes that are there.
        let times = if selected.made.name.starts_with("pcm") { missing } else { 1.0 };
        let stated_s = selected.stated_s.map(|stated_s| stated_s * times);
        let mut selected = Selected { is_followed, stated_s, is_late, ..selected };
        selected.made.note = selected.made.note.or(is_lost.then_some(LOST_START));
        Ok((Self { reader, container, track, errors: 0, rest }, selected))
    }

    /// Samples in front that an encoder added.
    pub(super) fn delay(&self) -> u32 {
        self.reader.tracks().iter().find_map(|track| track.delay).unwrap_or(0)
    }

    /// See [`super::Source::next`].
    pub(super) fn next(&mut self) -> io::Result<Next> {
        let next = self.next_here()?;
        let is_end = matches!(next, Next::End | Next::Broken);
        let Some(rest) = self.rest.take_if(|_| is_end) else { return Ok(next) };
        match Self::open(Kind::Flac, rest) {
            Ok((library, selected)) => {
                *self = library;
                Ok(Next::NewStream(Box::new(selected)))
            }
            Err(DecodeError::Read(cause)) => Err(cause),
            Err(_) => Ok(Next::Broken),
        }
    }

    fn next_here(&mut self) -> io::Result<Next> {
        loop {
            match guarded(|| self.reader.next_packet()) {
                Ok(Some(packet)) if packet.track_id == self.track => {
                    self.errors = 0;
                    return Ok(Next::Packet(packet));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(Next::End),
                Err(Error::ResetRequired) => {
                    // Tags of the streams that have ended are kept otherwise.
                    self.reader.metadata().skip_to_latest();
                    let Ok((track, selected)) = select(self.reader.tracks(), self.container) else {
                        return Ok(Next::Broken);
                    };
                    self.track = track;
                    return Ok(Next::NewStream(Box::new(selected)));
                }
                Err(Error::IoError(cause)) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(Next::End);
                }
                Err(Error::IoError(cause)) if cause.raw_os_error().is_some() => return Err(cause),
                Err(cause) => {
                    self.errors += 1;
                    if is_final(&cause) || self.errors > MAX_ERRORS {
                        return Ok(Next::Broken);
                    }
                }
            }
        }
    }
}

fn open_reader(kind: Kind, body: Window) -> Result<Box<dyn FormatReader>> {
    let stream = body.stream();
    let options = FormatOptions::default();
    guarded(|| -> Result<Box<dyn FormatReader>> {
        Ok(match kind {
            Kind::Flac => Box::new(readers::FlacReader::try_new(stream, options)?),
            Kind::Ogg => Box::new(readers::OggReader::try_new(stream, options)?),
            Kind::Caf => Box::new(readers::CafReader::try_new(stream, options)?),
            Kind::Aiff => Box::new(readers::AiffReader::try_new(stream, options)?),
            Kind::Adts => Box::new(readers::AdtsReader::try_new(stream, options)?),
            _ => Box::new(readers::MpaReader::try_new(stream, options)?),
        })
    })
}

fn container(kind: Kind) -> Container {
    let (name, extension, clock) = match kind {
        Kind::Flac => ("flac", "flac", Clock::Container),
        Kind::Ogg => ("ogg", "ogg", Clock::Container),
        Kind::Caf => ("caf", "caf", Clock::Samples),
        Kind::Aiff => ("aiff", "aiff", Clock::Samples),
        Kind::Adts => ("adts", "aac", Clock::Samples),
        _ => ("mp3", "mp3", Clock::Samples),
    };
    Container { name, extension, clock }
}

/// The first audio track with a decoder; tracks that are marked as default come first.
fn select(tracks: &[Track], container: Container) -> std::result::Result<(u32, Selected), DecodeError> {
    let mut audio: Vec<(&Track, &AudioCodecParameters)> = tracks
        .iter()
        .filter_map(|track| Some((track, track.codec_params.as_ref().and_then(CodecParameters::audio)?)))
        .collect();
    audio.sort_by_key(|(track, _)| !track.flags.contains(TrackFlags::DEFAULT));
    let ((track, params), made) = first_decodable(audio, |(_, params)| codec::make(params))?;
    Ok((track.id, selected(track, params, made, container)))
}

fn selected(track: &Track, params: &AudioCodecParameters, made: Made, container: Container) -> Selected {
    let rate = f64::from(params.sample_rate.unwrap_or(48_000));
    let tick_s =
        track.time_base.map_or(1.0 / rate, |base| f64::from(base.numer.get()) / f64::from(base.denom.get()));
    // Frames state their length only in a tag of MPEG audio, which also has the encoder's delay;
    // without it the reader's number is a guess.
    let is_mpeg = container.name == "mp3";
    let is_guess = container.name == "adts" || is_mpeg && track.delay.is_none();
    let length = track.duration.filter(|_| !is_guess);
    let stated_s = length.map(|length| length.get() as f64 * tick_s - made.pre_skip_s);
    let is_exact = is_mpeg && stated_s.is_some();
    Selected { stated_s, is_exact, ..Selected::new(container, tick_s, params.clone(), made) }
}
