//! Chooses the reader by content, then the track.

use super::super::codec::{self, Made};
use super::super::error::DecodeError;
use super::super::sniff::{Kind, sniff};
use super::super::wave::{self, Wave};
use super::super::window::Window;
use super::super::{mkv, mp4, mpeg};
use super::frames::FrameReader;
use super::library::Library;
use super::{Clock, Container, Selected, Source};

/// Bytes looked at to tell the format.
const HEAD_BYTES: usize = 16 * 1024;

/// How far into a file of unknown start frames of MPEG audio are searched, bytes.
const SEARCH_BYTES: usize = 1024 * 1024;

/// Most tags in front of the audio.
const MAX_TAGS: usize = 8;

/// An open file with its track.
type Opened = Result<(Source, Selected), DecodeError>;

/// Opens `file`.
pub(in super::super) fn open(file: &Window) -> Opened {
    if file.len() == 0 {
        return Err(DecodeError::Empty);
    }
    let (kind, body) = find_start(file)?;
    match kind {
        Kind::Wave => open_wave(&body),
        Kind::Mp4 => open_mp4(&body),
        Kind::Matroska => open_mkv(&body),
        Kind::NotMedia(what) => Err(DecodeError::NotMedia(what)),
        Kind::Unsupported(what) => Err(DecodeError::Unsupported(what.into())),
        Kind::Unknown | Kind::Tag(_) => Err(DecodeError::UnknownFormat),
        Kind::MpegAudio | Kind::Adts => open_frames(kind, body),
        kind => Library::open(kind, body).map(|(library, selected)| (Source::Library(library), selected)),
    }
}

/// Skips tags and garbage in front of the audio.
fn find_start(file: &Window) -> Result<(Kind, Window), DecodeError> {
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

/// The first track for which a decoder can be made, else why the first one has none.
pub(super) fn first_decodable<T>(
    tracks: Vec<T>,
    make: impl Fn(&T) -> Result<Made, DecodeError>,
) -> Result<(T, Made), DecodeError> {
    let mut failure = DecodeError::NoAudio;
    for track in tracks {
        match make(&track) {
            Ok(made) => return Ok((track, made)),
            Err(cause) if matches!(failure, DecodeError::NoAudio) => failure = cause,
            Err(_) => {}
        }
    }
    Err(failure)
}

fn open_wave(file: &Window) -> Opened {
    let container = Container { name: "wav", extension: "wav", clock: Clock::Samples };
    let reader = match wave::open(file)? {
        Wave::Blocks(reader) => reader,
        Wave::Mpeg(data) => {
            let (source, selected) = open_frames(Kind::MpegAudio, data)?;
            return Ok((source, Selected { container, ..selected }));
        }
    };
    let made = codec::make(&reader.params)?;
    let tick_s = 1.0 / f64::from(reader.params.sample_rate.unwrap_or(1));
    let selected = Selected {
        stated_s: Some(reader.stated_frames as f64 * tick_s),
        held_s: Some(reader.held_frames() as f64 * tick_s),
        ..Selected::new(container, tick_s, reader.params.clone(), made)
    };
    Ok((Source::Wave(Box::new(reader)), selected))
}

fn open_frames(kind: Kind, body: Window) -> Opened {
    let (reader, selected) = FrameReader::open(kind, body)?;
    Ok((Source::Frames(Box::new(reader)), selected))
}

fn open_mp4(file: &Window) -> Opened {
    let container = Container { name: "mp4", extension: "mp4", clock: Clock::Container };
    let missing = "its index (moov) is missing, so it was not recorded or sent to its end";
    let movie = mp4::open(file).ok_or_else(|| DecodeError::Damaged(missing.into()))?;
    let (track, made) = first_decodable(movie.audio, |track| codec::make(&track.params))?;
    let start_s = movie.others_start_s.map_or(track.offset_s, |start_s| start_s.min(track.offset_s));
    let selected = Selected {
        stated_s: track.stated_s.map(|stated_s| stated_s - start_s),
        offset_s: track.offset_s - start_s,
        cut_s: track.end_s.map(|end_s| end_s - start_s),
        ..Selected::new(container, track.tick_s, track.params.clone(), made)
    };
    Ok((Source::Mp4(Box::new(mp4::Mp4Reader::new(file, track, movie.zero_s))), selected))
}

fn open_mkv(file: &Window) -> Opened {
    let head = file.slice(0, 64).map_err(DecodeError::Read)?;
    let is_webm = head.windows(4).any(|window| window == b"webm");
    let (name, extension) = if is_webm { ("webm", "webm") } else { ("matroska", "mkv") };
    let container = Container { name, extension, clock: Clock::Container };
    let mkv = mkv::open(file).ok_or_else(|| DecodeError::Damaged("its list of tracks is missing".into()))?;
    let (track, made) = first_decodable(mkv.audio(), mkv::MkvTrack::decoder)?;
    let selected = Selected {
        // With video in the file its length says nothing about the audio.
        stated_s: mkv.stated_s.filter(|_| mkv.has_one_track()),
        is_stated_from_zero: true,
        ..Selected::new(container, mkv::TICK_S, track.params.clone(), made)
    };
    Ok((Source::Mkv(Box::new(mkv.read(track))), selected))
}
