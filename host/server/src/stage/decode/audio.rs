//! Decoded audio: one file of 16-bit samples per distinct channel, read by range.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};

use super::files::ChannelFiles;

/// Bytes of a sample on disk: 16-bit little endian, as the speech model was trained on.
pub(super) const SAMPLE_BYTES: usize = 2;

/// What is known about decoded audio; with it [`Audio::open`] finds the files of an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AudioInfo {
    /// Length on the container's clock, seconds.
    pub duration_s: f64,
    /// Channels of the decoded track.
    pub source_channels: u16,
    /// Source index of each distinct channel, ascending; the channel that others equal is the
    /// first of them.
    pub distinct: Vec<u16>,
    /// Short name of the container.
    pub container: String,
    /// Short name of the codec.
    pub codec: String,
    /// What was lost or repaired, for the client; empty when nothing was.
    pub damage: Vec<String>,
    /// Samples per channel at [`SAMPLE_RATE_HZ`](crate::model::segments::SAMPLE_RATE_HZ).
    pub frames: u64,
}

/// Decoded audio.
#[derive(Debug)]
pub struct Audio {
    /// What is known about it.
    pub info: AudioInfo,
    /// The distinct channels, in the order of [`AudioInfo::distinct`].
    pub channels: Vec<Channel>,
}

impl Audio {
    /// Opens channel files that have been decoded earlier.
    ///
    /// # Errors
    /// When a file is missing or has another length than `info` says.
    pub fn open(files: &ChannelFiles, info: AudioInfo) -> io::Result<Self> {
        let channels = info
            .distinct
            .iter()
            .map(|index| Channel::open(files.open(usize::from(*index))?, *index, info.frames))
            .collect::<io::Result<_>>()?;
        Ok(Self { info, channels })
    }
}

/// One channel at 16 kHz; can be read from several threads at once.
#[derive(Debug)]
pub struct Channel {
    index: u16,
    frames: u64,
    file: File,
}

impl Channel {
    fn open(file: File, index: u16, frames: u64) -> io::Result<Self> {
        if file.metadata()?.len() != frames * SAMPLE_BYTES as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "channel file has another length"));
        }
        Ok(Self { index, frames, file })
    }

    /// Index in the source track, from 0.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Samples in this channel.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Reads samples from `start_frame` on, -1.0 to 1.0; the number read is short of
    /// `samples.len()` only at the end.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self, start_frame: u64, samples: &mut [f32]) -> io::Result<usize> {
        let left = self.frames.saturating_sub(start_frame);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(samples.len());
        let mut bytes = vec![0u8; count * SAMPLE_BYTES];
        self.file.read_exact_at(&mut bytes, start_frame * SAMPLE_BYTES as u64)?;
        for (sample, pair) in samples.iter_mut().zip(bytes.as_chunks::<SAMPLE_BYTES>().0) {
            *sample = f32::from(i16::from_le_bytes(*pair)) / 32768.0;
        }
        Ok(count)
    }
}
