//! Addresses that hear of all jobs of an account.

use sqlx::SqliteConnection;
use uuid::Uuid;

use super::error::StoreError;
use super::open::Store;
use super::sqlite;
use crate::model::id::AccountId;
use crate::model::webhook::Webhook;

impl Store {
    /// Remembers a webhook.
    pub async fn insert_webhook(&self, webhook: Webhook) -> Result<(), StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::insert_webhook(db, &webhook).await })
            })
            .await
    }

    /// Puts the webhooks of the configuration in the place of those that stood there before.
    pub async fn replace_configured_webhooks(&self, webhooks: Vec<Webhook>) -> Result<(), StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::replace_configured_webhooks(db, &webhooks).await })
            })
            .await
    }

    /// A webhook.
    pub async fn get_webhook(&self, id: Uuid) -> Result<Option<Webhook>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::select_webhook(&mut db, id).await
    }

    /// All webhooks, or those that stand for one account alone; the oldest first.
    pub async fn list_webhooks(&self, account: Option<&AccountId>) -> Result<Vec<Webhook>, StoreError> {
        let mut db = self.reader().await?;
        sqlite::list_webhooks(&mut db, account).await
    }

    /// Forgets a webhook that does not stand in the configuration; false when there is none.
    pub async fn delete_webhook(&self, id: Uuid) -> Result<bool, StoreError> {
        self.writer
            .write(move |db: &mut SqliteConnection| {
                Box::pin(async move { sqlite::delete_webhook(db, id).await })
            })
            .await
    }
}
