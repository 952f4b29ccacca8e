//! Which path leads where.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get, post};

use super::cors;
use super::observe::observe;
use super::state::Api;
use super::{
    deliveries, docs, erasures, file, health, jobs, list, metrics, openapi, prerecorded, upload, usage,
    webhooks,
};

/// Every path of the API.
pub(super) const PATHS: [&str; 23] = [
    "/v2/pre-recorded",
    "/v2/pre-recorded/{id}",
    "/v2/pre-recorded/{id}/file",
    "/v2/live",
    "/v2/live/{id}",
    "/v2/live/{id}/file",
    "/v2/transcription",
    "/v2/transcription/{id}",
    "/v2/transcription/{id}/file",
    "/v2/upload",
    "/v2/usage",
    "/v2/admin/usage",
    "/v2/admin/webhooks",
    "/v2/admin/webhooks/{id}",
    "/v2/admin/deliveries",
    "/v2/admin/deliveries/{id}",
    "/v2/admin/deliveries/{id}/replay",
    "/v2/admin/erasures",
    "/file/{id}",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
];

/// The page for people.
const PAGE: &str = "/docs";

/// What answers there, in the same order.
fn handlers() -> [MethodRouter<Arc<Api>>; PATHS.len()] {
    let job = || get(jobs::get).delete(jobs::delete).patch(jobs::patch);
    [
        post(prerecorded::create).get(list::list),
        job(),
        get(file::get_of_job),
        get(list::list),
        job(),
        get(file::get_of_job),
        post(prerecorded::create).get(list::list),
        job(),
        get(file::get_of_job),
        post(upload::upload),
        get(usage::own),
        get(usage::all),
        get(webhooks::list).post(webhooks::register),
        get(webhooks::get).delete(webhooks::remove),
        get(deliveries::list),
        get(deliveries::get),
        post(deliveries::replay),
        get(erasures::list),
        get(file::get),
        get(health::healthz),
        get(health::readyz),
        get(metrics::get),
        get(openapi::get),
    ]
}

/// The whole API.
pub fn router(api: Arc<Api>) -> Router {
    let mut router = Router::new();
    for (path, methods) in PATHS.into_iter().zip(handlers()) {
        router = with_and_without_slash(router, path, methods);
    }
    let router = router
        .route(PAGE, get(docs::redirect))
        .route("/docs/", get(docs::page))
        .route("/docs/{file}", get(docs::part))
        .fallback(|| async { StatusCode::NOT_FOUND })
        // Handlers limit bodies themselves, by what they hold.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(api.clone(), observe));
    // Around everything: a browser hides an error from its page as well without these headers.
    let router = match cors::layer(&api) {
        Some(layer) => router.layer(layer),
        None => router,
    };
    router.with_state(api)
}

/// Clients post to either form, and not all of them follow a redirect.
fn with_and_without_slash(
    router: Router<Arc<Api>>,
    path: &str,
    methods: MethodRouter<Arc<Api>>,
) -> Router<Arc<Api>> {
    router.route(&format!("{path}/"), methods.clone()).route(path, methods)
}

/// The path as [`PATHS`] writes it, for logs; `-` for a path that leads nowhere.
pub(super) fn route_of(path: &str) -> &'static str {
    let fits = |route: &&str| {
        let mut asked = path.trim_end_matches('/').split('/');
        route.split('/').all(|part| asked.next().is_some_and(|sent| part == "{id}" || part == sent))
            && asked.next().is_none()
    };
    let is_page = path.strip_prefix(PAGE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    PATHS.iter().copied().find(fits).or(is_page.then_some(PAGE)).unwrap_or("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_name_routes_and_never_what_a_client_typed() {
        for (path, route) in [
            ("/v2/upload/", "/v2/upload"),
            ("/v2/pre-recorded/anything", "/v2/pre-recorded/{id}"),
            ("/v2/live/anything/file/", "/v2/live/{id}/file"),
            ("/file/x/", "/file/{id}"),
            ("/docs/index.html", "/docs"),
            ("/docsx", "-"),
            ("/file/x/y", "-"),
            ("/secret", "-"),
            ("/", "-"),
        ] {
            assert_eq!(route_of(path), route);
        }
    }
}
