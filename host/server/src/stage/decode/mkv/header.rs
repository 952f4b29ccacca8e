//! What stands before the first cluster: the clock, the stated length and the tracks.

use symphonia::core::codecs::audio::AudioCodecParameters;

use super::super::codec::{self, Made};
use super::super::error::DecodeError;
use super::super::window::Window;
use super::ebml::{Element, children, element, float, unsigned};
use super::reader::{MkvReader, TICK_S};
use super::tracks::{self, Kind, TrackEntry};

/// Largest header element that is read whole, bytes.
const MAX_HEADER_BYTES: u64 = 4 * 1024 * 1024;

/// Most tracks of any kind that are looked at.
const MAX_TRACKS: usize = 64;

pub(super) const SEGMENT: u32 = 0x1853_8067;
pub(super) const INFO: u32 = 0x1549_a966;
pub(super) const TRACKS: u32 = 0x1654_ae6b;
pub(super) const CLUSTER: u32 = 0x1f43_b675;
pub(super) const CUES: u32 = 0x1c53_bb6b;
pub(super) const TAGS: u32 = 0x1254_c367;
const TRACK_ENTRY: u32 = 0xae;

/// An audio track that can be chosen.
pub(in super::super) struct MkvTrack {
    pub(in super::super) params: AudioCodecParameters,
    entry: TrackEntry,
}

/// A file whose headers have been read.
pub(in super::super) struct Mkv {
    pub(super) file: Window,
    pub(super) at: u64,
    pub(super) scale_ns: u64,
    pub(super) cluster_time: u64,
    pub(super) entries: Vec<TrackEntry>,
    /// Length of the whole file as its header states it.
    pub(in super::super) stated_s: Option<f64>,
}

/// Reads up to the first cluster.
pub(in super::super) fn open(file: &Window) -> Option<Mkv> {
    let mut mkv = Mkv {
        file: file.clone(),
        at: 0,
        scale_ns: 1_000_000,
        cluster_time: 0,
        entries: Vec::new(),
        stated_s: None,
    };
    let mut length = 0.0;
    while let Some(found) = element(file, mkv.at) {
        match found.id {
            // The tracks may stand behind the clusters; then they are looked for once.
            CLUSTER if !mkv.entries.is_empty() => break,
            SEGMENT => {
                mkv.at = found.body;
                continue;
            }
            INFO => {
                for (id, content) in children(&body(file, &found)?) {
                    match id {
                        0x2a_d7b1 => mkv.scale_ns = unsigned(content).max(1),
                        0x4489 => length = float(content),
                        _ => {}
                    }
                }
            }
            TRACKS => {
                let content = body(file, &found)?;
                let entries = children(&content).filter(|(id, _)| *id == TRACK_ENTRY).take(MAX_TRACKS);
                mkv.entries = entries.map(|(_, entry)| tracks::read(entry)).collect();
            }
            _ => {}
        }
        mkv.at = found.body.checked_add(found.size?)?;
    }
    let stated_s = length * mkv.scale_ns as f64 * TICK_S;
    mkv.stated_s = (stated_s > 0.0 && stated_s.is_finite()).then_some(stated_s);
    if element(file, mkv.at).is_none_or(|found| found.id != CLUSTER) {
        mkv.at = 0;
    }
    (!mkv.entries.is_empty()).then_some(mkv)
}

fn body(file: &Window, found: &Element) -> Option<Vec<u8>> {
    let size = found.size.filter(|size| *size <= MAX_HEADER_BYTES)?;
    file.slice(found.body, size as usize).ok()
}

impl MkvTrack {
    /// Makes its decoder.
    ///
    /// # Errors
    /// When there is none; the message names the codec.
    pub(in super::super) fn decoder(&self) -> Result<Made, DecodeError> {
        match &self.entry.unsupported {
            Some(codec) => Err(DecodeError::Unsupported(codec.clone())),
            None => codec::make(&self.params),
        }
    }
}

impl Mkv {
    /// The audio tracks, those marked as default first.
    pub(in super::super) fn audio(&self) -> Vec<MkvTrack> {
        let mut audio: Vec<MkvTrack> = (self.entries.iter())
            .filter(|entry| entry.kind == Kind::Audio)
            .map(|entry| MkvTrack { params: entry.params.clone(), entry: entry.clone() })
            .collect();
        audio.sort_by_key(|track| !track.entry.is_default);
        audio
    }

    /// Whether nothing but this one track is in the file.
    pub(in super::super) fn has_one_track(&self) -> bool {
        self.entries.len() == 1
    }

    /// Starts reading `track`.
    pub(in super::super) fn read(self, track: MkvTrack) -> MkvReader {
        MkvReader::new(self, track.entry)
    }
}
