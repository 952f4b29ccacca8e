//! From a track's parameters to a decoder, and from a codec to its usual name.

use symphonia::core::codecs::audio::well_known as id;
use symphonia::core::codecs::audio::{AudioCodecId, AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Result;
use symphonia::core::packet::Packet;

use super::aac::{AacConfig, AacFlavour};
use super::error::DecodeError;
use super::guard::guarded;
use super::opus::{Opus, OpusHead};

/// Sample rates that are believed, Hz.
const SAMPLE_RATES: std::ops::RangeInclusive<u32> = 1_000..=384_000;

/// Most channels of a track.
pub(super) const MAX_CHANNELS: u16 = 16;

/// Most frames in one packet that are believed; decoders allocate this at once.
const MAX_FRAMES_PER_PACKET: u64 = 1 << 18;

/// A decoder of any codec.
pub(super) enum Decoder {
    /// One of symphonia's.
    Symphonia(Box<dyn AudioDecoder>),
    /// libopus.
    Opus(Box<Opus>),
}

/// A decoder and what the client is told about it.
pub(super) struct Made {
    pub(super) decoder: Decoder,
    /// Short name of the codec.
    pub(super) name: String,
    /// Only a part of what the codec carries is decoded: which.
    pub(super) note: Option<&'static str>,
    /// Start of the stream that is not meant to be heard and that its timestamps do not show.
    pub(super) pre_skip_s: f64,
}

impl Decoder {
    /// Decodes `packet` into one plane per channel and returns the sample rate. `tick_s` is the
    /// length of the packet's time unit.
    pub(super) fn decode(&mut self, packet: &Packet, tick_s: f64, planes: &mut Vec<Vec<f32>>) -> Result<u32> {
        guarded(|| match self {
            Self::Symphonia(decoder) => {
                let decoded = decoder.decode(packet)?;
                decoded.copy_to_vecs_planar(planes);
                Ok(decoded.spec().rate())
            }
            Self::Opus(opus) => opus.decode(&packet.data, packet.trim_end.get() as f64 * tick_s, planes),
        })
    }
}

/// Makes a decoder for a track.
pub(super) fn make(params: &AudioCodecParameters) -> std::result::Result<Made, DecodeError> {
    check(params)?;
    if params.codec == id::CODEC_ID_OPUS {
        return make_opus(params);
    }
    let mut params = params.clone();
    let mut note = None;
    if params.codec == id::CODEC_ID_AAC
        && let Some(config) = params.extra_data.as_deref().and_then(AacConfig::parse)
    {
        note = prepare_aac(&mut params, &config)?;
        if config.channels() > 2 {
            return Err(DecodeError::Unsupported(format!("AAC with {} channels", config.channels())));
        }
    }
    if matches!(params.codec, id::CODEC_ID_PCM_ALAW | id::CODEC_ID_PCM_MULAW) {
        // The decoder wants the width of what it makes of a sample; some readers state the
        // width in the file.
        params.bits_per_sample = None;
        params.bits_per_coded_sample = None;
    }
    // MPEG audio is trimmed by its timestamps: symphonia cuts everything behind the length that
    // the first header states, which loses the rest of joined files.
    let is_mpeg = matches!(params.codec, id::CODEC_ID_MP1 | id::CODEC_ID_MP2 | id::CODEC_ID_MP3);
    let options = AudioDecoderOptions::default().gapless(!is_mpeg);
    let decoder = guarded(|| symphonia::default::get_codecs().make_audio_decoder(&params, &options))
        .map_err(|_| DecodeError::Unsupported(name(&params)))?;
    let name = decoder.codec_info().short_name.to_owned();
    Ok(Made { decoder: Decoder::Symphonia(decoder), name, note, pre_skip_s: 0.0 })
}

fn make_opus(params: &AudioCodecParameters) -> std::result::Result<Made, DecodeError> {
    let bad_header = || DecodeError::BadHeader("the Opus header contradicts itself".into());
    let channels = params.channels.as_ref().map_or(2, |channels| channels.count());
    let head = match params.extra_data.as_deref() {
        Some(bytes) => OpusHead::parse(bytes),
        None => OpusHead::plain(channels.min(2)),
    };
    let head = head.ok_or_else(bad_header)?;
    check_channels(head.channels)?;
    let pre_skip_s = head.pre_skip_s;
    let opus = Opus::new(head).map_err(|_| bad_header())?;
    Ok(Made { decoder: Decoder::Opus(Box::new(opus)), name: "opus".into(), note: None, pre_skip_s })
}

/// Replaces an extended AAC config by that of its core.
fn prepare_aac(
    params: &mut AudioCodecParameters,
    config: &AacConfig,
) -> std::result::Result<Option<&'static str>, DecodeError> {
    match config.flavour {
        AacFlavour::LowComplexity => Ok(None),
        AacFlavour::HighEfficiency => {
            params.extra_data = Some(config.core_config().into());
            Ok(Some("the file is HE-AAC: its core was decoded, without the extension for high frequencies"))
        }
        AacFlavour::Other(name) => Err(DecodeError::Unsupported(name.into())),
    }
}

