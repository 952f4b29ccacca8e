//! Headers of MPEG audio and ADTS frames.

use symphonia::core::codecs::audio::AudioCodecId;
use symphonia::core::codecs::audio::well_known::{CODEC_ID_MP1, CODEC_ID_MP2, CODEC_ID_MP3};

use super::super::sniff::Kind;

/// Bytes of a header that are looked at.
pub(in super::super) const HEADER_BYTES: usize = 8;

/// Sample rates by the index of ADTS, Hz (ISO/IEC 14496-3, section 1.6.3.4).
const ADTS_RATES: [u32; 13] =
    [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];

/// One frame by its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Frame {
    /// [`Kind::MpegAudio`] or [`Kind::Adts`].
    pub(in super::super) kind: Kind,
    /// What does not change from frame to frame.
    signature: u32,
    /// Header and all.
    pub(in super::super) size_bytes: usize,
    /// Bytes of the header that a decoder does not get.
    pub(in super::super) head_bytes: usize,
    /// Length.
    pub(in super::super) samples: u32,
    sample_rate: u32,
}

impl Frame {
    /// The frame that `bytes` begin with.
    pub(in super::super) fn parse(bytes: &[u8]) -> Option<Self> {
        let header = bytes.first_chunk::<HEADER_BYTES>().filter(|header| header[0] == 0xff)?;
        adts(header).or_else(|| mpeg(header.first_chunk()?))
    }

    /// Whether both can be of one recording.
    pub(in super::super) fn agrees(&self, other: &Self) -> bool {
        (self.kind, self.signature) == (other.kind, other.signature)
    }

    /// Length, seconds.
    pub(in super::super) fn length_s(&self) -> f64 {
        f64::from(self.samples) / f64::from(self.sample_rate)
    }
}

/// The codec of an MPEG audio frame by its layer.
pub(in super::super) fn layer(frame: &[u8]) -> Option<AudioCodecId> {
    mpeg(frame.first_chunk()?)?;
    Some([CODEC_ID_MP3, CODEC_ID_MP2, CODEC_ID_MP1][usize::from(frame[1] >> 1 & 3) - 1])
}

/// Whether a frame of layer 3 holds no sound but what an encoder says about the file: the tag of
/// Xing and LAME behind the side information, or that of Fraunhofer behind the longest of these.
pub(in super::super) fn is_info(frame: &[u8]) -> bool {
    let Some([_, version, _, mode, ..]) = frame.first_chunk::<4>() else { return false };
    let side_bytes = match (version >> 3 & 3 == 3, mode >> 6 == 3) {
        (true, false) => 32,
        (true, true) | (false, false) => 17,
        (false, true) => 9,
    };
    let has = |at: usize, tag: &[u8]| frame.get(at..).is_some_and(|bytes| bytes.starts_with(tag));
    version >> 1 & 3 == 1
        && (has(4 + side_bytes, b"Xing") || has(4 + side_bytes, b"Info") || has(4 + 32, b"VBRI"))
}

/// ISO/IEC 13818-7, section 6.2: sync 12 bits, layer always 0.
fn adts(header: &[u8; HEADER_BYTES]) -> Option<Frame> {
    if header[1] & 0xf6 != 0xf0 {
        return None;
    }
    let sample_rate = *ADTS_RATES.get(usize::from(header[2] >> 2 & 0x0f))?;
    let size_bytes =
        usize::from(header[3] & 3) << 11 | usize::from(header[4]) << 3 | usize::from(header[5]) >> 5;
    let head_bytes = if header[1] & 1 == 1 { 7 } else { 9 };
    let signature = u32::from_be_bytes([0, header[1], header[2] & 0xfd, header[3] & 0xc0]);
    let samples = 1024 * (u32::from(header[6] & 3) + 1);
    let frame = Frame { kind: Kind::Adts, signature, size_bytes, head_bytes, samples, sample_rate };
    (size_bytes >= head_bytes).then_some(frame)
}

