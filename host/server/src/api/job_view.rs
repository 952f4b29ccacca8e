//! A job as clients see it: the envelope of the interface specification.

use serde_json::{Value, json};

use crate::model::date;
use crate::model::job::Status;
use crate::store::{FileRecord, Job};

/// Version of the API.
const VERSION: u32 = 2;

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
        "post_session_metadata": job.post_session_metadata,
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

fn file(file: &FileRecord) -> Value {
    json!({
        "id": file.id,
        "filename": file.facts.filename,
        "source": file.source,
        "audio_duration": file.facts.audio_duration_s,
        "number_of_channels": file.facts.number_of_channels,
    })
}
