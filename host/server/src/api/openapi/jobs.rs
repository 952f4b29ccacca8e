//! Jobs: posted, listed, read, given metadata, deleted.

use utoipa::ToSchema;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{AnyOfBuilder, SchemaType};
use utoipa::openapi::{
    ArrayBuilder, ContentBuilder, Deprecated, KnownFormat, ObjectBuilder, OneOfBuilder, Ref, RefOr, Required,
    Schema, SchemaFormat, Type,
};

use super::operation::{
    Described, answer, failing, header, id, json_body, no_body, one_of, operation, query, text, whole,
    with_content,
};
use crate::api::collection::Collection;
use crate::api::idempotency;
use crate::api::job_view::Envelope;
use crate::api::prerecorded::JobCreated;
use crate::model::result::JobResult;
use crate::validate::{self, MOST_LIMIT, USUAL_LIMIT};

/// Name of the schema of a list.
pub(super) const LIST: &str = "JobList";

pub(super) fn operations() -> Vec<Described> {
    Collection::ALL.into_iter().flat_map(of_collection).collect()
}

fn of_collection(collection: Collection) -> Vec<Described> {
    let (tag, noun) = match collection {
        Collection::PreRecorded => ("pre-recorded", "PreRecorded"),
        Collection::Live => ("live", "Live"),
        Collection::Transcription => ("transcription", "Transcription"),
    };
    let is_old = collection == Collection::Transcription;
    let described = |rest: &str, method, operation: OperationBuilder| {
        let operation = if is_old { operation.deprecated(Some(Deprecated::True)) } else { operation };
        Described { path: format!("{}{rest}", collection.path()), method, operation: operation.build() }
    };
    let name = |verb: &str, suffix: &str| format!("{verb}{noun}{suffix}");
    let mut all = vec![
        described(
            "",
            HttpMethod::Get,
            list(operation(tag, &name("list", "Jobs"), "Lists jobs, the newest first"), collection),
        ),
        described("/{id}", HttpMethod::Get, read(operation(tag, &name("get", "Job"), "Reads a job"))),
        described(
            "/{id}",
            HttpMethod::Delete,
            delete(operation(tag, &name("delete", "Job"), "Deletes a job, its audio and its result")),
        ),
        described(
            "/{id}",
            HttpMethod::Patch,
            patch(operation(tag, &name("patch", "Job"), "Adds to the post_session_metadata of a job")),
        ),
        described(
            "/{id}/file",
            HttpMethod::Get,
            super::files::read(operation(tag, &name("get", "Audio"), "Downloads the audio of a job")),
        ),
    ];
    if collection != Collection::Live {
        all.push(described(
            "",
            HttpMethod::Post,
            create(operation(tag, &name("create", "Job"), "Transcribes a recording")),
        ));
    }
    all
}

fn create(operation: OperationBuilder) -> OperationBuilder {
    let key = text().min_length(Some(1)).max_length(Some(idempotency::MOST_CHARS)).pattern(Some("^[!-~]+$"));
    let key = header(
        "idempotency-key",
        "The same key with the same body within 24 hours is answered with the job that it made before.",
        key,
    );
    let operation = operation
        .parameter(key)
        .request_body(json_body(validate::PRERECORDED))
        .response("200", answer::<JobCreated>("The job is queued."));
    failing(operation, &[400, 401, 408, 409, 413, 415, 422, 429, 503])
}

fn list(operation: OperationBuilder, collection: Collection) -> OperationBuilder {
    let statuses = ArrayBuilder::new().items(one_of(["queued", "processing", "done", "error"]));
    let operation = operation
        .parameter(query("offset", "Jobs to leave out.", whole(0, Some(0))))
        .parameter(query(
            "limit",
            &format!("Most jobs of this part; more than {MOST_LIMIT} count as {MOST_LIMIT}."),
            whole(1, Some(USUAL_LIMIT)),
        ))
        .parameter(query("status", "Jobs in one of these states.", statuses))
        .parameter(query("date", "Jobs of this day, UTC.", moment()))
        .parameter(query("before_date", "Jobs from before this moment.", moment()))
        .parameter(query("after_date", "Jobs from after this moment.", moment()))
        .parameter(metadata_filter());
    let operation = match collection {
        Collection::Transcription => {
            let kinds = ArrayBuilder::new().items(one_of(["pre-recorded", "live"]));
            operation.parameter(query("kind", "Jobs of these kinds.", kinds))
        }
        _ => operation,
    };
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(LIST))).build();
    let operation =
        operation.response("200", with_content("A part of the list.", "application/json", content));
    failing(operation, &[400, 401, 403, 429, 503])
}

/// A moment or a day.
fn moment() -> Schema {
    let of = |format| text().format(Some(SchemaFormat::KnownFormat(format)));
    AnyOfBuilder::new().item(of(KnownFormat::DateTime)).item(of(KnownFormat::Date)).build().into()
}

fn metadata_filter() -> Parameter {
    let object = ObjectBuilder::new().schema_type(Type::Object);
    let content = ContentBuilder::new().schema(Some(object)).build();
    ParameterBuilder::new()
        .name("custom_metadata")
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(
            "Jobs whose custom_metadata has all of these members; custom_metadata[key]=value does the same.",
        ))
        .content("application/json", content)
        .build()
}

fn read(operation: OperationBuilder) -> OperationBuilder {
    let operation =
        operation.parameter(id("Id of the job.")).response("200", answer::<Envelope<'_>>("The job."));
    failing(operation, &[401, 403, 404, 429, 503])
}

fn delete(operation: OperationBuilder) -> OperationBuilder {
    let operation = operation
        .parameter(id("Id of a job that is done or failed."))
        .response("202", no_body("It is gone."));
    failing(operation, &[401, 403, 404, 429, 503])
}

fn patch(operation: OperationBuilder) -> OperationBuilder {
    let operation = operation
        .parameter(id("Id of the job."))
        .request_body(json_body(validate::ATTACHED))
        .response("204", no_body("It is kept with the job."));
    failing(operation, &[400, 401, 403, 404, 408, 413, 415, 429, 503])
}

/// A list is written in pieces, so no type of it exists.
pub(super) fn list_schema() -> RefOr<Schema> {
    let link = || text().format(Some(SchemaFormat::Custom("uri".to_owned())));
    let next = link().schema_type(SchemaType::from_iter([Type::String, Type::Null]));
    let list = ObjectBuilder::new()
        .property("first", link())
        .property("current", link())
        .property("next", next)
        .property("items", ArrayBuilder::new().items(Ref::from_schema_name(Envelope::name())));
    ["first", "current", "next", "items"].into_iter().fold(list, ObjectBuilder::required).into()
}

/// The result is passed through as it was stored, so the envelope's type does not hold it.
pub(super) fn put_result(schemas: &mut [(String, RefOr<Schema>)]) {
    let result = OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .item(Ref::from_schema_name(JobResult::name()))
        .description(Some("Set when the status is done, unless it was erased."));
    let envelope = schemas.iter_mut().find(|(name, _)| *name == Envelope::name());
    if let Some((_, RefOr::T(Schema::Object(envelope)))) = envelope {
        envelope.properties.insert("result".to_owned(), result.into());
    }
}
