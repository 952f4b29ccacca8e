//! `GET /openapi.json`: what this API takes and answers, as an OpenAPI 3.1 document.
//!
//! Answers are described by the types that are written, requests by what they are checked
//! with, the add-ons of the operator among them. So each host describes itself.

mod admin;
mod files;
mod jobs;
mod operation;
mod service;

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use utoipa::openapi::path::{PathItem, PathsBuilder};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, RefOr, Schema,
};
use utoipa::{PartialSchema, ToSchema};

use super::deliveries::DeliveryList;
use super::envelope::ErrorBody;
use super::erasures::ErasureList;
use super::health::Health;
use super::job_view::Envelope;
use super::origin::Origin;
use super::prerecorded::JobCreated;
use super::state::Api;
use super::stored::Upload;
use super::usage::{Usage, UsageOfAll};
use super::webhooks::WebhookList;
use crate::model::result::JobResult;
use crate::validate::{self, Catalogue};

const DESCRIPTION: &str = "Speech to text on your own machine. A job is posted with the address of its audio \
    and read until its status is done or error; callbacks and webhooks tell of it as well.";

/// Groups of operations in the order in which a reader wants them.
const TAGS: [(&str, &str); 7] = [
    ("pre-recorded", "Recordings: posted, read, listed."),
    ("live", "Live sessions after their end."),
    ("files", "Recordings that are stored here first."),
    ("usage", "What an account was billed."),
    ("transcription", "The older collection of both kinds."),
    ("service", "For supervisors; no key needed."),
    ("admin", "For the operator."),
];

/// The description but for the addresses of this service, as it was made for a set of add-ons.
#[derive(Default)]
pub(super) struct Made(Mutex<Option<(Arc<Catalogue>, Bytes)>>);

impl Made {
    /// What was made for these add-ons. Making it takes long enough that nobody without a key
    /// may ask for it again and again.
    pub(super) fn of(&self, api: &Api) -> Bytes {
        let catalogue = api.addons.catalogue();
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((of, text)) if Arc::ptr_eq(of, &catalogue) => text.clone(),
            _ => {
                let text = Bytes::from(document(api, &catalogue).to_string());
                *made = Some((catalogue, text.clone()));
                text
            }
        }
    }
}

/// Needs no key: a client has to know how to say who it is.
pub(super) async fn get(State(api): State<Arc<Api>>, origin: Origin) -> Response {
    // The page may only call the address that it came from, which need not be the public one.
    let servers: Value = origin.all().iter().map(|url| json!({ "url": url })).collect();
    let others = &api.description.of(&api)[1..];
    let body = [format!("{{\"servers\":{servers},").as_bytes(), others].concat();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn document(api: &Api, catalogue: &Catalogue) -> Value {
    let mut document = same_for_all();
    let mut alternatives = Vec::new();
    for name in api.keys.headers() {
        let scheme = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new(name)));
        document["components"]["securitySchemes"][name] = json!(scheme);
        alternatives.push(json!({ name: [] }));
    }
    document["security"] = Value::Array(alternatives);
    let schemas = &mut document["components"]["schemas"];
    for (name, schema) in validate::request_schemas(&api.rules, catalogue) {
        schemas[name] = schema;
    }
    document
}

/// What does not depend on configuration and add-ons.
pub(super) fn same_for_all() -> Value {
    serde_json::to_value(described()).expect("the description is JSON")
}

fn described() -> OpenApi {
    let license = LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title("tympan")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(license))
        .build();
    let operations = jobs::operations().into_iter();
    let operations =
        operations.chain(files::operations()).chain(admin::operations()).chain(service::operations());
    let paths = operations.fold(PathsBuilder::new(), |paths, described| {
        paths.path(described.path, PathItem::new(described.method, described.operation))
    });
    let components = ComponentsBuilder::new().schemas_from_iter(answers()).build();
    let tags = TAGS.map(|(name, words)| TagBuilder::new().name(name).description(Some(words)).build());
    OpenApiBuilder::new()
        .info(info)
        .tags(Some(tags))
        .paths(paths.build())
        .components(Some(components))
        .build()
}

/// The types of all answers by name.
fn answers() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = vec![(jobs::LIST.to_owned(), jobs::list_schema())];
    with_parts::<Envelope<'_>>(&mut schemas);
    with_parts::<JobResult>(&mut schemas);
    with_parts::<JobCreated>(&mut schemas);
    with_parts::<Upload<'_>>(&mut schemas);
    with_parts::<Usage>(&mut schemas);
    with_parts::<UsageOfAll>(&mut schemas);
    with_parts::<WebhookList>(&mut schemas);
    with_parts::<DeliveryList>(&mut schemas);
    with_parts::<ErasureList>(&mut schemas);
    with_parts::<ErrorBody<'_>>(&mut schemas);
    with_parts::<Health>(&mut schemas);
    jobs::put_result(&mut schemas);
    schemas
}

fn with_parts<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>) {
    schemas.push((T::name().into_owned(), <T as PartialSchema>::schema()));
    T::schemas(schemas);
}
