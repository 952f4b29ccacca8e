//! Reads MP4, M4A, MOV and 3GP: finds the audio tracks and gives their packets, with edit lists
//! and fragments. Never touches the video's data and keeps no more than a page of any table in
//! memory.

mod boxes;
mod edits;
mod entry;
mod fragments;
mod samples;

use symphonia::core::codecs::audio::AudioCodecParameters;
use symphonia::core::packet::Packet;
use symphonia::core::units::{Duration, Timestamp};

use super::window::Window;
use boxes::{Boxes, long_number, number, version};
use edits::Edits;
use fragments::Fragments;
use samples::{Sample, SampleTable};

/// Most tracks of any kind that are looked at.
const MAX_TRACKS: usize = 64;

/// Uncompressed frames joined to one packet.
const FRAMES_AT_ONCE: u32 = 4096;

/// A larger packet is taken for damage, bytes.
const MAX_SAMPLE_BYTES: u64 = 16 * 1024 * 1024;

/// What each packet costs beside its bytes when the total is compared with the file's size.
const SAMPLE_COST_BYTES: u64 = 16;

/// An audio track of a file.
pub(super) struct Mp4Track {
    pub(super) params: AudioCodecParameters,
    /// Length of a unit of its timestamps.
    pub(super) tick_s: f64,
    /// Silence before the first sample that plays.
    pub(super) offset_s: f64,
    /// Where the track ends on the file's clock, when an edit list says so.
    pub(super) end_s: Option<f64>,
    /// Length that the track's header states.
    pub(super) stated_s: Option<f64>,
    is_enabled: bool,
    edit_start: u64,
    samples: Option<SampleTable>,
    fragments: Option<Fragments>,
}

/// Gives the packets of one track.
pub(super) struct Mp4Reader {
    file: Window,
    track: Mp4Track,
    /// See [`Movie::zero_s`].
    pub(super) zero_s: Option<f64>,
    /// A file whose tables point to the same bytes over and over is stopped here.
    budget_bytes: u64,
}

/// What the file's index says.
pub(super) struct Movie {
    /// Tracks that are switched on come first.
    pub(super) audio: Vec<Mp4Track>,
    /// When the earliest of the other tracks starts.
    pub(super) others_start_s: Option<f64>,
    /// Where timestamps count from; unknown in a fragmented file, which may be a part of a stream.
    pub(super) zero_s: Option<f64>,
}

/// Reads the index; `None` when there is none.
pub(super) fn open(file: &Window) -> Option<Movie> {
    let moov = Boxes::find(file, b"moov")?;
    let movie_rate = Boxes::find(&moov, b"mvhd").and_then(|mvhd| time_scale(&mvhd)).unwrap_or(1);
    let mvex = Boxes::find(&moov, b"mvex");
    let zero_s = mvex.is_none().then_some(0.0);
    let mut movie = Movie { audio: Vec::new(), others_start_s: None, zero_s };
    for trak in Boxes::new(&moov, 0).filter(|found| &found.kind == b"trak").take(MAX_TRACKS) {
        let edits = Edits::read(&trak.body, movie_rate);
        if handler(&trak.body).is_some_and(|kind| &kind == b"soun") {
            movie.audio.extend(track(file, mvex.as_ref(), &trak.body, &edits));
        } else if Boxes::path(&trak.body, &[b"mdia", b"minf", b"vmhd"]).is_some() {
            let start_s = movie.others_start_s.map_or(edits.offset_s, |start_s| start_s.min(edits.offset_s));
            movie.others_start_s = Some(start_s);
        }
    }
    movie.audio.sort_by_key(|track| !track.is_enabled);
    Some(movie)
}

fn handler(trak: &Window) -> Option<[u8; 4]> {
    Boxes::path(trak, &[b"mdia", b"hdlr"])?.slice(8, 4).ok()?.first_chunk().copied()
}

fn time_scale(header: &Window) -> Option<u32> {
    number(header, if version(header)? == 1 { 20 } else { 12 }).filter(|scale| *scale > 0)
}

fn track(file: &Window, mvex: Option<&Window>, trak: &Window, edits: &Edits) -> Option<Mp4Track> {
    let tkhd = Boxes::find(trak, b"tkhd")?;
    let track_id = number(&tkhd, if version(&tkhd)? == 1 { 20 } else { 12 })?;
    let mdhd = Boxes::path(trak, &[b"mdia", b"mdhd"])?;
    let tick_s = 1.0 / f64::from(time_scale(&mdhd)?);
    let length = if version(&mdhd)? == 1 { long_number(&mdhd, 24)? } else { u64::from(number(&mdhd, 16)?) };
    let stbl = Boxes::path(trak, &[b"mdia", b"minf", b"stbl"])?;
    let entry = entry::read(&Boxes::find(&stbl, b"stsd")?)?;
    let fragments = mvex.map(|mvex| Fragments::new(file, mvex, track_id));
    let is_fragmented = fragments.is_some();
    Some(Mp4Track {
        params: entry.params,
        tick_s,
        offset_s: edits.offset_s,
        end_s: edits.length_s.filter(|_| !is_fragmented).map(|length_s| edits.offset_s + length_s),
        stated_s: (length > 0 && !is_fragmented)
            .then(|| edits.offset_s + length.saturating_sub(edits.media_start) as f64 * tick_s),
        is_enabled: number(&tkhd, 0)? & 1 != 0,
        edit_start: edits.media_start,
        samples: SampleTable::new(&stbl, entry.frame_bytes, FRAMES_AT_ONCE),
        fragments,
    })
}

impl Mp4Reader {
    /// Starts reading `track` of `file`.
    pub(super) fn new(file: &Window, track: Mp4Track, zero_s: Option<f64>) -> Self {
        Self { file: file.clone(), track, zero_s, budget_bytes: file.len().saturating_mul(2) + 64 * 1024 }
    }

    /// The next packet, with its time counted from the first sample that plays; before that it is
    /// negative. `None` at the end, or where the file is cut.
    pub(super) fn next_packet(&mut self) -> std::io::Result<Option<Packet>> {
        while let Some(sample) = self.next_sample() {
            let cost = sample.size_bytes.saturating_add(SAMPLE_COST_BYTES);
            match self.budget_bytes.checked_sub(cost) {
                Some(left) => self.budget_bytes = left,
                None => return Ok(None),
            }
            if sample.size_bytes == 0 || sample.size_bytes > MAX_SAMPLE_BYTES {
                continue;
            }
            let bytes = self.file.slice(sample.offset, sample.size_bytes as usize)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let start = sample.start.cast_signed().saturating_sub_unsigned(self.track.edit_start);
            return Ok(Some(Packet::new(0, Timestamp::new(start), Duration::new(sample.length), bytes)));
        }
        Ok(None)
    }

    fn next_sample(&mut self) -> Option<Sample> {
        if let Some(sample) = self.track.samples.as_mut().and_then(SampleTable::next) {
            return Some(sample);
        }
        self.track.samples = None;
        self.track.fragments.as_mut()?.next()
    }
}
