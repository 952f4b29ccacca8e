//! FLAC files that were put one after the other: where the next one begins.

use std::io;

use super::super::window::Window;

/// Bytes of the marker and of the only block that every file has, which is the first: less
/// cannot lie between two beginnings.
const LEAST_BYTES: u64 = 42;

/// Bytes read at once.
const BLOCK_BYTES: usize = 1024 * 1024;

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
