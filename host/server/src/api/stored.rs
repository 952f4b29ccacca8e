//! Files on their way into the store: from a blob to a record that a job can name.

use std::sync::Arc;

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use axum::http::StatusCode;

use super::error::ApiError;
use super::state::Api;
use crate::blob::Unfinished;
use crate::model::cause::chain;
use crate::model::code::Code;
use crate::model::date;
use crate::model::id::{AccountId, BlobArea, BlobKey, FileId};
use crate::model::job::AudioSource;
use crate::stage::decode::{self, DecodeError, Probe};
use crate::stage::fetch::{self, FetchError, Fetched};
use crate::store::{FileFacts, FileRecord};
use crate::validate;

/// When a client that has too many downloads running may try again.
const RETRY_S: u64 = 5;

/// A file whose bytes are all here. Dropped before it is kept, it leaves nothing.
pub(super) struct Arrived {
    pub unfinished: Unfinished,
    pub size_bytes: u64,
    /// SHA-256 of the bytes, hex.
    pub sha256: String,
    pub filename: Option<String>,
    /// The URL it came from.
    pub source: Option<String>,
}

/// Reads a file of the account from the store under whatever name of ours the client knows it: a
/// proxy and the network behind it use different ones, and ids are chosen at random.
pub(super) async fn of_account(
    api: &Api,
    account: &AccountId,
    audio: AudioSource,
) -> Result<AudioSource, ApiError> {
    let AudioSource::Url(url) = &audio else { return Ok(audio) };
    let Some(id) = validate::possible_file(url) else { return Ok(audio) };
    let is_stored = api.store.get_file(account, id).await?.is_some_and(|file| file.facts.blob_key.is_some());
    Ok(if is_stored { AudioSource::Stored(id) } else { audio })
}

/// Downloads a file under the same rules as the audio of a job, while the client waits.
pub(super) async fn fetch(api: &Api, account: &AccountId, url: String) -> Result<Arrived, ApiError> {
    let too_many = || ApiError::too_many("Too many files are being fetched, try again later", RETRY_S);
    let _running = api.downloads.begin(account).ok_or_else(too_many)?;
    let mut unfinished = api.blobs.begin(BlobArea::Audio).await?;
    // Ends with the request: the client's patience is the limit.
    let cancel = CancellationToken::new();
    let _cancelled_when_dropped = cancel.clone().drop_guard();
    let fetched = tokio::select! {
        fetched = fetch::fetch(&url, &api.settings.fetch, unfinished.file(), &cancel) => {
            fetched.map_err(|error| refused(&error))?
        }
        () = api.draining.cancelled() => return Err(ApiError::stopping()),
    };
    let Fetched { size_bytes, sha256, filename } = fetched;
    Ok(Arrived { unfinished, size_bytes, sha256, filename, source: Some(url) })
}

/// Stores the bytes, looks at the audio and writes the record. A file without audio is removed
/// again, also when the client has gone away meanwhile.
pub(super) async fn keep(
    api: &Arc<Api>,
    account_id: AccountId,
    arrived: Arrived,
) -> Result<FileRecord, ApiError> {
    let host = api.clone();
    let keeping = async move {
        let Arrived { unfinished, size_bytes, sha256, filename, source } = arrived;
        let key = unfinished.publish().await?;
        let facts = FileFacts {
            filename,
            size_bytes: Some(size_bytes),
            sha256: Some(sha256),
            ..FileFacts::default()
        };
        let file = FileRecord { id: FileId::new(), account_id, source, created_ms: date::now_ms(), facts };
        let kept = try_keep(&host, key.clone(), file).await;
        if kept.is_err()
            && let Err(error) = host.blobs.delete(&key).await
        {
            // The sweeper removes blobs that no row names.
            tracing::warn!(error = chain(&error), "a refused upload could not be removed");
        }
        kept
    };
    api.finish(keeping).await
}

