//! Opens a file of any container and gives the packets of its audio track.

use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::AudioCodecParameters;
use symphonia::core::errors::{Error, Result};
use symphonia::core::formats::{FormatOptions, FormatReader, Track, TrackFlags};
use symphonia::core::packet::Packet;
use symphonia::default::formats as readers;

use super::codec::{self, Made};
use super::error::DecodeError;
use super::guard::{guarded, is_final};
use super::mp4::{self, Mp4Reader};
use super::mpeg;
use super::sniff::{Kind, sniff};
use super::wave::{self, Wave, WaveReader};
use super::window::Window;

/// Bytes looked at to tell the format.
const HEAD_BYTES: usize = 16 * 1024;

/// How far into a file of unknown start frames of MPEG audio are searched, bytes.
const SEARCH_BYTES: usize = 1024 * 1024;

/// Most tags in front of the audio.
const MAX_TAGS: usize = 8;

/// Errors in a row after which a reader is given up.
const MAX_ERRORS: usize = 64;

/// How far timestamps can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// The container has timestamps of its own.
    Container,
    /// The reader only counts samples; the first timestamp shows the encoder's delay.
    Samples,
}

/// The audio track that was chosen.
pub(super) struct Selected {
    pub(super) container: &'static str,
    pub(super) extension: &'static str,
    pub(super) clock: Clock,
    /// Length of one unit of its timestamps.
    pub(super) tick_s: f64,
    /// What the header says about the length.
    pub(super) stated_s: Option<f64>,
    /// The length that the size of the file allows, where that is known.
    pub(super) held_s: Option<f64>,
    /// The stated length is exact to the sample.
    pub(super) is_exact: bool,
    /// A gap in its timestamps can only be damage.
    pub(super) has_no_pauses: bool,
    /// Silence before the first timestamp.
    pub(super) offset_s: f64,
    /// Where the container says that the audio ends, whatever follows.
    pub(super) cut_s: Option<f64>,
    pub(super) params: AudioCodecParameters,
    pub(super) made: Made,
}

/// What comes next.
pub(super) enum Next {
    /// A packet of the selected track.
    Packet(Packet),
    /// A new stream begins in the same file (chained Ogg).
    NewStream(Box<Selected>),
    /// The regular end.
    End,
    /// The reader cannot go on.
    Broken,
}

enum Demuxer {
    Mp4(Box<Mp4Reader>),
    Wave(Box<WaveReader>),
    Symphonia { reader: Box<dyn FormatReader>, track: u32 },
}

/// An open file.
pub(super) struct Source {
    demuxer: Demuxer,
    container: Container,
    /// First timestamp of the other tracks, seconds; the earliest start of the recording.
    pub(super) others_start_s: Option<f64>,
    errors: usize,
}

/// Which reader to use and what to call it.
#[derive(Debug, Clone, Copy)]
struct Container {
    name: &'static str,
    extension: &'static str,
    clock: Clock,
}

/// Opens `file`.
pub(super) fn open(file: &Window) -> std::result::Result<(Source, Selected), DecodeError> {
    if file.len() == 0 {
        return Err(DecodeError::Empty);
    }
    let (kind, body) = find_start(file)?;
    match kind {
        Kind::Wave => open_wave(&body),
        Kind::Mp4 => open_mp4(&body),
        Kind::NotMedia(what) => Err(DecodeError::NotMedia(what)),
        Kind::Unsupported(what) => Err(DecodeError::Unsupported(what.into())),
        Kind::Unknown | Kind::Tag(_) => Err(DecodeError::UnknownFormat),
        kind => open_symphonia(kind, body),
    }
}

/// Skips tags and garbage in front of the audio.
fn find_start(file: &Window) -> std::result::Result<(Kind, Window), DecodeError> {
    let mut body = file.clone();
    for _ in 0..MAX_TAGS {
        let head = body.slice(0, HEAD_BYTES).map_err(DecodeError::Read)?;
        match sniff(&head) {
            Kind::Tag(size_bytes) if size_bytes < body.len() => body = body.part(size_bytes, u64::MAX),
            Kind::Tag(_) | Kind::Unknown => break,
            kind => return Ok((kind, body)),
        }
    }
    let bytes = body.slice(0, SEARCH_BYTES).map_err(DecodeError::Read)?;
    Ok(match mpeg::find_frames(&bytes) {
        Some((at, kind)) => (kind, body.part(at as u64, u64::MAX)),
        None => (Kind::Unknown, body),
    })
}

