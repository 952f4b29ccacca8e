//! Follows the keys and plans that the command line writes into the database.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::keys::Keys;
use crate::limits::{Policies, RequestRates};
use crate::model::cause::chain;
use crate::store::{Store, StoreError};

/// How long a new or revoked key may go unnoticed.
const PAUSE: Duration = Duration::from_secs(1);

/// What is kept up to date, and from where.
///
/// The database is read once a pause and never for a request, so that strangers who try
/// keys cost no more than a digest.
pub struct Watch {
    /// Where keys and plans stand.
    pub store: Arc<Store>,
    /// Who may call.
    pub keys: Arc<Keys>,
    /// What each account may do.
    pub policies: Arc<Policies>,
    /// How often each key may ask.
    pub rates: Arc<RequestRates>,
}

impl Watch {
    /// Reads keys and plans now.
    ///
    /// # Errors
    /// When the database cannot be read; everything stays as it was.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let in_force = self.store.keys_in_force().await?;
        let plans = self.store.assigned_plans().await?;
        self.keys.replace_stored(in_force);
        let accepted: HashSet<_> = self.keys.digests().into_iter().collect();
        self.rates.retain(|digest| accepted.contains(digest));
        self.policies.assign(plans);
        Ok(())
    }

    /// Reads them again and again; ends when it is dropped.
    pub async fn run(self) {
        loop {
            tokio::time::sleep(PAUSE).await;
            if let Err(error) = self.refresh().await {
                tracing::warn!(
                    error = chain(&error),
                    "keys cannot be read; those that are known stay in force"
                );
            }
        }
    }
}
