//! What was billed, by account and day. Kept when the jobs are gone.

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::AccountId;
use crate::model::job::Kind;

/// What the jobs of one kind were billed on one day.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageOfDay {
    /// UTC, `2026-01-31`.
    pub day: String,
    /// Recorded or live.
    pub kind: Kind,
    /// Jobs that ended with a result.
    pub jobs: u64,
    /// Their billed time in seconds.
    pub billed_s: f64,
}

/// What one account was billed.
#[derive(Debug, Clone, PartialEq)]
pub struct AccountUsage {
    /// The account.
    pub account_id: AccountId,
    /// Jobs that ended with a result, within the days that were asked for.
    pub jobs: u64,
    /// Their billed time in seconds.
    pub billed_s: f64,
    /// Billed time of all days in seconds: what credits are paid with.
    pub ever_billed_s: f64,
}

/// Days from the first to the last, both included; absent: without an end. UTC,
/// `2026-01-31`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Days {
    /// The first.
    pub from: Option<String>,
    /// The last.
    pub to: Option<String>,
}

impl Store {
    /// What one account was billed; nothing for one that never had a job.
    pub async fn usage_of(&self, account: &AccountId, days: &Days) -> Result<AccountUsage, StoreError> {
        let mut db = self.reader().await?;
        let found = sqlite::select_usage(&mut db, Some(account), days).await?.pop();
        let nothing =
            || AccountUsage { account_id: account.clone(), jobs: 0, billed_s: 0.0, ever_billed_s: 0.0 };
        Ok(found.unwrap_or_else(nothing))
    }

    /// What each account was billed that was ever billed anything, by name.
    pub async fn usage_of_all(&self, days: &Days) -> Result<Vec<AccountUsage>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_usage(&mut db, None, days).await
    }

    /// The days of one account on which something was billed, the oldest first.
    pub async fn usage_by_day(
        &self,
        account: &AccountId,
        days: &Days,
    ) -> Result<Vec<UsageOfDay>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_usage_by_day(&mut db, account, days).await
    }
}
