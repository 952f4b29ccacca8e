//! The `fmt ` chunk: which coding, how many channels, how the bytes are grouped.

use symphonia::core::codecs::audio::AudioCodecId;
use symphonia::core::codecs::audio::well_known::{
    CODEC_ID_ADPCM_IMA_WAV, CODEC_ID_ADPCM_MS, CODEC_ID_PCM_ALAW, CODEC_ID_PCM_F32BE, CODEC_ID_PCM_F32LE,
    CODEC_ID_PCM_F64BE, CODEC_ID_PCM_F64LE, CODEC_ID_PCM_MULAW, CODEC_ID_PCM_S16BE, CODEC_ID_PCM_S16LE,
    CODEC_ID_PCM_S24BE, CODEC_ID_PCM_S24LE, CODEC_ID_PCM_S32BE, CODEC_ID_PCM_S32LE, CODEC_ID_PCM_U8,
};

use super::super::error::DecodeError;

/// How samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// Integers.
    Pcm,
    /// IEEE floats.
    Float,
    /// G.711 A-law.
    Alaw,
    /// G.711 mu-law.
    Mulaw,
    /// Microsoft ADPCM.
    AdpcmMs,
    /// IMA ADPCM as Microsoft packs it.
    AdpcmIma,
    /// MPEG audio frames.
    Mpeg,
}

/// The fields of the chunk that matter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Format {
    pub(super) coding: Coding,
    pub(super) channels: u16,
    pub(super) sample_rate: u32,
    block_align: u16,
    bits: u16,
}

/// How the data chunk is cut.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) codec: AudioCodecId,
    pub(super) block_bytes: u64,
    pub(super) frames_per_block: u64,
}

impl Format {
    /// Reads the chunk's body.
    pub(super) fn parse(bytes: &[u8], is_big_endian: bool) -> Result<Self, DecodeError> {
        let short = |at: usize| -> Option<u16> {
            let pair = *bytes.get(at..)?.first_chunk::<2>()?;
            Some(if is_big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
        };
        let long = |at: usize| -> Option<u32> {
            let four = *bytes.get(at..)?.first_chunk::<4>()?;
            Some(if is_big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
        };
        let (Some(tag), Some(channels), Some(sample_rate), Some(block_align)) =
            (short(0), short(2), long(4), short(12))
        else {
            return Err(DecodeError::BadHeader("the fmt chunk is too short".into()));
        };
        // An extensible format carries the real tag in the first bytes of a GUID.
        let tag = if tag == 0xfffe { short(24).unwrap_or(tag) } else { tag };
        Ok(Self { coding: coding(tag)?, channels, sample_rate, block_align, bits: short(14).unwrap_or(8) })
    }

    /// Checks the fields against each other.
    pub(super) fn layout(&self, big_endian: bool) -> Result<Layout, DecodeError> {
        if self.channels == 0 {
            return Err(DecodeError::BadHeader("it says 0 channels".into()));
        }
        let (codec, block_bytes, frames_per_block) = match self.coding {
            Coding::Pcm | Coding::Float => self.samples(big_endian)?,
            Coding::Alaw => (CODEC_ID_PCM_ALAW, u64::from(self.channels), 1),
            Coding::Mulaw => (CODEC_ID_PCM_MULAW, u64::from(self.channels), 1),
            Coding::AdpcmMs => self.adpcm(CODEC_ID_ADPCM_MS, 7, 2)?,
            Coding::AdpcmIma => self.adpcm(CODEC_ID_ADPCM_IMA_WAV, 4, 1)?,
            Coding::Mpeg => return Err(DecodeError::BadHeader("MPEG audio has no blocks".into())),
        };
        Ok(Layout { codec, block_bytes, frames_per_block })
    }

    fn samples(&self, big_endian: bool) -> Result<(AudioCodecId, u64, u64), DecodeError> {
        // Samples of 12 or 20 bits lie in the upper bits of 16 or 24.
        let width = self.bits.div_ceil(8);
        let is_consistent = self.block_align == 0 || self.block_align == width.saturating_mul(self.channels);
        let codec = match (self.coding, width, big_endian) {
            (Coding::Pcm, 1, _) => CODEC_ID_PCM_U8,
            (Coding::Pcm, 2, false) => CODEC_ID_PCM_S16LE,
            (Coding::Pcm, 2, true) => CODEC_ID_PCM_S16BE,
            (Coding::Pcm, 3, false) => CODEC_ID_PCM_S24LE,
            (Coding::Pcm, 3, true) => CODEC_ID_PCM_S24BE,
            (Coding::Pcm, 4, false) => CODEC_ID_PCM_S32LE,
            (Coding::Pcm, 4, true) => CODEC_ID_PCM_S32BE,
            (Coding::Float, 4, false) => CODEC_ID_PCM_F32LE,
            (Coding::Float, 4, true) => CODEC_ID_PCM_F32BE,
            (Coding::Float, 8, false) => CODEC_ID_PCM_F64LE,
            (Coding::Float, 8, true) => CODEC_ID_PCM_F64BE,
            _ => return Err(self.bad_bits()),
        };
        if !is_consistent {
            return Err(self.bad_bits());
        }
        Ok((codec, u64::from(width) * u64::from(self.channels), 1))
    }

    /// `header` bytes and `warm` frames per channel start each block; each further byte holds two
    /// 4-bit samples.
    fn adpcm(
        &self,
        codec: AudioCodecId,
        header: u16,
        warm: u64,
    ) -> Result<(AudioCodecId, u64, u64), DecodeError> {
        let body =
            self.channels.checked_mul(header).and_then(|headers| self.block_align.checked_sub(headers));
        match body {
            Some(body) if self.channels <= 2 && matches!(self.bits, 0 | 4) => Ok((
                codec,
                u64::from(self.block_align),
                u64::from(body) * 2 / u64::from(self.channels) + warm,
            )),
            _ => Err(DecodeError::BadHeader("the block size does not fit the ADPCM coding".into())),
        }
    }

    fn bad_bits(&self) -> DecodeError {
        DecodeError::BadHeader(format!(
            "{} bits per sample in blocks of {} bytes for {} channels",
            self.bits, self.block_align, self.channels
        ))
    }
}

/// Tags of the registry of wave formats (RFC 2361).
fn coding(tag: u16) -> Result<Coding, DecodeError> {
    let name = match tag {
        0x0001 => return Ok(Coding::Pcm),
        0x0002 => return Ok(Coding::AdpcmMs),
        0x0003 => return Ok(Coding::Float),
        0x0006 => return Ok(Coding::Alaw),
        0x0007 => return Ok(Coding::Mulaw),
        0x0011 => return Ok(Coding::AdpcmIma),
        0x0050 | 0x0055 => return Ok(Coding::Mpeg),
        0x0014 | 0x0040 | 0x0045 | 0x0064 => "G.72x ADPCM",
        0x0065 | 0x028f => "G.722",
        0x0022 => "TrueSpeech",
        0x0031 => "GSM 6.10",
        0x0038 | 0x0057 | 0x7361 | 0x7362 => "AMR",
        0x0042 => "G.723.1",
        0x0083 => "G.729",
        0x0092 | 0x2000 => "AC-3",
        0x00ff | 0x1600 | 0x1610 => "AAC in a wave file",
        0x0160..=0x0163 => "WMA",
        0x2001 => "DTS",
        0xa109 => "Speex",
        _ => return Err(DecodeError::Unsupported(format!("the wave codec 0x{tag:04x}"))),
    };
    Err(DecodeError::Unsupported(name.into()))
}
