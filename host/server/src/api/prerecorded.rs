//! Recorded jobs are created here. The deprecated collection `transcription` takes the same.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::json_object;
use super::caller::Caller;
use super::collection::Collection;
use super::error::ApiError;
use super::idempotency::IdempotencyKey;
use super::normalise::normalise;
use super::origin::Origin;
use super::state::Api;
use super::stored;
use crate::model::date;
use crate::model::id::{AccountId, JobId, RequestId};
use crate::model::job::{JobSpec, Kind};
use crate::store::{NewJob, Quota, RequestMark};
use crate::telemetry;
use crate::validate;

/// A job that was accepted.
#[derive(Serialize, ToSchema)]
pub(super) struct JobCreated {
    #[schema(value_type = String, format = "uuid")]
    id: JobId,
    /// Where its status and result can be read.
    #[schema(format = "uri")]
    result_url: String,
}

/// `POST /v2/pre-recorded` and `POST /v2/transcription`.
pub(super) async fn create(
    State(api): State<Arc<Api>>,
    Caller(account): Caller,
    collection: Collection,
    origin: Origin,
    key: IdempotencyKey,
    Extension(request_id): Extension<RequestId>,
    request: Request,
) -> Result<Json<JobCreated>, ApiError> {
    let body = json_object(request, &api.settings.limits).await?;
    let mark = key.mark(collection, &body);
    let id = match earlier(&api, &account, mark.as_ref()).await? {
        Some(id) => id,
        None => {
            let draft = validate::prerecorded(&body, &api.rules, &api.addons.catalogue(), &origin.all())?;
            let mut spec = normalise(&*api.addons, draft).await?;
            spec.audio = stored::of_account(&api, &account, spec.audio).await?;
            accept(&api, account, request_id, spec, mark).await?
        }
    };
    Ok(Json(JobCreated { id, result_url: format!("{}{}/{id}", origin.public, collection.path()) }))
}

/// The job of a marked request that has been made before: what it asked for is not looked at
/// again, and no limit holds it back.
async fn earlier(
    api: &Api,
    account: &AccountId,
    mark: Option<&RequestMark>,
) -> Result<Option<JobId>, ApiError> {
    let Some(mark) = mark else { return Ok(None) };
    Ok(api.store.job_of(account, mark, date::now_ms()).await?.transpose()?)
}

async fn accept(
    api: &Api,
    account_id: AccountId,
    request_id: RequestId,
    mut spec: JobSpec,
    mark: Option<RequestMark>,
) -> Result<JobId, ApiError> {
    let policy = api.policies.policy_of(&account_id);
    let zero_retention = policy.zero_retention;
    if zero_retention {
        validate::without_retention(&spec)?;
    }
    spec.trace_parent = telemetry::trace_parent();
    let quota = Quota::of(policy, api.settings.limits.queued_jobs);
    let id = JobId::new();
    let created_ms = date::now_ms();
    let job =
        NewJob { id, account_id, request_id, kind: Kind::PreRecorded, spec, created_ms, zero_retention };
    let id = api.store.admit_job(job, quota, mark).await??;
    api.job_arrived.notify_one();
    Ok(id)
}
