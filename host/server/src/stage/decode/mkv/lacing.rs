//! Blocks: which track, when, and the frames that are laced into one (RFC 9559, section 10).

use super::ebml::number;

/// The fixed start of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockHeader {
    pub(super) track: u64,
    /// Relative to the cluster.
    pub(super) time: i16,
    lacing: u8,
    bytes: usize,
}

impl BlockHeader {
    /// Reads the first bytes of a block.
    pub(super) fn parse(block: &[u8]) -> Option<Self> {
        let (track, length) = number(block)?;
        let time = i16::from_be_bytes(*block.get(length..)?.first_chunk()?);
        let lacing = block.get(length + 2)? >> 1 & 3;
        Some(Self { track, time, lacing, bytes: length + 3 })
    }
}

/// The frames of a block; empty when the sizes do not fit.
pub(super) fn frames<'a>(header: &BlockHeader, block: &'a [u8]) -> Vec<&'a [u8]> {
    let Some(body) = block.get(header.bytes..) else { return Vec::new() };
    if header.lacing == 0 {
        return vec![body];
    }
    laced(header.lacing, body).unwrap_or_default()
}

fn laced(lacing: u8, body: &[u8]) -> Option<Vec<&[u8]>> {
    let (count, mut rest) = body.split_first()?;
    let others = usize::from(*count);
    let sizes = match lacing {
        1 => xiph_sizes(&mut rest, others)?,
        3 => ebml_sizes(&mut rest, others)?,
        _ => vec![rest.len() / (others + 1); others],
    };
    let mut frames = Vec::with_capacity(others + 1);
    for size in sizes {
        let (frame, after) = rest.split_at_checked(size)?;
        frames.push(frame);
        rest = after;
    }
    frames.push(rest);
    Some(frames)
}

/// Sums of bytes up to one below 255; also used by the headers of Vorbis.
pub(super) fn xiph_sizes(rest: &mut &[u8], count: usize) -> Option<Vec<usize>> {
    let mut sizes = Vec::with_capacity(count);
    for _ in 0..count {
        let mut size = 0;
        loop {
            let (byte, after) = rest.split_first()?;
            *rest = after;
            size += usize::from(*byte);
            if *byte < 255 {
                break;
            }
        }
        sizes.push(size);
    }
    Some(sizes)
}

/// One size, then differences with a bias.
fn ebml_sizes(rest: &mut &[u8], count: usize) -> Option<Vec<usize>> {
    let mut sizes: Vec<usize> = Vec::with_capacity(count);
    for _ in 0..count {
        let (value, length) = number(rest)?;
        *rest = &rest[length..];
        let value = value.cast_signed();
        let size = match sizes.last() {
            None => value,
            Some(last) => {
                let bias = (1i64 << (7 * length - 1)) - 1;
                i64::try_from(*last).ok()?.checked_add(value - bias)?
            }
        };
        sizes.push(usize::try_from(size).ok()?);
    }
    Some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(block: &[u8]) -> Vec<&[u8]> {
        frames(&BlockHeader::parse(block).expect("header"), block)
    }

    #[test]
    fn a_plain_block_is_one_frame() {
        let header = BlockHeader::parse(&[0x81, 0xff, 0xfe, 0x80, 1, 2]).expect("header");
        assert_eq!((header.track, header.time), (1, -2));
        assert_eq!(split(&[0x81, 0, 0, 0x80, 1, 2]), [[1, 2]]);
    }

    #[test]
    fn laced_blocks_are_taken_apart() {
        assert_eq!(split(&[0x81, 0, 0, 0x02, 1, 1, 7, 8, 9]), [&[7][..], &[8, 9]]);
        assert_eq!(split(&[0x81, 0, 0, 0x04, 1, 7, 8, 9, 10]), [[7, 8], [9, 10]]);
        // Sizes 2, then 2 - 1 = 1, then the rest.
        assert_eq!(split(&[0x81, 0, 0, 0x06, 2, 0x82, 0xbe, 7, 8, 9, 10]), [&[7, 8][..], &[9], &[10]]);
    }

    #[test]
    fn sizes_that_do_not_fit_give_nothing() {
        assert!(split(&[0x81, 0, 0, 0x02, 1, 200, 7]).is_empty());
        assert!(split(&[0x81, 0, 0, 0x06, 3, 0x82]).is_empty());
        assert_eq!(BlockHeader::parse(&[0x81, 0]), None);
    }
}
