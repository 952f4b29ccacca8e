//! Messages that are owed to the outside.

use sqlx::{AssertSqlSafe, SqliteConnection, query, query_as, query_scalar};
use uuid::Uuid;

use super::{Answer, of_account, readable};
use crate::model::cause::chain;
use crate::model::id::{AccountId, JobId};
use crate::model::webhook::receiver_of;
use crate::store::deliveries::{
    Attempted, Delivery, DeliveryClaim, DeliveryFilter, DeliveryRecord, DueDelivery, DueShares, Replay,
};
use crate::store::rows::{DeliveryRow, DueRow, method_text};

const INSERT_DELIVERY: &str = "
    INSERT INTO deliveries (id, account_id, job_id, event, target, url, method, attempts,
                            created_ms, next_try_ms, webhook_id, receiver, place, is_first)
    SELECT $1, account_id, id, $3, $4, $5, $6, 0, $7, $7, $8, $9,
           (SELECT COUNT(*) FROM deliveries WHERE job_id = $2),
           NOT EXISTS (SELECT 1 FROM deliveries
                       WHERE job_id = $2 AND next_try_ms IS NOT NULL
                         AND target = $4 AND COALESCE(webhook_id, '') = COALESCE($8, ''))
    FROM jobs WHERE id = $2";

pub(super) async fn insert_delivery(
    db: &mut SqliteConnection,
    job_id: &str,
    created_ms: i64,
    delivery: &Delivery,
) -> Answer<()> {
    query(INSERT_DELIVERY)
        .bind(delivery.id.to_string())
        .bind(job_id)
        .bind(delivery.event.name())
        .bind(delivery.target.name())
        .bind(&delivery.url)
        .bind(method_text(delivery.method))
        .bind(created_ms)
        .bind(delivery.webhook_id.map(|id| id.to_string()))
        .bind(receiver_of(&delivery.url))
        .execute(db)
        .await?;
    Ok(())
}

// Goes from account to account and from receiver to receiver by index, and reads only the heads of
// their lines, so that what waits behind them costs nothing. Counted twice, so that neither a
// receiver that hangs fills the share of its account, nor an account with many receivers the answer.
const SELECT_DUE: &str = "
    WITH RECURSIVE accounts (account_id) AS (
        SELECT ''
        UNION ALL
        SELECT (SELECT d.account_id FROM deliveries d
                WHERE d.next_try_ms IS NOT NULL AND d.is_first AND d.account_id > a.account_id
                ORDER BY d.account_id LIMIT 1)
        FROM accounts a WHERE a.account_id IS NOT NULL
    ), lines (account_id, receiver, number) AS (
        SELECT account_id, '', 0 FROM accounts WHERE account_id IS NOT NULL
        UNION ALL
        SELECT l.account_id,
               (SELECT d.receiver FROM deliveries d
                WHERE d.next_try_ms IS NOT NULL AND d.is_first
                  AND d.account_id = l.account_id AND d.receiver > l.receiver
                ORDER BY d.receiver LIMIT 1),
               l.number + 1
        FROM lines l WHERE l.receiver IS NOT NULL AND l.number < $5
    ), heads AS (
        SELECT l.account_id, l.receiver,
               (SELECT d.next_try_ms FROM deliveries d
                WHERE d.account_id = l.account_id AND d.receiver = l.receiver
                  AND d.next_try_ms <= $1 AND d.is_first
                ORDER BY d.next_try_ms LIMIT 1) AS due_ms
        FROM lines l WHERE l.receiver IS NOT NULL
    ), first_lines AS (
        SELECT account_id, receiver,
               ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY due_ms, receiver) AS line_turn
        FROM heads WHERE due_ms IS NOT NULL
    ), by_line AS (
        SELECT d.id, d.account_id, d.receiver, d.next_try_ms,
               ROW_NUMBER() OVER (PARTITION BY d.account_id, d.receiver
                                  ORDER BY d.next_try_ms, d.id) AS turn
        FROM first_lines l CROSS JOIN deliveries d
        WHERE l.line_turn <= $2
          AND d.id IN (SELECT e.id FROM deliveries e
                       WHERE e.account_id = l.account_id AND e.receiver = l.receiver
                         AND e.next_try_ms <= $1 AND e.is_first
                       ORDER BY e.next_try_ms, e.id LIMIT $3)
    ), by_account AS (
        SELECT id, account_id, receiver, next_try_ms,
               ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY turn, next_try_ms, id) AS account_turn
        FROM by_line
    )
    SELECT id, account_id, receiver, next_try_ms FROM by_account
    WHERE account_turn <= $2
    ORDER BY next_try_ms, id LIMIT $4";

/// Receivers of an account that are looked at; the others have their turn when these are done.
const LINES_PER_ACCOUNT: u32 = 1000;

