//! Tells what a file is by its first bytes; names and content types are not looked at.

use super::mpeg;
use super::tags;
use super::text;

/// What the content looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// RIFF/WAVE, RIFX, RF64 or BW64.
    Wave,
    /// AIFF or AIFF-C.
    Aiff,
    /// Apple's Core Audio Format.
    Caf,
    /// Native FLAC.
    Flac,
    /// Ogg with any codec.
    Ogg,
    /// Matroska or WebM.
    Matroska,
    /// MP4, M4A, MOV, 3GP.
    Mp4,
    /// MPEG audio, layers 1 to 3.
    MpegAudio,
    /// AAC with ADTS headers.
    Adts,
    /// An ID3v2 tag of this many bytes, with the audio behind it.
    Tag(u64),
    /// Audio or video in a format that is not read: its name.
    Unsupported(&'static str),
    /// No audio at all: what it is.
    NotMedia(&'static str),
    /// Nothing known.
    Unknown,
}

/// Starts of files that are told by a fixed run of bytes: offset, bytes, kind.
const MAGIC: &[(usize, &[u8], Kind)] = &[
    (0, b"fLaC", Kind::Flac),
    (0, b"caff", Kind::Caf),
    (0, &[0x1a, 0x45, 0xdf, 0xa3], Kind::Matroska),
    (4, b"ftyp", Kind::Mp4),
    (4, b"moov", Kind::Mp4),
    (4, b"mdat", Kind::Mp4),
    (4, b"wide", Kind::Mp4),
    (4, b"free", Kind::Mp4),
    (4, b"skip", Kind::Mp4),
    (4, b"pnot", Kind::Mp4),
    (0, b"#!AMR-WB", Kind::Unsupported("AMR-WB")),
    (0, b"#!AMR", Kind::Unsupported("AMR")),
    (0, &[0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], Kind::Unsupported("WMA or WMV (ASF)")),
    (0, b"FLV\x01", Kind::Unsupported("Flash video (FLV)")),
    (0, b".RMF", Kind::Unsupported("RealMedia")),
    (0, b".ra\xfd", Kind::Unsupported("RealAudio")),
    (0, b"wvpk", Kind::Unsupported("WavPack")),
    (0, b"MAC ", Kind::Unsupported("Monkey's Audio")),
    (0, b"TTA1", Kind::Unsupported("TTA")),
    (0, b"MPCK", Kind::Unsupported("Musepack")),
    (0, b"MP+", Kind::Unsupported("Musepack")),
    (0, b"DSD ", Kind::Unsupported("DSD")),
    (0, b"FRM8", Kind::Unsupported("DSD")),
    (0, b".snd", Kind::Unsupported("Sun audio (AU)")),
    (0, b"riff\x2e\x91\xcf\x11", Kind::Unsupported("Wave64")),
    (0, b"Creative Voice File", Kind::Unsupported("Creative Voice (VOC)")),
    (0, b"nut/multimedia container", Kind::Unsupported("NUT")),
    (0, &[0x0b, 0x77], Kind::Unsupported("AC-3")),
    (4, &[0xf8, 0x72, 0x6f, 0xba], Kind::Unsupported("TrueHD")),
    (0, &[0x7f, 0xfe, 0x80, 0x01], Kind::Unsupported("DTS")),
    (0, &[0x00, 0x00, 0x01, 0xba], Kind::Unsupported("MPEG program stream")),
    (0, &[0x00, 0x00, 0x01, 0xb3], Kind::Unsupported("MPEG video")),
    (0, b"MThd", Kind::NotMedia("a MIDI file")),
    (0, b"\x89PNG", Kind::NotMedia("a PNG image")),
    (0, &[0xff, 0xd8, 0xff], Kind::NotMedia("a JPEG image")),
    (0, b"GIF8", Kind::NotMedia("a GIF image")),
    (0, b"PK\x03\x04", Kind::NotMedia("a ZIP archive")),
    (0, b"PK\x05\x06", Kind::NotMedia("a ZIP archive")),
    (0, &[0x1f, 0x8b], Kind::NotMedia("a gzip archive")),
    (0, b"7z\xbc\xaf\x27\x1c", Kind::NotMedia("a 7z archive")),
    (0, b"Rar!", Kind::NotMedia("a RAR archive")),
    (0, b"%PDF", Kind::NotMedia("a PDF document")),
    (0, b"\x7fELF", Kind::NotMedia("a program")),
    (0, b"MZ", Kind::NotMedia("a program")),
];

/// Packets of an MPEG transport stream: their length, where their first byte lies (behind four of
/// a time in the form of Blu-ray), and that byte.
const TRANSPORT_PACKETS: [(usize, usize, u8); 2] = [(188, 0, 0x47), (192, 4, 0x47)];

/// Brands of files of still images that look like MP4 (ISO/IEC 23008-12 and the AV1 image format).
const IMAGE_BRANDS: [&[u8; 4]; 6] = [b"heic", b"heix", b"heim", b"heis", b"mif1", b"avif"];

/// Judges by `head`, the first kilobytes of the file.
pub(super) fn sniff(head: &[u8]) -> Kind {
    if let Some(size_bytes) = tags::id3v2(head) {
        return Kind::Tag(size_bytes);
    }
    if let Some(kind) = riff_or_form(head) {
        return kind;
    }
    if is_still_image(head) {
        return Kind::NotMedia("a HEIF or AVIF image");
    }
    if head.starts_with(b"OggS") {
        return ogg(head);
    }
    let by_magic = MAGIC.iter().find(|(at, magic, _)| head.get(*at..).is_some_and(|b| b.starts_with(magic)));
    if let Some((_, _, kind)) = by_magic {
        return *kind;
    }
    // Its first two bytes may be those of a frame.
    if let Some(what) = text::in_wide_characters(head) {
        return Kind::NotMedia(what);
    }
    if let Some(kind) = mpeg::starts_with_frames(head) {
        return kind;
    }
    if is_transport_stream(head) {
        return Kind::Unsupported("MPEG transport stream");
    }
    if is_loas(head) {
        return Kind::Unsupported("AAC in a LOAS or LATM stream");
    }
    text::in_utf8(head).map_or(Kind::Unknown, Kind::NotMedia)
}

fn is_transport_stream(head: &[u8]) -> bool {
    TRANSPORT_PACKETS.iter().any(|(length, at, first)| {
        head.len() > at + 3 * length && (0..3).all(|index| head[at + index * length] == *first)
    })
}

fn is_still_image(head: &[u8]) -> bool {
    head.get(4..12)
        .and_then(|ftyp| ftyp.strip_prefix(b"ftyp"))
        .is_some_and(|brand| IMAGE_BRANDS.iter().any(|image| brand == *image))
}

/// A file of Ogg is told by the codec of its first stream: the reader names none that it does
/// not know.
fn ogg(head: &[u8]) -> Kind {
    let segments = head.get(26).copied().unwrap_or(0);
    let packet = head.get(27 + usize::from(segments)..).unwrap_or_default();
    match packet.starts_with(b"Speex   ") {
        true => Kind::Unsupported("Speex"),
        false => Kind::Ogg,
    }
}

/// Whether several frames of 11 bits of sync and 13 bits of length follow each other (ISO/IEC
/// 14496-3, section 1.7.2).
fn is_loas(head: &[u8]) -> bool {
    let mut rest = head;
    for _ in 0..3 {
        let Some(&[first, second, third]) = rest.first_chunk::<3>() else { return false };
        if first != 0x56 || second & 0xe0 != 0xe0 {
            return false;
        }
        let size_bytes = usize::from(second & 0x1f) << 8 | usize::from(third);
        rest = rest.get(3 + size_bytes..).unwrap_or_default();
    }
    true
}

fn riff_or_form(head: &[u8]) -> Option<Kind> {
    let (id, form) = (head.get(..4)?, head.get(8..12)?);
    match (id, form) {
        (b"RIFF" | b"RIFX" | b"RF64" | b"BW64", b"WAVE") => Some(Kind::Wave),
        (b"RIFF", b"AVI ") => Some(Kind::Unsupported("AVI")),
        (b"RIFF", b"WEBP") => Some(Kind::NotMedia("a WebP image")),
        (b"FORM", b"AIFF" | b"AIFC") => Some(Kind::Aiff),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_not_media() {
        assert_eq!(sniff(b"<!DOCTYPE html><p>404"), Kind::NotMedia("an HTML page"));
        assert_eq!(sniff(b" {\"error\": 1}"), Kind::NotMedia("a JSON document"));
        assert_eq!(sniff("hello wörld".as_bytes()), Kind::NotMedia("plain text"));
        assert_eq!(sniff(&"wörld".as_bytes()[..2]), Kind::NotMedia("plain text"));
        assert_eq!(sniff(b"\x89PNG\r\n\x1a\n"), Kind::NotMedia("a PNG image"));
        assert_eq!(sniff(b"ID3\x04\x00\x10\x00\x00\x00\x01"), Kind::Tag(21));
        assert_eq!(sniff(b"ID3\x04\x00\x00\xff\xff\xff\xff"), Kind::Unknown);
        assert_eq!(sniff(&[0, 1, 2, 3, 4]), Kind::Unknown);
        assert_eq!(sniff(b""), Kind::Unknown);
        assert_eq!(sniff(b"x"), Kind::NotMedia("plain text"));
    }

    #[test]
    fn containers_are_told_by_their_form() {
        assert_eq!(sniff(b"RIFF\0\0\0\0WAVEfmt "), Kind::Wave);
        assert_eq!(sniff(b"RF64\xff\xff\xff\xffWAVEds64"), Kind::Wave);
        assert_eq!(sniff(b"RIFF\0\0\0\0AVI LIST"), Kind::Unsupported("AVI"));
        assert_eq!(sniff(b"FORM\0\0\0\0AIFCCOMM"), Kind::Aiff);
        assert_eq!(sniff(b"\0\0\0\x20ftypisom"), Kind::Mp4);
        assert_eq!(sniff(b"\0\0\0\x18ftypheic"), Kind::NotMedia("a HEIF or AVIF image"));
    }

    #[test]
    fn transport_streams_are_told_by_their_packets() {
        let stream = |gap: &[u8]| [gap, &[0x47], &[1; 187]].concat().repeat(4);
        assert_eq!(sniff(&stream(&[])), Kind::Unsupported("MPEG transport stream"));
        assert_eq!(sniff(&stream(&[9, 8, 7, 6])), Kind::Unsupported("MPEG transport stream"));
        assert_eq!(sniff(&stream(&[9, 8, 7])), Kind::Unknown);
    }

    #[test]
    fn streams_are_told_by_their_first_packet_or_frames() {
        let page = |packet: &[u8]| [b"OggS".as_slice(), &[0; 22], &[1, 80], packet].concat();
        assert_eq!(sniff(&page(b"Speex   1.2.1")), Kind::Unsupported("Speex"));
        assert_eq!(sniff(&page(b"OpusHead")), Kind::Ogg);
        assert_eq!(sniff(b"OggS"), Kind::Ogg);
        let frame = [&[0x56, 0xe0, 0x02], &[7, 7][..]].concat();
        assert_eq!(sniff(&frame.repeat(3)), Kind::Unsupported("AAC in a LOAS or LATM stream"));
        assert_ne!(sniff(&frame.repeat(2)), Kind::Unsupported("AAC in a LOAS or LATM stream"));
    }
}
