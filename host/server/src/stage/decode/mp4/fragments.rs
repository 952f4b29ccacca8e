//! Fragmented files: samples that are described next to their data (`moof`), found one at a time:
//! a run without rows takes 16 bytes in the file and may describe any number of them.

use super::super::window::Window;
use super::boxes::{Boxes, Table, long_number, number, version};
use super::samples::Sample;

/// What is left out of a sample's own row.
#[derive(Debug, Clone, Copy, Default)]
struct Defaults {
    length: u64,
    size_bytes: u64,
}

/// Walks the fragments of one track.
pub(super) struct Fragments {
    track: u32,
    defaults: Defaults,
    fragments: Boxes,
    /// Where the fragment that is read starts, and the tracks in it.
    fragment_start: u64,
    parts: Boxes,
    part: Option<Part>,
    run: Option<Run>,
    /// Where the next sample lies and when it plays, unless the next run or part says otherwise.
    offset: u64,
    clock: u64,
}

/// The samples of the track in one fragment (`traf`).
struct Part {
    base: u64,
    defaults: Defaults,
    runs: Boxes,
}

/// Samples whose data lies in a row (`trun`).
struct Run {
    flags: u32,
    defaults: Defaults,
    /// None when every sample is as the defaults say.
    rows: Option<Table>,
    row: u32,
    count: u32,
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
    /// Fragments of `track` anywhere in `file`, which `mvex` announces.
    pub(super) fn new(file: &Window, mvex: &Window, track: u32) -> Self {
        let trex =
            Boxes::new(mvex, 0).find(|found| &found.kind == b"trex" && number(&found.body, 4) == Some(track));
        let defaults = trex.map_or(Defaults::default(), |found| Defaults {
            length: number(&found.body, 12).unwrap_or(0).into(),
            size_bytes: number(&found.body, 16).unwrap_or(0).into(),
        });
        Self {
            track,
            defaults,
            fragments: Boxes::new(file, 0),
            fragment_start: 0,
            parts: Boxes::new(file, file.len()),
            part: None,
            run: None,
            offset: 0,
            clock: 0,
        }
    }

    /// The next sample; `None` after the last fragment.
    pub(super) fn next(&mut self) -> Option<Sample> {
        loop {
            if let Some(sample) = self.sample() {
                return Some(sample);
            }
            self.run = None;
            if let Some(trun) = self.part.as_mut().and_then(|part| part.runs.next_of(b"trun")) {
                self.run = self.enter_run(&trun.body);
                if self.run.is_none() {
                    // What is damaged is left out; later fragments have their own clock.
                    self.part = None;
                }
            } else if let Some(traf) = self.parts.next_of(b"traf") {
                self.part = self.enter_part(&traf.body);
            } else {
                let moof = self.fragments.next_of(b"moof")?;
                (self.fragment_start, self.offset) = (moof.start, moof.start);
                self.parts = Boxes::new(&moof.body, 0);
            }
        }
    }

    fn enter_part(&mut self, traf: &Window) -> Option<Part> {
        let tfhd = Boxes::find(traf, b"tfhd")?;
        let header = tfhd.slice(0, 64).ok()?;
        let mut fields = Fields { bytes: header.get(8..)?, flags: number(&tfhd, 0)? & 0xff_ffff };
        if number(&tfhd, 4)? != self.track {
            return None;
        }
        let base = fields.take(0x1, 8);
        fields.take(0x2, 4);
        let defaults = Defaults {
            length: fields.take(0x8, 4).unwrap_or(self.defaults.length),
            size_bytes: fields.take(0x10, 4).unwrap_or(self.defaults.size_bytes),
        };
        let is_moof_based = fields.flags & 0x2_0000 != 0;
        let base = base.unwrap_or(if is_moof_based { self.fragment_start } else { self.offset });
        self.offset = base;
        if let Some(tfdt) = Boxes::find(traf, b"tfdt") {
            let start =
                if version(&tfdt)? == 1 { long_number(&tfdt, 4) } else { number(&tfdt, 4).map(u64::from) };
            self.clock = start.unwrap_or(self.clock);
        }
        Some(Part { base, defaults, runs: Boxes::new(traf, 0) })
    }

    fn enter_run(&mut self, trun: &Window) -> Option<Run> {
        let Part { base, defaults, .. } = *self.part.as_ref()?;
        let flags = number(trun, 0)? & 0xff_ffff;
        let count = number(trun, 4)?;
        let header = trun.slice(8, 8).ok()?;
        let mut fields = Fields { bytes: &header, flags };
        if let Some(shift) = fields.take(0x1, 4) {
            self.offset = base.checked_add_signed((shift as u32).cast_signed().into())?;
        }
        fields.take(0x4, 4);
        let rows_start = 8 + (header.len() - fields.bytes.len()) as u64;
        let row_bytes = 4 * (flags & 0xf00).count_ones() as usize;
        let rows = (row_bytes > 0).then(|| Table::new(trun, rows_start, row_bytes, count));
        let count = rows.as_ref().map_or(count, Table::count);
        Some(Run { flags, defaults, rows, row: 0, count })
    }

    fn sample(&mut self) -> Option<Sample> {
        let run = self.run.as_mut().filter(|run| run.row < run.count)?;
        let bytes = match &mut run.rows {
            Some(rows) => rows.bytes(run.row)?,
            None => &[],
        };
        let mut fields = Fields { bytes, flags: run.flags };
        let length = fields.take(0x100, 4).unwrap_or(run.defaults.length);
        let size_bytes = fields.take(0x200, 4).unwrap_or(run.defaults.size_bytes);
        let sample = Sample { offset: self.offset, size_bytes, start: self.clock, length };
        run.row += 1;
        self.offset = self.offset.checked_add(size_bytes)?;
        self.clock = self.clock.checked_add(length)?;
        Some(sample)
    }
}
