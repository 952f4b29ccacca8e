//! `GET /v2/<collection>`: whole envelopes, the newest first, with links to the other parts.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};

use super::caller::Keeper;
use super::collection::Collection;
use super::error::ApiError;
use super::job_view;
use super::origin::Origin;
use super::state::Api;
use crate::model::cause::chain;
use crate::model::id::{AccountId, JobId};
use crate::validate;

/// Jobs with their results in memory at a time: each may be long, and a client may read slowly.
const READ_AHEAD: usize = 4;

/// Lists jobs of the caller's account.
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Keeper(account): Keeper,
    collection: Collection,
    origin: Origin,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = validate::list_query(query.as_deref().unwrap_or_default(), collection.kind())?;
    let page = api.store.list_jobs(&account, &query.filter, query.page).await?;
    let link = |offset: u64| format!("{}{}?{}", origin.public, collection.path(), query.at(offset));
    let next = page.has_more.then(|| link(query.page.offset + u64::from(query.page.limit)));
    let links = [
        ("first", json!(link(0))),
        ("current", json!(link(query.page.offset))),
        ("next", next.map_or(Value::Null, Value::from)),
    ];
    let body = Body::from_stream(body(api, &links, account, page.ids));
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// The answer in pieces. A job or a result that cannot be read breaks it off: the client must not take
/// half a list for a whole one.
fn body(
    api: Arc<Api>,
    links: &[(&str, Value)],
    account: AccountId,
    ids: Vec<JobId>,
) -> impl futures_util::Stream<Item = Result<Vec<u8>, &'static str>> + use<> {
    let mut head = b"{".to_vec();
    for (name, link) in links {
        head.extend_from_slice(format!("\"{name}\":{link},").as_bytes());
    }
    head.extend_from_slice(b"\"items\":[");
    let items = stream::iter(ids).map(move |id| {
        let (api, account) = (api.clone(), account.clone());
        async move { item(&api, &account, id).await }
    });
    let items = items.buffered(READ_AHEAD).filter_map(async |item| item.transpose()).enumerate();
    let items = items.map(|(number, item)| match number {
        0 => item,
        _ => item.map(|text| [b",", &text[..]].concat()),
    });
    stream::iter([Ok(head)]).chain(items).chain(stream::iter([Ok(b"]}".to_vec())]))
}

/// One envelope; nothing of a job that was deleted since the list was made.
async fn item(api: &Api, account: &AccountId, id: JobId) -> Result<Option<Vec<u8>>, &'static str> {
    let job = match api.store.get_job(account, id).await {
        Ok(Some(job)) => job,
        Ok(None) => return Ok(None),
        Err(error) if error.is_permanent() => {
            tracing::error!(job = %id, error = chain(&error), "a job that cannot be read is not listed");
            return Ok(None);
        }
        Err(error) => {
            ApiError::from(error).log("-");
            return Err("a job cannot be read");
        }
    };
    match job_view::result(api, &job).await {
        Ok(result) => Ok(Some(job_view::envelope(&job, result.as_deref()))),
        Err(error) if error.status == StatusCode::NOT_FOUND => Ok(None),
        Err(error) => {
            error.log("-");
            Err("a result cannot be read")
        }
    }
}
