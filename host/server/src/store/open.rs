//! Opening, probing and closing the database.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::ConnectOptions;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{SqlSafeStr, SqliteConnection};
use tokio::sync::Notify;

use super::error::StoreError;
use super::sqlite;
use super::writer::Writer;

/// How long a statement waits for another process before it is told "locked".
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Reads are short; more connections than this only fight for two or four cores.
const READERS: u32 = 4;
/// Stack of prepared statements per connection, above the number of statements we have.
const STATEMENT_CACHE: usize = 64;

/// In the order in which they are applied; one that was published is never changed.
const MIGRATIONS: [&str; 12] = [
    include_str!("migrations/0001_jobs.sql"),
    include_str!("migrations/0002_service.sql"),
    include_str!("migrations/0003_queue.sql"),
    include_str!("migrations/0004_deliveries.sql"),
    include_str!("migrations/0005_retention.sql"),
    include_str!("migrations/0006_metadata.sql"),
    include_str!("migrations/0007_waiting.sql"),
    include_str!("migrations/0008_slots.sql"),
    include_str!("migrations/0009_accounts.sql"),
    include_str!("migrations/0010_numbers.sql"),
    include_str!("migrations/0011_first_claim.sql"),
    include_str!("migrations/0012_lines.sql"),
];

/// The database of one data folder.
///
/// Several stores, also of several processes, may be open on one file.
pub struct Store {
    pub(super) writer: Writer,
    pub(super) outbox_changed: Arc<Notify>,
    /// Something was erased, and may still stand in the log of changes.
    pub(super) erased: Arc<AtomicBool>,
    readers: SqlitePool,
}

impl Store {
    /// Opens or creates the database file and brings its tables to this version.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let alone = alone_beside(path).await?;
        let writing = options(path).create_if_missing(true);
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .test_before_acquire(false)
            .acquire_timeout(BUSY_TIMEOUT * 2)
            .connect_with(writing)
            .await?;
        migrate(&writer, &MIGRATIONS).await?;
        drop(alone);
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .test_before_acquire(false)
            .acquire_timeout(BUSY_TIMEOUT * 2)
            .connect_with(options(path).pragma("query_only", "ON"))
            .await?;
        // The last process may have ended before it emptied the log.
        let erased = Arc::new(AtomicBool::new(true));
        Ok(Self { writer: Writer::start(writer), outbox_changed: Arc::default(), erased, readers })
    }

    /// Runs a change that erases.
    pub(super) async fn erase<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let erasing = Erasing(self.erased.clone());
        // An answer that nobody waits for any more is dropped after the commit as well.
        let written = self.writer.write(move |db: &mut SqliteConnection| {
            Box::pin(async move { Ok((change(db).await?, erasing)) })
        });
        written.await.map(|(value, _)| value)
    }

    /// A connection for one read.
    pub(super) async fn reader(&self) -> Result<sqlx::pool::PoolConnection<sqlx::Sqlite>, StoreError> {
        Ok(self.readers.acquire().await?)
    }

    /// Writes one row durably: says whether the database can take jobs at this moment.
    pub async fn probe(&self, now_ms: i64) -> Result<(), StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::write_probe(db, now_ms).await })
            })
            .await
    }

    /// Finishes the writes that wait and closes the file.
    pub async fn close(self) {
        self.writer.close().await;
        self.readers.close().await;
    }
}

/// Says at its end, when the write is durable, that the log of changes has to be emptied: said
/// before, it could be taken for done by somebody who empties the log in between.
struct Erasing(Arc<AtomicBool>);

impl Drop for Erasing {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // FULL: a commit that was answered survives a power cut.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        // Deleted rows are overwritten, not only unlinked.
        .pragma("secure_delete", "ON")
        .statement_cache_capacity(STATEMENT_CACHE)
        .disable_statement_logging()
}

/// Keeps other processes that start at the same moment from making the same tables, until it is
/// dropped: SQLite's migrations know no lock of their own.
async fn alone_beside(database: &Path) -> Result<File, StoreError> {
    let mut name = database.as_os_str().to_owned();
    name.push("-lock");
    let locking = move || {
        let file = File::options().create(true).truncate(false).write(true).open(&name)?;
        if file.try_lock().is_err() {
            tracing::info!(file = %name.display(), "waiting for another process that opens the database");
            file.lock()?;
        }
        Ok(file)
    };
    let locked = tokio::task::spawn_blocking(locking).await;
    Ok(locked.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(sqlx::Error::Io)?)
}

