//! Opus with everything its header asks for: gain, pre-skip, more than two channels.
//!
//! Decodes straight to 16 kHz, which libopus does at no cost.

mod packet;

use symphonia::core::audio::{Channels, layouts};
use symphonia::core::codecs::audio::well_known::CODEC_ID_OPUS;
use symphonia::core::codecs::audio::{AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::codecs::registry::RegisterableAudioDecoder;
use symphonia::core::errors::{Error, Result};
use symphonia::core::packet::PacketRef;
use symphonia::core::units::{Duration, Timestamp};
use symphonia_adapter_libopus::OpusDecoder;

use crate::model::segments::SAMPLE_RATE_HZ;
use packet::split_first;

/// Frames per second of Opus timestamps and of the pre-skip.
const CLOCK_RATE: f64 = 48_000.0;

/// The identification header (RFC 7845, section 5.1).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OpusHead {
    /// Channels after the mapping.
    pub(super) channels: usize,
    /// Start of the stream that is not meant to be heard, seconds.
    pub(super) pre_skip_s: f64,
    gain: f32,
    streams: usize,
    coupled: usize,
    mapping: Vec<u8>,
}

impl OpusHead {
    /// Reads `OpusHead…`; `None` when it contradicts itself.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let fields = bytes.strip_prefix(b"OpusHead")?.get(..11)?;
        let channels = usize::from(fields[1]);
        let pre_skip = u16::from_le_bytes([fields[2], fields[3]]);
        let gain_q8 = i16::from_le_bytes([fields[8], fields[9]]);
        let (streams, coupled, mapping) = match (fields[10], channels) {
            (0, 1) => (1, 0, vec![0]),
            (0, 2) => (1, 1, vec![0, 1]),
            (0, _) => return None,
            _ => {
                let table = bytes.get(19..21 + channels)?;
                (usize::from(table[0]), usize::from(table[1]), table[2..].to_vec())
            }
        };
        let decoded = streams + coupled;
        let is_valid = channels > 0
            && coupled <= streams
            && mapping.iter().all(|index| *index == 255 || usize::from(*index) < decoded);
        is_valid.then_some(Self {
            channels,
            pre_skip_s: f64::from(pre_skip) / CLOCK_RATE,
            gain: 10f32.powf(f32::from(gain_q8) / (20.0 * 256.0)),
            streams,
            coupled,
            mapping,
        })
    }

    /// The header of a stream that has none: family 0.
    pub(super) fn plain(channels: usize) -> Option<Self> {
        let mut bytes = b"OpusHead\x01\0\0\0\0\0\0\0\0\0\0".to_vec();
        bytes[9] = u8::try_from(channels).ok()?;
        Self::parse(&bytes)
    }
}

/// Decodes all streams of a track.
pub(super) struct Opus {
    head: OpusHead,
    decoders: Vec<Box<dyn AudioDecoder>>,
    streams: Vec<Vec<f32>>,
}

impl Opus {
    /// Starts the decoders for `head`.
    pub(super) fn new(head: OpusHead) -> Result<Self> {
        let decoders = (0..head.streams)
            .map(|index| stream_decoder(if index < head.coupled { 2 } else { 1 }))
            .collect::<Result<_>>()?;
        Ok(Self { head, decoders, streams: Vec::new() })
    }

    /// Decodes a packet into `planes`, without the trailing `trim_end_s`.
    pub(super) fn decode(
        &mut self,
        packet: &[u8],
        trim_end_s: f64,
        planes: &mut Vec<Vec<f32>>,
    ) -> Result<u32> {
        self.streams.clear();
        let mut rest = packet;
        let last = self.decoders.len().saturating_sub(1);
        for (index, decoder) in self.decoders.iter_mut().enumerate() {
            let plain;
            let stream = if index == last {
                rest
            } else {
                let (first, after) = split_first(rest).ok_or(Error::DecodeError("opus: damaged packet"))?;
                rest = after;
                plain = first;
                &plain
            };
            decode_stream(decoder.as_mut(), stream, &mut self.streams)?;
        }
        self.map_channels(trim_end_s, planes);
        Ok(SAMPLE_RATE_HZ)
    }

