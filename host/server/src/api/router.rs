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

type Methods = MethodRouter<Arc<Api>>;
type Route = (&'static str, fn() -> Methods);

/// Every path of the API, and what answers there.
pub(super) const ROUTES: [Route; 23] = [
    ("/v2/pre-recorded", || post(prerecorded::create).get(list::list)),
    ("/v2/pre-recorded/{id}", job),
    ("/v2/pre-recorded/{id}/file", || get(file::get_of_job)),
    ("/v2/live", || get(list::list)),
    ("/v2/live/{id}", job),
    ("/v2/live/{id}/file", || get(file::get_of_job)),
    ("/v2/transcription", || post(prerecorded::create).get(list::list)),
    ("/v2/transcription/{id}", job),
    ("/v2/transcription/{id}/file", || get(file::get_of_job)),
    ("/v2/upload", || post(upload::upload)),
    ("/v2/usage", || get(usage::own)),
    ("/v2/admin/usage", || get(usage::all)),
    ("/v2/admin/webhooks", || get(webhooks::list).post(webhooks::register)),
    ("/v2/admin/webhooks/{id}", || get(webhooks::get).delete(webhooks::remove)),
    ("/v2/admin/deliveries", || get(deliveries::list)),
    ("/v2/admin/deliveries/{id}", || get(deliveries::get)),
    ("/v2/admin/deliveries/{id}/replay", || post(deliveries::replay)),
    ("/v2/admin/erasures", || get(erasures::list)),
    ("/file/{id}", || get(file::get)),
    ("/healthz", || get(health::healthz)),
    ("/readyz", || get(health::readyz)),
    ("/metrics", || get(metrics::get)),
    ("/openapi.json", || get(openapi::get)),
];

fn job() -> Methods {
    get(jobs::get).delete(jobs::delete).patch(jobs::patch)
}

/// The page for people.
const PAGE: &str = "/docs";

/// The whole API.
pub fn router(api: Arc<Api>) -> Router {
    let mut router = Router::new();
    for (path, methods) in ROUTES {
        router = with_and_without_slash(router, path, methods());
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
fn with_and_without_slash(router: Router<Arc<Api>>, path: &str, methods: Methods) -> Router<Arc<Api>> {
    router.route(&format!("{path}/"), methods.clone()).route(path, methods)
}

/// The path as [`ROUTES`] writes it, for logs; `-` for a path that leads nowhere.
pub(super) fn route_of(path: &str) -> &'static str {
    let fits = |route: &&str| {
        let mut asked = path.trim_end_matches('/').split('/');
        route.split('/').all(|part| asked.next().is_some_and(|sent| part == "{id}" || part == sent))
            && asked.next().is_none()
    };
    let is_page = path.strip_prefix(PAGE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    ROUTES.iter().map(|(path, _)| *path).find(fits).or(is_page.then_some(PAGE)).unwrap_or("-")
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
