//! The sample tables of a track: where each packet lies and when it plays.

use super::super::window::Window;
use super::boxes::{Boxes, Table, number};

/// One packet, or several uncompressed frames in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) offset: u64,
    pub(super) size_bytes: u64,
    /// On the track's clock.
    pub(super) start: u64,
    pub(super) length: u64,
}

#[derive(Debug)]
enum Offsets {
    Short(Table),
    Long(Table),
}

impl Offsets {
    fn get(&mut self, chunk: u32) -> Option<u64> {
        match self {
            Self::Short(table) => table.get(chunk, 0).map(u64::from),
            Self::Long(table) => Some(u64::from_be_bytes(*table.bytes(chunk)?.first_chunk()?)),
        }
    }
}

#[derive(Debug)]
enum Sizes {
    Constant(u64),
    Each(Table),
}

/// Walks the tables of one `stbl` box.
#[derive(Debug)]
pub(super) struct SampleTable {
    times: Table,
    time_row: u32,
    left_in_row: u32,
    groups: Table,
    group_row: u32,
    sizes: Sizes,
    count: u32,
    offsets: Offsets,
    chunk: u32,
    left_in_chunk: u32,
    offset: u64,
    sample: u32,
    clock: u64,
    frames_at_once: u32,
}

impl SampleTable {
    /// `frame_bytes` is set for uncompressed audio: its samples are single frames of that size,
    /// and up to `frames_at_once` of them are joined.
    pub(super) fn new(stbl: &Window, frame_bytes: Option<u64>, frames_at_once: u32) -> Option<Self> {
        let stsz = Boxes::find(stbl, b"stsz")?;
        let (constant, count) = (number(&stsz, 4)?, number(&stsz, 8)?);
        let sizes = match (frame_bytes, constant) {
            (Some(bytes), _) => Sizes::Constant(bytes),
            (None, 0) => Sizes::Each(Table::new(&stsz, 12, 4, count)),
            (None, bytes) => Sizes::Constant(u64::from(bytes)),
        };
        let short = Boxes::find(stbl, b"stco").and_then(|body| Table::counted(&body, 4)).map(Offsets::Short);
        let long = || Boxes::find(stbl, b"co64").and_then(|body| Table::counted(&body, 8)).map(Offsets::Long);
        Some(Self {
            times: Table::counted(&Boxes::find(stbl, b"stts")?, 8)?,
            time_row: 0,
            left_in_row: 0,
            groups: Table::counted(&Boxes::find(stbl, b"stsc")?, 12)?,
            group_row: 0,
            sizes,
            count,
            offsets: short.or_else(long)?,
            chunk: 0,
            left_in_chunk: 0,
            offset: 0,
            sample: 0,
            clock: 0,
            frames_at_once: if frame_bytes.is_some() { frames_at_once } else { 1 },
        })
    }

    /// The next sample; `None` when any of the tables ends.
    pub(super) fn next(&mut self) -> Option<Sample> {
        if self.sample >= self.count {
            return None;
        }
        self.enter_chunk()?;
        while self.left_in_row == 0 {
            self.left_in_row = self.times.get(self.time_row, 0)?;
            self.time_row += 1;
        }
        let joined =
            self.frames_at_once.min(self.left_in_chunk).min(self.left_in_row).min(self.count - self.sample);
        let each = match &mut self.sizes {
            Sizes::Constant(bytes) => *bytes,
            Sizes::Each(table) => u64::from(table.get(self.sample, 0)?),
        };
        let sample = Sample {
            offset: self.offset,
            size_bytes: each * u64::from(joined),
            start: self.clock,
            length: u64::from(self.times.get(self.time_row - 1, 1)?) * u64::from(joined),
        };
        self.sample += joined;
        self.left_in_chunk -= joined;
        self.left_in_row -= joined;
        self.offset = self.offset.checked_add(sample.size_bytes)?;
        self.clock = self.clock.checked_add(sample.length)?;
        Some(sample)
    }

    /// Whether there are no samples in it, as in the index of a fragmented file.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn enter_chunk(&mut self) -> Option<()> {
        while self.left_in_chunk == 0 {
            self.offset = self.offsets.get(self.chunk)?;
            // A row holds from its first chunk (counted from 1) to that of the next row.
            let next_first = self.groups.get(self.group_row + 1, 0);
            if next_first.is_some_and(|first| first <= self.chunk + 1) {
                self.group_row += 1;
            }
            self.left_in_chunk = self.groups.get(self.group_row, 1)?;
            self.chunk += 1;
        }
        Some(())
    }
}
