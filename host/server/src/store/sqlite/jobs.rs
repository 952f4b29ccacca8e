//! Jobs as clients see them.

use std::collections::HashSet;

use futures_util::TryStreamExt;
use sqlx::{SqliteConnection, query, query_as, query_scalar};

use super::lists::insert_pairs;
use super::webhooks::tell_webhooks;
use super::{Answer, to_json};
use crate::model::event::Event;
use crate::model::id::{AccountId, FileId, JobId};
use crate::model::job::{AudioSource, JobSpec, Kind, Status};
use crate::store::jobs::{Job, NewJob, QueueCounts};
use crate::store::rows::{JobRow, kind_text, status_text};

// One trip to the connection's thread, which costs more than the statements: the file of a job
// whose audio has a URL, the account, the job. A file that does not exist, or belongs to
// somebody else, is as good as gone: the job has none and fails when it is worked on.
const INSERT_JOB: &str = "
    INSERT INTO files (id, account_id, source, created_ms) SELECT $7, $2, $11, $8 WHERE $11 IS NOT NULL;
    INSERT INTO accounts (account_id, plan, created_ms, last_claim_ms) VALUES ($2, NULL, $8, 0)
    ON CONFLICT (account_id) DO NOTHING;
    INSERT INTO jobs (id, account_id, kind, status, request_id, spec, file_id, created_ms,
                      post_session_metadata, attempts, crashes, faults, due_ms, zero_retention)
    VALUES ($1, $2, $3, $4, $5, $6, (SELECT id FROM files WHERE id = $7 AND account_id = $2), $8,
            '{}', 0, 0, 0, $9, $10)";

pub(in crate::store) async fn insert_job(db: &mut SqliteConnection, job: &NewJob) -> Answer<()> {
    let (file_id, source) = match &job.spec.audio {
        AudioSource::Stored(id) => (*id, None),
        AudioSource::Url(url) => (FileId::new(), Some(url)),
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
        .bind(job.zero_retention)
        .bind(source)
        .execute(&mut *db)
        .await?;
    insert_pairs(db, job).await?;
    tell_webhooks(db, &job.id.to_string(), job.created_ms, Event::of_creation).await
}

const SELECT_JOB: &str = "
    SELECT j.id, j.account_id, j.kind, j.status, j.request_id, j.spec, j.created_ms,
           j.completed_ms, j.error_code, j.post_session_metadata, j.client_metadata, j.result_key,
           j.zero_retention,
           j.file_id, f.source, f.filename, f.audio_duration_s, f.number_of_channels,
           f.size_bytes, f.sha256, f.blob_key, f.created_ms AS file_created_ms
    FROM jobs j LEFT JOIN files f ON f.id = j.file_id
    WHERE j.id = $1 AND ($2 IS NULL OR j.account_id = $2)";

pub(in crate::store) async fn select_job(
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

pub(in crate::store) async fn is_unfinished(db: &mut SqliteConnection, id: JobId) -> Answer<bool> {
    Ok(query_scalar(IS_UNFINISHED).bind(id.to_string()).fetch_one(db).await?)
}

const COUNT_UNFINISHED: &str = "
    SELECT COALESCE(SUM(CASE WHEN status = 'queued' THEN 1 ELSE 0 END), 0), COUNT(*)
    FROM jobs WHERE completed_ms IS NULL AND kind = 'pre-recorded'";

pub(in crate::store) async fn count_unfinished(db: &mut SqliteConnection) -> Answer<QueueCounts> {
    let (queued, all): (i64, i64) = query_as(COUNT_UNFINISHED).fetch_one(db).await?;
    Ok(QueueCounts { queued: queued as u64, processing: (all - queued) as u64 })
}

const SELECT_UNFINISHED_SPECS: &str = "SELECT spec FROM jobs WHERE completed_ms IS NULL";

pub(in crate::store) async fn select_promised_addons(db: &mut SqliteConnection) -> Answer<HashSet<String>> {
    let mut digests = HashSet::new();
    let mut specs = query_scalar::<_, String>(SELECT_UNFINISHED_SPECS).fetch(db);
    while let Some(spec) = specs.try_next().await? {
        // A job that cannot be read needs no add-on: its claim ends it.
        let spec = serde_json::from_str(&spec).unwrap_or_else(|_| JobSpec::erased());
        digests.extend(spec.addons.into_iter().map(|addon| addon.digest));
    }
    Ok(digests)
}
