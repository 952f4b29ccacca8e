//! How many downloads a client may keep the service busy with while it waits for them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::id::AccountId;

/// How many downloads may run at a time.
#[derive(Debug, Clone, Copy)]
pub struct DownloadLimits {
    /// Of all accounts.
    pub in_flight: u32,
    /// Of one account.
    pub in_flight_per_account: u32,
}

impl Default for DownloadLimits {
    fn default() -> Self {
        Self { in_flight: 64, in_flight_per_account: 16 }
    }
}

/// The downloads that run now, by account.
#[derive(Default)]
pub struct Downloads {
    limits: DownloadLimits,
    running: Mutex<HashMap<AccountId, u32>>,
}

impl Downloads {
    /// None is running.
    pub fn new(limits: DownloadLimits) -> Self {
        Self { limits, running: Mutex::default() }
    }

    /// Counts one more until it is dropped; `None` when there are too many.
    pub fn begin(&self, account: &AccountId) -> Option<Download<'_>> {
        let mut running = self.lock();
        let of_account = running.get(account).copied().unwrap_or_default();
        let is_full = running.values().sum::<u32>() >= self.limits.in_flight;
        if is_full || of_account >= self.limits.in_flight_per_account {
            return None;
        }
        running.insert(account.clone(), of_account + 1);
        Some(Download { downloads: self, account: account.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountId, u32>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A download that counts.
pub struct Download<'a> {
    downloads: &'a Downloads,
    account: AccountId,
}

impl Drop for Download<'_> {
    fn drop(&mut self) {
        let mut running = self.downloads.lock();
        if let Some(count) = running.get_mut(&self.account) {
            *count -= 1;
        }
        running.retain(|_, count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_account_has_its_share_and_all_have_a_limit() {
        let downloads = Downloads::new(DownloadLimits { in_flight: 3, in_flight_per_account: 2 });
        let [one, other] = ["one", "other"].map(|name| AccountId(name.to_owned()));
        let first = downloads.begin(&one);
        let second = downloads.begin(&one);
        assert!(first.is_some() && second.is_some());
        assert!(downloads.begin(&one).is_none(), "its share");
        let third = downloads.begin(&other);
        assert!(third.is_some());
        assert!(downloads.begin(&other).is_none(), "the limit of all");
        drop(first);
        assert!(downloads.begin(&other).is_some());
        drop((second, third));
        assert!(downloads.lock().is_empty(), "accounts without downloads take no memory");
    }
}
