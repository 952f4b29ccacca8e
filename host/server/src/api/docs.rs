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
    let config = Arc::new(Config::from(DOCUMENT));
    let found = utoipa_swagger_ui::serve(file, config).map_err(|_| ApiError::internal())?;
    let file = found.ok_or_else(|| ApiError::not_found("Page"))?;
    let kind = HeaderValue::from_str(&file.content_type).map_err(|_| ApiError::internal())?;
    Ok(([(header::CONTENT_TYPE, kind)], file.bytes.into_owned()).into_response())
}
