//! Headers of MPEG audio and ADTS frames: finds where a run of frames starts.

use symphonia::core::codecs::audio::AudioCodecId;
use symphonia::core::codecs::audio::well_known::{CODEC_ID_MP1, CODEC_ID_MP2, CODEC_ID_MP3};

use super::error::DecodeError;
use super::sniff::Kind;
use super::window::Window;

/// Frames in a row, agreeing with each other, before a start is believed.
const RUN: usize = 4;

/// What must not change from frame to frame, and the length of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    kind: Kind,
    signature: u32,
    size_bytes: usize,
}

/// Whether a run of frames starts with the first byte. At the end of `bytes` a shorter run will
/// do if it ends exactly there or beyond.
pub(super) fn starts_with_frames(bytes: &[u8]) -> Option<Kind> {
    let first = frame(bytes)?;
    let mut at = 0;
    for _ in 0..RUN {
        let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= 8) else { break };
        let next = frame(rest)?;
        if (next.kind, next.signature) != (first.kind, first.signature) {
            return None;
        }
        at += next.size_bytes;
    }
    // A single frame whose end cannot be seen proves nothing.
    (at > first.size_bytes || at == bytes.len()).then_some(first.kind)
}

/// Where in `bytes` the first run of frames starts, and of which kind.
pub(super) fn find_frames(bytes: &[u8]) -> Option<(usize, Kind)> {
    (0..bytes.len()).find_map(|at| Some((at, starts_with_frames(&bytes[at..])?)))
}

/// The codec of an MPEG audio frame by its layer.
pub(super) fn layer(frame: &[u8]) -> Option<AudioCodecId> {
    mpeg_frame(frame.first_chunk()?)?;
    Some([CODEC_ID_MP3, CODEC_ID_MP2, CODEC_ID_MP1][usize::from(frame[1] >> 1 & 3) - 1])
}

/// Why frames at the start of `body` are refused although they are whole: layer 2 allows some bit
/// rates only with one channel and some only with more (ISO/IEC 11172-3, section 2.4.2.3), which
/// the decoder also holds for MPEG 2.
pub(super) fn fault(body: &Window) -> Option<DecodeError> {
    let head: [u8; 4] = body.slice(0, 4).ok()?.try_into().ok()?;
    mpeg_frame(&head)?;
    let (version, layer) = (head[1] >> 3 & 3, head[1] >> 1 & 3);
    let rate = rate_kbps(version == 3, layer, usize::from(head[2] >> 4));
    let channels = match (head[3] >> 6, rate) {
        (3, 224 | 256 | 320 | 384) => "one channel",
        (0..=2, 32 | 48 | 56 | 80) => "two channels",
        _ => return None,
    };
    let named = || DecodeError::Unsupported(format!("MPEG audio layer 2 of {channels} at {rate} kbit/s"));
    (layer == 2).then(named)
}

fn frame(bytes: &[u8]) -> Option<Frame> {
    if bytes.first() != Some(&0xff) || bytes.len() < 8 {
        return None;
    }
    adts_frame(bytes).or_else(|| mpeg_frame(bytes.first_chunk()?))
}

/// ISO/IEC 13818-7, section 6.2: sync 12 bits, layer always 0.
fn adts_frame(bytes: &[u8]) -> Option<Frame> {
    if bytes[1] & 0xf6 != 0xf0 {
        return None;
    }
    let rate_index = bytes[2] >> 2 & 0x0f;
    let size_bytes =
        usize::from(bytes[3] & 3) << 11 | usize::from(bytes[4]) << 3 | usize::from(bytes[5]) >> 5;
    if rate_index > 12 || size_bytes < 7 {
        return None;
    }
    let signature = u32::from_be_bytes([0, bytes[1], bytes[2] & 0xfd, bytes[3] & 0xc0]);
    Some(Frame { kind: Kind::Adts, signature, size_bytes })
}