async fn migrate(pool: &SqlitePool, migrations: &[&'static str]) -> Result<(), StoreError> {
    let migrations = migrations
        .iter()
        .zip(1..)
        .map(|(sql, version)| {
            Migration::new(version, "".into(), MigrationType::Simple, sql.into_sql_str(), false)
        })
        .collect();
    Ok(Migrator::with_migrations(migrations).run(pool).await?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::model::job::AudioSource;
    use crate::model::metadata::pairs;
    use crate::store::{DueShares, NewJob};

    /// A database as versions before the sixth migration left it: two jobs, of which only the
    /// later one has its metadata in the table of lists.
    async fn old_database(path: &Path, job: &NewJob) {
        let pool = SqlitePool::connect_with(options(path).create_if_missing(true)).await.expect("opens");
        migrate(&pool, &MIGRATIONS[..5]).await.expect("migrates");
        let spec = serde_json::to_string(&job.spec).expect("JSON");
        for (id, created_ms) in [("early", 1), ("late", 2)] {
            sqlx::query(
                "INSERT INTO jobs (id, account_id, kind, status, request_id, spec, created_ms,
                                   post_session_metadata, attempts, crashes, faults)
                 VALUES ($1, 'one', 'live', 'queued', 'G-0', $2, $3, '{}', 0, 0, 0)",
            )
            .bind(id)
            .bind(&spec)
            .bind(created_ms)
            .execute(&pool)
            .await
            .expect("inserts");
        }
        let known = "INSERT INTO job_metadata (job_id, account_id, path, value)
                     VALUES ('late', 'one', '/kept', 'sas it was')";
        sqlx::query(known).execute(&pool).await.expect("inserts");
        pool.close().await;
    }

    #[tokio::test]
    async fn processes_that_start_together_do_not_meet_in_the_migrations() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("tympan.db");
        let opened = futures_util::future::join_all((0..8).map(|_| Store::open(&path))).await;
        for store in opened {
            store.expect("opens").close().await;
        }
    }

    #[tokio::test]
    async fn jobs_of_earlier_versions_are_found_by_their_metadata() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("tympan.db");
        let mut job = NewJob::example(AudioSource::Url("http://example.com/a.wav".to_owned()), 1);
        let metadata = json!({
            "text": "x y", "True": "TRUE", "no": false, "none": null, "n": -4711, "f": 1.25, "empty": {},
            "whole": 30.0, "version": "1.50", "versions": "1.2.0", "zeros": "00.0",
            "list": [1, {"b": 2, "a": "q"}], "in": {"a/b": {"~": "deep \"quoted\" ü"}, "": 0},
        });
        job.spec.custom_metadata = metadata.as_object().cloned();
        old_database(&path, &job).await;

        let store = Store::open(&path).await.expect("opens");
        let mut db = store.reader().await.expect("a connection");
        let rows: Vec<(String, String, String, i64, String, String)> = sqlx::query_as(
            "SELECT job_id, account_id, kind, created_ms, path, value FROM job_metadata ORDER BY job_id, path",
        )
        .fetch_all(&mut *db)
        .await
        .expect("reads");
        let row = |id: &str, created_ms, path: &str, value: &str| {
            (id.into(), "one".into(), "live".into(), created_ms, path.into(), value.into())
        };
        let mut pairs = pairs(metadata.as_object().expect("an object"));
        pairs.sort();
        let mut expected: Vec<_> =
            pairs.iter().map(|pair| row("early", 1, &pair.path, &pair.value)).collect();
        expected.push(row("late", 2, "/kept", "sas it was"));
        assert_eq!(rows, expected);
    }

    #[tokio::test]
    async fn messages_of_earlier_versions_wait_for_those_before_them() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("tympan.db");
        let pool = SqlitePool::connect_with(options(&path).create_if_missing(true)).await.expect("opens");
        migrate(&pool, &MIGRATIONS[..11]).await.expect("migrates");
        let job = "INSERT INTO jobs (id, account_id, kind, status, request_id, spec, created_ms,
                                     post_session_metadata, attempts, crashes, faults)
                   VALUES ('job', 'one', 'live', 'queued', 'G-0', '{}', 1, '{}', 0, 0, 0)";
        sqlx::query(job).execute(&pool).await.expect("inserts");
        let ids = [Uuid::new_v4(), Uuid::new_v4()];
        for (id, place) in ids.iter().zip(0_i64..) {
            let message = "INSERT INTO deliveries (id, account_id, job_id, event, target, url, method,
                                                   attempts, created_ms, next_try_ms, receiver, place)
                           VALUES ($1, 'one', 'job', 'event', 'callback', 'url', 'POST', 0, 1, 1, 'host', $2)";
            sqlx::query(message).bind(id.to_string()).bind(place).execute(&pool).await.expect("inserts");
        }
        pool.close().await;

        let store = Store::open(&path).await.expect("opens");
        let shares = DueShares { all: 9, per_account: 9, per_receiver: 9 };
        let due = store.due_deliveries(1, shares).await.expect("reads");
        assert_eq!(due.iter().map(|due| due.id).collect::<Vec<_>>(), ids[..1]);
    }
}
