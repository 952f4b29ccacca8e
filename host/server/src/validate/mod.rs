//! Bounds, flags against configs, models against languages: all rules of the interface
//! specification for a request, without any I/O.
//!
//! What an add-on's config may hold is described by its component; the specification's own
//! tables hold where no component is installed.

mod addons;
mod attached;
mod describe;
mod fields;
mod language;
mod listing;
mod numbers;
mod object;
mod prerecorded;
mod problems;
mod rules;
mod schema;
mod spec_schemas;
mod spec_values;
#[cfg(test)]
mod tests;
mod url;
mod webhook;
mod wording;

pub use attached::{ATTACHED_BYTES, attached_metadata};
pub use describe::{ATTACHED, LANGUAGE_CODE, PRERECORDED, UPLOAD_BY_URL, WEBHOOK, request_schemas};
pub use language::DEFAULT_MODEL;
pub use listing::{ListQuery, MOST_LIMIT, USUAL_LIMIT, list_query};
pub use numbers::whole;
pub use object::object;
pub use prerecorded::without_retention;
pub use prerecorded::{Draft, audio_url, prerecorded};
pub use problems::{MOST_PROBLEMS, Rejection};
pub use rules::{AbsentAddon, AddonFacts, Catalogue, HostRules, ModelRules};
pub use schema::Schema;
pub use url::possible_file;
pub use webhook::{WebhookWish, webhook};
