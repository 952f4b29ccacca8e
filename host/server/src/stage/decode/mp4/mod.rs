//! Reads MP4, M4A, MOV and 3GP: finds the audio tracks and gives their packets, with edit lists
//! and fragments. Never touches the video's data and keeps no more than a page of any table in
//! memory.

mod boxes;
mod edits;
mod entry;
mod fragments;
mod samples;
mod search;

use symphonia::core::codecs::audio::AudioCodecParameters;
use symphonia::core::packet::Packet;
use symphonia::core::units::{Duration, Timestamp};

use super::source::Next;
use super::window::Window;
use boxes::{Box4, Boxes, long_number, number, version};
use edits::Edits;
use fragments::{Found, Fragments};
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
    /// Something was left out since the last packet.
    is_damaged: bool,
    /// The packet behind it.
    waiting: Option<Packet>,
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
    let traks: Vec<Box4> =
        Boxes::new(&moov, 0).filter(|found| &found.kind == b"trak").take(MAX_TRACKS).collect();
    for trak in &traks {
        let edits = Edits::read(&trak.body, movie_rate);
        if handler(&trak.body).is_some_and(|kind| &kind == b"soun") {
            movie.audio.extend(track(file, mvex.as_ref(), &trak.body, &edits));
        } else if Boxes::path(&trak.body, &[b"mdia", b"minf", b"vmhd"]).is_some() {
            let start_s = movie.others_start_s.map_or(edits.offset_s, |start_s| start_s.min(edits.offset_s));
            movie.others_start_s = Some(start_s);
        }
    }
    if let ([_], [audio], Some(mvex)) = (&traks[..], &mut movie.audio[..], &mvex) {
        // With video in the file its length says nothing about the audio.
        audio.stated_s = fragments_length(mvex).map(|length| length as f64 / f64::from(movie_rate));
    }
    movie.audio.sort_by_key(|track| !track.is_enabled);
    Some(movie)
}

/// What a fragmented file states about its length, in units of the movie's clock.
fn fragments_length(mvex: &Window) -> Option<u64> {
    let mehd = Boxes::find(mvex, b"mehd")?;
    let length = if version(&mehd)? == 1 { long_number(&mehd, 4)? } else { u64::from(number(&mehd, 4)?) };
    Some(length).filter(|length| *length > 0)
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
    let samples = SampleTable::new(&stbl, entry.frame_bytes, FRAMES_AT_ONCE);
    let has_table = samples.as_ref().is_some_and(|table| !table.is_empty());
    let fragments = mvex.map(|mvex| Fragments::new(file, mvex, track_id, has_table));
    let is_fragmented = fragments.is_some();
    let end_s = edits.length_s.filter(|_| !is_fragmented).map(|length_s| edits.offset_s + length_s);
    let media_s = (length > 0 && !is_fragmented)
        .then(|| edits.offset_s + length.saturating_sub(edits.media_start) as f64 * tick_s);
    Some(Mp4Track {
        params: entry.params,
        tick_s,
        offset_s: edits.offset_s,
        end_s,
        // What the edit list leaves out is not missing.
        stated_s: media_s.map(|media_s| end_s.map_or(media_s, |end_s| end_s.min(media_s))),
        is_enabled: number(&tkhd, 0)? & 1 != 0,
        edit_start: edits.media_start,
        samples,
        fragments,
    })
}

impl Mp4Reader {
    /// Starts reading `track` of `file`.
    pub(super) fn new(file: &Window, track: Mp4Track, zero_s: Option<f64>) -> Self {
        let budget_bytes = file.len().saturating_mul(2) + 64 * 1024;
        Self { file: file.clone(), track, zero_s, budget_bytes, is_damaged: false, waiting: None }
    }

    /// The next packet, with its time counted from the first sample that plays; before that it is
    /// negative.
    pub(super) fn next(&mut self) -> std::io::Result<Next> {
        if let Some(packet) = self.waiting.take() {
            return Ok(Next::Packet(packet));
        }
        loop {
            let found = self.next_sample()?;
            self.is_damaged |= self.track.fragments.as_mut().is_some_and(Fragments::take_damage);
            let sample = match found {
                Found::Sample(sample) => sample,
                Found::End if !self.is_damaged => return Ok(Next::End),
                Found::End | Found::Cut => return Ok(Next::Broken),
            };
            let cost = sample.size_bytes.saturating_add(SAMPLE_COST_BYTES);
            match self.budget_bytes.checked_sub(cost) {
                Some(left) => self.budget_bytes = left,
                None => return Ok(Next::Broken),
            }
            if let Some(packet) = self.packet(&sample)? {
                if std::mem::take(&mut self.is_damaged) {
                    self.waiting = Some(packet);
                    return Ok(Next::Damaged);
                }
                return Ok(Next::Packet(packet));
            }
        }
    }

    /// Reads a sample, if it is in the file.
    fn packet(&mut self, sample: &Sample) -> std::io::Result<Option<Packet>> {
        if sample.size_bytes == 0 {
            return Ok(None);
        }
        let size_bytes = if sample.size_bytes > MAX_SAMPLE_BYTES { 0 } else { sample.size_bytes as usize };
        let bytes = self.file.slice(sample.offset, size_bytes)?;
        if bytes.is_empty() {
            self.is_damaged = true;
            return Ok(None);
        }
        let start = sample.start.cast_signed().saturating_sub_unsigned(self.track.edit_start);
        Ok(Some(Packet::new(0, Timestamp::new(start), Duration::new(sample.length), bytes)))
    }

    fn next_sample(&mut self) -> std::io::Result<Found> {
        if let Some(sample) = self.track.samples.as_mut().and_then(SampleTable::next) {
            return Ok(Found::Sample(sample));
        }
        self.track.samples = None;
        self.track.fragments.as_mut().map_or(Ok(Found::End), Fragments::next)
    }
}
