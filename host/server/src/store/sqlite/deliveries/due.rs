//! Which messages are due.

use sqlx::{SqliteConnection, query_as};
use uuid::Uuid;

use crate::model::id::AccountId;
use crate::store::deliveries::{DueDelivery, DueShares};
use crate::store::rows::DueRow;
use crate::store::sqlite::Answer;

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

/// What the database does to find what is due, step by step.
#[cfg(test)]
pub(in crate::store) async fn explain_due_deliveries(db: &mut SqliteConnection) -> Answer<Vec<String>> {
    crate::store::sqlite::explain(db, SELECT_DUE).await
}
