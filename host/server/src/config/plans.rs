//! `[plans]`, `[accounts]` and `default_plan`: the plans of the interface specification,
//! what the operator changes in them, and which account has which.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::ConfigError;
use super::plan::{PRICE_PER_HOUR, PlanFile, change, keep};
use crate::model::id::AccountId;
use crate::model::plan::{Credits, Plans, Policy, Retention, WhenFull};

/// The plan of accounts that nobody gave one: who runs the host for himself has no limits.
const DEFAULT_PLAN: &str = "enterprise";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountFile {
    plan: String,
    retention: Option<Retention>,
    zero_retention: Option<bool>,
}

/// Settles the plans and the accounts.
pub(super) fn plans(
    plans: BTreeMap<String, PlanFile>,
    accounts: BTreeMap<String, AccountFile>,
    default_plan: Option<String>,
) -> Result<Plans, ConfigError> {
    let mut by_name = built_in();
    for (name, changes) in plans {
        let unlimited = || Policy { plan: name.clone(), ..no_limits() };
        let policy = by_name.entry(name.clone()).or_insert_with(unlimited);
        change(policy, &format!("plans.{name}"), changes)?;
    }
    let mut by_account = BTreeMap::new();
    for (name, account) in accounts {
        let policy = of_account(&by_name, &name, account)?;
        by_account.insert(AccountId(name), policy);
    }
    let default_plan = default_plan.unwrap_or_else(|| DEFAULT_PLAN.to_owned());
    if !by_name.contains_key(&default_plan) {
        return Err(no_such_plan("default_plan", &default_plan, &by_name));
    }
    Ok(Plans::new(by_name, by_account, default_plan))
}

/// The table "Limits" of the interface specification; what it leaves open is chosen here.
fn built_in() -> BTreeMap<String, Policy> {
    let days = |audio, transcript, metadata, logs| Retention {
        audio_days: Some(audio),
        transcript_days: Some(transcript),
        metadata_days: Some(metadata),
        logs_days: Some(logs),
    };
    let free = Policy {
        plan: "free".to_owned(),
        concurrent_prerecorded: Some(3),
        concurrent_live: Some(1),
        queued_jobs: Some(100),
        credits: Some(Credits { total: 50.0, price_per_hour: PRICE_PER_HOUR }),
        retention: days(365, 365, 365, 365),
        ..no_limits()
    };
    let paid = Policy {
        plan: "paid".to_owned(),
        concurrent_prerecorded: Some(25),
        concurrent_live: Some(30),
        retention: days(30, 90, 365, 365),
        ..no_limits()
    };
    [free, paid, no_limits()].into_iter().map(|policy| (policy.plan.clone(), policy)).collect()
}

/// The plan `enterprise`, and what a plan of the operator's own begins with.
fn no_limits() -> Policy {
    Policy {
        plan: "enterprise".to_owned(),
        concurrent_prerecorded: None,
        concurrent_live: None,
        queued_jobs: None,
        when_full: WhenFull::Queue,
        credits: None,
        request_rate: None,
        retention: Retention::default(),
        zero_retention: false,
    }
}

fn of_account(
    plans: &BTreeMap<String, Policy>,
    name: &str,
    file: AccountFile,
) -> Result<Policy, ConfigError> {
    let at = format!("accounts.{name}");
    if !AccountId::is_valid(name) {
        return Err(ConfigError::invalid(at, AccountId::RULE));
    }
    let setting = format!("{at}.plan");
    let mut policy =
        plans.get(&file.plan).cloned().ok_or_else(|| no_such_plan(&setting, &file.plan, plans))?;
    keep(&mut policy, &at, file.retention, file.zero_retention)?;
    Ok(policy)
}

fn no_such_plan(setting: &str, plan: &str, plans: &BTreeMap<String, Policy>) -> ConfigError {
    let known: Vec<&str> = plans.keys().map(String::as_str).collect();
    ConfigError::invalid(setting, format!("must be one of {}, {plan:?} is none", known.join(", ")))
}

/// A plan with its effective values, as the file would say them.
pub(super) fn shown(policy: &Policy) -> Value {
    let cap = |limit: Option<u64>| limit.map_or_else(|| json!("unlimited"), |limit| json!(limit));
    let credits = policy.credits;
    json!({
        "concurrent_prerecorded": cap(policy.concurrent_prerecorded.map(u64::from)),
        "concurrent_live": cap(policy.concurrent_live.map(u64::from)),
        "queued_jobs": cap(policy.queued_jobs),
        "when_full": policy.when_full,
        "credits": credits.map_or_else(|| json!("unlimited"), |credits| json!(credits.total)),
        "price_per_hour": credits.map(|credits| credits.price_per_hour),
        "requests_per_s": cap(policy.request_rate.map(|rate| rate.per_s.into())),
        "burst": cap(policy.request_rate.map(|rate| rate.burst.into())),
        "retention": policy.retention,
        "zero_retention": policy.zero_retention,
    })
}

#[cfg(test)]
mod tests {
    use super::super::from_text;
    use super::*;
    use crate::model::plan::RequestRate;

    fn policy(text: &str, account: &str) -> Policy {
        from_text(text).unwrap().plans.policy(&AccountId(account.into()), None).clone()
    }

    #[test]
    fn the_plans_of_the_specification_are_built_in() {
        let plans = from_text("").unwrap().plans;
        let limits = |name: &str| {
            let policy = &plans.by_name()[name];
            (policy.concurrent_prerecorded, policy.concurrent_live, policy.credits.map(|c| c.total))
        };
        assert_eq!(limits("free"), (Some(3), Some(1), Some(50.0)));
        assert_eq!(limits("paid"), (Some(25), Some(30), None));
        assert_eq!(limits("enterprise"), (None, None, None));
        assert_eq!(plans.by_name()["free"].retention.audio_days, Some(365));
        assert_eq!(plans.by_name()["enterprise"].retention, Retention::default());
    }

