//! Headers that are legal but that the library's readers do not take, rewritten as they read them.

use super::super::error::DecodeError;
use super::super::window::Window;
use super::ogg::checksum;

/// Most chunks that are read.
const MAX_CHUNKS: usize = 256;

/// Most packets of a Core Audio file: a day of 20 ms each. The reader keeps 32 bytes of every one.
const MOST_PACKETS: u64 = 24 * 3600 * 50;

/// Most channels of the layouts that the reader of Ogg knows.
const MOST_OPUS_CHANNELS: u8 = 8;

/// Gives the data chunk of a Core Audio file its length: -1 says that it goes on to the end,
/// which streams do, and one that reaches beyond the file is cut off there. What lies behind
/// [`MAX_CHUNKS`] chunks, or is no chunk, is left out. With it comes how many times as long the
/// data should be.
///
/// # Errors
/// When the reader would take much memory for its tables, or the file cannot be read.
pub(super) fn closed_caf(body: Window) -> Result<(Window, f64), DecodeError> {
    let mut at = 8u64;
    for _ in 0..MAX_CHUNKS {
        let header = body.slice(at, 20).map_err(DecodeError::Read)?;
        let Some((id, rest)) = header.split_first_chunk::<4>() else { break };
        let Some((size, rest)) = rest.split_first_chunk::<8>() else { break };
        let size = i64::from_be_bytes(*size);
        let left = body.len() - (at + 12);
        let is_cut = u64::try_from(size).is_ok_and(|size| size > left);
        if id == b"data" && (size == -1 || is_cut) {
            let missing = if is_cut && left > 0 { size as f64 / left as f64 } else { 1.0 };
            return Ok((body.patched(at + 4, &left.to_be_bytes()), missing));
        }
        let packets = rest.first_chunk().map(|packets| u64::from_be_bytes(*packets));
        if let Some(packets) = packets.filter(|packets| id == b"pakt" && *packets > MOST_PACKETS) {
            return Err(DecodeError::BadHeader(format!("it lists {packets} packets, over {MOST_PACKETS}")));
        }
        let next = u64::try_from(size).ok().and_then(|size| (at + 12).checked_add(size));
        let Some(next) = next else { return Ok((body, 1.0)) };
        at = next;
    }
    // The reader must not meet a table that was not looked at, nor what is shorter than a header.
    Ok((body.part(0, at), 1.0))
}

/// Calls channels of Opus that have no places (mapping families 2 and 255) channels that have
/// (family 1): the table behind it is the same, and the channels are kept apart either way.
///
/// # Errors
/// When there are too many of them for family 1, or the file cannot be read.
pub(super) fn placed_opus(body: Window) -> Result<Window, DecodeError> {
    // The first page: 27 bytes, the lengths of its segments, the packet.
    let page = body.slice(0, 27 + 255 + 512).map_err(DecodeError::Read)?;
    let segments = usize::from(page.get(26).copied().unwrap_or(0));
    let start = 27 + segments;
    let Some(packet) = page.get(start..).filter(|packet| packet.starts_with(b"OpusHead")) else {
        return Ok(body);
    };
    let (Some(&channels), Some(2 | 255)) = (packet.get(9), packet.get(18)) else { return Ok(body) };
    if channels > MOST_OPUS_CHANNELS {
        return Err(DecodeError::Unsupported(format!("Opus with {channels} channels")));
    }
    let length: usize = page[27..start].iter().map(|segment| usize::from(*segment)).sum();
    let Some(mut whole) = page.get(..start + length).map(<[u8]>::to_vec) else { return Ok(body) };
    whole[start + 18] = 1;
    whole[22..26].fill(0);
    let sum = checksum(&whole);
    Ok(body.patched(22, &sum.to_le_bytes()).patched(start as u64 + 18, &[1]))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn window(parts: &[&[u8]]) -> Window {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&parts.concat()).unwrap();
        Window::whole(file).unwrap()
    }

    #[test]
    fn data_without_a_size_goes_on_to_the_end() {
        let size = |bytes: i64| bytes.to_be_bytes();
        let start = [&b"caff\0\x01\0\0desc"[..], &size(32), &[0; 32], b"data"].concat();
        let closed = |stated: i64, bytes: &[u8]| {
            let (closed, missing) = closed_caf(window(&[&start, &size(stated), bytes])).unwrap();
            (closed.slice(56, 8).unwrap(), closed.len() - 64, missing)
        };
        assert_eq!(closed(-1, &[5; 100]), (size(100).to_vec(), 100, 1.0));
        assert_eq!(closed(-1, &[]), (size(0).to_vec(), 0, 1.0));
        assert_eq!(closed(100, &[5; 100]), (size(100).to_vec(), 100, 1.0));
        assert_eq!(closed(90, &[5; 91]), (size(90).to_vec(), 90, 1.0), "a byte too many");
        assert_eq!(closed(100, &[5; 80]), (size(80).to_vec(), 80, 1.25), "cut off");
        let listed =
            |packets| closed_caf(window(&[&start, &size(90), &[0; 90], b"pakt", &size(24), &size(packets)]));
        assert!(listed(4_320_000).is_ok());
        assert!(listed(4_320_001).unwrap_err().to_string().ends_with("lists 4320001 packets, over 4320000"));
    }

    /// The first page that ffmpeg writes for three channels of family 255.
    const PAGE: [u8; 52] = *b"OggS\0\x02\0\0\0\0\0\0\0\0\xc7\x0a\x5d\xa0\0\0\0\0\x86\x2d\x26\x55\x01\x18\
        OpusHead\x01\x03\x38\x01\xc0\x5d\0\0\0\0\xff\x03\0\0\x01\x02";

    #[test]
    fn channels_without_places_get_the_family_that_is_read() {
        let mut blank = PAGE;
        blank[22..26].fill(0);
        assert_eq!(checksum(&blank).to_le_bytes(), PAGE[22..26]);
        let placed = placed_opus(window(&[&PAGE])).unwrap().slice(0, 100).unwrap();
        assert_eq!(placed[46], 1);
        blank[46] = 1;
        assert_eq!(checksum(&blank).to_le_bytes(), placed[22..26]);
        let mut many = PAGE;
        many[37] = 9;
        let refusal = placed_opus(window(&[&many])).unwrap_err().to_string();
        assert!(refusal.starts_with("Opus with 9 channels is not supported"), "{refusal}");
    }
}
