//! Goes from fragment to fragment (`moof`) of a file, and finds the next one behind damage: a
//! wrong size must not end a recording.

use std::io;

use super::super::window::Window;
use super::boxes::{Box4, Boxes};

/// How every fragment begins behind its size: its name, then the box of its number.
const START: [u8; 12] = *b"moof\0\0\0\x10mfhd";

/// Bytes in front of that: the size.
const SIZE_BYTES: u64 = 4;

/// Boxes whose names are believed whatever size stands beside them.
const KNOWN: [&[u8; 4]; 14] = [
    b"ftyp", b"moov", b"moof", b"mdat", b"mfra", b"styp", b"sidx", b"ssix", b"prft", b"emsg", b"free",
    b"skip", b"uuid", b"meta",
];

/// Boxes inside a fragment.
const INSIDE: [&[u8; 4]; 7] = [b"mfhd", b"traf", b"pssh", b"meta", b"uuid", b"free", b"skip"];

/// Further ones that never stand outside: a wrong size has led into a fragment.
const DEEPER: [&[u8; 4]; 9] =
    [b"tfhd", b"tfdt", b"trun", b"sbgp", b"sgpd", b"subs", b"saiz", b"saio", b"senc"];

/// What the walk came to.
pub(super) enum Step {
    Fragment(Box4),
    End,
    /// Nothing makes sense any more up to the end of the file.
    Cut,
}

/// Walks the boxes of a file.
pub(super) struct Walk {
    file: Window,
    at: u64,
    /// The next sound belongs to a fragment, or to the tables of the index.
    is_described: bool,
    /// Something was stepped over that makes no sense.
    pub(super) is_damaged: bool,
}

impl Walk {
    /// From the start of `file`; `is_described` when its first sound needs no fragment.
    pub(super) fn new(file: &Window, is_described: bool) -> Self {
        Self { file: file.clone(), at: 0, is_described, is_damaged: false }
    }

    /// Goes on to the next fragment.
    pub(super) fn next(&mut self) -> io::Result<Step> {
        while self.at < self.file.len() {
            let found = Boxes::new(&self.file, self.at).next();
            let Some(found) = found.filter(|found| &found.kind == b"moof" || self.is_sound(found)) else {
                if self.search()? {
                    continue;
                }
                return Ok(Step::Cut);
            };
            match &found.kind {
                b"moof" => return Ok(Step::Fragment(self.enter(found))),
                b"mdat" => {
                    self.is_damaged |= !std::mem::take(&mut self.is_described);
                    // The last one may have no size; then nothing follows it.
                    if found.is_open && self.search()? {
                        continue;
                    }
                }
                _ => {}
            }
            self.at = found.end;
        }
        Ok(Step::End)
    }

    /// The fragment from here on; where its size is wrong, the boxes inside tell its end.
    fn enter(&mut self, found: Box4) -> Box4 {
        self.is_described = true;
        let body_start = found.start + 8;
        let end = if self.is_sound(&found) { found.end } else { self.end_of_inside(body_start) };
        self.at = end;
        Box4 { body: self.file.part(body_start, end - body_start), end, ..found }
    }

    fn end_of_inside(&self, at: u64) -> u64 {
        let inside = Boxes::new(&self.file, at);
        let fits = |found: &Box4| INSIDE.contains(&&found.kind) && found.end <= self.file.len();
        inside.take_while(fits).last().map_or(at, |last| last.end)
    }

    /// Whether another box follows it, or the end of the file.
    fn is_sound(&self, found: &Box4) -> bool {
        if found.end == self.file.len() {
            return !found.is_open || &found.kind == b"mdat";
        }
        let Some(next) = Boxes::new(&self.file, found.end).next() else { return false };
        let is_name = next.kind.iter().all(|byte| matches!(byte, b' '..=b'~'));
        let is_inner = [b"mfhd", b"traf"].contains(&&next.kind) || DEEPER.contains(&&next.kind);
        KNOWN.contains(&&next.kind) || is_name && !is_inner && next.end <= self.file.len()
    }

    /// Goes to the next fragment behind this place, whatever lies between.
    fn search(&mut self) -> io::Result<bool> {
        let Some(found) = self.file.find(self.at + 1 + SIZE_BYTES, &START)? else { return Ok(false) };
        (self.at, self.is_damaged) = (found - SIZE_BYTES, true);
        Ok(true)
    }
}
