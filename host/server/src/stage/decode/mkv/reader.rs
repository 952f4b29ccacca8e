//! Walks the clusters and gives the packets of one track.

use std::collections::VecDeque;

use symphonia::core::packet::{Packet, PacketBuilder};
use symphonia::core::units::{Duration, Timestamp};

use super::super::source::Next;
use super::ebml::{Element, children, element, signed, unsigned};
use super::header::{CLUSTER, CUES, INFO, Mkv, SEGMENT, TAGS, TRACKS};
use super::lacing::{BlockHeader, frames};
use super::search::{self, Cluster};
use super::tracks::{Kind, TrackEntry};

/// Length of a unit of the packets' timestamps: nanoseconds, whatever the file counts in.
pub(in super::super) const TICK_S: f64 = 1e-9;

/// Largest block of audio that is believed, bytes.
pub(super) const MAX_BLOCK_BYTES: u64 = 16 * 1024 * 1024;

const CLUSTER_TIME: u32 = 0xe7;
pub(super) const SIMPLE_BLOCK: u32 = 0xa3;
pub(super) const BLOCK_GROUP: u32 = 0xa0;
pub(super) const BLOCK: u32 = 0xa1;
const BLOCK_DURATION: u32 = 0x9b;
const DISCARD_PADDING: u32 = 0x75a2;

/// Elements that are stepped over: header, seek head, cues, chapters, tags, attachments, void,
/// checksum, position, previous size, silent tracks, encrypted block.
const KNOWN: [u32; 12] =
    [0x1a45_dfa3, 0x114d_9b74, CUES, 0x1043_a770, TAGS, 0x1941_a469, 0xec, 0xbf, 0xa7, 0xab, 0x5854, 0xaf];

/// Gives the packets of one track.
pub(in super::super) struct MkvReader {
    file: Mkv,
    track: TrackEntry,
    packets: VecDeque<Packet>,
    cluster: Option<Cluster>,
    /// Something was left out since the last packet.
    is_damaged: bool,
    /// First timestamp of a video track, seconds.
    pub(in super::super) others_start_s: Option<f64>,
}

impl MkvReader {
    /// Starts behind the headers.
    pub(super) fn new(file: Mkv, track: TrackEntry) -> Self {
        let packets = VecDeque::new();
        Self { file, track, packets, cluster: None, is_damaged: false, others_start_s: None }
    }

    /// The next packet of the track.
    pub(in super::super) fn next(&mut self) -> std::io::Result<Next> {
        loop {
            if !self.packets.is_empty() && std::mem::take(&mut self.is_damaged) {
                return Ok(Next::Damaged);
            }
            if let Some(packet) = self.packets.pop_front() {
                return Ok(Next::Packet(packet));
            }
            if self.file.at >= self.file.file.len() {
                return Ok(if self.is_damaged { Next::Broken } else { Next::End });
            }
            let is_over = |cluster: &Cluster| cluster.end.is_some_and(|end| self.file.at >= end);
            self.cluster = self.cluster.filter(|cluster| !is_over(cluster));
            let found = element(&self.file.file, self.file.at);
            if let Some(found) = found.filter(|found| self.is_sound(found)) {
                self.enter(&found)?;
                continue;
            }
            let (file, from) = (&self.file.file, self.file.at + 1);
            match search::find(file, from, self.track.number, self.cluster.as_ref())? {
                Some(at) => (self.file.at, self.is_damaged) = (at, true),
                None => return Ok(Next::Broken),
            }
        }
    }

    /// Whether the element can be what it says.
    fn is_sound(&self, found: &Element) -> bool {
        if matches!(found.id, SEGMENT | CLUSTER) {
            return true;
        }
        let file = &self.file.file;
        let end = found.size.and_then(|size| found.body.checked_add(size));
        let Some(end) = end.filter(|end| *end <= file.len()) else { return false };
        let cluster_end = self.cluster.and_then(|cluster| cluster.end);
        if cluster_end.is_some_and(|cluster_end| end > cluster_end) && !search::is_start(file, end) {
            return false;
        }
        match found.id {
            // A cluster has one clock.
            CLUSTER_TIME => self.cluster.is_none_or(|cluster| !cluster.has_time),
            SIMPLE_BLOCK | BLOCK_GROUP | INFO | TRACKS => true,
            id => KNOWN.contains(&id),
        }
    }

    fn enter(&mut self, found: &Element) -> std::io::Result<()> {
        let end = found.size.map(|size| found.body.saturating_add(size));
        match (found.id, found.size) {
            (CLUSTER, _) => self.cluster = Some(Cluster { end, has_time: false, latest: None }),
            (SEGMENT, _) | (_, None) => {}
            (CLUSTER_TIME | SIMPLE_BLOCK | BLOCK_GROUP, Some(size)) => self.content(found, size)?,
            _ => {}
        }
        self.file.at = end.filter(|_| !matches!(found.id, SEGMENT | CLUSTER)).unwrap_or(found.body);
        Ok(())
    }

    fn content(&mut self, found: &Element, size: u64) -> std::io::Result<()> {
        if found.id == CLUSTER_TIME {
            if let Some(cluster) = &mut self.cluster {
                cluster.has_time = true;
            }
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
        if let Some(cluster) = &mut self.cluster {
            cluster.latest = Some(header.time);
        }
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
}