pub(in crate::store) async fn select_due_deliveries(
    db: &mut SqliteConnection,
    now_ms: i64,
    shares: DueShares,
) -> Answer<Vec<DueDelivery>> {
    let rows: Vec<DueRow> = query_as(SELECT_DUE)
        .bind(now_ms)
        .bind(i64::from(shares.per_account))
        .bind(i64::from(shares.per_receiver))
        .bind(i64::from(shares.all))
        .bind(i64::from(LINES_PER_ACCOUNT))
        .fetch_all(db)
        .await?;
    // What has no id of ours cannot be claimed.
    let due = rows.into_iter().filter_map(|row| {
        Some(DueDelivery {
            id: Uuid::parse_str(&row.id).ok()?,
            account_id: AccountId(row.account_id),
            receiver: row.receiver,
            next_try_ms: row.next_try_ms,
        })
    });
    Ok(due.collect())
}

const CLAIM_DELIVERY: &str = "
    UPDATE deliveries SET attempts = attempts + 1, claim_owner = $3, next_try_ms = $4
    WHERE id = $1 AND next_try_ms = $2";

pub(in crate::store) async fn claim_delivery(
    db: &mut SqliteConnection,
    due: &DueDelivery,
    owner: String,
    until_ms: i64,
) -> Answer<Option<DeliveryClaim>> {
    let done = query(CLAIM_DELIVERY)
        .bind(due.id.to_string())
        .bind(due.next_try_ms)
        .bind(&owner)
        .bind(until_ms)
        .execute(&mut *db)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(None);
    }
    match select_delivery(db, due.id).await {
        Ok(record) => Ok(record.map(|record| DeliveryClaim {
            delivery: record.delivery,
            job_id: record.job_id,
            created_ms: record.created_ms,
            owner,
            attempt: record.attempts,
        })),
        Err(error) if error.is_permanent() => {
            tracing::error!(delivery = %due.id, error = chain(&error), "a message was given up");
            query(GIVE_UP).bind(due.id.to_string()).execute(db).await?;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

// It would be due again and again, and keep those behind it from their receiver.
const GIVE_UP: &str = "
    UPDATE deliveries
    SET claim_owner = NULL, next_try_ms = NULL, last_error = 'the message cannot be read'
    WHERE id = $1";

const END_ATTEMPT: &str = "
    UPDATE deliveries
    SET claim_owner = NULL, delivered_ms = $4, next_try_ms = $5, last_error = $6, attempts = $7
    WHERE id = $1 AND claim_owner = $2 AND attempts = $3";

pub(in crate::store) async fn end_attempt(
    db: &mut SqliteConnection,
    claim: &DeliveryClaim,
    attempted: &Attempted,
) -> Answer<bool> {
    let (delivered_ms, next_try_ms, error, attempts) = match attempted {
        Attempted::Delivered { at_ms } => (Some(*at_ms), None, None, claim.attempt),
        Attempted::Failed { error, next_try_ms } => (None, *next_try_ms, Some(error.as_str()), claim.attempt),
        Attempted::Released { error, next_try_ms } => {
            (None, Some(*next_try_ms), error.as_deref(), claim.attempt - 1)
        }
    };
    let done = query(END_ATTEMPT)
        .bind(claim.delivery.id.to_string())
        .bind(&claim.owner)
        .bind(claim.attempt)
        .bind(delivered_ms)
        .bind(next_try_ms)
        .bind(error)
        .bind(attempts)
        .execute(db)
        .await?;
    Ok(done.rows_affected() == 1)
}

const END_DELIVERY_CLAIMS: &str = "
    UPDATE deliveries SET claim_owner = NULL, next_try_ms = $2 WHERE claim_owner = $1";

/// What a process that is no more has not finished is due again.
pub(super) async fn end_delivery_claims(db: &mut SqliteConnection, owner: &str, now_ms: i64) -> Answer<()> {
    query(END_DELIVERY_CLAIMS).bind(owner).bind(now_ms).execute(db).await?;
    Ok(())
}

const REPLAY: &str = "
    UPDATE deliveries
    SET attempts = 0, next_try_ms = $2, delivered_ms = NULL, claim_owner = NULL
    WHERE id = $1 AND (claim_owner IS NULL OR next_try_ms <= $2)";

const DELIVERY_EXISTS: &str = "SELECT EXISTS (SELECT 1 FROM deliveries WHERE id = $1)";

pub(in crate::store) async fn replay_delivery(
    db: &mut SqliteConnection,
    id: Uuid,
    now_ms: i64,
) -> Answer<Replay> {
    let id = id.to_string();
    let done = query(REPLAY).bind(&id).bind(now_ms).execute(&mut *db).await?;
    if done.rows_affected() == 1 {
        return Ok(Replay::Due);
    }
    let exists: bool = query_scalar(DELIVERY_EXISTS).bind(&id).fetch_one(db).await?;
    Ok(if exists { Replay::IsBeingSent } else { Replay::Missing })
}

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

/// What the database does to find what is due, step by step.
#[cfg(test)]
pub(in crate::store) async fn explain_due_deliveries(db: &mut SqliteConnection) -> Answer<Vec<String>> {
    super::explain(db, SELECT_DUE).await
}

/// What the database does for the list of an account, step by step.
#[cfg(test)]
pub(in crate::store) async fn explain_deliveries_of(
    db: &mut SqliteConnection,
    account: &AccountId,
) -> Answer<Vec<String>> {
    super::explain(db, &list_statement(Some(account))).await
}
