//! What can go wrong between us and the database.

use std::sync::Arc;

use crate::model::code::Code;

/// A read or a write that did not happen.
///
/// `Clone`, because one failed commit answers every change that was in it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another process kept the database locked for longer than the busy time-out.
    #[error("the database is busy, or locked by another process")]
    Locked,
    /// No space left, or the database file may not grow.
    #[error("the disk that holds the database is full or cannot be written")]
    Full(#[source] Arc<sqlx::Error>),
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// A change of ours has a defect.
    #[error("a change of the database panicked")]
    Panicked,
    /// A row says something that this version cannot read.
    #[error("row {id} of {table} cannot be read: {cause}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// Primary key of the row.
        id: String,
        /// What is wrong with it, without its content.
        cause: String,
    },
    /// Anything else that the database said.
    #[error("the database failed")]
    Database(#[source] Arc<sqlx::Error>),
    /// The tables could not be brought to this version.
    #[error("the database could not be migrated")]
    Migrate(#[source] Arc<sqlx::migrate::MigrateError>),
}

impl StoreError {
    /// What the outside is told.
    pub fn code(&self) -> Code {
        match self {
            Self::Locked => Code::DatabaseLocked,
            Self::Full(_) => Code::StorageFull,
            Self::Closed => Code::ShuttingDown,
            Self::Panicked | Self::Corrupt { .. } | Self::Database(_) | Self::Migrate(_) => Code::Internal,
        }
    }

    /// Whether another try would end in the same way, while other rows are as good as ever: the
    /// row cannot be read, the change breaks a rule of the tables, or has a defect.
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Panicked | Self::Corrupt { .. } => true,
            Self::Database(error) => {
                matches!(**error, sqlx::Error::ColumnDecode { .. })
                    || primary_code(error) == Some(code::CONSTRAINT)
            }
            Self::Locked | Self::Full(_) | Self::Closed | Self::Migrate(_) => false,
        }
    }
}

/// SQLite's primary result codes, the low byte of the extended ones
/// (<https://www.sqlite.org/rescode.html>).
mod code {
    pub const BUSY: u32 = 5;
    pub const LOCKED: u32 = 6;
    pub const READ_ONLY: u32 = 8;
    pub const IO: u32 = 10;
    pub const FULL: u32 = 13;
    pub const CANNOT_OPEN: u32 = 14;
    pub const CONSTRAINT: u32 = 19;
}

fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let extended: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(extended & 0xff)
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if matches!(error, sqlx::Error::PoolTimedOut) {
            return Self::Locked;
        }
        if matches!(error, sqlx::Error::PoolClosed) {
            return Self::Closed;
        }
        match primary_code(&error) {
            Some(code::BUSY | code::LOCKED) => Self::Locked,
            Some(code::FULL | code::IO | code::READ_ONLY | code::CANNOT_OPEN) => Self::Full(Arc::new(error)),
            _ => Self::Database(Arc::new(error)),
        }
    }
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        Self::Migrate(Arc::new(error))
    }
}
