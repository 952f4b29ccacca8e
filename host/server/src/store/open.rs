//! Opening, probing and closing the database.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

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
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Reads are short; more connections than this only fight for two or four cores.
const READERS: u32 = 4;
/// Stack of prepared statements per connection, above the number of statements we have.
const STATEMENT_CACHE: usize = 64;

/// In the order in which they are applied; one that was published is never changed.
const MIGRATIONS: [&str; 5] = [
    include_str!("migrations/0001_jobs.sql"),
    include_str!("migrations/0002_service.sql"),
    include_str!("migrations/0003_queue.sql"),
    include_str!("migrations/0004_deliveries.sql"),
    include_str!("migrations/0005_retention.sql"),
];

/// The database of one data folder.
///
/// Several stores, also of several processes, may be open on one file.
pub struct Store {
    pub(super) writer: Writer,
    pub(super) outbox_changed: Arc<Notify>,
    readers: SqlitePool,
}

impl Store {
    /// Opens or creates the database file and brings its tables to this version.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let writing = options(path).create_if_missing(true);
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .test_before_acquire(false)
            .acquire_timeout(BUSY_TIMEOUT * 2)
            .connect_with(writing)
            .await?;
        migrate(&writer).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .test_before_acquire(false)
            .acquire_timeout(BUSY_TIMEOUT * 2)
            .connect_with(options(path).pragma("query_only", "ON"))
            .await?;
        Ok(Self { writer: Writer::start(writer), outbox_changed: Arc::default(), readers })
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

async fn migrate(pool: &SqlitePool) -> Result<(), StoreError> {
    let migrations = MIGRATIONS
        .iter()
        .zip(1..)
        .map(|(sql, version)| {
            Migration::new(version, "".into(), MigrationType::Simple, sql.into_sql_str(), false)
        })
        .collect();
    Ok(Migrator::with_migrations(migrations).run(pool).await?)
}