fn open_wave(file: &Window) -> std::result::Result<(Source, Selected), DecodeError> {
    let container = Container { name: "wav", extension: "wav", clock: Clock::Samples };
    let reader = match wave::open(file)? {
        Wave::Blocks(reader) => reader,
        Wave::Mpeg(data) => {
            let (mut source, mut selected) = open_symphonia(Kind::MpegAudio, data)?;
            source.container = container;
            (selected.container, selected.extension) = (container.name, container.extension);
            return Ok((source, selected));
        }
    };
    let made = codec::make(&reader.params)?;
    let rate = f64::from(reader.params.sample_rate.unwrap_or(1));
    let selected = Selected {
        container: container.name,
        extension: container.extension,
        clock: container.clock,
        tick_s: 1.0 / rate,
        stated_s: Some(reader.stated_frames as f64 / rate),
        held_s: Some(reader.held_frames() as f64 / rate),
        is_exact: false,
        has_no_pauses: matches!(container.name, "flac" | "ogg"),
        offset_s: 0.0,
        cut_s: None,
        params: reader.params.clone(),
        made,
    };
    Ok((Source::new(Demuxer::Wave(Box::new(reader)), container), selected))
}

fn open_mp4(file: &Window) -> std::result::Result<(Source, Selected), DecodeError> {
    let missing = || {
        DecodeError::Damaged("its index (moov) is missing, so it was not recorded or sent to its end".into())
    };
    let movie = mp4::open(file).ok_or_else(missing)?;
    let container = Container { name: "mp4", extension: "mp4", clock: Clock::Container };
    let mut failure = DecodeError::NoAudio;
    for track in movie.audio {
        let made = match codec::make(&track.params) {
            Ok(made) => made,
            Err(cause) => {
                failure = if matches!(failure, DecodeError::NoAudio) { cause } else { failure };
                continue;
            }
        };
        let start_s = movie.others_start_s.map_or(track.offset_s, |start_s| start_s.min(track.offset_s));
        let selected = Selected {
            container: container.name,
            extension: container.extension,
            clock: container.clock,
            tick_s: track.tick_s,
            stated_s: track.stated_s.map(|stated_s| stated_s - start_s),
            held_s: None,
            is_exact: false,
            has_no_pauses: false,
            offset_s: track.offset_s - start_s,
            cut_s: track.end_s.map(|end_s| end_s - start_s),
            params: track.params.clone(),
            made,
        };
        let mut source = Source::new(Demuxer::Mp4(Box::new(Mp4Reader::new(file, track))), container);
        source.others_start_s = movie.zero_s;
        return Ok((source, selected));
    }
    Err(failure)
}

fn open_symphonia(kind: Kind, body: Window) -> std::result::Result<(Source, Selected), DecodeError> {
    let container = container(kind, &body);
    let mut opened = open_reader(kind, body.clone());
    if opened.is_err() && kind == Kind::Matroska {
        // An index that points behind the end of a cut file is no reason to give up.
        opened = open_reader(kind, body.forward_only());
    }
    let reader = opened.map_err(|cause| {
        tracing::debug!(container = container.name, %cause, "the header of a media file cannot be read");
        DecodeError::Damaged(format!("its {} header cannot be read", container.name))
    })?;
    // With video in the file its length says nothing about the audio.
    let stated_s = media_length_s(reader.as_ref()).filter(|_| reader.tracks().len() == 1);
    let (track, selected) = select(reader.tracks(), container, stated_s)?;
    Ok((Source::new(Demuxer::Symphonia { reader, track }, container), selected))
}

/// The length of the whole file, for containers that state none for each track.
fn media_length_s(reader: &dyn FormatReader) -> Option<f64> {
    let media = reader.media_info();
    let base = media.time_base?;
    let length_s = media.duration?.get() as f64 * f64::from(base.numer.get()) / f64::from(base.denom.get());
    (length_s > 0.0).then_some(length_s)
}

fn open_reader(kind: Kind, body: Window) -> Result<Box<dyn FormatReader>> {
    let stream = body.stream();
    let options = FormatOptions::default();
    guarded(|| -> Result<Box<dyn FormatReader>> {
        Ok(match kind {
            Kind::Flac => Box::new(readers::FlacReader::try_new(stream, options)?),
            Kind::Ogg => Box::new(readers::OggReader::try_new(stream, options)?),
            Kind::Matroska => Box::new(readers::MkvReader::try_new(stream, options)?),
            Kind::Caf => Box::new(readers::CafReader::try_new(stream, options)?),
            Kind::Aiff => Box::new(readers::AiffReader::try_new(stream, options)?),
            Kind::Adts => Box::new(readers::AdtsReader::try_new(stream, options)?),
            _ => Box::new(readers::MpaReader::try_new(stream, options)?),
        })
    })
}