/// ISO/IEC 11172-3, section 2.4.1.3, with the lower rates of 13818-3 and MPEG 2.5.
fn mpeg(header: &[u8; 4]) -> Option<Frame> {
    let (version, layer) = (header[1] >> 3 & 3, header[1] >> 1 & 3);
    let (rate_kbps_index, sample_rate_index) = (usize::from(header[2] >> 4), usize::from(header[2] >> 2 & 3));
    let is_synced = header[1] & 0xe0 == 0xe0;
    if !is_synced || version == 1 || layer == 0 || matches!(rate_kbps_index, 0 | 15) || sample_rate_index == 3
    {
        return None;
    }
    let is_version_1 = version == 3;
    let divider = match version {
        3 => 1,
        2 => 2,
        _ => 4,
    };
    let sample_rate = [44_100, 48_000, 32_000][sample_rate_index] / divider;
    let samples = match (layer, is_version_1) {
        (3, _) => 384,
        (1, false) => 576,
        _ => 1152,
    };
    // Layer 1 counts in slots of four bytes.
    let slot_bytes = if layer == 3 { 4 } else { 1 };
    let bits_per_s = 1000 * rate_kbps(is_version_1, layer, rate_kbps_index);
    let slots = samples / 8 / slot_bytes * bits_per_s / sample_rate + usize::from(header[2] >> 1 & 1);
    Some(Frame {
        kind: Kind::MpegAudio,
        signature: u32::from_be_bytes([0, 0, header[1] & 0xfe, header[2] & 0x0c]),
        size_bytes: slots * slot_bytes,
        head_bytes: 0,
        samples: samples as u32,
        sample_rate: sample_rate as u32,
    })
}

/// Bit rates by layer bits (3 is layer 1) and index 1 to 14.
pub(super) fn rate_kbps(is_version_1: bool, layer: u8, index: usize) -> usize {
    const V1_L1: [usize; 14] = [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448];
    const V1_L2: [usize; 14] = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
    const V1_L3: [usize; 14] = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
    const V2_L1: [usize; 14] = [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256];
    const V2_L23: [usize; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
    let table = match (is_version_1, layer) {
        (true, 3) => V1_L1,
        (true, 2) => V1_L2,
        (true, _) => V1_L3,
        (false, 3) => V2_L1,
        (false, _) => V2_L23,
    };
    table[index - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layer_of_a_frame_is_its_codec() {
        assert_eq!(layer(&[0xff, 0xfb, 0x90, 0x00]), Some(CODEC_ID_MP3));
        assert_eq!(layer(&[0xff, 0xfd, 0x90, 0x00]), Some(CODEC_ID_MP2));
        assert_eq!(layer(&[0xff, 0xff, 0x90, 0x00]), Some(CODEC_ID_MP1));
        assert_eq!(layer(&[0xff, 0xf9, 0x90, 0x00]), None);
        assert_eq!(layer(&[0xff]), None);
    }

    #[test]
    fn frames_have_sizes_and_lengths() {
        let of = |head: [u8; 4]| {
            let frame = Frame::parse(&[&head[..], &[0; 4]].concat()).expect("a header");
            (frame.size_bytes, frame.samples, frame.sample_rate)
        };
        // Layer 3 of MPEG 1 at 128 kbit/s with and without padding, of MPEG 2 at 64 kbit/s.
        assert_eq!(of([0xff, 0xfb, 0x90, 0]), (417, 1152, 44_100));
        assert_eq!(of([0xff, 0xfb, 0x92, 0]), (418, 1152, 44_100));
        assert_eq!(of([0xff, 0xf3, 0x88, 0]), (288, 576, 16_000));
        // Layer 2 of MPEG 2 at 64 kbit/s, layer 1 at 384 kbit/s with padding.
        assert_eq!(of([0xff, 0xf5, 0x88, 0]), (576, 1152, 16_000));
        assert_eq!(of([0xff, 0xff, 0xc6, 0]), (388, 384, 48_000));
    }

    #[test]
    fn a_tag_is_told_from_sound() {
        let frame = |head: [u8; 4], at: usize, tag: &[u8]| {
            let mut frame = [&head[..], &[0; 60]].concat();
            frame[at..at + tag.len()].copy_from_slice(tag);
            frame
        };
        assert!(is_info(&frame([0xff, 0xfb, 0x90, 0x00], 36, b"Xing")));
        assert!(is_info(&frame([0xff, 0xfb, 0x90, 0xc0], 21, b"Info")));
        assert!(is_info(&frame([0xff, 0xf3, 0x88, 0xc0], 13, b"Info")));
        assert!(is_info(&frame([0xff, 0xf3, 0x88, 0x40], 36, b"VBRI")));
        assert!(!is_info(&frame([0xff, 0xf3, 0x88, 0xc0], 14, b"Info")));
        assert!(!is_info(&frame([0xff, 0xfd, 0x90, 0x00], 36, b"Xing")), "layer 2");
        assert!(!is_info(&[0xff]));
    }
}
