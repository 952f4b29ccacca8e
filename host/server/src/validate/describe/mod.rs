//! Bodies of requests as JSON Schemas for the documentation of the API, made from the tables
//! and schemas that requests are checked with.
//!
//! A field that may be left out may be `null` as well, and unknown fields are ignored. Rules
//! between fields that end in 422 are said in words only, where a schema cannot say them.

mod host_fields;
mod prerecorded;
mod schema;
mod small;

use serde_json::{Map, Value};

use super::rules::{Catalogue, HostRules};

/// The schema of a pre-recorded request.
pub const PRERECORDED: &str = "PreRecordedRequest";
/// The schema of an upload by URL.
pub const UPLOAD_BY_URL: &str = "UploadByUrl";
/// The schema of what is added to a job.
pub const ATTACHED: &str = "AttachedMetadata";
/// The schema of a registration.
pub const WEBHOOK: &str = "WebhookRegistration";
/// The schema of a language code.
pub const LANGUAGE_CODE: &str = "LanguageCode";

/// Every schema by its name, for `components.schemas` of an OpenAPI document.
pub fn request_schemas(rules: &HostRules, catalogue: &Catalogue) -> Map<String, Value> {
    let mut schemas = prerecorded::schemas(rules, catalogue);
    schemas.extend([
        (UPLOAD_BY_URL.to_owned(), small::upload_by_url()),
        (ATTACHED.to_owned(), small::attached()),
        (WEBHOOK.to_owned(), small::webhook()),
        (LANGUAGE_CODE.to_owned(), schema::language_code()),
    ]);
    schemas
}
