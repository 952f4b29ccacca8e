//! All SQL of the store, in the dialect that SQLite and PostgreSQL share.
//!
//! One function per statement or small group of statements; the caller owns the
//! transaction. Nothing here decides anything.

use serde_json::{Map, Value};
use sqlx::{SqliteConnection, query, query_as, query_scalar};

use super::error::StoreError;
use super::files::{FileFacts, FileRecord};
use super::jobs::{Delivery, Job, NewJob, QueueCounts};
use super::leases::{Checkpoint, Claim, Claimed, Ending, Lease, Outcome};
use super::rows::{
    CheckpointRow, ClaimRow, DeliveryRow, FileRow, JobRow, kind_text, method_text, status_text,
};
use crate::model::id::{AccountId, BlobKey, FileId, JobId};
use crate::model::job::{AudioSource, Kind, Status};

type Answer<T> = Result<T, StoreError>;

const INSERT_FILE: &str = "
    INSERT INTO files (id, account_id, filename, source, audio_duration_s, number_of_channels,
                       size_bytes, sha256, blob_key, created_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

pub(super) async fn insert_file(db: &mut SqliteConnection, file: &FileRecord) -> Answer<()> {
    let facts = &file.facts;
    query(INSERT_FILE)
        .bind(file.id.to_string())
        .bind(&file.account_id.0)
        .bind(&facts.filename)
        .bind(&file.source)
        .bind(facts.audio_duration_s)
        .bind(facts.number_of_channels.map(i64::from))
        .bind(facts.size_bytes.map(|n| n as i64))
        .bind(&facts.sha256)
        .bind(facts.blob_key.as_ref().map(BlobKey::as_str))
        .bind(file.created_ms)
        .execute(db)
        .await?;
    Ok(())
}

const SELECT_FILE: &str = "
    SELECT id, account_id, source, filename, audio_duration_s, number_of_channels,
           size_bytes, sha256, blob_key, created_ms
    FROM files WHERE id = $1 AND account_id = $2";

pub(super) async fn select_file(
    db: &mut SqliteConnection,
    account: &AccountId,
    id: FileId,
) -> Answer<Option<FileRecord>> {
    let row: Option<FileRow> =
        query_as(SELECT_FILE).bind(id.to_string()).bind(&account.0).fetch_optional(db).await?;
    row.map(FileRecord::try_from).transpose()
}

// Absent facts leave the known ones alone. A file belongs to the job of the lease or was
// uploaded before it; in both cases the job's worker is the one that has read its bytes.
const UPDATE_FILE: &str = "
    UPDATE files
    SET filename = COALESCE($4, filename),
        audio_duration_s = COALESCE($5, audio_duration_s),
        number_of_channels = COALESCE($6, number_of_channels),
        size_bytes = COALESCE($7, size_bytes),
        sha256 = COALESCE($8, sha256),
        blob_key = COALESCE($9, blob_key)
    WHERE id = (SELECT file_id FROM jobs WHERE id = $1 AND lease_owner = $2 AND attempts = $3)";

pub(super) async fn update_file(db: &mut SqliteConnection, lease: &Lease, facts: &FileFacts) -> Answer<bool> {
    let done = query(UPDATE_FILE)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(&facts.filename)
        .bind(facts.audio_duration_s)
        .bind(facts.number_of_channels.map(i64::from))
        .bind(facts.size_bytes.map(|n| n as i64))
        .bind(&facts.sha256)
        .bind(facts.blob_key.as_ref().map(BlobKey::as_str))
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// A file that does not exist, or belongs to somebody else, is as good as gone: the job has
/// none and fails when it is worked on.
const INSERT_JOB: &str = "
    INSERT INTO jobs (id, account_id, kind, status, request_id, spec, file_id, created_ms,
                      post_session_metadata, attempts, crashes, faults, due_ms)
    VALUES ($1, $2, $3, $4, $5, $6, (SELECT id FROM files WHERE id = $7 AND account_id = $2), $8,
            '{}', 0, 0, 0, $9)";

pub(super) async fn insert_job(db: &mut SqliteConnection, job: &NewJob) -> Answer<()> {
    let file_id = match &job.spec.audio {
        AudioSource::Stored(id) => *id,
        AudioSource::Url(url) => {
            let file = FileRecord {
                id: FileId::new(),
                account_id: job.account_id.clone(),
                source: Some(url.clone()),
                created_ms: job.created_ms,
                facts: FileFacts::default(),
            };
            insert_file(db, &file).await?;
            file.id
        }
    };
    // A live job is never due: its session works on it.
    let due_ms = (job.kind == Kind::PreRecorded).then_some(job.created_ms);
    query(INSERT_JOB)
        .bind(job.id.to_string())
        .bind(&job.account_id.0)
        .bind(kind_text(job.kind))
        .bind(status_text(Status::Queued))
        .bind(&job.request_id.0)
        .bind(to_json(&job.spec))
        .bind(file_id.to_string())
        .bind(job.created_ms)
        .bind(due_ms)
        .execute(db)
        .await?;
    Ok(())
}

const SELECT_JOB: &str = "
    SELECT j.id, j.account_id, j.kind, j.status, j.request_id, j.spec, j.created_ms,
           j.completed_ms, j.error_code, j.post_session_metadata, j.result_key,
           j.file_id, f.source, f.filename, f.audio_duration_s, f.number_of_channels,
           f.size_bytes, f.sha256, f.blob_key, f.created_ms AS file_created_ms
    FROM jobs j LEFT JOIN files f ON f.id = j.file_id
    WHERE j.id = $1 AND ($2 IS NULL OR j.account_id = $2)";

pub(super) async fn select_job(
    db: &mut SqliteConnection,
    account: Option<&AccountId>,
    id: JobId,
) -> Answer<Option<Job>> {
    let row: Option<JobRow> = query_as(SELECT_JOB)
        .bind(id.to_string())
        .bind(account.map(|account| account.0.as_str()))
        .fetch_optional(db)
        .await?;
    row.map(Job::try_from).transpose()
}

const IS_UNFINISHED: &str = "
    SELECT EXISTS (SELECT 1 FROM jobs WHERE id = $1 AND completed_ms IS NULL)";

pub(super) async fn is_unfinished(db: &mut SqliteConnection, id: JobId) -> Answer<bool> {
    Ok(query_scalar(IS_UNFINISHED).bind(id.to_string()).fetch_one(db).await?)
}

const COUNT_UNFINISHED: &str = "
    SELECT COALESCE(SUM(CASE WHEN status = 'queued' THEN 1 ELSE 0 END), 0), COUNT(*)
    FROM jobs WHERE completed_ms IS NULL AND due_ms IS NOT NULL";

pub(super) async fn count_unfinished(db: &mut SqliteConnection) -> Answer<QueueCounts> {
    let (queued, all): (i64, i64) = query_as(COUNT_UNFINISHED).fetch_one(db).await?;
    Ok(QueueCounts { queued: queued as u64, processing: (all - queued) as u64 })
}

// A lease that is still written in the row when the job is claimed again has ended
// without a word. The oldest due job goes first; when it has ended a process before, it
// is taken only by a worker that is alone with it ($4).
const CLAIM: &str = "
    UPDATE jobs
    SET status = 'processing',
        attempts = attempts + 1,
        crashes = crashes + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END,
        lease_owner = $1,
        due_ms = $2 + $3
    WHERE id = (SELECT id FROM jobs WHERE completed_ms IS NULL AND due_ms <= $2
                ORDER BY created_ms, id LIMIT 1)
      AND ($4 OR (crashes = 0 AND lease_owner IS NULL))
    RETURNING id, attempts, crashes, faults";

const IS_ANY_DUE: &str = "
    SELECT EXISTS (SELECT 1 FROM jobs WHERE completed_ms IS NULL AND due_ms <= $1)";

pub(super) async fn claim(
    db: &mut SqliteConnection,
    owner: String,
    alone: bool,
    now_ms: i64,
    lease_ms: i64,
) -> Answer<Claim> {
    let row: Option<ClaimRow> =
        query_as(CLAIM).bind(&owner).bind(now_ms).bind(lease_ms).bind(alone).fetch_optional(&mut *db).await?;
    let Some(row) = row else {
        let is_any_due: bool = query_scalar(IS_ANY_DUE).bind(now_ms).fetch_one(db).await?;
        return Ok(if is_any_due { Claim::WaitUntilAlone } else { Claim::Nothing });
    };
    let corrupt = || StoreError::Corrupt { table: "jobs", id: row.id.clone(), cause: "id".to_owned() };
    let job_id = JobId::parse(&row.id).ok_or_else(corrupt)?;
    let job = select_job(db, None, job_id).await?.ok_or_else(corrupt)?;
    let checkpoints = select_checkpoints(db, job_id).await?;
    let lease = Lease { job_id, owner, attempt: row.attempts };
    Ok(Claim::Job(Box::new(Claimed { lease, job, crashes: row.crashes, faults: row.faults, checkpoints })))
}

const END_LEASES: &str = "UPDATE jobs SET due_ms = $2 WHERE lease_owner = $1 AND completed_ms IS NULL";

pub(super) async fn end_leases(db: &mut SqliteConnection, owner: &str, now_ms: i64) -> Answer<u64> {
    Ok(query(END_LEASES).bind(owner).bind(now_ms).execute(db).await?.rows_affected())
}

const PROLONG: &str = "
    UPDATE jobs SET due_ms = $4, post_session_metadata = $5
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3";

pub(super) async fn prolong(
    db: &mut SqliteConnection,
    lease: &Lease,
    until_ms: i64,
    progress: &Map<String, Value>,
) -> Answer<bool> {
    let done = query(PROLONG)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(until_ms)
        .bind(to_json(progress))
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

const SELECT_CHECKPOINTS: &str = "
    SELECT step, digest, blob_key FROM checkpoints WHERE job_id = $1 ORDER BY step";

async fn select_checkpoints(db: &mut SqliteConnection, id: JobId) -> Answer<Vec<Checkpoint>> {
    let rows: Vec<CheckpointRow> = query_as(SELECT_CHECKPOINTS).bind(id.to_string()).fetch_all(db).await?;
    rows.into_iter().map(Checkpoint::try_from).collect()
}

const SAVE_CHECKPOINT: &str = "
    INSERT INTO checkpoints (job_id, step, account_id, digest, blob_key)
    SELECT id, $4, account_id, $5, $6 FROM jobs
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3
    ON CONFLICT (job_id, step) DO UPDATE SET digest = excluded.digest, blob_key = excluded.blob_key";

pub(super) async fn save_checkpoint(
    db: &mut SqliteConnection,
    lease: &Lease,
    checkpoint: &Checkpoint,
) -> Answer<bool> {
    let done = query(SAVE_CHECKPOINT)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(&checkpoint.step)
        .bind(&checkpoint.digest)
        .bind(checkpoint.blob_key.as_str())
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

const FINISH: &str = "
    UPDATE jobs
    SET status = $4, completed_ms = $5, error_code = $6, post_session_metadata = $7,
        result_key = $8, lease_owner = NULL, due_ms = NULL
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3";

const DELETE_CHECKPOINTS: &str = "DELETE FROM checkpoints WHERE job_id = $1";

pub(super) async fn finish(db: &mut SqliteConnection, lease: &Lease, ending: &Ending) -> Answer<bool> {
    let (status, error_code, result_key) = match &ending.outcome {
        Outcome::Done { result_key } => (Status::Done, None, Some(result_key.as_str())),
        Outcome::Error { error_code } => (Status::Error, Some(i64::from(*error_code)), None),
    };
    let job_id = lease.job_id.to_string();
    let done = query(FINISH)
        .bind(&job_id)
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(status_text(status))
        .bind(ending.completed_ms)
        .bind(error_code)
        .bind(to_json(&ending.post_session_metadata))
        .bind(result_key)
        .execute(&mut *db)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    query(DELETE_CHECKPOINTS).bind(&job_id).execute(&mut *db).await?;
    for delivery in &ending.deliveries {
        insert_delivery(db, &job_id, ending.completed_ms, delivery).await?;
    }
    Ok(true)
}

const INSERT_DELIVERY: &str = "
    INSERT INTO deliveries (id, account_id, job_id, event, target, url, method, attempts,
                            created_ms, next_try_ms)
    SELECT $1, account_id, id, $3, $4, $5, $6, 0, $7, $7 FROM jobs WHERE id = $2";

async fn insert_delivery(
    db: &mut SqliteConnection,
    job_id: &str,
    created_ms: i64,
    delivery: &Delivery,
) -> Answer<()> {
    query(INSERT_DELIVERY)
        .bind(delivery.id.to_string())
        .bind(job_id)
        .bind(delivery.event.name())
        .bind(delivery.target.name())
        .bind(&delivery.url)
        .bind(method_text(delivery.method))
        .bind(created_ms)
        .execute(db)
        .await?;
    Ok(())
}

const SELECT_DELIVERIES: &str = "
    SELECT id, event, target, url, method FROM deliveries WHERE job_id = $1 ORDER BY created_ms, id";

pub(super) async fn select_deliveries(db: &mut SqliteConnection, id: JobId) -> Answer<Vec<Delivery>> {
    let rows: Vec<DeliveryRow> = query_as(SELECT_DELIVERIES).bind(id.to_string()).fetch_all(db).await?;
    rows.into_iter().map(Delivery::try_from).collect()
}

const RELEASE: &str = "
    UPDATE jobs SET lease_owner = NULL, due_ms = $4, faults = faults + $5
    WHERE id = $1 AND lease_owner = $2 AND attempts = $3";

pub(super) async fn release(
    db: &mut SqliteConnection,
    lease: &Lease,
    due_ms: i64,
    is_fault: bool,
) -> Answer<bool> {
    let done = query(RELEASE)
        .bind(lease.job_id.to_string())
        .bind(&lease.owner)
        .bind(lease.attempt)
        .bind(due_ms)
        .bind(i64::from(is_fault))
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

const MENTIONS_BLOB: &str = "
    SELECT EXISTS (SELECT 1 FROM files WHERE blob_key = $1)
        OR EXISTS (SELECT 1 FROM checkpoints WHERE blob_key = $1)
        OR EXISTS (SELECT 1 FROM jobs WHERE result_key = $1)";

pub(super) async fn mentions_blob(db: &mut SqliteConnection, key: &BlobKey) -> Answer<bool> {
    Ok(query_scalar(MENTIONS_BLOB).bind(key.as_str()).fetch_one(db).await?)
}

const WRITE_PROBE: &str = "
    INSERT INTO probe (id, account_id, written_ms) VALUES ('probe', '', $1)
    ON CONFLICT (id) DO UPDATE SET written_ms = excluded.written_ms";

pub(super) async fn write_probe(db: &mut SqliteConnection, now_ms: i64) -> Answer<()> {
    query(WRITE_PROBE).bind(now_ms).execute(db).await?;
    Ok(())
}

/// The text of a value of ours; such values always have one.
fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("model types have string keys and finite numbers")
}
