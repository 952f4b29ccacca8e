//! What an account may ask for and how long its data is kept.
//!
//! Values only: the numbers come from the configuration, and whoever enforces one reads it
//! here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::id::AccountId;

/// The rules for one account. An absent limit is no limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The plan that the rules come from.
    pub plan: String,
    /// Recorded jobs worked on at the same time; at least 1.
    pub concurrent_prerecorded: Option<u32>,
    /// Live sessions at the same time.
    pub concurrent_live: Option<u32>,
    /// Jobs that may wait.
    pub queued_jobs: Option<u64>,
    /// What happens to a job beyond `concurrent_prerecorded`.
    pub when_full: WhenFull,
    /// What may be spent, once and for all.
    pub credits: Option<Credits>,
    /// How often one key may ask.
    pub request_rate: Option<RequestRate>,
    /// How long data is kept.
    pub retention: Retention,
    /// Nothing is kept beyond the delivery of the result.
    pub zero_retention: bool,
}

impl Policy {
    /// How long data is kept that does not go with its delivery: where nothing is kept, all
    /// from before the account came under this rule goes as soon as any period ends.
    pub fn periods(&self) -> Retention {
        let logs_days = self.retention.logs_days;
        match self.zero_retention {
            true => {
                Retention { audio_days: Some(0), transcript_days: Some(0), metadata_days: Some(0), logs_days }
            }
            false => self.retention,
        }
    }
}

/// What happens to a recorded job while the account has all it may have in work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// It waits.
    #[default]
    Queue,
    /// It is refused with 429.
    Reject,
}

/// Credits are paid with billed time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Credits {
    /// All that the account ever gets, in units of the operator's currency.
    pub total: f64,
    /// Price of one hour of billed audio, in the same units; more than 0.
    pub price_per_hour: f64,
}

impl Credits {
    /// What `billed_s` seconds have cost.
    pub fn used(&self, billed_s: f64) -> f64 {
        billed_s / 3600.0 * self.price_per_hour
    }

    /// What is left after `billed_s` seconds, never less than 0. A job that began while
    /// something was left is finished, whatever it costs.
    pub fn left(&self, billed_s: f64) -> f64 {
        (self.total - self.used(billed_s)).max(0.0)
    }
}

/// A rate of requests, and how many may come at once after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRate {
    /// Requests a second over a longer time; at least 1.
    pub per_s: u32,
    /// Requests at once; at least 1.
    pub burst: u32,
}

/// Days after which data is erased, by class; 0: after half a day; absent: kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Uploaded and fetched files.
    pub audio_days: Option<u32>,
    /// Results.
    pub transcript_days: Option<u32>,
    /// The job itself: parameters, custom metadata, file names.
    pub metadata_days: Option<u32>,
    /// Records about a job beside it: deliveries and their errors.
    pub logs_days: Option<u32>,
}

/// All plans, and the accounts that the configuration speaks of.
#[derive(Debug, Clone, PartialEq)]
pub struct Plans {
    by_name: BTreeMap<String, Policy>,
    by_account: BTreeMap<AccountId, Policy>,
    default_plan: String,
}

impl Plans {
    /// Puts the table together; `default_plan` must be a key of `by_name`.
    pub fn new(
        by_name: BTreeMap<String, Policy>,
        by_account: BTreeMap<AccountId, Policy>,
        default_plan: String,
    ) -> Self {
        assert!(by_name.contains_key(&default_plan), "the default plan exists");
        Self { by_name, by_account, default_plan }
    }

    /// The rules for an account: those that the configuration gives it by name, else those
    /// of the plan that it was given with a key, else those of the default plan. A plan that
    /// no longer exists counts as none.
    pub fn policy(&self, account: &AccountId, assigned: Option<&str>) -> &Policy {
        self.by_account
            .get(account)
            .or_else(|| self.by_name.get(assigned?))
            .unwrap_or_else(|| &self.by_name[&self.default_plan])
    }

    /// The rules that the configuration gives this account by name.
    pub fn configured(&self, account: &AccountId) -> Option<&Policy> {
        self.by_account.get(account)
    }

    /// The plans by name.
    pub fn by_name(&self) -> &BTreeMap<String, Policy> {
        &self.by_name
    }

    /// The accounts that the configuration speaks of.
    pub fn by_account(&self) -> &BTreeMap<AccountId, Policy> {
        &self.by_account
    }

    /// The plan of accounts that nobody gave one.
    pub fn default_plan(&self) -> &str {
        &self.default_plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_are_billed_by_the_hour_and_never_owed() {
        let credits = Credits { total: 50.0, price_per_hour: 0.5 };
        assert_eq!(credits.used(7200.0), 1.0);
        assert_eq!(credits.left(7200.0), 49.0);
        assert_eq!(credits.left(100.0 * 3600.0), 0.0);
        assert_eq!(credits.left(101.0 * 3600.0), 0.0);
    }
}
