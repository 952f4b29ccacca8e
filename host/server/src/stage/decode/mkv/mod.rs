//! Reads Matroska and WebM: gives the packets of one audio track and steps over everything else.
//!
//! Sizes of the large elements are not relied on, so that a file that was cut off, or recorded
//! by a program that never went back to fill them in, reads to its end. Behind damage it goes on
//! with the next cluster.

mod ebml;
mod lacing;
mod tracks;

use std::collections::VecDeque;

use symphonia::core::codecs::audio::AudioCodecParameters;
use symphonia::core::packet::{Packet, PacketBuilder};
use symphonia::core::units::{Duration, Timestamp};

use super::codec::{self, Made};
use super::error::DecodeError;
use super::window::Window;
use ebml::{Element, children, element, float, signed, unsigned};
use lacing::{BlockHeader, frames};
use tracks::{Kind, TrackEntry};

/// Length of a unit of the packets' timestamps: nanoseconds, whatever the file counts in.
pub(super) const TICK_S: f64 = 1e-9;

/// Largest header element that is read whole, bytes.
const MAX_HEADER_BYTES: u64 = 4 * 1024 * 1024;

/// Largest block of audio that is believed, bytes.
const MAX_BLOCK_BYTES: u64 = 16 * 1024 * 1024;

/// Most tracks of any kind that are looked at.
const MAX_TRACKS: usize = 64;

/// Bytes read at once while a cluster is searched: few, since damage can make one follow close
/// on the other.
const SEARCH_BYTES: usize = 4 * 1024;

const SEGMENT: u32 = 0x1853_8067;
const INFO: u32 = 0x1549_a966;
const TRACKS: u32 = 0x1654_ae6b;
const TRACK_ENTRY: u32 = 0xae;
const CLUSTER: u32 = 0x1f43_b675;
const CLUSTER_TIME: u32 = 0xe7;
const SIMPLE_BLOCK: u32 = 0xa3;
const BLOCK_GROUP: u32 = 0xa0;
const BLOCK: u32 = 0xa1;
const BLOCK_DURATION: u32 = 0x9b;
const DISCARD_PADDING: u32 = 0x75a2;

/// Elements that are stepped over: header, seek head, cues, chapters, tags, attachments, void,
/// checksum, position, previous size.
const KNOWN: [u32; 10] =
    [0x1a45_dfa3, 0x114d_9b74, 0x1c53_bb6b, 0x1043_a770, 0x1254_c367, 0x1941_a469, 0xec, 0xbf, 0xa7, 0xab];

/// An audio track that can be chosen.
pub(super) struct MkvTrack {
    pub(super) params: AudioCodecParameters,
    entry: TrackEntry,
}

/// A file whose headers have been read.
pub(super) struct Mkv {
    file: Window,
    at: u64,
    scale_ns: u64,
    cluster_time: u64,
    entries: Vec<TrackEntry>,
    /// Length of the whole file as its header states it.
    pub(super) stated_s: Option<f64>,
}

/// What was read.
pub(super) enum Step {
    Packet(Packet),
    End,
    /// The file ends inside an element.
    Cut,
}

/// Gives the packets of one track.
pub(super) struct MkvReader {
    file: Mkv,
    track: TrackEntry,
    packets: VecDeque<Packet>,
    /// First timestamp of a video track, seconds.
    pub(super) others_start_s: Option<f64>,
}

/// Reads up to the first cluster.
pub(super) fn open(file: &Window) -> Option<Mkv> {
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
    pub(super) fn decoder(&self) -> Result<Made, DecodeError> {
        match &self.entry.unsupported {
            Some(codec) => Err(DecodeError::Unsupported(codec.clone())),
            None => codec::make(&self.params),
        }
    }
}

impl Mkv {
    /// The audio tracks, those marked as default first.
    pub(super) fn audio(&self) -> Vec<MkvTrack> {
        let mut audio: Vec<MkvTrack> = (self.entries.iter())
            .filter(|entry| entry.kind == Kind::Audio)
            .map(|entry| MkvTrack { params: entry.params.clone(), entry: entry.clone() })
            .collect();
        audio.sort_by_key(|track| !track.entry.is_default);
        audio
    }

    /// Whether nothing but this one track is in the file.
    pub(super) fn has_one_track(&self) -> bool {
        self.entries.len() == 1
    }

    /// Starts reading `track`.
    pub(super) fn read(self, track: MkvTrack) -> MkvReader {
        MkvReader { file: self, track: track.entry, packets: VecDeque::new(), others_start_s: None }
    }
}

