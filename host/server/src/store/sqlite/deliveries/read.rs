//! Messages as they are read: one, those of a job, or a list of an account.

use sqlx::{AssertSqlSafe, SqliteConnection, query_as};
use uuid::Uuid;

use crate::model::id::{AccountId, JobId};
use crate::store::deliveries::{DeliveryFilter, DeliveryRecord};
use crate::store::rows::DeliveryRow;
use crate::store::sqlite::{Answer, of_account, readable};

const SELECT_DELIVERY: &str = "
    SELECT id, account_id, job_id, event, target, url, method, webhook_id, receiver, attempts,
           last_error, created_ms, next_try_ms, delivered_ms
    FROM deliveries WHERE id = $1";

pub(in crate::store) async fn select_delivery(
    db: &mut SqliteConnection,
    id: Uuid,
) -> Answer<Option<DeliveryRecord>> {
    let row: Option<DeliveryRow> = query_as(SELECT_DELIVERY).bind(id.to_string()).fetch_optional(db).await?;
    row.map(DeliveryRecord::try_from).transpose()
}

const SELECT_DELIVERIES_OF_JOB: &str = "
    SELECT id, account_id, job_id, event, target, url, method, webhook_id, receiver, attempts,
           last_error, created_ms, next_try_ms, delivered_ms
    FROM deliveries WHERE job_id = $1 ORDER BY place";

pub(in crate::store) async fn select_deliveries_of_job(
    db: &mut SqliteConnection,
    id: JobId,
) -> Answer<Vec<DeliveryRecord>> {
    let rows: Vec<DeliveryRow> =
        query_as(SELECT_DELIVERIES_OF_JOB).bind(id.to_string()).fetch_all(db).await?;
    Ok(rows.into_iter().map(DeliveryRecord::try_from).filter_map(readable).collect())
}

// The job's rows are few and have an index of their own; without a job the rows, of one account
// or of all, are read in order of age until there are enough.
fn list_statement(account: Option<&AccountId>) -> String {
    format!(
        "SELECT id, account_id, job_id, event, target, url, method, webhook_id, receiver, attempts,
                last_error, created_ms, next_try_ms, delivered_ms
         FROM deliveries
         WHERE {}
           AND ($2 IS NULL
                OR ($2 = 'pending' AND next_try_ms IS NOT NULL)
                OR ($2 = 'delivered' AND next_try_ms IS NULL AND delivered_ms IS NOT NULL)
                OR ($2 = 'given_up' AND next_try_ms IS NULL AND delivered_ms IS NULL))
         ORDER BY created_ms DESC, id DESC LIMIT $3 OFFSET $4",
        of_account(account)
    )
}

pub(in crate::store) async fn list_deliveries(
    db: &mut SqliteConnection,
    filter: &DeliveryFilter,
) -> Answer<Vec<DeliveryRecord>> {
    if let Some(job_id) = filter.job_id {
        return Ok(of_job(select_deliveries_of_job(db, job_id).await?, filter));
    }
    let account = filter.account_id.as_ref();
    let rows: Vec<DeliveryRow> = query_as(AssertSqlSafe(list_statement(account)))
        .bind(account.map(|account| account.0.as_str()))
        .bind(filter.status.map(|status| status.name()))
        .bind(i64::from(filter.limit))
        .bind(i64::from(filter.offset))
        .fetch_all(db)
        .await?;
    Ok(rows.into_iter().map(DeliveryRecord::try_from).filter_map(readable).collect())
}

fn of_job(records: Vec<DeliveryRecord>, filter: &DeliveryFilter) -> Vec<DeliveryRecord> {
    let is_wanted = |record: &DeliveryRecord| {
        filter.account_id.as_ref().is_none_or(|account| *account == record.account_id)
            && filter.status.is_none_or(|status| status == record.status())
    };
    let newest_first = records.into_iter().rev().filter(is_wanted);
    newest_first.skip(filter.offset as usize).take(filter.limit as usize).collect()
}

/// What the database does for the list of an account, step by step.
#[cfg(test)]
pub(in crate::store) async fn explain_deliveries_of(
    db: &mut SqliteConnection,
    account: &AccountId,
) -> Answer<Vec<String>> {
    crate::store::sqlite::explain(db, &list_statement(Some(account))).await
}
