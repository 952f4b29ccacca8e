//! Fragmented files: samples that are described next to their data (`moof`).

use std::collections::VecDeque;

use super::super::window::Window;
use super::boxes::{Box4, Boxes, Table, long_number, number, version};
use super::samples::Sample;

/// Most samples of a run whose rows are empty: they cost nothing in the file.
const MAX_ROWLESS: u32 = 1 << 16;

/// Values that fragments leave out, from `trex`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Defaults {
    length: u32,
    size_bytes: u32,
}

/// Walks the fragments of one track.
pub(super) struct Fragments {
    boxes: Boxes,
    track: u32,
    defaults: Defaults,
    clock: u64,
    samples: VecDeque<Sample>,
}

/// Fields of a `tfhd` or `trun` row that are present by flag.
struct Fields<'a> {
    bytes: &'a [u8],
    flags: u32,
}

impl Fields<'_> {
    fn take(&mut self, flag: u32, count: usize) -> Option<u64> {
        if self.flags & flag == 0 {
            return None;
        }
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }
}

impl Fragments {
    /// Fragments of `track` anywhere in `file`; `None` when `moov` announces none.
    pub(super) fn new(file: &Window, moov: &Window, track: u32) -> Option<Self> {
        let mvex = Boxes::find(moov, b"mvex")?;
        let trex = Boxes::new(&mvex, 0)
            .find(|found| &found.kind == b"trex" && number(&found.body, 4) == Some(track));
        let defaults = trex.map_or(Defaults::default(), |found| Defaults {
            length: number(&found.body, 12).unwrap_or(0),
            size_bytes: number(&found.body, 16).unwrap_or(0),
        });
        Some(Self { boxes: Boxes::new(file, 0), track, defaults, clock: 0, samples: VecDeque::new() })
    }

    /// The next sample; `None` after the last fragment.
    pub(super) fn next(&mut self) -> Option<Sample> {
        while self.samples.is_empty() {
            let moof = self.boxes.find(|found| &found.kind == b"moof")?;
            self.read(&moof);
        }
        self.samples.pop_front()
    }

    fn read(&mut self, moof: &Box4) {
        let mut data_end = moof.start;
        for traf in Boxes::new(&moof.body, 0).filter(|found| &found.kind == b"traf") {
            // What is damaged is left out; later fragments have their own clock.
            data_end = self.read_track(&traf.body, moof.start, data_end).unwrap_or(data_end);
        }
    }

    fn read_track(&mut self, traf: &Window, moof_start: u64, data_end: u64) -> Option<u64> {
        let tfhd = Boxes::find(traf, b"tfhd")?;
        let header = tfhd.slice(0, 64).ok()?;
        let mut fields = Fields { bytes: header.get(8..)?, flags: number(&tfhd, 0)? & 0xff_ffff };
        if number(&tfhd, 4)? != self.track {
            return Some(data_end);
        }
        let base = fields.take(0x1, 8);
        fields.take(0x2, 4);
        let length = fields.take(0x8, 4).unwrap_or(u64::from(self.defaults.length));
        let size_bytes = fields.take(0x10, 4).unwrap_or(u64::from(self.defaults.size_bytes));
        let is_moof_based = fields.flags & 0x2_0000 != 0;
        let base = base.unwrap_or(if is_moof_based { moof_start } else { data_end.max(moof_start) });
        if let Some(tfdt) = Boxes::find(traf, b"tfdt") {
            let start =
                if version(&tfdt)? == 1 { long_number(&tfdt, 4) } else { number(&tfdt, 4).map(u64::from) };
            self.clock = start.unwrap_or(self.clock);
        }
        let mut at = base;
        for trun in Boxes::new(traf, 0).filter(|found| &found.kind == b"trun") {
            at = self.read_run(&trun.body, base, at, length, size_bytes)?;
        }
        Some(at)
    }

    fn read_run(
        &mut self,
        trun: &Window,
        base: u64,
        follow: u64,
        length: u64,
        size_bytes: u64,
    ) -> Option<u64> {
        let flags = number(trun, 0)? & 0xff_ffff;
        let count = number(trun, 4)?;
        let header = trun.slice(8, 8).ok()?;
        let mut fields = Fields { bytes: &header, flags };
        let shift = fields.take(0x1, 4).map(|shift| i64::from((shift as u32).cast_signed()));
        fields.take(0x4, 4);
        let rows_start = 8 + (header.len() - fields.bytes.len()) as u64;
        let row_bytes = 4 * (flags & 0xf00).count_ones() as usize;
        let mut at = shift.map_or(Some(follow), |shift| base.checked_add_signed(shift))?;
        let mut rows = (row_bytes > 0).then(|| Table::new(trun, rows_start, row_bytes, count));
        let count = rows.as_ref().map_or(count.min(MAX_ROWLESS), Table::count);
        for row in 0..count {
            let bytes = match &mut rows {
                Some(rows) => rows.bytes(row)?,
                None => &[],
            };
            let mut fields = Fields { bytes, flags };
            let length = fields.take(0x100, 4).unwrap_or(length);
            let size_bytes = fields.take(0x200, 4).unwrap_or(size_bytes);
            self.samples.push_back(Sample { offset: at, size_bytes, start: self.clock, length });
            at = at.checked_add(size_bytes)?;
            self.clock = self.clock.checked_add(length)?;
        }
        Some(at)
    }
}
