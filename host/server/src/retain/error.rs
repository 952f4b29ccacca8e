//! Why data that should be erased is still there.

use crate::blob::BlobError;
use crate::store::StoreError;

/// Why a sweep ended early; the next one begins again.
#[derive(Debug, thiserror::Error)]
pub enum RetainError {
    /// The bytes.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The rows.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The job is not there, or not final, although it was found a moment ago.
    #[error("the job was deleted or changed meanwhile")]
    NotErased,
    /// A blob was removed and is still there.
    #[error("a blob is still there after it was removed")]
    StillThere,
}

impl RetainError {
    /// Whether it concerns one job or blob: the rest can be erased as well as ever.
    pub(super) fn is_of_one_piece(&self) -> bool {
        match self {
            Self::Store(error) => error.is_permanent(),
            Self::Blob(_) | Self::NotErased | Self::StillThere => true,
        }
    }
}
