//! Headers of AIFF and AIFF-C, as far as the library's reader does not take or explain them.

use std::io;

use super::super::error::DecodeError;
use super::super::window::Window;

/// Most chunks that are read.
const MAX_CHUNKS: usize = 256;

/// Bytes in which the description of the sound is looked for.
const HEAD_BYTES: usize = 4096;

/// Codecs that the reader knows.
const KNOWN: [&[u8; 4]; 11] =
    [b"none", b"alaw", b"ulaw", b"in24", b"in32", b"23ni", b"fl32", b"fl64", b"sowt", b"twos", b"raw "];

/// Fills in the sizes that a recorder which could not seek back has left open, and makes those that
/// reach beyond the file end with it: the sound goes on to the end. What lies behind
/// [`MAX_CHUNKS`] chunks, or is no chunk, is left out. With it comes how many times as long the
/// sound should be.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn closed(body: Window) -> io::Result<(Window, f64)> {
    let mut at = 12;
    let mut description = None;
    for _ in 0..MAX_CHUNKS {
        let header = body.slice(at, 8)?;
        let Some((id, size)) = header.split_first_chunk::<4>() else { break };
        let Some(size) = size.first_chunk::<4>().map(|size| u32::from_be_bytes(*size)) else { break };
        match id {
            b"COMM" => description = Some(at + 8),
            b"SSND" if is_open(size) => return Ok((close(body, at, description), 1.0)),
            b"SSND" if at + 8 + u64::from(size) > body.len() => {
                let left = body.len().saturating_sub(at + 8);
                let missing = if left > 0 { f64::from(size) / left as f64 } else { 1.0 };
                return Ok((clipped(body, at), missing));
            }
            _ => {}
        }
        at += 8 + u64::from(size) + u64::from(size & 1);
    }
    // The reader keeps what every chunk says, and believes the size of the whole.
    let kept = body.part(0, at);
    let whole = kept.len().saturating_sub(8);
    Ok((kept.patched(4, &limited(whole)), 1.0))
}

fn limited(bytes: u64) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX - 1).to_be_bytes()
}

/// Ends the file and the sound at `at` where the bytes do.
fn clipped(body: Window, at: u64) -> Window {
    let (whole, sound) = (body.len().saturating_sub(8), body.len().saturating_sub(at + 8));
    body.patched(4, &limited(whole)).patched(at + 4, &limited(sound))
}

fn is_open(size: u32) -> bool {
    matches!(size, 0 | u32::MAX)
}

/// Writes the sizes of the file and of its last chunk, the sound at `at`, and the number of
/// frames into the description.
fn close(body: Window, at: u64, description: Option<u64>) -> Window {
    let sound = body.len().saturating_sub(at + 8);
    let frames = description.and_then(|from| {
        let &[high, low, .., bits] = body.slice(from, 8).ok()?.first_chunk::<8>()?;
        let frame_bytes = u64::from(u16::from_be_bytes([high, low])) * u64::from(bits.div_ceil(8));
        Some((from + 2, sound.saturating_sub(8).checked_div(frame_bytes)?))
    });
    let closed = clipped(body, at);
    match frames {
        Some((place, frames)) => closed.patched(place, &limited(frames)),
        None => closed,
    }
}

/// Why the reader refuses `body`, where its description tells.
pub(super) fn fault(body: &Window) -> Option<DecodeError> {
    let head = body.slice(0, HEAD_BYTES).ok()?;
    let at = head.windows(4).position(|id| id == b"COMM")?;
    // Behind id and size: channels, frames, bits and the rate, 18 bytes in all.
    if !is_rate(head.get(at + 16..at + 26)?) {
        return Some(DecodeError::BadHeader("its sample rate is no positive number".into()));
    }
    let letters = head.get(at + 26..at + 30)?;
    let is_known = KNOWN.iter().any(|name| letters.eq_ignore_ascii_case(&name[..]));
    let is_codec = head.get(8..12) == Some(b"AIFC") && !is_known && letters.iter().all(u8::is_ascii_graphic);
    let named = || DecodeError::Unsupported(format!("the audio codec {}", String::from_utf8_lossy(letters)));
    is_codec.then(named)
}

/// Whether an 80-bit float (sign, 15 bits of exponent from -16383 on, 64 of mantissa) is 1 or more.
fn is_rate(float: &[u8]) -> bool {
    let exponent = u16::from(float[0]) << 8 | u16::from(float[1]);
    (16_383..0x7fff).contains(&exponent) && float[2] & 0x80 != 0
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// One channel of 16 bits at 22,050 Hz.
    fn file(form: &[u8; 4], sizes: u32, rate: [u8; 10], codec: &[u8]) -> Window {
        let size = |bytes: usize| (bytes as u32).to_be_bytes();
        let comm = [&[0, 1, 0, 0, 0, 0, 0, 16][..], &rate, codec].concat();
        let header = [&b"FORM"[..], &sizes.to_be_bytes(), form, b"COMM", &size(comm.len()), &comm].concat();
        let sound = [b"SSND", &sizes.to_be_bytes()[..], &[0; 8], &[7; 100]].concat();
        let mut made = tempfile::tempfile().unwrap();
        made.write_all(&[header, sound].concat()).unwrap();
        Window::whole(made).unwrap()
    }

    const RATE: [u8; 10] = [0x40, 0x0d, 0xac, 0x44, 0, 0, 0, 0, 0, 0];

    #[test]
    fn open_sizes_are_filled_in() {
        for open in [0, u32::MAX] {
            let (closed, _) = closed(file(b"AIFF", open, RATE, &[])).unwrap();
            let number = |at: u64| u32::from_be_bytes(closed.slice(at, 4).unwrap().try_into().unwrap());
            assert_eq!((number(4), number(22), number(42)), (146, 50, 108));
        }
    }

    #[test]
    fn the_fault_is_the_rate_or_a_codec_that_nobody_knows() {
        let of = |form: &[u8; 4], rate, codec: &[u8]| {
            fault(&file(form, 4, rate, codec)).map(|fault| fault.to_string()).unwrap_or_default()
        };
        let zero = [0; 10];
        let negative = [0xc0, 0x0d, 0xac, 0x44, 0, 0, 0, 0, 0, 0];
        let infinite = [0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0];
        for rate in [zero, negative, infinite] {
            assert!(of(b"AIFC", rate, b"sowt\0\0").contains("sample rate"));
        }
        assert_eq!(of(b"AIFC", RATE, b"sowt\0\0"), "");
        assert_eq!(of(b"AIFF", RATE, b""), "");
        assert!(of(b"AIFC", RATE, b"MAC3\0\0").starts_with("the audio codec MAC3 is not supported"));
    }
}
