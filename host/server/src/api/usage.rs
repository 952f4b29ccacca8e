//! What was billed: for the account itself, and for the operator.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{Admin, Caller};
use super::error::ApiError;
use super::query::{Parameters, last};
use super::state::Api;
use crate::model::date;
use crate::model::id::AccountId;
use crate::model::job::Kind;
use crate::store::{AccountUsage, Days, UsageOfDay};
use crate::validate::Rejection;

/// What an account was billed.
#[derive(Serialize, ToSchema)]
pub(super) struct Usage {
    account: String,
    /// Name of its plan.
    plan: String,
    /// First day that counts; null: from the beginning.
    #[schema(format = "date")]
    from: Option<String>,
    /// Last day that counts; null: until now.
    #[schema(format = "date")]
    to: Option<String>,
    /// Jobs that ended with a result.
    jobs: u64,
    /// Billed time of those jobs, seconds.
    billed_seconds: f64,
    /// Null for a plan without credits.
    credits: Option<CreditsUsage>,
    /// Day by day, UTC; only where one account was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    days: Option<Vec<DayUsage>>,
}

/// Credits of an account, in units of the operator's currency.
#[derive(Serialize, ToSchema)]
pub(super) struct CreditsUsage {
    total: f64,
    used: f64,
    left: f64,
    /// Price of one hour of billed audio.
    price_per_hour: f64,
}

/// What the jobs of one kind were billed on one day.
#[derive(Serialize, ToSchema)]
pub(super) struct DayUsage {
    #[schema(format = "date")]
    day: String,
    kind: Kind,
    jobs: u64,
    billed_seconds: f64,
}

/// The accounts that were ever billed anything.
#[derive(Serialize, ToSchema)]
pub(super) struct UsageOfAll {
    accounts: Vec<Usage>,
}

/// `GET /v2/usage`: the account of the key, with `from` and `to`.
pub(super) async fn own(
    State(api): State<Arc<Api>>,
    Caller(account): Caller,
    Query(parameters): Parameters,
) -> Result<Json<Usage>, ApiError> {
    let days = days(&parameters)?;
    Ok(Json(with_days(&api, &account, &days).await?))
}

/// `GET /v2/admin/usage`: every account, or the one that `account` names.
pub(super) async fn all(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    Query(parameters): Parameters,
) -> Result<Json<UsageOfAll>, ApiError> {
    let days = days(&parameters)?;
    let accounts = match last(&parameters, "account") {
        Some(account) => vec![with_days(&api, &AccountId(account.to_owned()), &days).await?],
        None => {
            let usage = api.store.usage_of_all(&days).await?;
            usage.iter().map(|usage| view(&api, usage, &days)).collect()
        }
    };
    Ok(Json(UsageOfAll { accounts }))
}

async fn with_days(api: &Api, account: &AccountId, days: &Days) -> Result<Usage, ApiError> {
    let usage = view(api, &api.store.usage_of(account, days).await?, days);
    let by_day = api.store.usage_by_day(account, days).await?;
    Ok(Usage { days: Some(by_day.into_iter().map(day_view).collect()), ..usage })
}

fn view(api: &Api, usage: &AccountUsage, days: &Days) -> Usage {
    let policy = api.policies.policy_of(&usage.account_id);
    let credits = policy.credits.map(|credits| CreditsUsage {
        total: credits.total,
        used: credits.used(usage.ever_billed_s),
        left: credits.left(usage.ever_billed_s),
        price_per_hour: credits.price_per_hour,
    });
    Usage {
        account: usage.account_id.0.clone(),
        plan: policy.plan.clone(),
        from: days.from.clone(),
        to: days.to.clone(),
        jobs: usage.jobs,
        billed_seconds: usage.billed_s,
        credits,
        days: None,
    }
}

fn day_view(usage: UsageOfDay) -> DayUsage {
    DayUsage { day: usage.day, kind: usage.kind, jobs: usage.jobs, billed_seconds: usage.billed_s }
}

fn days(parameters: &[(String, String)]) -> Result<Days, ApiError> {
    let day = |name| match last(parameters, name) {
        None => Ok(None),
        Some(text) if date::is_day(text) => Ok(Some(text.to_owned())),
        Some(_) => Err(ApiError::invalid_one(format!("{name} must be a day such as 2026-01-31"))),
    };
    let days = Days { from: day("from")?, to: day("to")? };
    if days.from.as_ref().zip(days.to.as_ref()).is_some_and(|(from, to)| from > to) {
        return Err(Rejection::Contradictory(vec!["from must not be later than to".to_owned()]).into());
    }
    Ok(days)
}
