//! Sample entries (`stsd`): which codec a track uses and what its decoder needs.

use symphonia::core::audio::Channels;
use symphonia::core::codecs::audio::well_known as id;
use symphonia::core::codecs::audio::{AudioCodecId, AudioCodecParameters};
use symphonia::core::common::FourCc;

use super::super::window::Window;
use super::boxes::{Boxes, long_number, number};

/// Bytes of an audio sample entry before its boxes, by version (QuickTime file format).
const HEADER_BYTES: [u64; 3] = [28, 44, 64];

/// Longest decoder configuration that is read.
const MAX_CONFIG_BYTES: usize = 64 * 1024;

/// An audio track's codec.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) params: AudioCodecParameters,
    /// Set for uncompressed audio: bytes of one frame.
    pub(super) frame_bytes: Option<u64>,
}

/// Reads the first entry of `stsd`.
pub(super) fn read(stsd: &Window) -> Option<Entry> {
    let first = Boxes::new(stsd, 8).next()?;
    let body = &first.body;
    let version = number(body, 8)? >> 16;
    let mut channels = number(body, 16)? >> 16;
    let mut bits = number(body, 16)? & 0xffff;
    let mut rate = number(body, 24)? >> 16;
    let mut flags = 0;
    if version == 2 {
        rate = f64::from_bits(long_number(body, 32)?) as u32;
        channels = number(body, 40)?;
        bits = number(body, 48)?;
        flags = number(body, 52)?;
    }
    let header = HEADER_BYTES[(version as usize).min(2)];
    let boxes = body.part(header, u64::MAX);
    // QuickTime wraps the decoder's boxes once more.
    let boxes = Boxes::find(&boxes, b"wave").unwrap_or(boxes);
    let channels = u16::try_from(channels).ok()?;
    let mut params = AudioCodecParameters::new();
    params.with_channels(Channels::Discrete(channels));
    if rate > 0 {
        params.with_sample_rate(rate);
    }
    let uncompressed = pcm(&first.kind, bits, flags, &boxes);
    let frame_bytes = uncompressed.map(|(codec, sample_bytes)| {
        params.for_codec(codec).with_max_frames_per_packet(super::FRAMES_AT_ONCE.into());
        sample_bytes * u64::from(channels)
    });
    if frame_bytes.is_none() {
        compressed(&mut params, &first.kind, &boxes);
    }
    if frame_bytes == Some(0) {
        return None;
    }
    Some(Entry { params, frame_bytes })
}

fn pcm(kind: &[u8; 4], bits: u32, flags: u32, boxes: &Window) -> Option<(AudioCodecId, u64)> {
    let (is_float, is_big_endian, is_signed) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
    let little =
        || Boxes::find(boxes, b"enda").and_then(|enda| enda.slice(0, 2).ok()).is_some_and(|v| v == [0, 1]);
    Some(match (kind, bits) {
        (b"sowt", 8) => (id::CODEC_ID_PCM_S8, 1),
        (b"sowt", _) => (id::CODEC_ID_PCM_S16LE, 2),
        (b"twos", 8) => (id::CODEC_ID_PCM_S8, 1),
        (b"twos", _) => (id::CODEC_ID_PCM_S16BE, 2),
        (b"raw " | b"NONE", 16) => (id::CODEC_ID_PCM_S16BE, 2),
        (b"raw " | b"NONE", _) => (id::CODEC_ID_PCM_U8, 1),
        (b"in24", _) if little() => (id::CODEC_ID_PCM_S24LE, 3),
        (b"in24", _) => (id::CODEC_ID_PCM_S24BE, 3),
        (b"in32", _) if little() => (id::CODEC_ID_PCM_S32LE, 4),
        (b"in32", _) => (id::CODEC_ID_PCM_S32BE, 4),
        (b"fl32", _) if little() => (id::CODEC_ID_PCM_F32LE, 4),
        (b"fl32", _) => (id::CODEC_ID_PCM_F32BE, 4),
        (b"fl64", _) if little() => (id::CODEC_ID_PCM_F64LE, 8),
        (b"fl64", _) => (id::CODEC_ID_PCM_F64BE, 8),
        (b"ulaw", _) => (id::CODEC_ID_PCM_MULAW, 1),
        (b"alaw", _) => (id::CODEC_ID_PCM_ALAW, 1),
        (b"lpcm", _) => number_format(bits, is_float, is_big_endian, is_signed)?,
        (b"ipcm" | b"fpcm", _) => {
            let config = Boxes::find(boxes, b"pcmC")?.slice(4, 2).ok()?;
            let is_big_endian = config.first()? & 1 == 0;
            number_format(u32::from(*config.get(1)?), kind == b"fpcm", is_big_endian, true)?
        }
        _ => return None,
    })
}

