//! Writes decoded channels to their scratch files: resampled, in 16 bits, silence as holes.

use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::FileExt;

use super::audio::SAMPLE_BYTES;
use super::equal::Equality;
use super::error::DecodeError;
use super::files::ChannelFiles;
use super::resample::Resampler;
use crate::model::segments::SAMPLE_RATE_HZ;

/// Bytes gathered before a write.
const BUFFER_BYTES: usize = 256 * 1024;

/// Silence up to this long goes through the resampler; longer silence is left as a hole.
const SHORT_SILENCE_S: f64 = 1.0;

/// One channel file in the making.
#[derive(Debug)]
struct Writer {
    file: File,
    buffer: Vec<u8>,
    written_bytes: u64,
}

impl Writer {
    fn new(file: File) -> Self {
        Self { file, buffer: Vec::with_capacity(BUFFER_BYTES), written_bytes: 0 }
    }

    /// Puts the content of this one into `file`, which is empty.
    fn copy_into(&mut self, mut file: File) -> io::Result<Self> {
        self.flush()?;
        (&self.file).rewind()?;
        io::copy(&mut &self.file, &mut file)?;
        Ok(Self { written_bytes: self.written_bytes, ..Self::new(file) })
    }

    fn push(&mut self, samples: &[f32]) -> io::Result<()> {
        for sample in samples {
            let scaled = (sample * 32768.0).round().clamp(-32768.0, 32767.0) as i16;
            self.buffer.extend_from_slice(&scaled.to_le_bytes());
        }
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn leave_hole(&mut self, frames: u64) -> io::Result<()> {
        self.flush()?;
        self.written_bytes += frames * SAMPLE_BYTES as u64;
        self.file.set_len(self.written_bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.buffer, self.written_bytes)?;
        self.written_bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// What was written.
#[derive(Debug)]
pub(super) struct Written {
    /// Samples per channel.
    pub(super) frames: u64,
    /// Channels that came in.
    pub(super) source_channels: usize,
    /// Those of them that differ.
    pub(super) distinct: Vec<usize>,
}

/// Takes blocks of samples and gives channel files.
pub(super) struct Sink<'a> {
    files: &'a ChannelFiles,
    writers: Vec<Writer>,
    equality: Equality,
    resampler: Option<Resampler>,
    frames: u64,
}

impl<'a> Sink<'a> {
    /// Makes its files when the first samples come.
    pub(super) fn new(files: &'a ChannelFiles) -> Self {
        Self { files, writers: Vec::new(), equality: Equality::new(0), resampler: None, frames: 0 }
    }

    /// Appends frames `from..to` of every plane. Planes may come or go: a missing one carries the
    /// first one's sound, a new one starts as a copy of the first.
    pub(super) fn write(
        &mut self,
        planes: &mut Vec<Vec<f32>>,
        from: usize,
        to: usize,
        sample_rate: u32,
    ) -> Result<(), DecodeError> {
        if from >= to {
            return Ok(());
        }
        for sample in planes.iter_mut().flatten() {
            // Float files may hold anything; what is not a number is silence.
            *sample = if sample.is_finite() { sample.clamp(-1.0, 1.0) } else { 0.0 };
        }
        self.grow(planes.len())?;
        while planes.len() < self.writers.len() {
            planes.push(planes[0].clone());
        }
        self.equality.add(planes, from, to, sample_rate);
        self.restart_for(sample_rate)?;
        let Some(resampler) = &mut self.resampler else { return Ok(()) };
        let (writers, frames) = (&mut self.writers, &mut self.frames);
        resampler
            .push(planes, from, to, |planes, from, to| emit(writers, frames, planes, from, to))
            .map_err(DecodeError::Store)
    }

    /// Appends silence.
    pub(super) fn silence(&mut self, length_s: f64) -> Result<(), DecodeError> {
        if let Some(sample_rate) = self.resampler.as_ref().map(Resampler::sample_rate)
            && length_s <= SHORT_SILENCE_S
        {
            let frames = (length_s * f64::from(sample_rate)).round() as usize;
            let mut planes = vec![vec![0.0; frames]; self.writers.len()];
            return self.write(&mut planes, 0, frames, sample_rate);
        }
        self.end_stretch()?;
        let frames = (length_s * f64::from(SAMPLE_RATE_HZ)).round() as u64;
        for writer in &mut self.writers {
            writer.leave_hole(frames).map_err(DecodeError::Store)?;
        }
        self.frames += frames;
        Ok(())
    }

    /// Ends the files at their exact length, not after `longest_frames`, and removes those of
    /// channels that others equal.
    pub(super) fn finish(mut self, longest_frames: Option<u64>) -> Result<Written, DecodeError> {
        self.end_stretch()?;
        let frames = self.frames.min(longest_frames.unwrap_or(u64::MAX));
        let equal_to = self.equality.finish(self.writers.len());
        let distinct: Vec<usize> =
            equal_to.iter().enumerate().filter(|(at, first)| at == *first).map(|(at, _)| at).collect();
        let source_channels = self.writers.len();
        for (channel, writer) in self.writers.iter_mut().enumerate() {
            let ended = if distinct.contains(&channel) {
                writer.flush().and_then(|()| writer.file.set_len(frames * SAMPLE_BYTES as u64))
            } else {
                self.files.remove(channel)
            };
            ended.map_err(DecodeError::Store)?;
        }
        Ok(Written { frames, source_channels, distinct })
    }

    fn grow(&mut self, channels: usize) -> Result<(), DecodeError> {
        if self.writers.is_empty() {
            self.equality = Equality::new(channels);
            for channel in 0..channels {
                let mut writer = Writer::new(self.files.create(channel).map_err(DecodeError::Store)?);
                // Silence before the first sample is only known as a length.
                writer.leave_hole(self.frames).map_err(DecodeError::Store)?;
                self.writers.push(writer);
            }
        }
        while self.writers.len() < channels {
            self.end_stretch()?;
            let channel = self.writers.len();
            let file = self.files.create(channel);
            let copy = file.and_then(|file| self.writers[0].copy_into(file));
            self.writers.push(copy.map_err(DecodeError::Store)?);
            self.equality.add_copy_of_first(channel);
        }
        Ok(())
    }

    fn restart_for(&mut self, sample_rate: u32) -> Result<(), DecodeError> {
        let channels = self.writers.len();
        let fits = |resampler: &Resampler| {
            resampler.sample_rate() == sample_rate && resampler.channels() == channels
        };
        if self.resampler.as_ref().is_some_and(fits) {
            return Ok(());
        }
        self.end_stretch()?;
        let made = Resampler::new(sample_rate, channels);
        self.resampler =
            Some(made.ok_or_else(|| DecodeError::BadHeader(format!("a sample rate of {sample_rate} Hz")))?);
        Ok(())
    }

    /// Writes what the resampler still holds.
    fn end_stretch(&mut self) -> Result<(), DecodeError> {
        let Some(resampler) = self.resampler.take() else { return Ok(()) };
        let (writers, frames) = (&mut self.writers, &mut self.frames);
        resampler
            .finish(|planes, from, to| emit(writers, frames, planes, from, to))
            .map_err(DecodeError::Store)
    }
}

fn emit(
    writers: &mut [Writer],
    frames: &mut u64,
    planes: &[Vec<f32>],
    from: usize,
    to: usize,
) -> io::Result<()> {
    for (writer, plane) in writers.iter_mut().zip(planes) {
        writer.push(&plane[from..to])?;
    }
    *frames += (to - from) as u64;
    Ok(())
}
