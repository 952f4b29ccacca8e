//! `POST /v2/upload`: a file as multipart, or the URL of one as JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::TryStreamExt;
use tokio_util::io::StreamReader;

use super::body::{
    BodyFault, BodyLimits, FaultCell, check_announced, check_encoding, has_media_type, json_object, limited,
};
use super::caller::Keeper;
use super::error::ApiError;
use super::origin::Origin;
use super::state::Api;
use super::stored::{self, Arrived};
use crate::blob::BlobError;
use crate::model::filename::Disposition;
use crate::model::id::{AccountId, BlobArea};
use crate::model::job::AudioSource;
use crate::validate;

/// The part that holds the file.
const PART: &str = "audio";

/// What a multipart body may hold beside the file.
const OVERHEAD_BYTES: u64 = 64 * 1024;

/// Stores a file so that a job can name it.
pub(super) async fn upload(
    State(api): State<Arc<Api>>,
    Keeper(account): Keeper,
    origin: Origin,
    request: Request,
) -> Result<Response, ApiError> {
    let headers = request.headers();
    let record = if has_media_type(headers, "multipart/form-data") {
        let arrived = receive(&api, request).await?;
        stored::keep(&api, account, arrived).await?
    } else if has_media_type(headers, "application/json") {
        by_url(&api, account, &origin, request).await?
    } else {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "The content type must be multipart/form-data or application/json",
        ));
    };
    Ok(Json(stored::view(&record, &origin.public)).into_response())
}

/// Takes the part `audio` to the disk as it comes. What follows it may still be refused, so
/// nothing is kept yet.
async fn receive(api: &Api, request: Request) -> Result<Arrived, ApiError> {
    check_encoding(request.headers())?;
    let limits = &api.settings.limits;
    let body_limits = BodyLimits {
        size_bytes: limits.upload_bytes.saturating_add(OVERHEAD_BYTES),
        total: Duration::from_secs(limits.upload_timeout_s),
        pause: Duration::from_secs(limits.body_timeout_s),
    };
    check_announced(request.headers(), body_limits.size_bytes)
        .map_err(|fault| of_upload(fault, limits.upload_bytes))?;
    let (parts, body) = request.into_parts();
    let (pieces, fault) = limited(body, body_limits);
    let request = Request::from_parts(parts, Body::from_stream(pieces));
    let malformed = || malformed(&fault, limits.upload_bytes);
    let mut multipart = Multipart::from_request(request, &()).await.map_err(|_| malformed())?;
    let mut arrived = None;
    // Read to the end, so that the connection can be used again.
    while let Some(field) = multipart.next_field().await.map_err(|_| malformed())? {
        // `Multipart` itself knows neither `filename*` nor names in capitals.
        let header = field.headers().get(header::CONTENT_DISPOSITION).map(HeaderValue::as_bytes);
        let Disposition { name, filename } = header.map(Disposition::parse).unwrap_or_default();
        if name.as_deref() != Some(PART) || arrived.is_some() {
            continue;
        }
        let reader = StreamReader::new(field.map_err(std::io::Error::other));
        let mut unfinished = api.blobs.begin(BlobArea::Audio).await?;
        let (size_bytes, sha256) = match unfinished.copy(reader, limits.upload_bytes).await {
            Err(BlobError::Source(_)) => return Err(malformed()),
            Err(BlobError::TooLarge { limit_bytes }) => return Err(stored::too_large(limit_bytes)),
            other => other?,
        };
        arrived = Some(Arrived { unfinished, size_bytes, sha256, filename, source: None });
    }
    arrived.ok_or_else(|| ApiError::invalid_one("audio is required as a part of the multipart body"))
}

/// A body that passed a limit, or that is not what its content type says.
fn malformed(fault: &FaultCell, upload_bytes: u64) -> ApiError {
    match fault.get() {
        Some(fault) => of_upload(fault, upload_bytes),
        None => ApiError::invalid_one("body must be complete and valid multipart/form-data"),
    }
}

/// Of a body that is too large nobody knows yet whether the file is.
fn of_upload(fault: BodyFault, upload_bytes: u64) -> ApiError {
    match fault {
        BodyFault::TooLarge { .. } => ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!(
                "The file must not be larger than {upload_bytes} bytes, nor all else in the body than \
                 {OVERHEAD_BYTES}"
            ),
        ),
        fault => fault.into(),
    }
}

/// Fetches the file that a JSON body names; one of ours is there already.
async fn by_url(
    api: &Arc<Api>,
    account: AccountId,
    origin: &Origin,
    request: Request,
) -> Result<crate::store::FileRecord, ApiError> {
    let body = json_object(request, &api.settings.limits).await?;
    let audio = validate::audio_url(&body, &origin.all())?;
    match stored::of_account(api, &account, audio).await? {
        AudioSource::Url(url) => {
            let arrived = stored::fetch(api, &account, url).await?;
            stored::keep(api, account, arrived).await
        }
        AudioSource::Stored(id) => {
            let file = api.store.get_file(&account, id).await?;
            file.filter(|file| file.facts.blob_key.is_some()).ok_or_else(|| ApiError::not_found("File"))
        }
    }
}
