//! Which jobs a list shows.

use super::job::{Kind, Status};
use super::metadata::MetadataPair;

/// What a job must be to stand in a list; all of it at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFilter {
    /// Absent: either.
    pub kind: Option<Kind>,
    /// Empty: any.
    pub statuses: Vec<Status>,
    /// Earliest creation, milliseconds since 1970.
    pub from_ms: i64,
    /// Creation is before this moment, milliseconds since 1970.
    pub before_ms: i64,
    /// What its custom metadata must hold.
    pub metadata: Vec<MetadataPair>,
}

impl Default for JobFilter {
    fn default() -> Self {
        Self {
            kind: None,
            statuses: Vec::new(),
            from_ms: i64::MIN,
            before_ms: i64::MAX,
            metadata: Vec::new(),
        }
    }
}

/// A part of a list, newest jobs first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Jobs passed over.
    pub offset: u64,
    /// Most jobs shown.
    pub limit: u32,
}
