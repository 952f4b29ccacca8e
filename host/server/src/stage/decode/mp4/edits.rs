//! The edit list of a track: when it starts, and which part of it plays.

use super::super::window::Window;
use super::boxes::{Boxes, Table, version};

/// Most entries that are looked at.
const MAX_ENTRIES: u32 = 1024;

/// What an edit list comes down to: a pause, then one stretch of the media. Lists that play
/// several stretches are read as their first to their last sample, so that no speech is lost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Edits {
    /// Pause before the track starts.
    pub(super) offset_s: f64,
    /// First unit of the media that plays, on the track's clock.
    pub(super) media_start: u64,
    /// Length of the stretch, when there is exactly one.
    pub(super) length_s: Option<f64>,
}

impl Edits {
    /// Reads the list of `trak`; lengths are in units of the movie's clock, `movie_rate` a second.
    pub(super) fn read(trak: &Window, movie_rate: u32) -> Self {
        Self::parse(trak, movie_rate).unwrap_or_default()
    }

    fn parse(trak: &Window, movie_rate: u32) -> Option<Self> {
        let elst = Boxes::path(trak, &[b"edts", b"elst"])?;
        let is_long = version(&elst)? == 1;
        let mut rows = Table::counted(&elst, if is_long { 20 } else { 12 })?;
        let mut edits = Self::default();
        let mut stretches = 0;
        for row in 0..rows.count().min(MAX_ENTRIES) {
            let (length, start) = entry(rows.bytes(row)?, is_long)?;
            let length_s = length as f64 / f64::from(movie_rate);
            match u64::try_from(start) {
                Err(_) if stretches == 0 => edits.offset_s += length_s,
                Err(_) => {}
                Ok(start) => {
                    edits.media_start = if stretches == 0 { start } else { edits.media_start.min(start) };
                    edits.length_s = (stretches == 0 && length > 0).then_some(length_s);
                    stretches += 1;
                }
            }
        }
        Some(edits)
    }
}

/// Length and media time of an entry; a negative media time is a pause.
fn entry(row: &[u8], is_long: bool) -> Option<(u64, i64)> {
    Some(if is_long {
        (u64::from_be_bytes(*row.first_chunk()?), i64::from_be_bytes(*row.get(8..)?.first_chunk()?))
    } else {
        let start = i32::from_be_bytes(*row.get(4..)?.first_chunk()?);
        (u64::from(u32::from_be_bytes(*row.first_chunk()?)), i64::from(start))
    })
}
