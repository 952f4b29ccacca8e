//! What was billed.

use sqlx::{AssertSqlSafe, SqliteConnection, query, query_as, query_scalar};

use super::{Answer, of_account, readable};
use crate::model::date;
use crate::model::id::AccountId;
use crate::store::error::StoreError;
use crate::store::rows::kind_from;
use crate::store::usage::{AccountUsage, Days, UsageOfDay};

const ADD_USAGE: &str = "
    INSERT INTO usage (account_id, day, kind, jobs, billed_s)
    SELECT account_id, $2, kind, 1, $3 FROM jobs WHERE id = $1
    ON CONFLICT (account_id, day, kind)
    DO UPDATE SET jobs = usage.jobs + 1, billed_s = usage.billed_s + excluded.billed_s";

pub(super) async fn add_usage(
    db: &mut SqliteConnection,
    job_id: &str,
    completed_ms: i64,
    billed_s: f64,
) -> Answer<()> {
    query(ADD_USAGE).bind(job_id).bind(date::day(completed_ms)).bind(billed_s).execute(db).await?;
    Ok(())
}

pub(in crate::store) async fn select_usage(
    db: &mut SqliteConnection,
    account: Option<&AccountId>,
    days: &Days,
) -> Answer<Vec<AccountUsage>> {
    let is_asked_for = "($2 IS NULL OR day >= $2) AND ($3 IS NULL OR day <= $3)";
    let sql = format!(
        "SELECT account_id,
                SUM(CASE WHEN {is_asked_for} THEN jobs ELSE 0 END),
                SUM(CASE WHEN {is_asked_for} THEN billed_s ELSE 0.0 END),
                SUM(billed_s)
         FROM usage WHERE {} GROUP BY account_id ORDER BY account_id",
        of_account(account)
    );
    let rows: Vec<(String, i64, f64, f64)> = query_as(AssertSqlSafe(sql))
        .bind(account.map(|account| &account.0))
        .bind(&days.from)
        .bind(&days.to)
        .fetch_all(db)
        .await?;
    let usage = |(account, jobs, billed_s, ever_billed_s)| AccountUsage {
        account_id: AccountId(account),
        jobs: i64::cast_unsigned(jobs),
        billed_s,
        ever_billed_s,
    };
    Ok(rows.into_iter().map(usage).collect())
}

const SELECT_USAGE_BY_DAY: &str = "
    SELECT day, kind, jobs, billed_s FROM usage
    WHERE account_id = $1 AND ($2 IS NULL OR day >= $2) AND ($3 IS NULL OR day <= $3)
    ORDER BY day, kind";

pub(in crate::store) async fn select_usage_by_day(
    db: &mut SqliteConnection,
    account: &AccountId,
    days: &Days,
) -> Answer<Vec<UsageOfDay>> {
    let rows: Vec<(String, String, i64, f64)> =
        query_as(SELECT_USAGE_BY_DAY).bind(&account.0).bind(&days.from).bind(&days.to).fetch_all(db).await?;
    let mut usage = Vec::new();
    for (day, kind, jobs, billed_s) in rows {
        let corrupt =
            || StoreError::Corrupt { table: "usage", id: account.0.clone(), cause: "kind".to_owned() };
        let Some(kind) = readable(kind_from(&kind).ok_or_else(corrupt)) else { continue };
        usage.push(UsageOfDay { day, kind, jobs: i64::cast_unsigned(jobs), billed_s });
    }
    Ok(usage)
}

const SELECT_BILLED_S: &str = "SELECT COALESCE(SUM(billed_s), 0.0) FROM usage WHERE account_id = $1";

/// Billed time of an account since ever, in seconds.
pub(super) async fn select_billed_s(db: &mut SqliteConnection, account: &AccountId) -> Answer<f64> {
    Ok(query_scalar(SELECT_BILLED_S).bind(&account.0).fetch_one(db).await?)
}
