//! A job as clients see it: the envelope of the interface specification.

use serde_json::{Map, Value, json};

use super::error::ApiError;
use super::state::Api;
use crate::blob::BlobError;
use crate::model::date;
use crate::model::job::Status;
use crate::store::{FileRecord, Job};

/// Version of the API.
const VERSION: u32 = 2;

/// The stored result of a job that is done; nothing when it has been erased meanwhile.
pub(super) async fn result(api: &Api, job: &Job) -> Result<Option<Vec<u8>>, ApiError> {
    match &job.result_key {
        Some(key) if job.status == Status::Done => match api.blobs.get(key).await {
            Err(BlobError::Missing(_)) => Ok(None),
            read => Ok(Some(read?)),
        },
        _ => Ok(None),
    }
}

/// The envelope as JSON text. `result` is the stored result, JSON already, of a job that is
/// done; it is passed through as it is.
pub(super) fn envelope(job: &Job, result: Option<&[u8]>) -> Vec<u8> {
    let mut envelope = json!({
        "id": job.id,
        "request_id": job.request_id,
        "version": VERSION,
        "status": job.status,
        "created_at": date::iso(job.created_ms),
        "completed_at": job.completed_ms.map(date::iso),
        "error_code": job.error_code.filter(|_| job.status == Status::Error),
        "post_session_metadata": debug_data(job),
        "kind": job.kind,
        "file": job.file.as_ref().map(file),
        "request_params": job.spec.request_params,
    });
    if let Some(metadata) = &job.spec.custom_metadata {
        envelope["custom_metadata"] = json!(metadata);
    }
    let mut text = envelope.to_string().into_bytes();
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

fn file(file: &FileRecord) -> Value {
    json!({
        "id": file.id,
        "filename": file.facts.filename,
        "source": file.source,
        "audio_duration": file.facts.audio_duration_s,
        "number_of_channels": file.facts.number_of_channels,
    })
}
