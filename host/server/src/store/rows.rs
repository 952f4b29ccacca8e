//! From database rows to model types.

use serde_json::{Map, Value};
use sqlx::FromRow;
use uuid::Uuid;

use super::deliveries::{Delivery, DeliveryRecord};
use super::error::StoreError;
use super::files::{FileFacts, FileRecord};
use super::jobs::Job;
use super::leases::Checkpoint;
use super::retention::ErasureRecord;
use crate::model::event::{Event, Target};
use crate::model::id::{AccountId, BlobKey, FileId, JobId, RequestId};
use crate::model::job::{CallbackMethod, Kind, Status};
use crate::model::secret::Secret;
use crate::model::webhook::Webhook;

/// A row of `jobs` with its file.
#[derive(FromRow)]
pub(super) struct JobRow {
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

/// A row of `files`.
#[derive(FromRow)]
pub(super) struct FileRow {
    id: String,
    account_id: String,
    source: Option<String>,
    filename: Option<String>,
    audio_duration_s: Option<f64>,
    number_of_channels: Option<i64>,
    size_bytes: Option<i64>,
    sha256: Option<String>,
    blob_key: Option<String>,
    created_ms: i64,
}

/// A row of `checkpoints`.
#[derive(FromRow)]
pub(super) struct CheckpointRow {
    step: String,
    digest: String,
    blob_key: String,
}

/// A row of `deliveries`.
#[derive(FromRow)]
pub(super) struct DeliveryRow {
    id: String,
    account_id: String,
    job_id: String,
    event: String,
    target: String,
    url: String,
    method: String,
    webhook_id: Option<String>,
    receiver: String,
    attempts: i64,
    last_error: Option<String>,
    created_ms: i64,
    next_try_ms: Option<i64>,
    delivered_ms: Option<i64>,
}

/// What says that a delivery is due.
#[derive(FromRow)]
pub(super) struct DueRow {
    pub id: String,
    pub account_id: String,
    pub receiver: String,
    pub next_try_ms: i64,
}

/// A row of `webhooks`.
#[derive(FromRow)]
pub(super) struct WebhookRow {
    id: String,
    account_id: String,
    url: String,
    secret: Option<String>,
    events: Option<String>,
    is_configured: bool,
    created_ms: i64,
}

/// A webhook that may hear of a job, and the job's kind.
#[derive(FromRow)]
pub(super) struct HearingRow {
    kind: String,
    #[sqlx(flatten)]
    pub webhook: WebhookRow,
}

impl HearingRow {
    pub fn kind(&self) -> Result<Kind, StoreError> {
        kind_from(&self.kind).ok_or_else(|| StoreError::Corrupt {
            table: "jobs",
            id: self.webhook.id.clone(),
            cause: "kind of a job that this webhook hears of".to_owned(),
        })
    }
}

/// A row of `erasures`.
#[derive(FromRow)]
pub(super) struct ErasureRow {
    account_id: String,
    job_id: Option<String>,
    class: String,
    reason: String,
    erased_ms: i64,
}

/// What a claim returns of its row.
#[derive(FromRow)]
pub(super) struct ClaimRow {
    pub id: String,
    pub attempts: i64,
    pub crashes: i64,
    pub faults: i64,
    pub first_claim_ms: i64,
}

impl TryFrom<JobRow> for Job {
    type Error = StoreError;

    fn try_from(row: JobRow) -> Result<Self, StoreError> {
        let corrupt = |cause: String| StoreError::Corrupt { table: "jobs", id: row.id.clone(), cause };
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
            id: JobId::parse(&row.id).ok_or_else(|| corrupt("id".to_owned()))?,
            kind: kind_from(&row.kind).ok_or_else(|| corrupt("kind".to_owned()))?,
            status: status_from(&row.status).ok_or_else(|| corrupt("status".to_owned()))?,
            request_id: RequestId(row.request_id),
            spec: serde_json::from_str(&row.spec).map_err(|e| corrupt(json_fault("spec", &e)))?,
            created_ms: row.created_ms,
            completed_ms: row.completed_ms,
            error_code: number_from("error_code", row.error_code).map_err(corrupt)?,
            post_session_metadata: object_from(&row.id, "post_session_metadata", &row.post_session_metadata)?,
            client_metadata: object_from(&row.id, "client_metadata", &row.client_metadata)?,
            file,
            result_key: blob_key_from("jobs", &row.id, row.result_key)?,
            account_id: AccountId(row.account_id),
            zero_retention: row.zero_retention,
        })
    }
}

impl TryFrom<FileRow> for FileRecord {
    type Error = StoreError;

    fn try_from(row: FileRow) -> Result<Self, StoreError> {
        let blob_key = blob_key_from("files", &row.id, row.blob_key)?;
        let corrupt = |cause: String| StoreError::Corrupt { table: "files", id: row.id.clone(), cause };
        let id = FileId::parse(&row.id).ok_or_else(|| corrupt("id".to_owned()))?;
        let facts = FileFacts {
            filename: row.filename,
            audio_duration_s: row.audio_duration_s,
            number_of_channels: number_from("number_of_channels", row.number_of_channels).map_err(corrupt)?,
            size_bytes: number_from("size_bytes", row.size_bytes).map_err(corrupt)?,
            sha256: row.sha256,
            blob_key,
        };
        let account_id = AccountId(row.account_id);
        Ok(Self { id, account_id, source: row.source, created_ms: row.created_ms, facts })
    }
}