fn container(kind: Kind, body: &Window) -> Container {
    let (name, extension, clock) = match kind {
        Kind::Flac => ("flac", "flac", Clock::Container),
        Kind::Ogg => ("ogg", "ogg", Clock::Container),
        Kind::Matroska => {
            let head = body.slice(0, 64).unwrap_or_default();
            let is_webm = head.windows(4).any(|window| window == b"webm");
            if is_webm { ("webm", "webm", Clock::Container) } else { ("matroska", "mkv", Clock::Container) }
        }
        Kind::Caf => ("caf", "caf", Clock::Samples),
        Kind::Aiff => ("aiff", "aiff", Clock::Samples),
        Kind::Adts => ("adts", "aac", Clock::Samples),
        _ => ("mp3", "mp3", Clock::Samples),
    };
    Container { name, extension, clock }
}

/// The first audio track with a decoder; tracks that are marked as default come first.
fn select(
    tracks: &[Track],
    container: Container,
    media_s: Option<f64>,
) -> std::result::Result<(u32, Selected), DecodeError> {
    let mut audio: Vec<(&Track, &AudioCodecParameters)> = tracks
        .iter()
        .filter_map(|track| Some((track, track.codec_params.as_ref().and_then(CodecParameters::audio)?)))
        .collect();
    audio.sort_by_key(|(track, _)| !track.flags.contains(TrackFlags::DEFAULT));
    let mut failure = DecodeError::NoAudio;
    for (track, params) in audio {
        match codec::make(params) {
            Ok(made) => return Ok((track.id, selected(track, params, made, container, media_s))),
            Err(cause) if matches!(failure, DecodeError::NoAudio) => failure = cause,
            Err(_) => {}
        }
    }
    Err(failure)
}

fn selected(
    track: &Track,
    params: &AudioCodecParameters,
    made: Made,
    container: Container,
    media_s: Option<f64>,
) -> Selected {
    let rate = f64::from(params.sample_rate.unwrap_or(48_000));
    let tick_s =
        track.time_base.map_or(1.0 / rate, |base| f64::from(base.numer.get()) / f64::from(base.denom.get()));
    // MPEG audio states its length only in a tag, which also has the encoder's delay; without it
    // the reader's number is a guess.
    let is_mpeg = container.name == "mp3";
    let is_stated = !is_mpeg || track.delay.is_some();
    let track_s = track.duration.map(|length| length.get() as f64 * tick_s - made.pre_skip_s);
    let stated_s = track_s.or(media_s).filter(|_| is_stated);
    Selected {
        container: container.name,
        extension: container.extension,
        clock: container.clock,
        tick_s,
        stated_s,
        held_s: None,
        is_exact: is_mpeg && stated_s.is_some(),
        has_no_pauses: matches!(container.name, "flac" | "ogg"),
        offset_s: 0.0,
        cut_s: None,
        params: params.clone(),
        made,
    }
}

impl Source {
    fn new(demuxer: Demuxer, container: Container) -> Self {
        Self { demuxer, container, others_start_s: None, errors: 0 }
    }

    /// Reads until a packet of the selected track or another event comes.
    ///
    /// # Errors
    /// Only when our own disk fails.
    pub(super) fn next(&mut self) -> std::io::Result<Next> {
        let (reader, track) = match &mut self.demuxer {
            Demuxer::Mp4(reader) => return Ok(reader.next_packet()?.map_or(Next::End, Next::Packet)),
            Demuxer::Wave(reader) => return Ok(reader.next_packet()?.map_or(Next::End, Next::Packet)),
            Demuxer::Symphonia { reader, track } => (reader, track),
        };
        loop {
            match guarded(|| reader.next_packet()) {
                Ok(Some(packet)) if packet.track_id == *track => {
                    self.errors = 0;
                    return Ok(Next::Packet(packet));
                }
                Ok(Some(packet)) => {
                    let other = reader.tracks().iter().find(|other| other.id == packet.track_id);
                    if let Some(base) = other.and_then(|other| other.time_base) {
                        let tick_s = f64::from(base.numer.get()) / f64::from(base.denom.get());
                        let start_s = packet.pts.get() as f64 * tick_s;
                        self.others_start_s = Some(self.others_start_s.map_or(start_s, |s| s.min(start_s)));
                    }
                }
                Ok(None) => return Ok(Next::End),
                Err(Error::ResetRequired) => {
                    let Ok((id, selected)) = select(reader.tracks(), self.container, None) else {
                        return Ok(Next::Broken);
                    };
                    *track = id;
                    return Ok(Next::NewStream(Box::new(selected)));
                }
                Err(Error::IoError(cause)) if cause.kind() == std::io::ErrorKind::UnexpectedEof => {
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
