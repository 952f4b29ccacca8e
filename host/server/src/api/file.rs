//! The bytes of a stored file, for its owner: by its own id, or as the audio of a job.

use std::io::SeekFrom;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use super::caller::Keeper;
use super::collection::Collection;
use super::error::ApiError;
use super::jobs;
use super::path_id::PathId;
use super::range::{self, Part};
use super::state::Api;
use crate::blob::BlobError;
use crate::model::code::Code;
use crate::model::id::FileId;
use crate::store::FileFacts;

/// Bytes read from the disk at once.
const PIECE_BYTES: usize = 256 * 1024;

/// `GET /file/{id}`.
pub(super) async fn get(
    State(api): State<Arc<Api>>,
    Keeper(account): Keeper,
    PathId(id): PathId,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let id = FileId::parse(&id).ok_or_else(missing)?;
    let file = api.store.get_file(&account, id).await?.ok_or_else(missing)?;
    send(&api, file.facts, &method, &headers).await
}

/// `GET /v2/<collection>/{id}/file`. The audio of a live job is a WAV file.
pub(super) async fn get_of_job(
    State(api): State<Arc<Api>>,
    Keeper(account): Keeper,
    collection: Collection,
    PathId(id): PathId,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let job = jobs::find(&api, &account, collection, &id).await?;
    let file = job.file.ok_or_else(missing)?;
    send(&api, file.facts, &method, &headers).await
}

/// Streams a file or a part of it. Never with a JSON content type: client libraries would
/// parse it.
async fn send(api: &Api, facts: FileFacts, method: &Method, asked: &HeaderMap) -> Result<Response, ApiError> {
    let key = facts.blob_key.ok_or_else(missing)?;
    let mut file = match api.blobs.open_blob(&key).await {
        Err(BlobError::Missing(_)) => return Err(missing()),
        opened => tokio::fs::File::from_std(opened?),
    };
    let size_bytes = file.metadata().await.map_err(unreadable)?.len();
    let etag = facts.sha256.map(|digest| format!("\"{digest}\""));
    let (status, bytes) = match range::part(method, asked, size_bytes, etag.as_deref()) {
        Part::Whole => (StatusCode::OK, 0..size_bytes),
        Part::Bytes(bytes) => (StatusCode::PARTIAL_CONTENT, bytes),
        Part::Nowhere => return Ok(nowhere(size_bytes)),
    };
    file.seek(SeekFrom::Start(bytes.start)).await.map_err(unreadable)?;
    let length = bytes.end - bytes.start;
    let body = Body::from_stream(ReaderStream::with_capacity(file.take(length), PIECE_BYTES));
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CONTENT_LENGTH, length.into());
    headers.insert(header::CONTENT_DISPOSITION, text(&disposition(facts.filename.as_deref())));
    if let Some(etag) = etag {
        headers.insert(header::ETAG, text(&etag));
    }
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {}-{}/{size_bytes}", bytes.start, bytes.end - 1);
        headers.insert(header::CONTENT_RANGE, text(&range));
    }
    Ok(response)
}

/// 416 with the size, so that the client can ask again.
fn nowhere(size_bytes: u64) -> Response {
    let message = format!("The range must begin within the {size_bytes} bytes of the file");
    let mut response = ApiError::new(StatusCode::RANGE_NOT_SATISFIABLE, message).into_response();
    response.headers_mut().insert(header::CONTENT_RANGE, text(&format!("bytes */{size_bytes}")));
    response
}

fn missing() -> ApiError {
    ApiError::not_found("File")
}

fn unreadable(error: std::io::Error) -> ApiError {
    ApiError::failed(Code::of_disk(&error), &error)
}

fn text(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).expect("made of digits, letters and punctuation")
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