    /// Orders the decoded streams as the header says; index 255 is silence.
    fn map_channels(&self, trim_end_s: f64, planes: &mut Vec<Vec<f32>>) {
        let frames = self.streams.iter().map(Vec::len).min().unwrap_or(0);
        let kept = frames.saturating_sub((trim_end_s * f64::from(SAMPLE_RATE_HZ)).round() as usize);
        planes.resize(self.head.channels, Vec::new());
        for (plane, index) in planes.iter_mut().zip(&self.head.mapping) {
            plane.clear();
            match self.streams.get(usize::from(*index)) {
                Some(stream) => plane.extend(stream[..kept].iter().map(|sample| sample * self.head.gain)),
                None => plane.resize(kept, 0.0),
            }
        }
    }
}

fn stream_decoder(channels: usize) -> Result<Box<dyn AudioDecoder>> {
    let layout: Channels =
        if channels == 2 { layouts::CHANNEL_LAYOUT_STEREO } else { layouts::CHANNEL_LAYOUT_MONO };
    let mut params = AudioCodecParameters::new();
    // Without a header the adapter trims nothing: pre-skip and gain are handled here.
    params.for_codec(CODEC_ID_OPUS).with_sample_rate(SAMPLE_RATE_HZ).with_channels(layout);
    OpusDecoder::try_registry_new(&params, &AudioDecoderOptions::default())
}

fn decode_stream(decoder: &mut dyn AudioDecoder, packet: &[u8], streams: &mut Vec<Vec<f32>>) -> Result<()> {
    if packet.is_empty() {
        return Err(Error::DecodeError("opus: empty packet"));
    }
    let packet = PacketRef::new(0, Timestamp::ZERO, Duration::ZERO, packet);
    let mut planes: Vec<Vec<f32>> = Vec::new();
    decoder.decode_ref(&packet)?.copy_to_vecs_planar(&mut planes);
    streams.append(&mut planes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(channels: u8, gain: i16, family: u8, table: &[u8]) -> Vec<u8> {
        let mut bytes = b"OpusHead\x01".to_vec();
        bytes.push(channels);
        bytes.extend(312u16.to_le_bytes());
        bytes.extend(48_000u32.to_le_bytes());
        bytes.extend(gain.to_le_bytes());
        bytes.push(family);
        bytes.extend(table);
        bytes
    }

    #[test]
    fn headers_are_read() {
        let stereo = OpusHead::parse(&head(2, 0, 0, &[])).expect("valid");
        assert_eq!((stereo.streams, stereo.coupled, stereo.gain), (1, 1, 1.0));
        assert!((stereo.pre_skip_s - 0.0065).abs() < 1e-9);
        let surround = OpusHead::parse(&head(6, 256 * 6, 1, &[4, 2, 0, 4, 1, 2, 3, 5])).expect("valid");
        assert_eq!((surround.streams, surround.coupled), (4, 2));
        assert!((surround.gain - 1.995).abs() < 0.001);
    }

    #[test]
    fn contradictions_are_refused() {
        assert_eq!(OpusHead::parse(&head(3, 0, 0, &[])), None);
        assert_eq!(OpusHead::parse(&head(0, 0, 0, &[])), None);
        assert_eq!(OpusHead::parse(&head(2, 0, 1, &[1, 1, 0])), None);
        assert_eq!(OpusHead::parse(&head(2, 0, 1, &[1, 0, 0, 1])), None);
        assert_eq!(OpusHead::parse(&head(2, 0, 1, &[1, 2, 0, 1])), None);
        assert_eq!(OpusHead::parse(b"OpusHea"), None);
        assert!(OpusHead::plain(2).is_some() && OpusHead::plain(3).is_none());
    }
}
