//! What is written in a column, and how it is read back.

use serde::de::DeserializeOwned;

use crate::model::id::BlobKey;
use crate::model::job::{CallbackMethod, Kind, Status};
use crate::store::error::StoreError;

/// A row, to say where something cannot be read.
#[derive(Clone, Copy)]
pub(in crate::store) struct Place<'a> {
    pub table: &'static str,
    pub id: &'a str,
}

impl Place<'_> {
    /// The cause names a column, never its content.
    pub fn corrupt(self, cause: impl Into<String>) -> StoreError {
        StoreError::Corrupt { table: self.table, id: self.id.to_owned(), cause: cause.into() }
    }

    pub fn json<T: DeserializeOwned>(self, column: &str, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| {
            self.corrupt(format!("{column}: line {}, column {}", error.line(), error.column()))
        })
    }

    pub fn number<T: TryFrom<i64>>(self, column: &str, number: Option<i64>) -> Result<Option<T>, StoreError> {
        number.map(|number| T::try_from(number).map_err(|_| self.corrupt(column))).transpose()
    }

    pub fn blob_key(self, column: &str, text: &str) -> Result<BlobKey, StoreError> {
        BlobKey::parse(text).ok_or_else(|| self.corrupt(column))
    }
}

pub(in crate::store) fn status_text(status: Status) -> &'static str {
    match status {
        Status::Queued => "queued",
        Status::Processing => "processing",
        Status::Done => "done",
        Status::Error => "error",
    }
}

pub(super) fn status_from(text: &str) -> Option<Status> {
    named([Status::Queued, Status::Processing, Status::Done, Status::Error], status_text, text)
}

pub(in crate::store) fn kind_text(kind: Kind) -> &'static str {
    kind.name()
}

pub(in crate::store) fn kind_from(text: &str) -> Option<Kind> {
    named([Kind::PreRecorded, Kind::Live], kind_text, text)
}

pub(in crate::store) fn method_text(method: CallbackMethod) -> &'static str {
    match method {
        CallbackMethod::Post => "POST",
        CallbackMethod::Put => "PUT",
    }
}

/// The one of `all` that bears this name.
pub(super) fn named<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    text: &str,
) -> Option<T> {
    all.into_iter().find(|one| name(*one) == text)
}
