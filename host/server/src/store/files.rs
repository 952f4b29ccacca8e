//! Stored audio and video files.

use sqlx::SqliteConnection;

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, BlobKey, FileId};

/// A file that was uploaded, or the one that a job fetches from its URL.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRecord {
    /// Its id.
    pub id: FileId,
    /// Who owns it.
    pub account_id: AccountId,
    /// Where it came from, when that was a URL.
    pub source: Option<String>,
    /// When it was announced, milliseconds since 1970.
    pub created_ms: i64,
    /// What is known of its bytes.
    pub facts: FileFacts,
}

/// What one learns about a file by having it; all absent before it was fetched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileFacts {
    /// Name under which the client knows it.
    pub filename: Option<String>,
    /// Length of the audio in seconds.
    pub audio_duration_s: Option<f64>,
    /// Channels of the audio, at least 1.
    pub number_of_channels: Option<u32>,
    /// Length of the file.
    pub size_bytes: Option<u64>,
    /// SHA-256 of the bytes, hex.
    pub sha256: Option<String>,
    /// Where the bytes lie; absent before the fetch and after an erasure.
    pub blob_key: Option<BlobKey>,
}

impl Store {
    /// Remembers a file whose bytes are in the blob store already.
    pub async fn insert_file(&self, file: FileRecord) -> Result<(), StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::insert_file(db, &file).await })
            })
            .await
    }

    /// The file, if it exists and belongs to the account.
    pub async fn get_file(&self, account: &AccountId, id: FileId) -> Result<Option<FileRecord>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_file(&mut db, account, id).await
    }
}
