//! How the engine and the stages read decoded audio, wherever it is kept.

use std::io;

/// One channel of decoded audio: 16 kHz, mono, floats from -1 to 1.
///
/// Read in ranges, so that a long file need not be in memory.
pub trait Pcm: Send + Sync {
    /// Number of samples.
    fn frames(&self) -> u64;

    /// Fills `out` from `start_frame` on. The range must lie inside the channel.
    fn read(&self, start_frame: u64, out: &mut [f32]) -> io::Result<()>;
}

/// A channel and the number it has in the file.
#[derive(Clone, Copy)]
pub struct ChannelInput<'a> {
    /// Audio track of the file, from 0.
    pub source_channel: u16,
    /// Its samples.
    pub pcm: &'a dyn Pcm,
}

/// Audio that is already in memory.
impl Pcm for Vec<f32> {
    fn frames(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, start_frame: u64, out: &mut [f32]) -> io::Result<()> {
        let start = usize::try_from(start_frame).map_err(|_| io::ErrorKind::InvalidInput)?;
        let range = start..start.saturating_add(out.len());
        let samples = self.get(range).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(samples);
        Ok(())
    }
}