/// ISO/IEC 11172-3, section 2.4.1.3, with the lower rates of 13818-3 and MPEG 2.5.
fn mpeg_frame(bytes: &[u8; 4]) -> Option<Frame> {
    let (version, layer) = (bytes[1] >> 3 & 3, bytes[1] >> 1 & 3);
    let (rate_kbps_index, sample_rate_index) = (usize::from(bytes[2] >> 4), usize::from(bytes[2] >> 2 & 3));
    let is_synced = bytes[1] & 0xe0 == 0xe0;
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
    let bits_per_s = 1000 * rate_kbps(is_version_1, layer, rate_kbps_index);
    let padding = usize::from(bytes[2] >> 1 & 1);
    let size_bytes = match (layer, is_version_1) {
        (3, _) => (12 * bits_per_s / sample_rate + padding) * 4,
        (1, false) => 72 * bits_per_s / sample_rate + padding,
        _ => 144 * bits_per_s / sample_rate + padding,
    };
    let signature = u32::from_be_bytes([0, 0, bytes[1] & 0xfe, bytes[2] & 0x0c]);
    Some(Frame { kind: Kind::MpegAudio, signature, size_bytes })
}

/// Bit rates by layer bits (3 is layer 1) and index 1 to 14.
fn rate_kbps(is_version_1: bool, layer: u8, index: usize) -> usize {
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

    /// MPEG 1 layer 3, 128 kbit/s at 44.1 kHz: 417 bytes.
    fn mp3_frames(count: usize) -> Vec<u8> {
        let mut frame = vec![0u8; 417];
        frame[..4].copy_from_slice(&[0xff, 0xfb, 0x90, 0x00]);
        frame.repeat(count)
    }

    #[test]
    fn a_run_is_believed_and_one_header_is_not() {
        assert_eq!(starts_with_frames(&mp3_frames(5)), Some(Kind::MpegAudio));
        assert_eq!(starts_with_frames(&mp3_frames(1)), Some(Kind::MpegAudio));
        let mut broken = mp3_frames(5);
        broken[417] = 0;
        assert_eq!(starts_with_frames(&broken), None);
        assert_eq!(starts_with_frames(&mp3_frames(1)[..300]), None);
    }

    #[test]
    fn a_run_is_found_behind_garbage() {
        let mut bytes = vec![0xffu8; 999];
        bytes.extend(mp3_frames(6));
        assert_eq!(find_frames(&bytes), Some((999, Kind::MpegAudio)));
    }

    #[test]
    fn the_layer_of_a_frame_is_its_codec() {
        assert_eq!(layer(&mp3_frames(1)), Some(CODEC_ID_MP3));
        assert_eq!(layer(&[0xff, 0xfd, 0x90, 0x00]), Some(CODEC_ID_MP2));
        assert_eq!(layer(&[0xff, 0xff, 0x90, 0x00]), Some(CODEC_ID_MP1));
        assert_eq!(layer(&[0xff, 0xf9, 0x90, 0x00]), None);
        assert_eq!(layer(&[0xff]), None);
    }

    #[test]
    fn a_rate_that_does_not_go_with_the_channels_is_named() {
        let of = |bytes: &[u8]| {
            let mut file = tempfile::tempfile().expect("temporary file");
            std::io::Write::write_all(&mut file, bytes).expect("write");
            let fault = fault(&Window::whole(file).expect("metadata"));
            fault.map(|fault| fault.to_string()).unwrap_or_default()
        };
        let mono = of(&[0xff, 0xfd, 0xe0, 0xc0]);
        assert!(mono.starts_with("MPEG audio layer 2 of one channel at 384 kbit/s is not"), "{mono}");
        assert!(of(&[0xff, 0xfd, 0x10, 0x00]).contains("two channels at 32 kbit/s"));
        assert_eq!(of(&[0xff, 0xfd, 0x10, 0xc0]), "");
        assert_eq!(of(&[0xff, 0xfb, 0xe0, 0xc0]), "");
        assert_eq!((of(&[0xff, 0xfd, 0xe0]), of(&[0xff]), of(&[])), Default::default());
    }

    #[test]
    fn adts_is_told_from_mpeg_audio() {
        let mut frame = [0u8; 16];
        frame[..7].copy_from_slice(&[0xff, 0xf1, 0x60, 0x40, 0x02, 0x1f, 0xfc]);
        assert_eq!(starts_with_frames(&frame.repeat(6)), Some(Kind::Adts));
    }
}
