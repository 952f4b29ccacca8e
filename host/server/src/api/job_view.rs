//! A job as clients see it: the envelope of the interface specification.

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::error::ApiError;
use super::state::Api;
use crate::blob::BlobError;
use crate::model::date;
use crate::model::id::{FileId, JobId, RequestId};
use crate::model::job::{Kind, Status};
use crate::store::{FileRecord, Job};

/// Version of the API.
const VERSION: u32 = 2;

/// The stored result of a job that is done; nothing when it was erased at the end of its time.
///
/// # Errors
/// 404 when the job itself was deleted since it was read.
pub(super) async fn result(api: &Api, job: &Job) -> Result<Option<Vec<u8>>, ApiError> {
    match &job.result_key {
        Some(key) if job.status == Status::Done => match api.blobs.get(key).await {
            Err(BlobError::Missing(_)) => match api.store.get_job(&job.account_id, job.id).await? {
                Some(job) => {
                    if job.result_key.is_some() {
                        tracing::error!(job = %job.id, "the bytes of a result are lost");
                    }
                    Ok(None)
                }
                None => Err(ApiError::not_found("Job")),
            },
            read => Ok(Some(read?)),
        },
        _ => Ok(None),
    }
}

/// A job, of either kind.
#[derive(Serialize, ToSchema)]
#[schema(as = Job)]
pub(super) struct Envelope<'a> {
    /// Id of the job.
    #[schema(value_type = String, format = "uuid")]
    id: JobId,
    /// Names the request that made the job.
    #[schema(value_type = String)]
    request_id: &'a RequestId,
    /// Version of the API.
    version: u32,
    status: Status,
    #[schema(format = "date-time")]
    created_at: String,
    /// Set when the status is `done` or `error`.
    #[schema(format = "date-time")]
    completed_at: Option<String>,
    /// What went wrong, as an HTTP status: set when the status is `error`.
    #[schema(minimum = 400, maximum = 599)]
    error_code: Option<u16>,
    /// What helps to find out about problems, and what `PATCH` has added.
    #[schema(value_type = Object)]
    post_session_metadata: Map<String, Value>,
    kind: Kind,
    file: Option<JobFile<'a>>,
    /// What was asked for, with defaults; what was unknown is left out.
    #[schema(value_type = Object)]
    request_params: &'a Map<String, Value>,
    /// As it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    custom_metadata: Option<&'a Map<String, Value>>,
}

/// The audio of a job.
#[derive(Serialize, ToSchema)]
pub(super) struct JobFile<'a> {
    #[schema(value_type = String, format = "uuid")]
    id: FileId,
    filename: Option<&'a str>,
    /// Where it was downloaded.
    source: Option<&'a str>,
    /// Seconds.
    audio_duration: Option<f64>,
    #[schema(minimum = 1)]
    number_of_channels: Option<u32>,
}

/// The envelope as JSON text. `result` is the stored result, JSON already, of a job that is
/// done; it is passed through as it is.
pub(super) fn envelope(job: &Job, result: Option<&[u8]>) -> Vec<u8> {
    let envelope = Envelope {
        id: job.id,
        request_id: &job.request_id,
        version: VERSION,
        status: job.status,
        created_at: date::iso(job.created_ms),
        completed_at: job.completed_ms.map(date::iso),
        error_code: job.error_code.filter(|_| job.status == Status::Error),
        post_session_metadata: debug_data(job),
        kind: job.kind,
        file: job.file.as_ref().map(file),
        request_params: &job.spec.request_params,
        custom_metadata: job.spec.custom_metadata.as_ref(),
    };
    let mut text = serde_json::to_vec(&envelope).expect("names are text and numbers are finite");
    // A long transcript is not parsed again for every poll.
    text.pop();
    text.extend_from_slice(b",\"result\":");
    text.extend_from_slice(result.unwrap_or(b"null"));
    text.push(b'}');
    text
}

/// Ours, and what the client attached; of the same name the client's.
fn debug_data(job: &Job) -> Map<String, Value> {
    let mut all = job.post_session_metadata.clone();
    all.extend(job.client_metadata.clone());
    all
}

fn file(file: &FileRecord) -> JobFile<'_> {
    JobFile {
        id: file.id,
        filename: file.facts.filename.as_deref(),
        source: file.source.as_deref(),
        audio_duration: file.facts.audio_duration_s,
        number_of_channels: file.facts.number_of_channels,
    }
}
