//! Damaged pages of Ogg at which the library's reader gives up a whole recording.
//!
//! It passes over a page with a wrong checksum anywhere but between the first page of a recording
//! and its first page of sound. There such pages are hidden from it, so that it finds the next.

use std::collections::BTreeSet;
use std::io;

use super::super::window::Window;

/// What every page starts with.
const CAPTURE: &[u8; 4] = b"OggS";

/// Bytes of a page before the lengths of its segments.
const HEAD_BYTES: usize = 27;

/// Most pages that are looked at: more than a day of sound, or a file that is made to be slow.
const MOST_PAGES: usize = 1 << 20;

/// Most pages whose checksum is worked out, and most of them that are hidden: a file that is made
/// to be slow has no more of either.
const MOST_CHECKED: usize = 1024;
const MOST_HIDDEN: usize = 64;

/// Bit of a page that begins a recording.
const IS_FIRST: u8 = 0x02;

struct Page {
    length: usize,
    is_first: bool,
    /// Samples before the end of the page; 0 where it has headers, -1 where no packet ends.
    granule: i64,
    serial: [u8; 4],
}

/// A file as the reader takes it.
pub(super) struct Readable {
    /// Without the pages at which it would stop.
    pub(super) body: Window,
    /// A recording, or its start, cannot be read.
    pub(super) is_lost: bool,
    /// That is the first recording.
    pub(super) is_late: bool,
}

/// Hides what the reader would stop at.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn readable(mut body: Window) -> io::Result<Readable> {
    let mut known = BTreeSet::new();
    let (mut at, mut checked, mut hidden) = (0, 0, 0);
    let (mut is_opening, mut is_first) = (false, true);
    let (mut is_lost, mut is_late) = (false, false);
    for _ in 0..MOST_PAGES {
        let Some(page) = page(&body, at)? else {
            match body.find(at + 1, CAPTURE)? {
                Some(next) => at = next,
                None => break,
            }
            continue;
        };
        is_opening |= page.is_first;
        let is_checked = is_opening && checked < MOST_CHECKED && hidden < MOST_HIDDEN;
        checked += usize::from(is_checked);
        if is_checked && !is_whole(&body.slice(at, page.length)?) {
            (is_lost, is_late) = (true, is_late | is_first);
            body = body.patched(at, &[0; CAPTURE.len()]);
            hidden += 1;
            // Its length may be wrong as well.
            at += 1;
            continue;
        }
        if page.is_first {
            known.insert(page.serial);
        } else {
            // Of a recording without its first page the reader takes nothing.
            is_lost |= !known.contains(&page.serial);
            is_opening &= page.granule <= 0;
            is_first &= page.granule <= 0;
        }
        at += page.length as u64;
    }
    Ok(Readable { body, is_lost, is_late })
}

/// The page at `at`, if one starts there.
fn page(body: &Window, at: u64) -> io::Result<Option<Page>> {
    let head = body.slice(at, HEAD_BYTES + 255)?;
    let Some((fixed, segments)) = head.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let count = usize::from(fixed[26]);
    let Some(segments) = segments.get(..count).filter(|_| fixed.starts_with(CAPTURE)) else {
        return Ok(None);
    };
    let sound: usize = segments.iter().map(|segment| usize::from(*segment)).sum();
    let [_, _, _, _, _, flags, g0, g1, g2, g3, g4, g5, g6, g7, s0, s1, s2, s3, ..] = *fixed;
    Ok(Some(Page {
        length: HEAD_BYTES + count + sound,
        is_first: flags & IS_FIRST != 0,
        granule: i64::from_le_bytes([g0, g1, g2, g3, g4, g5, g6, g7]),
        serial: [s0, s1, s2, s3],
    }))
}

/// Whether a page has the checksum that it says.
fn is_whole(page: &[u8]) -> bool {
    let mut blank = page.to_vec();
    let Some(stated) = blank.get_mut(22..26) else { return false };
    let sum = [stated[0], stated[1], stated[2], stated[3]];
    stated.fill(0);
    checksum(&blank).to_le_bytes() == sum
}

/// The checksum of a page whose own field is zero (RFC 3533, section 6): polynomial 0x04c11db7,
/// neither reflected nor inverted.
pub(super) fn checksum(page: &[u8]) -> u32 {
    page.iter().fold(0, |sum: u32, byte| {
        (0..8).fold(sum ^ u32::from(*byte) << 24, |sum, _| {
            if sum >> 31 == 0 { sum << 1 } else { sum << 1 ^ 0x04c1_1db7 }
        })
    })
}