impl TryFrom<CheckpointRow> for Checkpoint {
    type Error = StoreError;

    fn try_from(row: CheckpointRow) -> Result<Self, StoreError> {
        let blob_key = BlobKey::parse(&row.blob_key).ok_or_else(|| StoreError::Corrupt {
            table: "checkpoints",
            id: row.step.clone(),
            cause: "blob_key".to_owned(),
        })?;
        Ok(Self { step: row.step, digest: row.digest, blob_key })
    }
}

impl TryFrom<DeliveryRow> for DeliveryRecord {
    type Error = StoreError;

    fn try_from(row: DeliveryRow) -> Result<Self, StoreError> {
        let corrupt = |cause: &str| StoreError::Corrupt {
            table: "deliveries",
            id: row.id.clone(),
            cause: cause.to_owned(),
        };
        let methods = [CallbackMethod::Post, CallbackMethod::Put];
        let webhook_id = row.webhook_id.as_deref().map(Uuid::parse_str).transpose();
        let delivery = Delivery {
            id: Uuid::parse_str(&row.id).map_err(|_| corrupt("id"))?,
            event: named(Event::ALL, Event::name, &row.event).ok_or_else(|| corrupt("event"))?,
            target: named(Target::ALL, Target::name, &row.target).ok_or_else(|| corrupt("target"))?,
            method: named(methods, method_text, &row.method).ok_or_else(|| corrupt("method"))?,
            url: row.url,
            webhook_id: webhook_id.map_err(|_| corrupt("webhook_id"))?,
        };
        Ok(Self {
            delivery,
            job_id: JobId::parse(&row.job_id).ok_or_else(|| corrupt("job_id"))?,
            account_id: AccountId(row.account_id),
            receiver: row.receiver,
            attempts: row.attempts,
            last_error: row.last_error,
            created_ms: row.created_ms,
            next_try_ms: row.next_try_ms,
            delivered_ms: row.delivered_ms,
        })
    }
}

impl TryFrom<WebhookRow> for Webhook {
    type Error = StoreError;

    fn try_from(row: WebhookRow) -> Result<Self, StoreError> {
        let corrupt = |cause: String| StoreError::Corrupt { table: "webhooks", id: row.id.clone(), cause };
        let names: Option<Vec<String>> = row
            .events
            .as_deref()
            .map(serde_json::from_str)
            .transpose()
            .map_err(|error| corrupt(json_fault("events", &error)))?;
        let events =
            names.map(|names| names.iter().map(|name| Event::parse(name)).collect::<Option<Vec<_>>>());
        Ok(Self {
            id: Uuid::parse_str(&row.id).map_err(|_| corrupt("id".to_owned()))?,
            events: match events {
                Some(None) => return Err(corrupt("events".to_owned())),
                known => known.flatten(),
            },
            // No account has an empty name.
            account_id: (!row.account_id.is_empty()).then(|| AccountId(row.account_id.clone())),
            url: row.url,
            secret: row.secret.map(Secret::new),
            is_configured: row.is_configured,
            created_ms: row.created_ms,
        })
    }
}

impl From<ErasureRow> for ErasureRecord {
    fn from(row: ErasureRow) -> Self {
        let ErasureRow { account_id, job_id, class, reason, erased_ms } = row;
        Self { account_id: AccountId(account_id), job_id, class, reason, erased_ms }
    }
}

fn blob_key_from(table: &'static str, id: &str, key: Option<String>) -> Result<Option<BlobKey>, StoreError> {
    let Some(text) = key else { return Ok(None) };
    let corrupt = || StoreError::Corrupt { table, id: id.to_owned(), cause: "blob key".to_owned() };
    BlobKey::parse(&text).map(Some).ok_or_else(corrupt)
}

/// A column that holds a number; the error names it.
fn number_from<T: TryFrom<i64>>(column: &str, number: Option<i64>) -> Result<Option<T>, String> {
    number.map(|number| T::try_from(number).map_err(|_| column.to_owned())).transpose()
}

/// A column of `jobs` that holds a JSON object.
pub(super) fn object_from(
    id: &str,
    column: &'static str,
    text: &str,
) -> Result<Map<String, Value>, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Corrupt {
        table: "jobs",
        id: id.to_owned(),
        cause: json_fault(column, &error),
    })
}

/// Names the column and the place, never the content.
fn json_fault(column: &str, error: &serde_json::Error) -> String {
    format!("{column}: line {}, column {}", error.line(), error.column())
}

pub(super) fn status_text(status: Status) -> &'static str {
    match status {
        Status::Queued => "queued",
        Status::Processing => "processing",
        Status::Done => "done",
        Status::Error => "error",
    }
}

fn status_from(text: &str) -> Option<Status> {
    named([Status::Queued, Status::Processing, Status::Done, Status::Error], status_text, text)
}

pub(super) fn kind_text(kind: Kind) -> &'static str {
    kind.name()
}

pub(super) fn kind_from(text: &str) -> Option<Kind> {
    named([Kind::PreRecorded, Kind::Live], kind_text, text)
}

pub(super) fn method_text(method: CallbackMethod) -> &'static str {
    match method {
        CallbackMethod::Post => "POST",
        CallbackMethod::Put => "PUT",
    }
}

/// The one of `all` that bears this name.
fn named<T: Copy, const N: usize>(all: [T; N], name: fn(T) -> &'static str, text: &str) -> Option<T> {
    all.into_iter().find(|one| name(*one) == text)
}
