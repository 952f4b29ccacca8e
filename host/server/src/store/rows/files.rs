//! Files.

use sqlx::FromRow;

use super::columns::Place;
use crate::model::id::{AccountId, FileId};
use crate::store::error::StoreError;
use crate::store::files::{FileFacts, FileRecord};

/// A row of `files`.
#[derive(FromRow)]
pub(in crate::store) struct FileRow {
    pub id: String,
    pub account_id: String,
    pub source: Option<String>,
    pub filename: Option<String>,
    pub audio_duration_s: Option<f64>,
    pub number_of_channels: Option<i64>,
    pub size_bytes: Option<i64>,
    pub sha256: Option<String>,
    pub blob_key: Option<String>,
    pub created_ms: i64,
}

impl TryFrom<FileRow> for FileRecord {
    type Error = StoreError;

    fn try_from(row: FileRow) -> Result<Self, StoreError> {
        let place = Place { table: "files", id: &row.id };
        let blob_key = row.blob_key.map(|key| place.blob_key("blob_key", &key)).transpose()?;
        let id = FileId::parse(&row.id).ok_or_else(|| place.corrupt("id"))?;
        let facts = FileFacts {
            filename: row.filename,
            audio_duration_s: row.audio_duration_s,
            number_of_channels: place.number("number_of_channels", row.number_of_channels)?,
            size_bytes: place.number("size_bytes", row.size_bytes)?,
            sha256: row.sha256,
            blob_key,
        };
        let account_id = AccountId(row.account_id);
        Ok(Self { id, account_id, source: row.source, created_ms: row.created_ms, facts })
    }
}
