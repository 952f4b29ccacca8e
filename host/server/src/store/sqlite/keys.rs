//! API keys, and the accounts that they belong to.

use std::collections::HashMap;

use sqlx::{FromRow, SqliteConnection, query, query_as};
use uuid::Uuid;

use super::{Answer, readable};
use crate::model::id::AccountId;
use crate::store::error::StoreError;
use crate::store::keys::StoredKey;

const TOUCH_ACCOUNT: &str = "
    INSERT INTO accounts (account_id, plan, created_ms, last_claim_ms) VALUES ($1, NULL, $2, 0)
    ON CONFLICT (account_id) DO NOTHING";

/// Makes sure that the account has a row.
pub(super) async fn touch_account(db: &mut SqliteConnection, account: &AccountId, now_ms: i64) -> Answer<()> {
    query(TOUCH_ACCOUNT).bind(&account.0).bind(now_ms).execute(db).await?;
    Ok(())
}

const INSERT_KEY: &str = "
    INSERT INTO api_keys (id, account_id, digest, label, is_admin, created_ms)
    VALUES ($1, $2, $3, $4, $5, $6)";

const ASSIGN_PLAN: &str = "UPDATE accounts SET plan = $2 WHERE account_id = $1";

pub(in crate::store) async fn insert_key(
    db: &mut SqliteConnection,
    key: &StoredKey,
    plan: Option<&str>,
) -> Answer<()> {
    touch_account(db, &key.account_id, key.created_ms).await?;
    if let Some(plan) = plan {
        query(ASSIGN_PLAN).bind(&key.account_id.0).bind(plan).execute(&mut *db).await?;
    }
    query(INSERT_KEY)
        .bind(key.id.to_string())
        .bind(&key.account_id.0)
        .bind(hex::encode(key.digest))
        .bind(&key.label)
        .bind(key.is_admin)
        .bind(key.created_ms)
        .execute(db)
        .await?;
    Ok(())
}

#[derive(FromRow)]
struct KeyRow {
    id: String,
    account_id: String,
    digest: String,
    label: String,
    is_admin: bool,
    created_ms: i64,
    revoked_ms: Option<i64>,
}

impl TryFrom<KeyRow> for StoredKey {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        let corrupt = |cause: &str| StoreError::Corrupt {
            table: "api_keys",
            id: row.id.clone(),
            cause: cause.to_owned(),
        };
        let mut digest = [0; 32];
        hex::decode_to_slice(&row.digest, &mut digest).map_err(|_| corrupt("digest"))?;
        Ok(Self {
            id: Uuid::parse_str(&row.id).map_err(|_| corrupt("id"))?,
            account_id: AccountId(row.account_id),
            digest,
            label: row.label,
            is_admin: row.is_admin,
            created_ms: row.created_ms,
            revoked_ms: row.revoked_ms,
        })
    }
}

const SELECT_KEYS: &str = "
    SELECT id, account_id, digest, label, is_admin, created_ms, revoked_ms
    FROM api_keys ORDER BY created_ms, id";

pub(in crate::store) async fn select_keys(db: &mut SqliteConnection) -> Answer<Vec<StoredKey>> {
    let rows: Vec<KeyRow> = query_as(SELECT_KEYS).fetch_all(db).await?;
    Ok(rows.into_iter().map(StoredKey::try_from).filter_map(readable).collect())
}

const SELECT_KEYS_IN_FORCE: &str = "
    SELECT id, account_id, digest, label, is_admin, created_ms, revoked_ms
    FROM api_keys WHERE revoked_ms IS NULL ORDER BY created_ms, id";

pub(in crate::store) async fn select_keys_in_force(db: &mut SqliteConnection) -> Answer<Vec<StoredKey>> {
    let rows: Vec<KeyRow> = query_as(SELECT_KEYS_IN_FORCE).fetch_all(db).await?;
    Ok(rows.into_iter().map(StoredKey::try_from).filter_map(readable).collect())
}

const REVOKE_KEY: &str = "UPDATE api_keys SET revoked_ms = $2 WHERE id = $1 AND revoked_ms IS NULL";

pub(in crate::store) async fn revoke_key(db: &mut SqliteConnection, id: Uuid, now_ms: i64) -> Answer<bool> {
    Ok(query(REVOKE_KEY).bind(id.to_string()).bind(now_ms).execute(db).await?.rows_affected() == 1)
}

const SELECT_ASSIGNED_PLANS: &str = "SELECT account_id, plan FROM accounts WHERE plan IS NOT NULL";

pub(in crate::store) async fn select_assigned_plans(
    db: &mut SqliteConnection,
) -> Answer<HashMap<AccountId, String>> {
    let rows: Vec<(String, String)> = query_as(SELECT_ASSIGNED_PLANS).fetch_all(db).await?;
    Ok(rows.into_iter().map(|(account, plan)| (AccountId(account), plan)).collect())
}
