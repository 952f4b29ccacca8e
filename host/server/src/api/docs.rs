//! `GET /docs`: the description of this API as a page to read and to try things on. All that
//! it needs is in the binary.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use utoipa_swagger_ui::Config;

use super::error::ApiError;

/// Relative to the page, so that it works below a proxy's path as well.
const DOCUMENT: &str = "../openapi.json";

/// Nothing is loaded from elsewhere; the page draws its icons from `data:` addresses and
/// writes style attributes.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'";

/// `GET /docs/`. The page's own addresses are relative to it.
pub(super) async fn page() -> Result<Response, ApiError> {
    send("index.html")
}

/// `GET /docs`.
pub(super) async fn redirect() -> Redirect {
    Redirect::permanent("docs/")
}

/// `GET /docs/{file}`: what the page is made of.
pub(super) async fn part(Path(file): Path<String>) -> Result<Response, ApiError> {
    send(&file)
}

fn send(file: &str) -> Result<Response, ApiError> {
    // Without this the page shows the document to a service that checks it.
    let config = Arc::new(Config::from(DOCUMENT).validator_url("none").use_base_layout());
    let found = utoipa_swagger_ui::serve(file, config).map_err(|_| ApiError::internal())?;
    let file = found.ok_or_else(|| ApiError::not_found("Page"))?;
    let kind = HeaderValue::from_str(&file.content_type).map_err(|_| ApiError::internal())?;
    let headers =
        [(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))];
    Ok((headers, file.bytes.into_owned()).into_response())
}