/// Refuses what would make a decoder allocate without bounds.
fn check(params: &AudioCodecParameters) -> std::result::Result<(), DecodeError> {
    if let Some(rate) = params.sample_rate.filter(|rate| !SAMPLE_RATES.contains(rate)) {
        return Err(DecodeError::BadHeader(format!("it says {rate} samples per second")));
    }
    if params.max_frames_per_packet.is_some_and(|frames| frames > MAX_FRAMES_PER_PACKET) {
        return Err(DecodeError::BadHeader("its packets are too long".into()));
    }
    check_channels(params.channels.as_ref().map_or(1, |channels| channels.count()))?;
    // The magic cookie of ALAC starts with the frame length.
    let alac_frames = params.extra_data.as_deref().and_then(|cookie| cookie.first_chunk::<4>());
    if params.codec == id::CODEC_ID_ALAC
        && alac_frames.is_some_and(|frames| u64::from(u32::from_be_bytes(*frames)) > MAX_FRAMES_PER_PACKET)
    {
        return Err(DecodeError::BadHeader("its packets are too long".into()));
    }
    Ok(())
}

fn check_channels(channels: usize) -> std::result::Result<(), DecodeError> {
    match channels {
        0 => Err(DecodeError::BadHeader("it says 0 channels".into())),
        _ if channels > usize::from(MAX_CHANNELS) => {
            Err(DecodeError::TooManyChannels { channels, limit: MAX_CHANNELS })
        }
        _ => Ok(()),
    }
}

/// The usual name of a codec that has no decoder here, or not for these parameters.
fn name(params: &AudioCodecParameters) -> String {
    let name = match params.codec {
        id::CODEC_ID_AAC => {
            let channels = params.channels.as_ref().map_or(0, |channels| channels.count());
            return match channels {
                0..=2 => "this profile of AAC".into(),
                count => format!("AAC with {count} channels"),
            };
        }
        id::CODEC_ID_AC3 => "AC-3 (Dolby Digital)",
        id::CODEC_ID_EAC3 => "E-AC-3 (Dolby Digital Plus)",
        id::CODEC_ID_AC4 => "AC-4",
        id::CODEC_ID_DCA => "DTS",
        id::CODEC_ID_TRUEHD => "TrueHD",
        id::CODEC_ID_WMA => "WMA",
        id::CODEC_ID_SPEEX => "Speex",
        id::CODEC_ID_MUSEPACK => "Musepack",
        id::CODEC_ID_WAVPACK => "WavPack",
        id::CODEC_ID_MONKEYS_AUDIO => "Monkey's Audio",
        id::CODEC_ID_TTA => "TTA",
        id::CODEC_ID_ADPCM_G722 => "G.722",
        id::CODEC_ID_ADPCM_G726 | id::CODEC_ID_ADPCM_G726LE => "G.72x ADPCM",
        other => return four_letters(other),
    };
    name.to_owned()
}

/// Codecs that symphonia does not know carry their four-letter code in the id.
fn four_letters(codec: AudioCodecId) -> String {
    let shown = codec.to_string();
    let code = u32::from_str_radix(shown.trim_start_matches("0x"), 16).unwrap_or(0) & 0x7fff_ffff;
    let letters: String =
        code.to_be_bytes().into_iter().filter(u8::is_ascii_graphic).map(char::from).collect();
    match letters.as_str() {
        "samr" => "AMR".into(),
        "sawb" => "AMR-WB".into(),
        letters if letters.len() == 4 => format!("the audio codec {letters}"),
        _ => "the audio codec of this file".into(),
    }
}
