//! Track entries of Matroska: codec, decoder configuration, clock.

use symphonia::core::audio::Channels;
use symphonia::core::codecs::audio::AudioCodecParameters;
use symphonia::core::codecs::audio::well_known as id;

use super::super::wave;
use super::ebml::{children, float, unsigned};
use super::lacing::xiph_sizes;

/// Longest name of a codec that is repeated to the client.
const MOST_NAME_CHARS: usize = 32;

/// Most bytes that are taken off the start of every frame; writers take a few. Laced frames that
/// are put together again with many would need far more memory than the file has bytes.
const MOST_STRIPPED_BYTES: usize = 256;

/// A track of any kind.
#[derive(Debug, Clone)]
pub(super) struct TrackEntry {
    pub(super) number: u64,
    pub(super) kind: Kind,
    pub(super) is_default: bool,
    pub(super) codec_delay_ns: u64,
    pub(super) frame_ns: u64,
    /// Bytes that were taken off the start of every frame.
    pub(super) stripped: Vec<u8>,
    pub(super) params: AudioCodecParameters,
    /// The name of a codec that is not decoded.
    pub(super) unsupported: Option<String>,
}

/// What a track carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Audio,
    Video,
    Other,
}

/// Reads one `TrackEntry`.
pub(super) fn read(body: &[u8]) -> TrackEntry {
    let mut codec = String::new();
    let mut private: &[u8] = &[];
    let mut bits = 16;
    let mut track = TrackEntry {
        number: 0,
        kind: Kind::Other,
        is_default: true,
        codec_delay_ns: 0,
        frame_ns: 0,
        stripped: Vec::new(),
        params: AudioCodecParameters::new(),
        unsupported: None,
    };
    track.params.with_sample_rate(8_000).with_channels(Channels::Discrete(1));
    let mut is_readable = true;
    for (id, content) in children(body) {
        match id {
            0xd7 => track.number = unsigned(content),
            0x83 => {
                track.kind = match unsigned(content) {
                    1 => Kind::Video,
                    2 => Kind::Audio,
                    _ => Kind::Other,
                }
            }
            0x88 => track.is_default = unsigned(content) != 0,
            0x56aa => track.codec_delay_ns = unsigned(content),
            0x23_e383 => track.frame_ns = unsigned(content),
            0x86 => codec = String::from_utf8_lossy(content).trim_end_matches('\0').to_owned(),
            0x63a2 => private = content,
            0xe1 => bits = read_audio(content, &mut track.params),
            0x6d80 => match stripped_header(content) {
                Some(bytes) => track.stripped = bytes,
                None => is_readable = false,
            },
            _ => {}
        }
    }
    if codec == "A_OPUS" {
        // Its own header has the same delay, and some writers get this copy wrong.
        track.codec_delay_ns = 0;
    }
    track.unsupported = match is_readable {
        true => set_codec(&mut track.params, &codec, private, bits).err(),
        false => Some("compression or encryption in Matroska".to_owned()),
    };
    track
}

fn read_audio(body: &[u8], params: &mut AudioCodecParameters) -> u64 {
    let mut bits = 16;
    for (id, content) in children(body) {
        match id {
            0xb5 => params.sample_rate = Some(float(content).round().clamp(0.0, f64::from(u32::MAX)) as u32),
            0x9f => {
                let channels = unsigned(content).min(u64::from(u16::MAX)) as u16;
                params.channels = Some(Channels::Discrete(channels));
            }
            0x6264 => bits = unsigned(content),
            _ => {}
        }
    }
    bits
}

