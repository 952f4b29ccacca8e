//! For supervisors; no key needed.

use utoipa::openapi::ContentBuilder;
use utoipa::openapi::path::HttpMethod;

use super::operation::{Described, answer, failing, open_operation, text, with_content};
use crate::api::health::Health;

const TAG: &str = "service";

pub(super) fn operations() -> Vec<Described> {
    let healthz = open_operation(TAG, "healthz", "Whether the process answers")
        .response("200", answer::<Health>("It does."));
    let readyz = open_operation(TAG, "readyz", "Whether jobs can be accepted, down to the disk")
        .response("200", answer::<Health>("They can."));
    let figures = ContentBuilder::new().schema(Some(text())).build();
    let metrics = open_operation(TAG, "metrics", "Figures for Prometheus")
        .response("200", with_content("Figures in its text format.", "text/plain", figures));
    let described =
        |path: &str, operation| Described { path: path.to_owned(), method: HttpMethod::Get, operation };
    vec![
        described("/healthz", healthz.build()),
        described("/readyz", failing(readyz, &[503]).build()),
        described("/metrics", failing(metrics, &[503]).build()),
    ]
}
