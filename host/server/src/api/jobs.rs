//! One job of a collection: read, given metadata, deleted.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::body::json_object;
use super::caller::{Caller, Keeper};
use super::collection::Collection;
use super::error::ApiError;
use super::job_view;
use super::path_id::PathId;
use super::state::Api;
use crate::model::id::{AccountId, JobId};
use crate::retain;
use crate::store::{Attached, Erasure, Job};
use crate::validate::{self, ATTACHED_BYTES};

/// `GET /v2/<collection>/{id}`.
pub(super) async fn get(
    State(api): State<Arc<Api>>,
    Keeper(account): Keeper,
    collection: Collection,
    PathId(id): PathId,
) -> Result<Response, ApiError> {
    let job = find(&api, &account, collection, &id).await?;
    let result = job_view::result(&api, &job).await?;
    let body = job_view::envelope(&job, result.as_deref());
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// `DELETE /v2/<collection>/{id}`: final jobs only, with all that belongs to them.
pub(super) async fn delete(
    State(api): State<Arc<Api>>,
    Caller(account): Caller,
    collection: Collection,
    PathId(id): PathId,
) -> Result<StatusCode, ApiError> {
    let job = find(&api, &account, collection, &id).await?;
    let host = api.clone();
    let erasing = async move { Ok(retain::erase_job(&host.store, &host.blobs, &account, job.id).await?) };
    match api.finish(erasing).await? {
        Erasure::Erased { .. } => Ok(StatusCode::ACCEPTED),
        Erasure::Missing => Err(missing()),
        Erasure::Unfinished => {
            Err(ApiError::new(StatusCode::FORBIDDEN, "A job can be deleted once its status is done or error"))
        }
    }
}

/// `PATCH /v2/<collection>/{id}`: adds to `post_session_metadata`.
pub(super) async fn patch(
    State(api): State<Arc<Api>>,
    Keeper(account): Keeper,
    collection: Collection,
    PathId(id): PathId,
    request: Request,
) -> Result<StatusCode, ApiError> {
    let job = find(&api, &account, collection, &id).await?;
    let body = json_object(request, &api.settings.limits).await?;
    let members = validate::attached_metadata(&body)?;
    match api.store.attach_metadata(&account, job.id, members, ATTACHED_BYTES).await? {
        Attached::Kept => Ok(StatusCode::NO_CONTENT),
        Attached::Missing => Err(missing()),
        Attached::TooLarge => Err(ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("The post_session_metadata of a job must not be larger than {ATTACHED_BYTES} bytes"),
        )),
    }
}

/// The job with this id, if the account has it and the collection holds its kind. Neither of
/// them ever changes.
pub(super) async fn find(
    api: &Api,
    account: &AccountId,
    collection: Collection,
    id: &str,
) -> Result<Job, ApiError> {
    let id = JobId::parse(id).ok_or_else(missing)?;
    let job = api.store.get_job(account, id).await?.ok_or_else(missing)?;
    if collection.holds(job.kind) { Ok(job) } else { Err(missing()) }
}

fn missing() -> ApiError {
    ApiError::not_found("Job")
}
