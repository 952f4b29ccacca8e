//! Turns any audio or video file into 16 kHz channels.
//!
//! Decodes in blocks to one file per channel, keeps the container's clock, and finds
//! channels that are equal. It knows no job, no URL and no speech.

mod aac;
mod audio;
mod codec;
mod damage;
mod equal;
mod error;
mod files;
mod guard;
mod mkv;
mod mp4;
mod mpeg;
mod opus;
mod probe;
mod resample;
mod run;
mod sink;
mod sniff;
mod source;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod wave;
mod window;

pub use audio::{Audio, AudioInfo, Channel};
pub use error::DecodeError;
pub use files::ChannelFiles;
pub use probe::probe;
pub use run::decode;

/// What is refused before it costs too much.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeLimits {
    /// Longest audio, seconds.
    pub max_duration_s: f64,
    /// Longest audio with the lengths of all channels added up, seconds: a file of a few
    /// hundred kilobytes can hold days of silence on each of its channels, and each takes up
    /// 115 MB an hour while it is worked on.
    pub max_channel_s: f64,
    /// Most channels in the decoded track.
    pub max_channels: u16,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self {
            max_duration_s: 24.0 * 3600.0,
            max_channel_s: 48.0 * 3600.0,
            max_channels: codec::MAX_CHANNELS,
        }
    }
}

/// What an upload is told about its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Length of the audio, seconds.
    pub duration_s: f64,
    /// Channels of the audio track.
    pub source_channels: u16,
    /// Short name of the container (`wav`, `mp4`).
    pub container: String,
    /// Short name of the codec (`pcm_s16le`, `aac`).
    pub codec: String,
    /// Usual file name extension of the container, without the dot.
    pub extension: String,
}
