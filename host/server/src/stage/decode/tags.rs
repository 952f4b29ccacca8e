//! Tags in front of, behind and between frames of sound: what a player shows of a file.

/// Bytes that tell the size of a tag.
pub(super) const HEADER_BYTES: usize = 32;

/// Size of an ID3v1 tag, which always ends a file.
const ID3V1_BYTES: u64 = 128;

/// Size of the tag that `bytes` begin with, header included.
pub(super) fn size(bytes: &[u8]) -> Option<u64> {
    id3v2(bytes).or_else(|| ape(bytes)).or_else(|| bytes.starts_with(b"TAG").then_some(ID3V1_BYTES))
}

/// ID3v2.4, section 3.1.
pub(super) fn id3v2(bytes: &[u8]) -> Option<u64> {
    let header = bytes.first_chunk::<10>()?;
    if !header.starts_with(b"ID3") || header[6..].iter().any(|byte| *byte >= 0x80) {
        return None;
    }
    let size = header[6..].iter().fold(0u64, |size, byte| size << 7 | u64::from(*byte));
    let footer = if header[5] & 0x10 != 0 { 10 } else { 0 };
    Some(10 + size + footer)
}

/// APEv2: a header of 32 bytes, whose size counts what follows it.
fn ape(bytes: &[u8]) -> Option<u64> {
    let header = bytes.first_chunk::<32>().filter(|header| header.starts_with(b"APETAGEX"))?;
    let size = u32::from_le_bytes([header[12], header[13], header[14], header[15]]);
    Some(32 + u64::from(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_tags() {
        assert_eq!(size(b"ID3\x04\x00\x00\x00\x00\x01\x01"), Some(10 + 129));
        assert_eq!(size(b"ID3\x04\x00\x10\x00\x00\x00\x01"), Some(21));
        assert_eq!(size(b"ID3\x04\x00\x00\xff\xff\xff\xff"), None);
        assert_eq!(size(b"TAGTitle"), Some(128));
        assert_eq!(size(&[b"APETAGEX", &[0xd0, 7, 0, 0, 0, 1, 0, 0][..], &[0; 16]].concat()), Some(288));
        assert_eq!(size(b"APETAGEX"), None);
    }
}