/// `file` is told what is found out about its audio.
async fn try_keep(api: &Api, key: BlobKey, mut file: FileRecord) -> Result<FileRecord, ApiError> {
    let facts = &mut file.facts;
    let probe = probe(api, &key, facts.filename.clone()).await?;
    if let Some(limit_s) = api.settings.limits.audio_duration_s
        && probe.duration_s > limit_s as f64
    {
        let message = format!("The audio must not be longer than {limit_s} seconds");
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    facts.filename.get_or_insert_with(|| format!("audio.{}", probe.extension));
    facts.audio_duration_s = Some(probe.duration_s);
    facts.number_of_channels = Some(probe.source_channels.into());
    facts.blob_key = Some(key);
    api.store.insert_file(file.clone()).await?;
    Ok(file)
}

async fn probe(api: &Api, key: &BlobKey, filename: Option<String>) -> Result<Probe, ApiError> {
    let _place = api.probes.acquire().await.map_err(|_| ApiError::stopping())?;
    let file = api.blobs.open_blob(key).await?;
    let probed = tokio::task::spawn_blocking(move || decode::probe(file, filename.as_deref())).await;
    match probed {
        Ok(Ok(probe)) => Ok(probe),
        Ok(Err(error @ (DecodeError::Store(_) | DecodeError::Read(_) | DecodeError::Cancelled))) => {
            Err(ApiError::failed(error.code().unwrap_or(Code::Internal), &error))
        }
        Ok(Err(error)) if error.code() == Some(Code::AudioTooLarge) => {
            Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()))
        }
        Ok(Err(error)) => {
            Err(ApiError::invalid_one(format!("audio must be an audio or video file: {error}")))
        }
        // A file that makes a decoder panic is a file that cannot be decoded.
        Err(_) => Err(ApiError::invalid_one("audio must be an audio or video file: the file is damaged")),
    }
}

fn refused(error: &FetchError) -> ApiError {
    let code = error.code().unwrap_or(Code::Internal);
    if matches!(error, FetchError::Store(_) | FetchError::Thread(_) | FetchError::Client) {
        return ApiError::failed(code, error);
    }
    match StatusCode::from_u16(code.status()) {
        Ok(StatusCode::BAD_REQUEST) => ApiError::invalid_one(match error {
            FetchError::Url(_) | FetchError::Blocked => error.to_string(),
            _ => format!("audio_url must be readable: {error}"),
        }),
        Ok(status) => ApiError::new(status, error.to_string()),
        Err(_) => ApiError::internal(),
    }
}

/// 413 with the limit.
pub(super) fn too_large(limit_bytes: u64) -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("The file must not be larger than {limit_bytes} bytes"),
    )
}

/// The answer to an upload.
#[derive(Serialize, ToSchema)]
pub(super) struct Upload<'a> {
    /// What a request names as its `audio_url`.
    #[schema(format = "uri")]
    audio_url: String,
    audio_metadata: UploadMetadata<'a>,
}

/// What is known of an uploaded file.
#[derive(Serialize, ToSchema)]
pub(super) struct UploadMetadata<'a> {
    #[schema(value_type = String, format = "uuid")]
    id: FileId,
    filename: &'a str,
    /// That of the file name, lower case, without a dot.
    extension: String,
    /// Bytes.
    size: Option<u64>,
    /// Seconds.
    audio_duration: Option<f64>,
    #[schema(minimum = 1)]
    number_of_channels: Option<u32>,
    /// Where it was downloaded, when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

/// Shows a stored file to the client that brought it.
pub(super) fn view<'a>(record: &'a FileRecord, origin: &str) -> Upload<'a> {
    let facts = &record.facts;
    let filename = facts.filename.as_deref().unwrap_or_default();
    let extension = filename.rsplit_once('.').map_or("", |(_, extension)| extension).to_lowercase();
    let audio_metadata = UploadMetadata {
        id: record.id,
        filename,
        extension,
        size: facts.size_bytes,
        audio_duration: facts.audio_duration_s,
        number_of_channels: facts.number_of_channels,
        source: record.source.as_deref(),
    };
    Upload { audio_url: format!("{origin}/file/{}", record.id), audio_metadata }
}
