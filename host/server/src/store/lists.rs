//! Lists of jobs, newest first.

use sqlx::Connection;

use super::error::StoreError;
use super::jobs::Job;
use super::open::Store;
use super::sqlite;
use crate::model::cause::chain;
use crate::model::id::AccountId;
use crate::model::listing::{JobFilter, Page};

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPage {
    /// The jobs, the newest first; equally old ones by descending id.
    pub jobs: Vec<Job>,
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
        let mut reader = self.reader().await?;
        // One snapshot for the ids and what they stand for.
        let mut db = reader.begin().await?;
        let mut ids = sqlite::select_job_ids(&mut db, account, filter, page.offset, page.limit + 1).await?;
        let has_more = ids.len() > page.limit as usize;
        ids.truncate(page.limit as usize);
        let mut jobs = Vec::with_capacity(ids.len());
        for id in ids {
            match sqlite::select_job(&mut db, Some(account), id).await {
                Err(error) if error.is_permanent() => {
                    tracing::error!(job = %id, error = chain(&error), "a job that cannot be read is not listed");
                }
                read => jobs.extend(read?),
            }
        }
        Ok(JobPage { jobs, has_more })
    }
}
