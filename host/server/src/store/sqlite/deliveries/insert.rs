//! A new message.

use sqlx::{SqliteConnection, query};

use crate::model::webhook::receiver_of;
use crate::store::deliveries::Delivery;
use crate::store::rows::method_text;
use crate::store::sqlite::Answer;

const INSERT_DELIVERY: &str = "
    INSERT INTO deliveries (id, account_id, job_id, event, target, url, method, attempts,
                            created_ms, next_try_ms, webhook_id, receiver, place, is_first)
    SELECT $1, account_id, id, $3, $4, $5, $6, 0, $7, $7, $8, $9,
           (SELECT COUNT(*) FROM deliveries WHERE job_id = $2),
           NOT EXISTS (SELECT 1 FROM deliveries
                       WHERE job_id = $2 AND next_try_ms IS NOT NULL
                         AND target = $4 AND COALESCE(webhook_id, '') = COALESCE($8, ''))
    FROM jobs WHERE id = $2";

pub(in crate::store::sqlite) async fn insert_delivery(
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
