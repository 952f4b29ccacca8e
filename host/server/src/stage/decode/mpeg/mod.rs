//! Frames of MPEG audio and ADTS: finds where a run of them starts.

mod frame;

use super::error::DecodeError;
use super::sniff::Kind;
use super::window::Window;

pub(super) use frame::{Frame, HEADER_BYTES, is_info, layer};

/// Frames in a row, agreeing with each other, before a start is believed.
pub(super) const RUN: usize = 4;

/// Longest frame: the length of ADTS has 13 bits, and those of MPEG audio are shorter.
pub(super) const MOST_FRAME_BYTES: usize = (1 << 13) - 1;

/// Whether a run of frames starts with the first byte. At the end of `bytes` a shorter run will
/// do if it ends exactly there or beyond.
pub(super) fn starts_with_frames(bytes: &[u8]) -> Option<Kind> {
    let first = Frame::parse(bytes)?;
    let mut at = 0;
    for _ in 0..RUN {
        let Some(rest) = bytes.get(at..).filter(|rest| rest.len() >= HEADER_BYTES) else { break };
        let next = Frame::parse(rest)?;
        if !next.agrees(&first) {
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

/// Why frames at the start of `body` are refused although they are whole: layer 2 allows some bit
/// rates only with one channel and some only with more (ISO/IEC 11172-3, section 2.4.2.3), which
/// the decoder also holds for MPEG 2.
pub(super) fn fault(body: &Window) -> Option<DecodeError> {
    let head: [u8; 4] = body.slice(0, 4).ok()?.try_into().ok()?;
    layer(&head)?;
    let (version, layer) = (head[1] >> 3 & 3, head[1] >> 1 & 3);
    let rate = frame::rate_kbps(version == 3, layer, usize::from(head[2] >> 4));
    let channels = match (head[3] >> 6, rate) {
        (3, 224 | 256 | 320 | 384) => "one channel",
        (0..=2, 32 | 48 | 56 | 80) => "two channels",
        _ => return None,
    };
    let named = || DecodeError::Unsupported(format!("MPEG audio layer 2 of {channels} at {rate} kbit/s"));
    (layer == 2).then(named)
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
