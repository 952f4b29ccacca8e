//! Jobs.

use sqlx::FromRow;

use super::columns::{Place, kind_from, status_from};
use super::files::FileRow;
use crate::model::id::{AccountId, JobId, RequestId};
use crate::store::error::StoreError;
use crate::store::files::FileRecord;
use crate::store::jobs::Job;

/// A row of `jobs` with its file.
#[derive(FromRow)]
pub(in crate::store) struct JobRow {
    id: String,
    account_id: String,
    kind: String,
    status: String,
    request_id: String,
    spec: String,
    created_ms: i64,
    completed_ms: Option<i64>,
    error_code: Option<i64>,
    post_session_metadata: String,
    client_metadata: String,
    result_key: Option<String>,
    zero_retention: bool,
    file_id: Option<String>,
    source: Option<String>,
    filename: Option<String>,
    audio_duration_s: Option<f64>,
    number_of_channels: Option<i64>,
    size_bytes: Option<i64>,
    sha256: Option<String>,
    blob_key: Option<String>,
    file_created_ms: Option<i64>,
}

impl TryFrom<JobRow> for Job {
    type Error = StoreError;

    fn try_from(row: JobRow) -> Result<Self, StoreError> {
        let place = Place { table: "jobs", id: &row.id };
        let file = match (row.file_id, row.file_created_ms) {
            (Some(id), Some(created_ms)) => Some(FileRecord::try_from(FileRow {
                id,
                account_id: row.account_id.clone(),
                source: row.source,
                filename: row.filename,
                audio_duration_s: row.audio_duration_s,
                number_of_channels: row.number_of_channels,
                size_bytes: row.size_bytes,
                sha256: row.sha256,
                blob_key: row.blob_key,
                created_ms,
            })?),
            _ => None,
        };
        Ok(Self {
            id: JobId::parse(&row.id).ok_or_else(|| place.corrupt("id"))?,
            kind: kind_from(&row.kind).ok_or_else(|| place.corrupt("kind"))?,
            status: status_from(&row.status).ok_or_else(|| place.corrupt("status"))?,
            request_id: RequestId(row.request_id),
            spec: place.json("spec", &row.spec)?,
            created_ms: row.created_ms,
            completed_ms: row.completed_ms,
            error_code: place.number("error_code", row.error_code)?,
            post_session_metadata: place.json("post_session_metadata", &row.post_session_metadata)?,
            client_metadata: place.json("client_metadata", &row.client_metadata)?,
            file,
            result_key: row.result_key.map(|key| place.blob_key("result_key", &key)).transpose()?,
            account_id: AccountId(row.account_id),
            zero_retention: row.zero_retention,
        })
    }
}
