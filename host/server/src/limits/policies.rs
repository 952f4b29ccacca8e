//! The rules for an account, at this moment.

use std::collections::HashMap;

use arc_swap::ArcSwap;

use crate::model::id::AccountId;
use crate::model::plan::{Plans, Policy};

/// The plans of the configuration, and which account was given which with its key.
pub struct Policies {
    plans: Plans,
    assigned: ArcSwap<HashMap<AccountId, String>>,
}

impl Policies {
    /// Starts with what the configuration says.
    pub fn new(plans: Plans) -> Self {
        Self { plans, assigned: ArcSwap::default() }
    }

    /// The rules for an account; every account has some.
    pub fn policy_of(&self, account: &AccountId) -> &Policy {
        let assigned = self.assigned.load();
        self.plans.policy(account, assigned.get(account).map(String::as_str))
    }

    /// Replaces the plans that accounts were given with their keys.
    pub fn assign(&self, plans: HashMap<AccountId, String>) {
        if **self.assigned.load() == plans {
            return;
        }
        for (account, plan) in &plans {
            if !self.plans.by_name().contains_key(plan) {
                let used = self.plans.default_plan();
                tracing::warn!(account = account.0, plan, used, "the plan of an account does not exist");
            }
        }
        self.assigned.store(plans.into());
    }

    /// How many recorded jobs of an account may be in work.
    pub fn concurrent_prerecorded(&self, account: &AccountId) -> Option<u32> {
        self.policy_of(account).concurrent_prerecorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_follows_the_plan_that_it_was_given_last() {
        let policies = Policies::new(crate::config::from_text("").unwrap().plans);
        let account = AccountId("shop".into());
        assert_eq!(policies.policy_of(&account).plan, "enterprise");
        policies.assign(HashMap::from([(account.clone(), "free".to_owned())]));
        assert_eq!(policies.policy_of(&account).plan, "free");
        policies.assign(HashMap::new());
        assert_eq!(policies.policy_of(&account).plan, "enterprise");
    }
}