impl MkvReader {
    /// The next packet of the track.
    pub(super) fn next(&mut self) -> std::io::Result<Step> {
        loop {
            if let Some(packet) = self.packets.pop_front() {
                return Ok(Step::Packet(packet));
            }
            let Some(found) = element(&self.file.file, self.file.at) else {
                if self.file.at >= self.file.file.len() {
                    return Ok(Step::End);
                }
                match self.find_cluster()? {
                    Some(at) => self.file.at = at,
                    None => return Ok(Step::Cut),
                }
                continue;
            };
            let left = self.file.file.len() - found.body.min(self.file.file.len());
            match (found.id, found.size) {
                (SEGMENT | CLUSTER, _) => self.file.at = found.body,
                (CLUSTER_TIME | SIMPLE_BLOCK | BLOCK_GROUP, Some(size)) if size <= left => {
                    self.content(&found, size)?;
                    self.file.at = found.body + size;
                }
                (INFO | TRACKS, Some(size)) if size <= left => self.file.at = found.body + size,
                (id, Some(size)) if KNOWN.contains(&id) && size <= left => self.file.at = found.body + size,
                _ => match self.find_cluster()? {
                    Some(at) => self.file.at = at,
                    None => return Ok(Step::Cut),
                },
            }
        }
    }

    fn content(&mut self, found: &Element, size: u64) -> std::io::Result<()> {
        if found.id == CLUSTER_TIME {
            self.file.cluster_time = unsigned(&self.file.file.slice(found.body, size.min(8) as usize)?);
            return Ok(());
        }
        if found.id == BLOCK_GROUP {
            return self.group(found, size);
        }
        let head = self.file.file.slice(found.body, 16)?;
        let Some(header) = BlockHeader::parse(&head) else { return Ok(()) };
        if self.is_wanted(&header) && size <= MAX_BLOCK_BYTES {
            let block = self.file.file.slice(found.body, size as usize)?;
            self.block(&header, &block, None, 0);
        }
        Ok(())
    }

    fn group(&mut self, found: &Element, size: u64) -> std::io::Result<()> {
        // A group starts with its block: that of another track is not read whole.
        let head = self.file.file.slice(found.body, 32)?;
        let first = element(&self.file.file, found.body).filter(|first| first.id == BLOCK);
        let header =
            first.and_then(|first| BlockHeader::parse(head.get((first.body - found.body) as usize..)?));
        if header.is_some_and(|header| !self.is_wanted(&header)) || size > MAX_BLOCK_BYTES {
            return Ok(());
        }
        let content = self.file.file.slice(found.body, size as usize)?;
        let (mut block, mut length, mut discarded_ns) = (None, None, 0);
        for (id, content) in children(&content) {
            match id {
                BLOCK => block = Some(content),
                BLOCK_DURATION => length = Some(unsigned(content)),
                DISCARD_PADDING => discarded_ns = signed(content).max(0),
                _ => {}
            }
        }
        let Some(block) = block else { return Ok(()) };
        if let Some(header) = BlockHeader::parse(block).filter(|header| self.is_wanted(header)) {
            self.block(&header, block, length, discarded_ns.cast_unsigned());
        }
        Ok(())
    }

    /// Whether the block belongs to the track; notes when others start.
    fn is_wanted(&mut self, header: &BlockHeader) -> bool {
        if header.track == self.track.number {
            return true;
        }
        let is_video = |entry: &TrackEntry| entry.number == header.track && entry.kind == Kind::Video;
        if self.others_start_s.is_none() && self.file.entries.iter().any(is_video) {
            self.others_start_s = Some(self.time_ns(header) as f64 * TICK_S);
        }
        false
    }

    fn time_ns(&self, header: &BlockHeader) -> i64 {
        let ticks = self.file.cluster_time.cast_signed().saturating_add(i64::from(header.time));
        ticks.saturating_mul(self.file.scale_ns.cast_signed())
    }

    fn block(&mut self, header: &BlockHeader, block: &[u8], length: Option<u64>, discarded_ns: u64) {
        let start_ns = self.time_ns(header).saturating_sub_unsigned(self.track.codec_delay_ns);
        let frames = frames(header, block);
        let count = frames.len() as u64;
        let length_ns = match length {
            Some(length) => length.saturating_mul(self.file.scale_ns) / count.max(1),
            None => self.track.frame_ns,
        };
        for (index, frame) in frames.iter().enumerate() {
            if frame.is_empty() {
                // Laced ones cost next to nothing in the file.
                continue;
            }
            let is_last = index + 1 == frames.len();
            let data = [self.track.stripped.as_slice(), frame].concat();
            let packet = PacketBuilder::new()
                .track_id(0)
                .pts(Timestamp::new(start_ns.saturating_add_unsigned(length_ns.saturating_mul(index as u64))))
                .dur(Duration::new(length_ns))
                .trim_end(Duration::new(if is_last { discarded_ns } else { 0 }))
                .data(data)
                .build();
            self.packets.push_back(packet);
        }
    }

    /// Where the next cluster starts behind the current position.
    fn find_cluster(&self) -> std::io::Result<Option<u64>> {
        let id = CLUSTER.to_be_bytes();
        let mut at = self.file.at + 1;
        loop {
            let page = self.file.file.slice(at, SEARCH_BYTES)?;
            if let Some(found) = page.windows(id.len()).position(|window| window == id) {
                return Ok(Some(at + found as u64));
            }
            if page.len() < SEARCH_BYTES {
                return Ok(None);
            }
            at += (SEARCH_BYTES - id.len()) as u64;
        }
    }
}
