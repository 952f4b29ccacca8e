//! What was billed: for the account itself, and for the operator.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde_json::{Map, Value, json};

use super::caller::{Admin, Caller};
use super::error::ApiError;
use super::query::{Parameters, last};
use super::state::Api;
use crate::model::date;
use crate::model::id::AccountId;
use crate::store::{AccountUsage, Days, UsageOfDay};

/// `GET /v2/usage`: the account of the key, with `from` and `to`.
pub(super) async fn own(
    State(api): State<Arc<Api>>,
    Caller(account): Caller,
    Query(parameters): Parameters,
) -> Result<Json<Value>, ApiError> {
    let days = days(&parameters)?;
    Ok(Json(with_days(&api, &account, &days).await?))
}

/// `GET /v2/admin/usage`: every account, or the one that `account` names.
pub(super) async fn all(
    State(api): State<Arc<Api>>,
    Admin: Admin,
    Query(parameters): Parameters,
) -> Result<Json<Value>, ApiError> {
    let days = days(&parameters)?;
    let accounts = match last(&parameters, "account") {
        Some(account) => vec![with_days(&api, &AccountId(account.to_owned()), &days).await?],
        None => {
            let usage = api.store.usage_of_all(&days).await?;
            usage.iter().map(|usage| Value::Object(view(&api, usage, &days))).collect()
        }
    };
    Ok(Json(json!({ "accounts": accounts })))
}

async fn with_days(api: &Api, account: &AccountId, days: &Days) -> Result<Value, ApiError> {
    let mut view = view(api, &api.store.usage_of(account, days).await?, days);
    let by_day = api.store.usage_by_day(account, days).await?;
    view.insert("days".to_owned(), by_day.iter().map(day_view).collect());
    Ok(Value::Object(view))
}

fn view(api: &Api, usage: &AccountUsage, days: &Days) -> Map<String, Value> {
    let policy = api.policies.policy_of(&usage.account_id);
    let credits = policy.credits.map(|credits| {
        json!({
            "total": credits.total,
            "used": credits.used(usage.ever_billed_s),
            "left": credits.left(usage.ever_billed_s),
            "price_per_hour": credits.price_per_hour,
        })
    });
    let view = json!({
        "account": usage.account_id.0,
        "plan": policy.plan,
        "from": days.from,
        "to": days.to,
        "jobs": usage.jobs,
        "billed_seconds": usage.billed_s,
        "credits": credits,
    });
    let Value::Object(view) = view else { unreachable!("an object was written") };
    view
}

fn day_view(usage: &UsageOfDay) -> Value {
    json!({ "day": usage.day, "kind": usage.kind, "jobs": usage.jobs, "billed_seconds": usage.billed_s })
}

fn days(parameters: &[(String, String)]) -> Result<Days, ApiError> {
    let day = |name| match last(parameters, name) {
        None => Ok(None),
        Some(text) if date::is_day(text) => Ok(Some(text.to_owned())),
        Some(_) => Err(ApiError::invalid_one(format!("{name} must be a day such as 2026-01-31"))),
    };
    let days = Days { from: day("from")?, to: day("to")? };
    if days.from.as_ref().zip(days.to.as_ref()).is_some_and(|(from, to)| from > to) {
        return Err(ApiError::invalid_one("from must not be later than to"));
    }
    Ok(days)
}
