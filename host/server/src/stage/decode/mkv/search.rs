//! Finds the way back into a file behind damage: the next block of the same cluster, where the
//! cluster's clock still counts, or the next cluster.

use std::io;

use super::super::window::Window;
use super::ebml::{element, number};
use super::header::{CLUSTER, CUES, TAGS};
use super::lacing::BlockHeader;
use super::reader::{BLOCK, BLOCK_GROUP, MAX_BLOCK_BYTES, SIMPLE_BLOCK};

/// Bytes read at once: few, since damage can make one search follow close on the other.
const SEARCH_BYTES: usize = 4 * 1024;

/// Bytes of a block, and of the group around it, that are looked at.
const HEAD_BYTES: usize = 32;

/// How far blocks are searched where the end of the cluster is not known, bytes: the next cluster
/// may have lost its header, and its blocks would be taken for those of this one.
const MAX_SEARCH_BYTES: u64 = 16 * 1024;

/// The cluster that is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster {
    /// Unknown in what was recorded as a stream.
    pub(super) end: Option<u64>,
    /// Its clock has been read.
    pub(super) has_time: bool,
    /// Time of the track's latest block on that clock.
    pub(super) latest: Option<i16>,
}

/// What may be found.
enum Mark {
    Cluster,
    /// A block of the track, with its time.
    Block(i16),
}

/// Where to go on behind `from`: at a cluster, or at a block of `track` in `cluster`.
pub(super) fn find(
    file: &Window,
    from: u64,
    track: u64,
    cluster: Option<&Cluster>,
) -> io::Result<Option<u64>> {
    let latest = cluster.and_then(|cluster| cluster.latest);
    let mut blocks_end = match cluster {
        Some(cluster) if cluster.has_time => cluster.end.unwrap_or(from + MAX_SEARCH_BYTES),
        _ => 0,
    };
    let mut at = from;
    loop {
        let page = file.slice(at, SEARCH_BYTES)?;
        for offset in 0..page.len().min(SEARCH_BYTES - HEAD_BYTES) {
            let place = at + offset as u64;
            match mark(file, place, &page[offset..], track) {
                Some(Mark::Cluster) => return Ok(Some(place)),
                // Time that runs back is that of a cluster whose header is gone.
                Some(Mark::Block(time))
                    if place < blocks_end && latest.is_some_and(|latest| time <= latest) =>
                {
                    blocks_end = 0;
                }
                Some(Mark::Block(_)) if place < blocks_end => return Ok(Some(place)),
                _ => {}
            }
        }
        if page.len() < SEARCH_BYTES {
            return Ok(None);
        }
        at += (SEARCH_BYTES - HEAD_BYTES) as u64;
    }
}

/// What starts with `bytes` at `place`. A block must be followed by something that makes sense.
fn mark(file: &Window, place: u64, bytes: &[u8], track: u64) -> Option<Mark> {
    let (first, rest) = bytes.split_first()?;
    let block = match u32::from(*first) {
        SIMPLE_BLOCK => block(rest)?,
        BLOCK_GROUP => {
            let inside = rest.get(number(rest)?.1..)?;
            let (first, inside) = inside.split_first()?;
            if u32::from(*first) != BLOCK {
                return None;
            }
            block(inside)?
        }
        _ => return bytes.starts_with(&CLUSTER.to_be_bytes()).then_some(Mark::Cluster),
    };
    if block.track != track {
        return None;
    }
    let found = element(file, place)?;
    let size = found.size.filter(|size| *size <= MAX_BLOCK_BYTES)?;
    is_start(file, found.body.checked_add(size)?).then_some(Mark::Block(block.time))
}

/// The header of a block whose size comes first.
fn block(bytes: &[u8]) -> Option<BlockHeader> {
    BlockHeader::parse(bytes.get(number(bytes)?.1..)?)
}

/// Whether something that stands between blocks starts here, or the file ends.
pub(super) fn is_start(file: &Window, at: u64) -> bool {
    at == file.len()
        || element(file, at)
            .is_some_and(|found| matches!(found.id, SIMPLE_BLOCK | BLOCK_GROUP | CLUSTER | CUES | TAGS))
}
