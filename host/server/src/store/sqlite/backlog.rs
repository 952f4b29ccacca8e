//! Counts of what is not finished.

use sqlx::{SqliteConnection, query_scalar};

use super::Answer;

const COUNT_LIVE: &str = "SELECT COUNT(*) FROM jobs WHERE completed_ms IS NULL AND kind = 'live'";

pub(in crate::store) async fn count_live(db: &mut SqliteConnection) -> Answer<u64> {
    let count: i64 = query_scalar(COUNT_LIVE).fetch_one(db).await?;
    Ok(count as u64)
}

const COUNT_OWED: &str = "SELECT COUNT(*) FROM deliveries WHERE next_try_ms IS NOT NULL";

pub(in crate::store) async fn count_owed(db: &mut SqliteConnection) -> Answer<u64> {
    let count: i64 = query_scalar(COUNT_OWED).fetch_one(db).await?;
    Ok(count as u64)
}
