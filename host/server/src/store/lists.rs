//! Lists of jobs, newest first.

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::{AccountId, JobId};
use crate::model::listing::{JobFilter, Page};

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPage {
    /// The jobs, the newest first; equally old ones by descending id. What they stand for is read
    /// one by one: parameters may be long, and so may the time that a client takes for a list.
    pub ids: Vec<JobId>,
    /// Whether more follow.
    pub has_more: bool,
}

impl Store {
    /// The jobs of an account that pass the filter.
    pub async fn list_jobs(
        &self,
        account: &AccountId,
        filter: &JobFilter,
        page: Page,
    ) -> Result<JobPage, StoreError> {
        let mut db = self.reader().await?;
        let mut ids = sqlite::select_job_ids(&mut db, account, filter, page.offset, page.limit + 1).await?;
        let has_more = ids.len() > page.limit as usize;
        ids.truncate(page.limit as usize);
        Ok(JobPage { ids, has_more })
    }
}
