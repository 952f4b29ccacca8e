//! Who is calling. Extracted before the body, so that strangers cost no reading.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;

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
    let presented = || api.keys.headers().iter().flat_map(|name| parts.headers.get_all(name));
    if presented().next().is_none() {
        let name = &api.keys.headers()[0];
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, format!("The header {name} is missing")));
    }
    let holder = presented()
        .find_map(|value| api.keys.holder_of(value.as_bytes()))
        .ok_or_else(|| ApiError::new(StatusCode::UNAUTHORIZED, "The API key is not valid"))?;
    if let Some(rate) = api.policies.policy_of(&holder.account).request_rate {
        api.rates.admit(holder.digest, rate).map_err(|wait| {
            ApiError::too_many("Too many requests with this key, try again later", wait.as_secs() + 1)
        })?;
    }
    Ok(holder)
}