    #[test]
    fn an_account_without_a_plan_has_no_limits_unless_the_operator_says_otherwise() {
        assert_eq!(policy("", "default").plan, "enterprise");
        assert_eq!(policy("default_plan = \"free\"", "default").plan, "free");
        let text = "default_plan = \"free\"\n[accounts.shop]\nplan = \"paid\"";
        assert_eq!(policy(text, "shop").plan, "paid");
        assert_eq!(policy(text, "other").plan, "free");
    }

    #[test]
    fn a_plan_given_with_a_key_counts_only_where_the_file_is_silent() {
        let plans = from_text("[accounts.shop]\nplan = \"paid\"").unwrap().plans;
        let of = |account: &str, assigned| plans.policy(&AccountId(account.into()), assigned).plan.clone();
        assert_eq!(of("shop", Some("free")), "paid");
        assert_eq!(of("other", Some("free")), "free");
        assert_eq!(of("other", Some("abolished")), "enterprise");
    }

    #[test]
    fn a_plan_keeps_what_the_file_does_not_change() {
        let free =
            policy("default_plan = \"free\"\n[plans.free]\nwhen_full = \"reject\"\ncredits = 7.5", "x");
        assert_eq!(free.when_full, WhenFull::Reject);
        assert_eq!(free.concurrent_prerecorded, Some(3));
        assert_eq!(free.credits, Some(Credits { total: 7.5, price_per_hour: PRICE_PER_HOUR }));
        let gold = policy("default_plan = \"gold\"\n[plans.gold]\nconcurrent_live = 0", "x");
        assert_eq!((gold.plan.as_str(), gold.concurrent_live, gold.credits), ("gold", Some(0), None));
        let free = policy("default_plan = \"free\"\n[plans.free]\ncredits = \"unlimited\"", "x");
        assert_eq!(free.credits, None);
    }

    #[test]
    fn a_rate_without_a_burst_allows_a_second_at_once() {
        let of = |text: &str| policy(&format!("[plans.enterprise]\n{text}"), "x").request_rate;
        assert_eq!(of("requests_per_s = 5"), Some(RequestRate { per_s: 5, burst: 5 }));
        assert_eq!(of("requests_per_s = 5\nburst = 9"), Some(RequestRate { per_s: 5, burst: 9 }));
        assert_eq!(of("requests_per_s = \"unlimited\""), None);
    }

    #[test]
    fn retention_is_replaced_as_a_whole_by_plan_and_by_account() {
        let text = "default_plan = \"free\"
            [plans.free.retention]
            audio_days = 0
            [accounts.shop]
            plan = \"free\"
            retention = { transcript_days = 7 }";
        let audio = Retention { audio_days: Some(0), ..Retention::default() };
        assert_eq!(policy(text, "other").retention, audio);
        let transcript = Retention { transcript_days: Some(7), ..Retention::default() };
        assert_eq!(policy(text, "shop").retention, transcript);
    }

    #[test]
    fn zero_retention_is_for_enterprise_accounts_and_plans_of_ones_own() {
        assert!(policy("[accounts.a]\nplan = \"enterprise\"\nzero_retention = true", "a").zero_retention);
        assert!(!policy("[accounts.a]\nplan = \"enterprise\"\nzero_retention = true", "b").zero_retention);
        from_text("[plans.gold]\nzero_retention = true").unwrap();
        let kept = "[plans.a]\nzero_retention = true\nretention.audio_days = 9\nretention.logs_days = 30";
        let periods = from_text(kept).unwrap().plans.by_name()["a"].periods();
        let days = (periods.audio_days, periods.transcript_days, periods.metadata_days, periods.logs_days);
        assert_eq!(days, (Some(0), Some(0), Some(0), Some(30)));
    }

    #[test]
    fn values_that_cannot_be_used_are_refused_by_setting() {
        for (text, setting) in [
            ("default_plan = \"gold\"", "default_plan"),
            ("[accounts.a]\nplan = \"gold\"", "accounts.a.plan"),
            ("[accounts.\"\"]\nplan = \"free\"", "accounts."),
            ("[plans.free]\nconcurrent_prerecorded = 0", "plans.free.concurrent_prerecorded"),
            ("[plans.free]\nconcurrent_live = -1", "plans.free.concurrent_live"),
            ("[plans.free]\nqueued_jobs = 1.5", "plans.free.queued_jobs"),
            ("[plans.free]\nqueued_jobs = nan", "plans.free.queued_jobs"),
            ("[plans.free]\ncredits = -0.1", "plans.free.credits"),
            ("[plans.free]\nprice_per_hour = 0.0", "plans.free.price_per_hour"),
            ("[plans.free]\nrequests_per_s = 0", "plans.free.requests_per_s"),
            ("[plans.free]\nburst = 3", "plans.free.burst"),
            ("[plans.paid]\nretention = {audio_days = 36501}", "plans.paid.retention.audio_days"),
            ("[plans.paid]\nzero_retention = true", "plans.paid.zero_retention"),
            ("[accounts.a]\nplan = \"free\"\nzero_retention = true", "accounts.a.zero_retention"),
        ] {
            let error = from_text(text).unwrap_err();
            assert!(error.starts_with(&format!("{setting} must ")), "{text}: {error}");
        }
        for text in ["[plans.free]\ncredits = \"many\"", "[accounts.a]\nzero_retention = true"] {
            from_text(text).unwrap_err();
        }
    }
}