/// The bytes of header stripping, the one compression of audio that is in use; `None` for others
/// and for encryption.
fn stripped_header(encodings: &[u8]) -> Option<Vec<u8>> {
    let (_, encoding) = children(encodings).find(|(id, _)| *id == 0x6240)?;
    let (_, compression) = children(encoding).find(|(id, _)| *id == 0x5034)?;
    let field = |wanted| children(compression).find(|(id, _)| *id == wanted).map(|(_, content)| content);
    let settings = field(0x4255).unwrap_or_default();
    let is_stripping = field(0x4254).map_or(0, unsigned) == 3;
    (is_stripping && settings.len() <= MOST_STRIPPED_BYTES).then(|| settings.to_vec())
}

/// Sets what the decoder needs, or gives the name of a codec that has none.
fn set_codec(
    params: &mut AudioCodecParameters,
    codec: &str,
    private: &[u8],
    bits: u64,
) -> Result<(), String> {
    let unknown = || format!("the audio codec {}", codec.chars().take(MOST_NAME_CHARS).collect::<String>());
    let is_big_endian = codec == "A_PCM/INT/BIG";
    let found = match codec {
        "A_OPUS" => id::CODEC_ID_OPUS,
        "A_VORBIS" => id::CODEC_ID_VORBIS,
        "A_FLAC" => id::CODEC_ID_FLAC,
        "A_ALAC" => id::CODEC_ID_ALAC,
        "A_MPEG/L3" => id::CODEC_ID_MP3,
        "A_MPEG/L2" => id::CODEC_ID_MP2,
        "A_MPEG/L1" => id::CODEC_ID_MP1,
        "A_PCM/INT/LIT" | "A_PCM/INT/BIG" => match (bits, is_big_endian) {
            (8, _) => id::CODEC_ID_PCM_U8,
            (16, false) => id::CODEC_ID_PCM_S16LE,
            (16, true) => id::CODEC_ID_PCM_S16BE,
            (24, false) => id::CODEC_ID_PCM_S24LE,
            (24, true) => id::CODEC_ID_PCM_S24BE,
            (32, false) => id::CODEC_ID_PCM_S32LE,
            (32, true) => id::CODEC_ID_PCM_S32BE,
            _ => return Err(format!("PCM of {bits} bits")),
        },
        "A_MS/ACM" => wave::plain_codec(private)?,
        "A_PCM/FLOAT/IEEE" if bits == 64 => id::CODEC_ID_PCM_F64LE,
        "A_PCM/FLOAT/IEEE" => id::CODEC_ID_PCM_F32LE,
        "A_EAC3" => id::CODEC_ID_EAC3,
        "A_TRUEHD" => id::CODEC_ID_TRUEHD,
        "A_MPC" => id::CODEC_ID_MUSEPACK,
        "A_TTA1" => id::CODEC_ID_TTA,
        "A_WAVPACK4" => id::CODEC_ID_WAVPACK,
        name if name.starts_with("A_AAC") => id::CODEC_ID_AAC,
        name if name.starts_with("A_AC3") => id::CODEC_ID_AC3,
        name if name.starts_with("A_DTS") => id::CODEC_ID_DCA,
        _ => return Err(unknown()),
    };
    params.for_codec(found);
    params.extra_data = match found {
        id::CODEC_ID_VORBIS => vorbis_headers(private).map(Into::into),
        // Behind the marker and a block header of four bytes lies the stream's description.
        id::CODEC_ID_FLAC => private.get(8..42).map(Into::into),
        _ if private.is_empty() || codec == "A_MS/ACM" => None,
        _ => Some(private.into()),
    };
    Ok(())
}

/// The identification and the setup header, which is what the decoder takes, out of three.
fn vorbis_headers(private: &[u8]) -> Option<Vec<u8>> {
    let (others, mut rest) = private.split_first()?;
    let sizes = xiph_sizes(&mut rest, usize::from(*others))?;
    let mut headers = Vec::new();
    for size in sizes {
        let (header, after) = rest.split_at_checked(size)?;
        rest = after;
        if header.first() == Some(&1) {
            headers.extend_from_slice(header);
        }
    }
    headers.extend_from_slice(rest);
    Some(headers)
}
