//! FLAC files: their metadata, and where the next one begins when several were put one after the
//! other.

use std::io;

use super::super::error::DecodeError;
use super::super::window::Window;

/// Most blocks of metadata; usual files have less than ten.
const MAX_BLOCKS: usize = 128;

/// Kind of a block that is skipped (RFC 9639, section 8.1), and the bit that marks the last.
const PADDING: u8 = 1;
const LAST: u8 = 0x80;

/// Bytes of the marker and of the only block that every file has, which is the first: less
/// cannot lie between two beginnings.
const LEAST_BYTES: u64 = 42;

/// Bytes read at once: few, since beginnings may follow close on each other.
const BLOCK_BYTES: usize = 64 * 1024;

/// Bytes of a beginning that are compared.
const START_BYTES: usize = 8;

/// Parts `body` in front of the second beginning.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn first(body: &Window) -> io::Result<(Window, Option<Window>)> {
    let mut at = LEAST_BYTES;
    loop {
        let bytes = body.slice(at, BLOCK_BYTES)?;
        if let Some(found) = bytes.windows(START_BYTES).position(is_start) {
            let end = at + found as u64;
            return Ok((body.part(0, end), Some(body.part(end, u64::MAX))));
        }
        if bytes.len() < BLOCK_BYTES {
            return Ok((body.clone(), None));
        }
        at += (BLOCK_BYTES - START_BYTES + 1) as u64;
    }
}

/// Calls all metadata behind the stream's description padding. Nothing of it is needed here, and
/// the reader would keep pictures and tags in memory and sort a seek table, which takes minutes
/// where it is in disorder.
///
/// # Errors
/// When there are too many blocks, or the file cannot be read.
pub(super) fn without_metadata(mut body: Window) -> Result<Window, DecodeError> {
    let mut at = 4;
    for index in 0..MAX_BLOCKS {
        let header = body.slice(at, 4).map_err(DecodeError::Read)?;
        let Some(&[kind, size @ ..]) = header.first_chunk::<4>() else { return Ok(body) };
        if index > 0 {
            body = body.patched(at, &[kind & LAST | PADDING]);
        }
        if kind & LAST != 0 {
            return Ok(body);
        }
        at += 4 + size.iter().fold(0, |size, byte| size << 8 | u64::from(*byte));
    }
    Err(DecodeError::BadHeader(format!("it has more than {MAX_BLOCKS} blocks of metadata")))
}

/// Marker, kind of block (0, with a bit for the last one) and its length of 34 bytes (RFC 9639,
/// sections 6 and 8): 63 bits that compressed sound does not show by chance.
fn is_start(bytes: &[u8]) -> bool {
    bytes[0] == b'f' && bytes.starts_with(b"fLaC") && bytes[4] & 0x7f == 0 && bytes[5..] == [0, 0, 34]
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn parts(content: &[u8]) -> (u64, Option<u64>) {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        let (first, rest) = first(&Window::whole(file).unwrap()).unwrap();
        (first.len(), rest.map(|rest| rest.len()))
    }

    #[test]
    fn metadata_is_padding_to_the_reader() {
        let made = |blocks: &[&[u8]]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&[&[&b"fLaC\0\0\0\x02ab"[..]], blocks].concat().concat()).unwrap();
            without_metadata(Window::whole(file).unwrap())
        };
        let read = made(&[b"\x03\0\0\x01c", b"\x84\0\0\x02de", b"\x03"]).unwrap();
        assert_eq!(read.slice(4, 99).unwrap(), b"\0\0\0\x02ab\x01\0\0\x01c\x81\0\0\x02de\x03");
        assert!(made(&[b"\x03\0\0\x09c"]).is_ok());
        let many = made(&[&b"\x01\0\0\0".repeat(1000)]).unwrap_err().to_string();
        assert!(many.ends_with("more than 128 blocks of metadata"), "{many}");
    }

    #[test]
    fn a_second_beginning_is_found_wherever_it_lies() {
        let start = b"fLaC\x00\x00\x00\x22";
        for gap in [50, BLOCK_BYTES + 30, BLOCK_BYTES + 38, 2 * BLOCK_BYTES] {
            let stream = [&start[..], &vec![1; gap]].concat();
            let length = stream.len() as u64;
            assert_eq!(parts(&stream), (length, None));
            let last = [b"fLaC\x80\x00\x00\x22", &stream[8..]].concat();
            assert_eq!(parts(&[&stream[..], &last].concat()), (length, Some(length)), "{gap}");
        }
        assert_eq!(parts(b"fLaC"), (4, None));
        assert_eq!(parts(&[&start[..], &[0; 60], b"fLaC\x04\x00\x00\x22"].concat()), (76, None));
    }
}
