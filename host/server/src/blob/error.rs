//! What can go wrong between us and the disk.

use std::io;

use crate::model::code::Code;
use crate::model::id::BlobKey;

/// Bytes that were not stored or not read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// No space left, a quota or a size limit of the file system, or a read-only disk.
    #[error("the disk that holds the blobs is full or cannot be written")]
    Full(#[source] io::Error),
    /// More bytes than the caller allowed.
    #[error("more than {limit_bytes} bytes")]
    TooLarge {
        /// What was allowed.
        limit_bytes: u64,
    },
    /// No blob under this key.
    #[error("blob {0} does not exist")]
    Missing(BlobKey),
    /// The source of the bytes failed, not the disk.
    #[error("the source of the bytes failed")]
    Source(#[source] io::Error),
    /// Anything else that the disk said.
    #[error("cannot {action}")]
    Disk {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        #[source]
        cause: io::Error,
    },
}

impl BlobError {
    /// Names the action and tells a full disk from other failures.
    pub(super) fn disk(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| match Code::of_disk(&cause) {
            Code::StorageFull => Self::Full(cause),
            _ => Self::Disk { action, cause },
        }
    }

    /// What the outside is told.
    pub fn code(&self) -> Code {
        match self {
            Self::Full(_) => Code::StorageFull,
            Self::TooLarge { .. } => Code::AudioTooLarge,
            Self::Missing(_) => Code::AudioGone,
            Self::Disk { cause, .. } => Code::of_disk(cause),
            Self::Source(_) => Code::Internal,
        }
    }
}
