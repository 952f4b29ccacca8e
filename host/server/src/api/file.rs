//! `GET /file/{id}`: the bytes of a stored file, for its owner.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use tokio_util::io::ReaderStream;

use super::caller::Caller;
use super::error::ApiError;
use super::path_id::PathId;
use super::state::Api;
use crate::blob::BlobError;
use crate::model::id::FileId;

/// Bytes read from the disk at once.
const PIECE_BYTES: usize = 256 * 1024;

/// Streams the file. Never with a JSON content type: client libraries would parse it.
pub(super) async fn get(
    State(api): State<Arc<Api>>,
    Caller(account): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    let missing = || ApiError::not_found("File");
    let id = FileId::parse(&id).ok_or_else(missing)?;
    let record = api.store.get_file(&account, id).await?.ok_or_else(missing)?;
    let key = record.facts.blob_key.ok_or_else(missing)?;
    let file = match api.blobs.open_blob(&key).await {
        Err(BlobError::Missing(_)) => return Err(missing()),
        opened => tokio::fs::File::from_std(opened?),
    };
    let mut headers = vec![
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_DISPOSITION, disposition(record.facts.filename.as_deref())),
    ];
    headers
        .extend(record.facts.size_bytes.map(|size_bytes| (header::CONTENT_LENGTH, size_bytes.to_string())));
    let body = Body::from_stream(ReaderStream::with_capacity(file, PIECE_BYTES));
    Ok((axum::response::AppendHeaders(headers), body).into_response())
}

/// An attachment; the name in the form of RFC 6266, section 4.3, and RFC 8187.
fn disposition(filename: Option<&str>) -> String {
    let mut value = "attachment".to_owned();
    if let Some(name) = filename {
        value.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => value.push(char::from(byte)),
                _ => value.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_kind_become_one_header() {
        assert_eq!(disposition(None), "attachment");
        assert_eq!(disposition(Some("a b.wav")), "attachment; filename*=UTF-8''a%20b.wav");
        assert_eq!(disposition(Some("é\r\n\"")), "attachment; filename*=UTF-8''%C3%A9%0D%0A%22");
    }
}
