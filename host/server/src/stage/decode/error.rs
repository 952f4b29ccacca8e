//! Why a file cannot be decoded, said so that its owner knows what to change.

use crate::model::code::Code;

/// A file that gives no audio, or a failure around it.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// No bytes at all.
    #[error("the file is empty")]
    Empty,
    /// Recognised as something else: the name of that.
    #[error("the file is {0}, not audio or video")]
    NotMedia(&'static str),
    /// Nothing known.
    #[error(
        "the file is not in a known audio or video format; convert it first, for example: ffmpeg -i INPUT -vn -c:a flac OUTPUT.flac"
    )]
    UnknownFormat,
    /// Video, subtitles or nothing.
    #[error("the file has no audio track")]
    NoAudio,
    /// A header and nothing behind it.
    #[error("the file has a header but no audio data")]
    NoData,
    /// The header contradicts itself: what is wrong.
    #[error("the file's header is damaged: {0}")]
    BadHeader(String),
    /// Cut off or overwritten so that nothing decodes.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// A codec or container that is not decoded: its usual name.
    #[error(
        "{0} is not supported; convert the file first, for example: ffmpeg -i INPUT -vn -c:a flac OUTPUT.flac"
    )]
    Unsupported(String),
    /// Longer than allowed, seconds.
    #[error("the audio is longer than the limit of {limit_s:.0} seconds")]
    TooLong {
        /// The limit.
        limit_s: f64,
    },
    /// Longer than allowed over all channels, seconds.
    #[error("the audio of all channels together is longer than the limit of {limit_s:.0} seconds")]
    TooLongTogether {
        /// The limit.
        limit_s: f64,
    },
    /// More channels than allowed.
    #[error("the audio has {channels} channels; at most {limit} are supported")]
    TooManyChannels {
        /// In the file.
        channels: usize,
        /// Allowed.
        limit: u16,
    },
    /// Our disk.
    #[error("the decoded audio could not be stored")]
    Store(#[source] std::io::Error),
    /// The input could not be read from our disk.
    #[error("the file could not be read")]
    Read(#[source] std::io::Error),
    /// Stopped on request.
    #[error("decoding was cancelled")]
    Cancelled,
}

impl DecodeError {
    /// A file of which no packet decodes.
    pub(super) fn undecodable() -> Self {
        Self::Damaged("none of its audio can be decoded".into())
    }

    /// What the outside is told, and whether another attempt can help. `None`: nothing
    /// failed, decoding was stopped on request.
    pub fn code(&self) -> Option<Code> {
        Some(match self {
            Self::Cancelled => return None,
            Self::Empty | Self::NotMedia(_) | Self::UnknownFormat => Code::NotAudio,
            Self::NoAudio | Self::NoData | Self::BadHeader(_) => Code::AudioUndecodable,
            Self::Damaged(_) | Self::Unsupported(_) => Code::AudioUndecodable,
            Self::TooLong { .. } | Self::TooLongTogether { .. } | Self::TooManyChannels { .. } => {
                Code::AudioTooLarge
            }
            Self::Store(cause) | Self::Read(cause) => Code::of_disk(cause),
        })
    }
}
