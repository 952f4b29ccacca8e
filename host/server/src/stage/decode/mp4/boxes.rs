//! Walks the boxes of ISO base media files (ISO/IEC 14496-12, section 4.2).

use super::super::window::Window;

/// Bytes of a table that are read at once.
const PAGE_BYTES: usize = 16 * 1024;

/// One box: its type, where it starts and ends in its parent, and its body.
#[derive(Debug, Clone)]
pub(super) struct Box4 {
    pub(super) kind: [u8; 4],
    pub(super) start: u64,
    /// As its header says; may lie behind the end of the parent, where the body does not.
    pub(super) end: u64,
    /// Its header says no more than that nothing follows.
    pub(super) is_open: bool,
    pub(super) body: Window,
}

/// The boxes inside a body, or of a whole file, one after another; ends at the first that makes
/// no sense.
pub(super) struct Boxes {
    inside: Window,
    at: u64,
}

impl Boxes {
    /// From `at` on.
    pub(super) fn new(inside: &Window, at: u64) -> Self {
        Self { inside: inside.clone(), at }
    }

    /// Whether the boxes so far fill the parent to its end.
    pub(super) fn is_whole(&self) -> bool {
        self.at == self.inside.len()
    }

    /// Finds the first box of this type.
    pub(super) fn find(inside: &Window, kind: &[u8; 4]) -> Option<Window> {
        Self::new(inside, 0).next_of(kind).map(|found| found.body)
    }

    /// Goes on to the next box of this type.
    pub(super) fn next_of(&mut self, kind: &[u8; 4]) -> Option<Box4> {
        self.find(|found| &found.kind == kind)
    }

    /// Follows a path of types.
    pub(super) fn path(inside: &Window, kinds: &[&[u8; 4]]) -> Option<Window> {
        kinds.iter().try_fold(inside.clone(), |body, kind| Self::find(&body, kind))
    }
}

impl Iterator for Boxes {
    type Item = Box4;

    fn next(&mut self) -> Option<Box4> {
        let header = self.inside.slice(self.at, 16).ok()?;
        let short = u64::from(u32::from_be_bytes(*header.first_chunk()?));
        let kind = *header.get(4..)?.first_chunk()?;
        let (header_bytes, size) = match short {
            0 => (8, self.inside.len() - self.at),
            1 => (16, u64::from_be_bytes(*header.get(8..)?.first_chunk()?)),
            size => (8, size),
        };
        if size < header_bytes {
            return None;
        }
        let end = self.at.checked_add(size)?;
        let found = Box4 {
            kind,
            start: self.at,
            end,
            is_open: short == 0,
            body: self.inside.part(self.at + header_bytes, size - header_bytes),
        };
        self.at = end;
        Some(found)
    }
}

/// A table of fixed-size rows that is read page by page, so that hours of audio need no more
/// memory than minutes.
#[derive(Debug)]
pub(super) struct Table {
    rows: Window,
    row_bytes: usize,
    count: u32,
    page: Vec<u8>,
    page_start: u64,
}

impl Table {
    /// `count` rows from `offset` on; fewer when the box is too short for them.
    pub(super) fn new(body: &Window, offset: u64, row_bytes: usize, count: u32) -> Self {
        let rows = body.part(offset, u64::MAX);
        let fitting = u32::try_from(rows.len() / row_bytes as u64).unwrap_or(u32::MAX);
        Self { rows, row_bytes, count: count.min(fitting), page: Vec::new(), page_start: 0 }
    }

    /// The table behind version, flags and a row count.
    pub(super) fn counted(body: &Window, row_bytes: usize) -> Option<Self> {
        Some(Self::new(body, 8, row_bytes, number(body, 4)?))
    }

    /// Rows that exist.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Field `field` (counted in units of 4 bytes) of row `row`.
    pub(super) fn get(&mut self, row: u32, field: usize) -> Option<u32> {
        self.bytes(row).and_then(|bytes| Some(u32::from_be_bytes(*bytes.get(4 * field..)?.first_chunk()?)))
    }

    /// The bytes of row `row`.
    pub(super) fn bytes(&mut self, row: u32) -> Option<&[u8]> {
        if row >= self.count {
            return None;
        }
        let at = u64::from(row) * self.row_bytes as u64;
        let is_inside =
            at >= self.page_start && at + self.row_bytes as u64 <= self.page_start + self.page.len() as u64;
        if !is_inside {
            self.page = self.rows.slice(at, PAGE_BYTES).ok()?;
            self.page_start = at;
        }
        let start = (at - self.page_start) as usize;
        self.page.get(start..start + self.row_bytes)
    }
}

/// A 32-bit number at `offset`.
pub(super) fn number(body: &Window, offset: u64) -> Option<u32> {
    body.slice(offset, 4).ok()?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// A 64-bit number at `offset`.
pub(super) fn long_number(body: &Window, offset: u64) -> Option<u64> {
    body.slice(offset, 8).ok()?.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

/// The version of a box that has one.
pub(super) fn version(body: &Window) -> Option<u8> {
    body.slice(0, 1).ok()?.first().copied()
}