fn number_format(
    bits: u32,
    is_float: bool,
    is_big_endian: bool,
    is_signed: bool,
) -> Option<(AudioCodecId, u64)> {
    Some(match (bits, is_float, is_big_endian) {
        (32, true, false) => (id::CODEC_ID_PCM_F32LE, 4),
        (32, true, true) => (id::CODEC_ID_PCM_F32BE, 4),
        (64, true, false) => (id::CODEC_ID_PCM_F64LE, 8),
        (64, true, true) => (id::CODEC_ID_PCM_F64BE, 8),
        (8, false, _) if is_signed => (id::CODEC_ID_PCM_S8, 1),
        (8, false, _) => (id::CODEC_ID_PCM_U8, 1),
        (16, false, false) => (id::CODEC_ID_PCM_S16LE, 2),
        (16, false, true) => (id::CODEC_ID_PCM_S16BE, 2),
        (24, false, false) => (id::CODEC_ID_PCM_S24LE, 3),
        (24, false, true) => (id::CODEC_ID_PCM_S24BE, 3),
        (32, false, false) => (id::CODEC_ID_PCM_S32LE, 4),
        (32, false, true) => (id::CODEC_ID_PCM_S32BE, 4),
        _ => return None,
    })
}

fn compressed(params: &mut AudioCodecParameters, kind: &[u8; 4], boxes: &Window) {
    let config = |name: &[u8; 4], skip: u64| -> Option<Box<[u8]>> {
        Some(Boxes::find(boxes, name)?.slice(skip, MAX_CONFIG_BYTES).ok()?.into())
    };
    let (codec, extra) = match kind {
        b"mp4a" => config(b"esds", 4).map_or((id::CODEC_ID_AAC, None), |esds| elementary_stream(&esds)),
        b".mp3" | b"ms\0\x55" => (id::CODEC_ID_MP3, None),
        b"alac" => (id::CODEC_ID_ALAC, config(b"alac", 4)),
        b"Opus" => (id::CODEC_ID_OPUS, config(b"dOps", 0).and_then(|config| opus_head(&config))),
        // Behind version and flags lies a metadata block with its own header of four bytes.
        b"fLaC" => (id::CODEC_ID_FLAC, config(b"dfLa", 8).map(|info| info[..info.len().min(34)].into())),
        b"ac-3" => (id::CODEC_ID_AC3, None),
        b"ec-3" => (id::CODEC_ID_EAC3, None),
        b"ac-4" => (id::CODEC_ID_AC4, None),
        b"dtsc" | b"dtsh" | b"dtsl" | b"dtse" => (id::CODEC_ID_DCA, None),
        b"mlpa" => (id::CODEC_ID_TRUEHD, None),
        other => (FourCc::try_new(*other).map_or(id_of_unknown(), AudioCodecId::new), None),
    };
    params.for_codec(codec);
    params.extra_data = extra;
}

fn id_of_unknown() -> AudioCodecId {
    symphonia::core::codecs::audio::CODEC_ID_NULL_AUDIO
}

/// Reads the object type and the decoder's configuration from an ES descriptor
/// (ISO/IEC 14496-1, section 7.2.6).
fn elementary_stream(esds: &[u8]) -> (AudioCodecId, Option<Box<[u8]>>) {
    let Some(decoder) = descriptor(esds, 3).and_then(|es| descriptor(skip_es_header(es)?, 4)) else {
        return (id::CODEC_ID_AAC, None);
    };
    let codec = match decoder.first() {
        Some(0x69 | 0x6b) => id::CODEC_ID_MP3,
        Some(0xa5) => id::CODEC_ID_AC3,
        Some(0xa6) => id::CODEC_ID_EAC3,
        Some(0xa9) => id::CODEC_ID_DCA,
        Some(0xdd) => id::CODEC_ID_VORBIS,
        _ => id::CODEC_ID_AAC,
    };
    let config = decoder.get(13..).and_then(|rest| descriptor(rest, 5));
    (codec, config.map(Into::into))
}

fn skip_es_header(es: &[u8]) -> Option<&[u8]> {
    let flags = es.get(2)?;
    let mut at = 3;
    if flags & 0x80 != 0 {
        at += 2;
    }
    if flags & 0x40 != 0 {
        at += 1 + usize::from(*es.get(at)?);
    }
    if flags & 0x20 != 0 {
        at += 2;
    }
    es.get(at..)
}

/// The body of the descriptor with this tag at the start of `bytes`.
fn descriptor(bytes: &[u8], tag: u8) -> Option<&[u8]> {
    let mut rest = bytes.strip_prefix(&[tag])?;
    let mut size = 0usize;
    for _ in 0..4 {
        let (byte, after) = rest.split_first()?;
        rest = after;
        size = size << 7 | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(&rest[..size.min(rest.len())])
}

/// Turns a `dOps` box (big endian) into the header that Ogg and Matroska carry.
fn opus_head(config: &[u8]) -> Option<Box<[u8]>> {
    let fields = config.first_chunk::<11>()?;
    let mut head = b"OpusHead\x01".to_vec();
    head.push(fields[1]);
    head.extend([fields[3], fields[2]]);
    head.extend([fields[7], fields[6], fields[5], fields[4]]);
    head.extend([fields[9], fields[8]]);
    head.extend(&config[10..]);
    Some(head.into())
}
