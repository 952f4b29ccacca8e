//! Recorded jobs: created once, read often. The deprecated collection `transcription` is
//! the same, and also shows live jobs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::body::json_object;
use super::caller::Caller;
use super::error::ApiError;
use super::job_view;
use super::origin::Origin;
use super::path_id::PathId;
use super::state::{Api, ConfigProblem, ConfigRefusal};
use crate::model::date;
use crate::model::id::{AccountId, JobId, RequestId};
use crate::model::job::{JobSpec, Kind, Status};
use crate::store::{Job, NewJob};
use crate::validate::{self, Draft};

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
    let spec = normalise(&api, draft).await?;
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

/// Lets each add-on check and complete its config.
async fn normalise(api: &Api, draft: Draft) -> Result<JobSpec, ApiError> {
    let mut configs = Vec::new();
    let mut entries = Vec::new();
    for (addon, key) in draft.addons() {
        match api.addons.normalise(addon).await {
            Ok(config) => configs.push(config),
            Err(ConfigRefusal::Problems(problems)) => {
                let path = key.unwrap_or(&addon.name);
                entries.extend(problems.iter().map(|problem| entry(path, problem)));
            }
            // It will fail in the job as well and say so in its wrapper; the transcript is
            // not held back for that.
            Err(ConfigRefusal::Failed) => {
                tracing::warn!(
                    addon = addon.name,
                    digest = addon.digest,
                    "the add-on could not check its config"
                );
                configs.push(addon.config.clone());
            }
        }
    }
    if entries.is_empty() { Ok(draft.finish(configs)) } else { Err(ApiError::invalid(entries)) }
}

/// A problem of an add-on in the words of the protocol.
fn entry(config_key: &str, problem: &ConfigProblem) -> String {
    let path =
        format!("{config_key}{}", problem.pointer.replace('/', ".").replace("~1", "/").replace("~0", "~"));
    let message = problem.message.trim();
    if message.starts_with("must ") || message.starts_with("is required") {
        format!("{path} {message}")
    } else {
        format!("{path} must be valid: {message}")
    }
}

async fn accept(
    api: &Api,
    account_id: AccountId,
    request_id: RequestId,
    spec: JobSpec,
) -> Result<JobId, ApiError> {
    if api.store.queue_counts().await?.queued >= api.settings.limits.queued_jobs {
        return Err(ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "Too many jobs are waiting, try again later",
        ));
    }
    let id = JobId::new();
    let created_ms = date::now_ms();
    let job = NewJob { id, account_id, request_id, kind: Kind::PreRecorded, spec, created_ms };
    api.store.create_job(job).await?;
    api.job_arrived.notify_one();
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_addons_are_put_into_the_words_of_the_protocol() {
        for (pointer, message, expected) in [
            ("/rows/0", "must not be 0", "x_config.rows.0 must not be 0"),
            ("", "is required", "x_config is required"),
            ("/a~1b", "too long", "x_config.a/b must be valid: too long"),
        ] {
            let problem = ConfigProblem { pointer: pointer.into(), message: message.into() };
            assert_eq!(entry("x_config", &problem), expected);
        }
    }
}
