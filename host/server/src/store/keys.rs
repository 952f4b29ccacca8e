//! API keys that were created with the command line. Only digests are stored.

use std::collections::HashMap;

use sqlx::SqliteConnection;
use uuid::Uuid;

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::AccountId;

/// A key, without the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// Names the key where it must not be shown.
    pub id: Uuid,
    /// Owner of what it makes.
    pub account_id: AccountId,
    /// SHA-256 of the key.
    pub digest: [u8; 32],
    /// What the operator calls it.
    pub label: String,
    /// May use the operator's part of the API.
    pub is_admin: bool,
    /// When it was created, milliseconds since 1970.
    pub created_ms: i64,
    /// Since when it is not accepted any more.
    pub revoked_ms: Option<i64>,
}

impl Store {
    /// Stores a key. `plan` becomes the plan of its account, absent leaves it as it is.
    pub async fn create_key(&self, key: StoredKey, plan: Option<String>) -> Result<(), StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::insert_key(db, &key, plan.as_deref()).await })
            })
            .await
    }

    /// Every key that was ever created, the oldest first.
    pub async fn keys(&self) -> Result<Vec<StoredKey>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_keys(&mut db).await
    }

    /// The keys that are not revoked.
    pub async fn keys_in_force(&self) -> Result<Vec<StoredKey>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_keys_in_force(&mut db).await
    }

    /// Revokes a key; false when there is none with this id that is not revoked yet.
    pub async fn revoke_key(&self, id: Uuid, now_ms: i64) -> Result<bool, StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::revoke_key(db, id, now_ms).await })
            })
            .await
    }

    /// The plans that accounts were given with their keys.
    pub async fn assigned_plans(&self) -> Result<HashMap<AccountId, String>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_assigned_plans(&mut db).await
    }
}
