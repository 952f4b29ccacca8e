//! Messages that are owed to the outside.

use sqlx::{SqliteConnection, query, query_as};

use super::Answer;
use crate::model::id::JobId;
use crate::store::jobs::Delivery;
use crate::store::rows::{DeliveryRow, method_text};

const INSERT_DELIVERY: &str = "
    INSERT INTO deliveries (id, account_id, job_id, event, target, url, method, attempts,
                            created_ms, next_try_ms)
    SELECT $1, account_id, id, $3, $4, $5, $6, 0, $7, $7 FROM jobs WHERE id = $2";

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
        .execute(db)
        .await?;
    Ok(())
}

const SELECT_DELIVERIES: &str = "
    SELECT id, event, target, url, method FROM deliveries WHERE job_id = $1 ORDER BY created_ms, id";

pub(in crate::store) async fn select_deliveries(
    db: &mut SqliteConnection,
    id: JobId,
) -> Answer<Vec<Delivery>> {
    let rows: Vec<DeliveryRow> = query_as(SELECT_DELIVERIES).bind(id.to_string()).fetch_all(db).await?;
    rows.into_iter().map(Delivery::try_from).collect()
}
