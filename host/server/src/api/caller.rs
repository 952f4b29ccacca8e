//! Who is calling. Extracted before the body, so that strangers cost no reading.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};

use super::error::ApiError;
use super::state::Api;
use crate::auth::Holder;
use crate::model::id::AccountId;

/// The account that the key of this request belongs to.
#[derive(Debug, Clone)]
pub(super) struct Caller(pub AccountId);

impl FromRequestParts<Arc<Api>> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, ApiError> {
        Ok(Self(holder(parts, api)?.account))
    }
}

/// A [`Caller`] whose plan keeps data. Others get 403: there is nothing to read, and nothing
/// may be stored.
#[derive(Debug, Clone)]
pub(super) struct Keeper(pub AccountId);

impl FromRequestParts<Arc<Api>> for Keeper {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, ApiError> {
        let Caller(account) = Caller::from_request_parts(parts, api).await?;
        match api.policies.policy_of(&account).zero_retention {
            false => Ok(Self(account)),
            true => Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "This account keeps no data: name an external audio_url and a callback, which brings the result",
            )),
        }
    }
}

/// The key of this request may use the operator's part of the API. Everybody else gets 403.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admin;

impl FromRequestParts<Arc<Api>> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, ApiError> {
        match holder(parts, api)?.is_admin {
            true => Ok(Self),
            false => Err(ApiError::new(StatusCode::FORBIDDEN, "Only the key of an admin may do this")),
        }
    }
}

fn holder(parts: &Parts, api: &Api) -> Result<Holder, ApiError> {
    let key = presented_key(parts, api.keys.headers())?;
    let holder = api.keys.holder_of(key).ok_or_else(|| refused("The API key is not valid"))?;
    if let Some(rate) = api.policies.policy_of(&holder.account).request_rate {
        api.rates.admit(holder.digest, rate).map_err(|wait| {
            ApiError::too_many("Too many requests with this key, try again later", wait.as_secs() + 1)
        })?;
    }
    Ok(holder)
}

/// The one key of a request. Which of several counts must not depend on the reader: a proxy may
/// have looked at another one. The same key may stand under further names.
fn presented_key<'r>(parts: &'r Parts, names: &[String]) -> Result<&'r [u8], ApiError> {
    let first_name = &names[0];
    let mut presented = names.iter().flat_map(|name| parts.headers.get_all(name)).map(HeaderValue::as_bytes);
    let key = presented.next().ok_or_else(|| refused(format!("The header {first_name} is missing")))?;
    let is_repeated = parts.headers.get_all(first_name).iter().count() > 1;
    match !is_repeated && presented.all(|other| other == key) {
        true => Ok(key),
        false => Err(refused(format!(
            "The request must have one API key: send {first_name} once, and no other key beside it"
        ))),
    }
}

fn refused(message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, message)
}
