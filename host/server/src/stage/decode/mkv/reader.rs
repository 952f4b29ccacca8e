//! Walks the clusters and gives the packets of one track.

use std::collections::VecDeque;

use symphonia::core::packet::{Packet, PacketBuilder};
use symphonia::core::units::{Duration, Timestamp};

use super::ebml::{Element, children, element, signed, unsigned};
use super::header::{CLUSTER, INFO, Mkv, SEGMENT, TRACKS};
use super::lacing::{BlockHeader, frames};
use super::tracks::{Kind, TrackEntry};

/// Length of a unit of the packets' timestamps: nanoseconds, whatever the file counts in.
pub(in super::super) const TICK_S: f64 = 1e-9;

/// Largest block of audio that is believed, bytes.
const MAX_BLOCK_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes read at once while a cluster is searched: few, since damage can make one follow close
/// on the other.
const SEARCH_BYTES: usize = 4 * 1024;

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

/// What was read.
pub(in super::super) enum Step {
    Packet(Packet),
    End,
    /// The file ends inside an element.
    Cut,
}

/// Gives the packets of one track.
pub(in super::super) struct MkvReader {
    file: Mkv,
    track: TrackEntry,
    packets: VecDeque<Packet>,
    /// First timestamp of a video track, seconds.
    pub(in super::super) others_start_s: Option<f64>,
}

impl MkvReader {
    /// Starts behind the headers.
    pub(super) fn new(file: Mkv, track: TrackEntry) -> Self {
        Self { file, track, packets: VecDeque::new(), others_start_s: None }
    }

    /// The next packet of the track.
    pub(in super::super) fn next(&mut self) -> std::io::Result<Step> {
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
