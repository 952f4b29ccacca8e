//! Counts that decide whether an account may have one more job. None reads further than its
//! limit; how many jobs wait in all is kept by triggers of the table.

use sqlx::{SqliteConnection, query_scalar};

use super::Answer;
use super::usage::select_billed_s;
use crate::model::id::AccountId;
use crate::store::admission::{Quota, Refusal};

const SELECT_WAITING: &str = "SELECT jobs FROM waiting_jobs";

const COUNT_UNFINISHED_OF: &str = "
    SELECT COUNT(*) FROM (SELECT 1 FROM jobs WHERE account_id = $1 AND due_ms IS NOT NULL LIMIT $2) AS some";

const COUNT_LEASED_OF: &str = "SELECT COUNT(*) FROM jobs WHERE account_id = $1 AND lease_owner IS NOT NULL";

/// The first limit that is reached.
pub(in crate::store) async fn refusal(
    db: &mut SqliteConnection,
    account: &AccountId,
    quota: &Quota,
) -> Answer<Option<Refusal>> {
    if let Some(most_s) = quota.billed_s
        && select_billed_s(db, account).await? >= most_s
    {
        return Ok(Some(Refusal::NoCredits));
    }
    if let Some(most) = quota.unfinished
        && count_unfinished_of(db, account, most).await? >= most
    {
        return Ok(Some(Refusal::AccountBusy));
    }
    if let Some(most) = quota.waiting {
        let in_work: i64 = query_scalar(COUNT_LEASED_OF).bind(&account.0).fetch_one(&mut *db).await?;
        let most = most.saturating_add(in_work as u64);
        if count_unfinished_of(db, account, most).await? >= most {
            return Ok(Some(Refusal::AccountQueueFull));
        }
    }
    let waiting: i64 = query_scalar(SELECT_WAITING).fetch_one(db).await?;
    Ok((waiting as u64 >= quota.all_waiting).then_some(Refusal::QueueFull))
}

async fn count_unfinished_of(db: &mut SqliteConnection, account: &AccountId, most: u64) -> Answer<u64> {
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let count: i64 = query_scalar(COUNT_UNFINISHED_OF).bind(&account.0).bind(limit).fetch_one(db).await?;
    Ok(count as u64)
}
