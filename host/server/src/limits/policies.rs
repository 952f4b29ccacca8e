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
        self.assigned.store(plans.into());
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
