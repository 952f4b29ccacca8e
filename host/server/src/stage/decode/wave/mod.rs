//! Reads RIFF/WAVE and its 64-bit forms, forgiving what recorders get wrong.
//!
//! Sizes that lie (0, all ones, beyond the end of the file), missing pad bytes, chunks in any
//! order and junk are tolerated; what makes the samples themselves uncertain is an error.

mod format;

use symphonia::core::audio::Channels;
use symphonia::core::codecs::audio::well_known::CODEC_ID_MP3;
use symphonia::core::codecs::audio::{AudioCodecId, AudioCodecParameters};
use symphonia::core::packet::Packet;
use symphonia::core::units::{Duration, Timestamp};

use super::error::DecodeError;
use super::window::Window;
use format::{Coding, Format};

/// Most chunks that are walked before the file is called damaged.
const MAX_CHUNKS: usize = 4096;

/// How far a lost `data` chunk is searched, bytes.
const SEARCH_BYTES: usize = 64 * 1024;

/// Frames of uncompressed audio in one packet.
const FRAMES_PER_PACKET: u64 = 4096;

/// What a wave file holds.
#[derive(Debug)]
pub(super) enum Wave {
    /// Samples or blocks that are cut into packets here.
    Blocks(WaveReader),
    /// An MPEG audio stream inside.
    Mpeg(Window),
}

/// The codec of samples that need no cutting, or of MPEG audio, by a format chunk that stands in
/// another container.
///
/// # Errors
/// The name of a codec that is none of these.
pub(super) fn plain_codec(format: &[u8]) -> Result<AudioCodecId, String> {
    let format = Format::parse(format, false).map_err(|cause| match cause {
        DecodeError::Unsupported(name) => name,
        _ => "a wave codec without its description".to_owned(),
    })?;
    match format.coding {
        Coding::Mpeg => Ok(CODEC_ID_MP3),
        Coding::AdpcmMs => Err("Microsoft ADPCM outside of a wave file".to_owned()),
        Coding::AdpcmIma => Err("IMA ADPCM outside of a wave file".to_owned()),
        Coding::Pcm | Coding::Float | Coding::Alaw | Coding::Mulaw => {
            format.layout(false).map(|layout| layout.codec).map_err(|cause| cause.to_string())
        }
    }
}

/// Cuts the data chunk into packets.
#[derive(Debug)]
pub(super) struct WaveReader {
    data: Window,
    at: u64,
    block_bytes: u64,
    frames_per_block: u64,
    blocks_per_packet: u64,
    /// For the decoder.
    pub(super) params: AudioCodecParameters,
    /// Frames that the header promises; the file may hold fewer.
    pub(super) stated_frames: u64,
}

impl WaveReader {
    /// Frames that the file really holds.
    pub(super) fn held_frames(&self) -> u64 {
        self.data.len() / self.block_bytes * self.frames_per_block
    }

    /// The next packet; `None` at the end.
    pub(super) fn next_packet(&mut self) -> std::io::Result<Option<Packet>> {
        let blocks = ((self.data.len() - self.at) / self.block_bytes).min(self.blocks_per_packet);
        let bytes = self.data.slice(self.at, (blocks * self.block_bytes) as usize)?;
        let blocks = bytes.len() as u64 / self.block_bytes;
        if blocks == 0 {
            return Ok(None);
        }
        let frame = self.at / self.block_bytes * self.frames_per_block;
        self.at += blocks * self.block_bytes;
        let length = Duration::new(blocks * self.frames_per_block);
        Ok(Some(Packet::new(0, Timestamp::new(frame.cast_signed()), length, bytes)))
    }
}

/// Where the chunks that matter are.
#[derive(Debug, Default)]
struct Chunks {
    format: Option<Format>,
    data: Option<(u64, u64)>,
    size_64: Option<u64>,
}

