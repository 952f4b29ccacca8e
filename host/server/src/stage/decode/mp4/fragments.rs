//! Fragmented files: samples that are described next to their data (`moof`), found one at a time:
//! a run without rows takes 16 bytes in the file and may describe any number of them.

use std::io;

use super::super::window::Window;
use super::boxes::{Boxes, Table, long_number, number, version};
use super::samples::Sample;
use super::search::{Step, Walk};

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
    walk: Walk,
    /// Where the fragment that is read starts, and the tracks in it.
    fragment_start: u64,
    parts: Boxes,
    has_parts: bool,
    part: Option<Part>,
    run: Option<Run>,
    /// Where the next sample lies and when it plays, unless the next run or part says otherwise.
    offset: u64,
    clock: u64,
    is_damaged: bool,
}

/// What comes next.
pub(super) enum Found {
    Sample(Sample),
    End,
    /// The file is damaged from here to its end.
    Cut,
}

/// The samples of the track in one fragment (`traf`).
struct Part {
    base: u64,
    defaults: Defaults,
    runs: Boxes,
    has_samples: bool,
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

/// Flags of a `tfhd`, its track, and what is present by flag.
fn part_header(tfhd: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (flags, rest) = tfhd.split_first_chunk()?;
    let (track, fields) = rest.split_first_chunk()?;
    Some((u32::from_be_bytes(*flags) & 0xff_ffff, u32::from_be_bytes(*track), fields))
}

impl Fragments {
    /// Fragments of `track` anywhere in `file`, which `mvex` announces; `has_table` when the index
    /// describes samples as well.
    pub(super) fn new(file: &Window, mvex: &Window, track: u32, has_table: bool) -> Self {
        let trex =
            Boxes::new(mvex, 0).find(|found| &found.kind == b"trex" && number(&found.body, 4) == Some(track));
        let defaults = trex.map_or(Defaults::default(), |found| Defaults {
            length: number(&found.body, 12).unwrap_or(0).into(),
            size_bytes: number(&found.body, 16).unwrap_or(0).into(),
        });
        Self {
            track,
            defaults,
            walk: Walk::new(file, has_table),
            fragment_start: 0,
            parts: Boxes::new(file, file.len()),
            has_parts: true,
            part: None,
            run: None,
            offset: 0,
            clock: 0,
            is_damaged: false,
        }
    }

    /// Whether something was left out since the last question.
    pub(super) fn take_damage(&mut self) -> bool {
        std::mem::take(&mut self.is_damaged) | std::mem::take(&mut self.walk.is_damaged)
    }

    /// The next sample. What is damaged is left out; later fragments have their own clock.
    pub(super) fn next(&mut self) -> io::Result<Found> {
        loop {
            if let Some(sample) = self.sample() {
                return Ok(Found::Sample(sample));
            }
            self.run = None;
            if let Some(trun) = self.part.as_mut().and_then(|part| part.runs.next_of(b"trun")) {
                self.run = self.enter_run(&trun.body);
                if self.run.is_none() {
                    (self.part, self.is_damaged) = (None, true);
                }
                continue;
            }
            if let Some(part) = self.part.take() {
                self.is_damaged |= !part.has_samples || !part.runs.is_whole();
            }
            if let Some(traf) = self.parts.next_of(b"traf") {
                self.has_parts = true;
                self.part = self.enter_part(&traf.body);
                continue;
            }
            self.is_damaged |= !self.has_parts || !self.parts.is_whole();
            match self.walk.next()? {
                Step::Fragment(moof) => {
                    (self.fragment_start, self.offset) = (moof.start, moof.start);
                    (self.parts, self.has_parts) = (Boxes::new(&moof.body, 0), false);
                }
                Step::End => return Ok(Found::End),
                Step::Cut => return Ok(Found::Cut),
            }
        }
    }

    /// `None` when it belongs to another track, or cannot be read.
    fn enter_part(&mut self, traf: &Window) -> Option<Part> {
        let header = Boxes::find(traf, b"tfhd").and_then(|tfhd| tfhd.slice(0, 64).ok());
        let Some((flags, track, fields)) = header.as_deref().and_then(part_header) else {
            self.is_damaged = true;
            return None;
        };
        if track != self.track {
            return None;
        }
        let mut fields = Fields { bytes: fields, flags };
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
        // A flag says that there is nothing in it.
        Some(Part { base, defaults, runs: Boxes::new(traf, 0), has_samples: fields.flags & 0x1_0000 != 0 })
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
        let held = rows.as_ref().map_or(count, Table::count);
        self.is_damaged |= held < count;
        self.part.as_mut()?.has_samples = true;
        Some(Run { flags, defaults, rows, row: 0, count: held })
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
