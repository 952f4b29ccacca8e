//! Attempts to send a message: who makes one, and how it ended.

use sqlx::{SqliteConnection, query, query_scalar};
use uuid::Uuid;

use super::read::select_delivery;
use crate::model::cause::chain;
use crate::store::deliveries::{Attempted, DeliveryClaim, DueDelivery, Replay};
use crate::store::sqlite::Answer;

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
pub(in crate::store::sqlite) async fn end_delivery_claims(
    db: &mut SqliteConnection,
    owner: &str,
    now_ms: i64,
) -> Answer<()> {
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