/// Reads the header of `file`.
pub(super) fn open(file: &Window) -> Result<Wave, DecodeError> {
    let id = file.slice(0, 4).map_err(DecodeError::Read)?;
    let is_big_endian = id == b"RIFX";
    let chunks = walk(file, is_big_endian)?;
    let format = chunks.format.ok_or_else(|| {
        DecodeError::BadHeader("the wave file does not describe its samples (no fmt chunk)".into())
    })?;
    let (start, stated) =
        chunks.data.or_else(|| find_data(file, is_big_endian)).ok_or(DecodeError::NoData)?;
    let stated = chunks.size_64.filter(|_| stated == u64::from(u32::MAX)).unwrap_or(stated);
    let left = file.len().saturating_sub(start);
    // Recorders that could not seek back leave 0 or all ones: the data goes on to the end.
    let is_open_ended = stated == 0 || stated >= u64::from(u32::MAX) - 8 && stated > left;
    let data = file.part(start, if is_open_ended { left } else { stated });
    if data.len() == 0 {
        return Err(DecodeError::NoData);
    }
    if format.coding == Coding::Mpeg {
        return Ok(Wave::Mpeg(data));
    }
    let stated = if is_open_ended { left } else { stated };
    reader(data, &format, stated, is_big_endian).map(Wave::Blocks)
}

fn reader(data: Window, format: &Format, stated: u64, big_endian: bool) -> Result<WaveReader, DecodeError> {
    let layout = format.layout(big_endian)?;
    if data.len() < layout.block_bytes {
        return Err(DecodeError::NoData);
    }
    let blocks_per_packet = (FRAMES_PER_PACKET / layout.frames_per_block).max(1);
    let mut params = AudioCodecParameters::new();
    params
        .for_codec(layout.codec)
        .with_sample_rate(format.sample_rate)
        .with_channels(Channels::Discrete(format.channels))
        .with_frames_per_block(layout.frames_per_block)
        .with_max_frames_per_packet(blocks_per_packet * layout.frames_per_block);
    Ok(WaveReader {
        data,
        at: 0,
        block_bytes: layout.block_bytes,
        frames_per_block: layout.frames_per_block,
        blocks_per_packet,
        params,
        stated_frames: stated / layout.block_bytes * layout.frames_per_block,
    })
}

fn walk(file: &Window, is_big_endian: bool) -> Result<Chunks, DecodeError> {
    let mut chunks = Chunks::default();
    let mut at = 12u64;
    for _ in 0..MAX_CHUNKS {
        let header = file.slice(at, 8).map_err(DecodeError::Read)?;
        let Some((id, size)) = header.split_first_chunk::<4>() else { break };
        let Some(size) = size.first_chunk::<4>() else { break };
        let size = chunk_size(*size, is_big_endian);
        let body = at + 8;
        match id {
            b"fmt " => {
                let bytes = file.slice(body, size.min(64) as usize).map_err(DecodeError::Read)?;
                chunks.format = Some(Format::parse(&bytes, is_big_endian)?);
            }
            b"ds64" => {
                let bytes = file.slice(body + 8, 8).map_err(DecodeError::Read)?;
                chunks.size_64 = bytes.first_chunk::<8>().map(|size| u64::from_le_bytes(*size));
            }
            b"data" if chunks.data.is_none() => chunks.data = Some((body, size)),
            _ => {}
        }
        if chunks.format.is_some() && chunks.data.is_some() {
            break;
        }
        at = next_chunk(file, body + size).map_err(DecodeError::Read)?;
    }
    Ok(chunks)
}

fn chunk_size(bytes: [u8; 4], is_big_endian: bool) -> u64 {
    u64::from(if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
}

/// Chunks start at even offsets, but not every writer pads.
fn next_chunk(file: &Window, end: u64) -> std::io::Result<u64> {
    if end.is_multiple_of(2) {
        return Ok(end);
    }
    let id = file.slice(end, 4)?;
    let is_unpadded = id.len() == 4 && id.iter().all(|byte| (b' '..=b'~').contains(byte));
    Ok(if is_unpadded { end } else { end + 1 })
}

/// A chunk with a wrong size hides those behind it: looks for the next `data` by its name.
fn find_data(file: &Window, is_big_endian: bool) -> Option<(u64, u64)> {
    let head = file.slice(0, SEARCH_BYTES).ok()?;
    let at = head.windows(4).skip(12).position(|id| id == b"data")? + 12;
    let size = head.get(at + 4..)?.first_chunk::<4>()?;
    Some((at as u64 + 8, chunk_size(*size, is_big_endian)))
}
