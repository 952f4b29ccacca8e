//! Recorded jobs: created once, read often. The deprecated collection `transcription` is
//! the same, and also shows live jobs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::body::json_object;
use super::caller::Caller;
use super::error::ApiError;
use super::job_view;
use super::normalise::normalise;
use super::origin::Origin;
use super::path_id::PathId;
use super::state::Api;
use crate::model::date;
use crate::model::id::{AccountId, JobId, RequestId};
use crate::model::job::{JobSpec, Kind, Status};
use crate::store::{Job, NewJob, Quota};
use crate::validate;

/// `POST /v2/pre-recorded` and `POST /v2/transcription`.
pub(super) async fn create(
    State(api): State<Arc<Api>>,
    Caller(account): Caller,
    origin: Origin,
    Extension(request_id): Extension<RequestId>,
    uri: Uri,
    request: Request,
) -> Result<Json<Value>, ApiError> {
    let body = json_object(request, &api.settings.limits).await?;
    let draft = validate::prerecorded(&body, &api.rules, &api.addons.catalogue(), &origin.all())?;
    let spec = normalise(&*api.addons, draft).await?;
    let id = accept(&api, account, request_id, spec).await?;
    let collection = uri.path().trim_end_matches('/');
    Ok(Json(json!({ "id": id, "result_url": format!("{}{collection}/{id}", origin.public) })))
}

/// `GET /v2/pre-recorded/{id}`.
pub(super) async fn get_prerecorded(
    State(api): State<Arc<Api>>,
    Caller(account): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    get(&api, &account, &id, |kind| kind == Kind::PreRecorded).await
}

/// `GET /v2/transcription/{id}`.
pub(super) async fn get_transcription(
    State(api): State<Arc<Api>>,
    Caller(account): Caller,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    get(&api, &account, &id, |_| true).await
}

async fn get(
    api: &Api,
    account: &AccountId,
    id: &str,
    is_in_collection: impl FnOnce(Kind) -> bool,
) -> Result<Response, ApiError> {
    let missing = || ApiError::not_found("Job");
    let id = JobId::parse(id).ok_or_else(missing)?;
    let job = api.store.get_job(account, id).await?.ok_or_else(missing)?;
    if !is_in_collection(job.kind) {
        return Err(missing());
    }
    let result = result(api, &job).await?;
    let body = job_view::envelope(&job, result.as_deref());
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

async fn result(api: &Api, job: &Job) -> Result<Option<Vec<u8>>, ApiError> {
    match &job.result_key {
        Some(key) if job.status == Status::Done => Ok(Some(api.blobs.get(key).await?)),
        _ => Ok(None),
    }
}

async fn accept(
    api: &Api,
    account_id: AccountId,
    request_id: RequestId,
    spec: JobSpec,
) -> Result<JobId, ApiError> {
    let quota = Quota::of(api.policies.policy_of(&account_id), api.settings.limits.queued_jobs);
    let id = JobId::new();
    let created_ms = date::now_ms();
    let job = NewJob { id, account_id, request_id, kind: Kind::PreRecorded, spec, created_ms };
    api.store.admit_job(job, quota).await??;
    api.job_arrived.notify_one();
    Ok(id)
}
