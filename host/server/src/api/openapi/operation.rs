//! How operations are written down.

use utoipa::ToSchema;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::{
    Content, ContentBuilder, HeaderBuilder, KnownFormat, ObjectBuilder, Ref, Required, Response,
    ResponseBuilder, Schema, SchemaFormat, SecurityRequirement, Type,
};

use crate::api::envelope::ErrorBody;

/// One operation with its place.
pub(super) struct Described {
    pub path: String,
    pub method: HttpMethod,
    pub operation: Operation,
}

/// An operation that needs a key.
pub(super) fn operation(tag: &str, id: &str, summary: &str) -> OperationBuilder {
    OperationBuilder::new().tag(tag).operation_id(Some(id)).summary(Some(summary))
}

/// An operation for everybody.
pub(super) fn open_operation(tag: &str, id: &str, summary: &str) -> OperationBuilder {
    operation(tag, id, summary).securities(Some(Vec::<SecurityRequirement>::new()))
}

/// An answer that a type describes.
pub(super) fn answer<T: ToSchema>(words: &str) -> Response {
    let schema = Ref::from_schema_name(T::name());
    with_content(words, "application/json", ContentBuilder::new().schema(Some(schema)).build())
}

/// An answer without a body.
pub(super) fn no_body(words: &str) -> Response {
    ResponseBuilder::new().description(words).build()
}

/// An answer with content of another kind.
pub(super) fn with_content(words: &str, media_type: &str, content: Content) -> Response {
    ResponseBuilder::new().description(words).content(media_type, content).build()
}

/// Bytes.
pub(super) fn binary() -> Content {
    let bytes = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)));
    ContentBuilder::new().schema(Some(bytes)).build()
}

/// A body that must be JSON and fit a schema.
pub(super) fn json_body(schema: &str) -> Option<RequestBody> {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let body = RequestBodyBuilder::new().content("application/json", content);
    Some(body.required(Some(Required::True)).build())
}

/// Adds the answers of failures.
pub(super) fn failing(mut operation: OperationBuilder, statuses: &[u16]) -> OperationBuilder {
    for status in statuses {
        let mut response = answer::<ErrorBody<'_>>(words_of(*status));
        if matches!(status, 429 | 503) {
            let seconds = HeaderBuilder::new().schema(Some(ObjectBuilder::new().schema_type(Type::Integer)));
            let seconds = seconds.description(Some("Seconds after which to try again.")).build();
            response.headers.insert("Retry-After".to_owned(), seconds.into());
        }
        operation = operation.response(status.to_string(), response);
    }
    operation
}

fn words_of(status: u16) -> &'static str {
    match status {
        400 => "Fields are wrong; `validation_errors` says which, and what to change.",
        401 => "The key is missing or unknown, or there are several.",
        403 => "Not allowed to this account, or not at this time.",
        404 => "There is nothing of this id.",
        408 => "The body did not arrive in time.",
        409 => "Stands against the state of things; the message says how.",
        413 => "The body is too large.",
        415 => "The content type is not one that is understood.",
        416 => "The range lies outside of the file.",
        422 => "Fields contradict each other; `validation_errors` says which.",
        429 => "A limit of the account or of the service is reached.",
        502 => "The host of `audio_url` is down.",
        504 => "The host of `audio_url` is too slow.",
        503 => "The service is stopping, or its disk or database is not at hand.",
        other => unreachable!("no operation answers with {other}"),
    }
}

/// An id in the path. What is no id is answered with 404.
pub(super) fn id(words: &str) -> Parameter {
    let parameter = ParameterBuilder::new().name("id").parameter_in(ParameterIn::Path);
    parameter.required(Required::True).description(Some(words)).schema(Some(uuid())).build()
}

/// An optional parameter of the query string.
pub(super) fn query(name: &str, words: &str, schema: impl Into<Schema>) -> Parameter {
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query);
    parameter.required(Required::False).description(Some(words)).schema(Some(schema.into())).build()
}

/// An optional header.
pub(super) fn header(name: &str, words: &str, schema: impl Into<Schema>) -> Parameter {
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Header);
    parameter.required(Required::False).description(Some(words)).schema(Some(schema.into())).build()
}

/// Text.
pub(super) fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// A UUID.
pub(super) fn uuid() -> ObjectBuilder {
    text().format(Some(SchemaFormat::Custom("uuid".to_owned())))
}

/// Text that is one of some.
pub(super) fn one_of<'a>(values: impl IntoIterator<Item = &'a str>) -> ObjectBuilder {
    text().enum_values(Some(values))
}

/// A day: `2026-01-31`.
pub(super) fn day() -> ObjectBuilder {
    text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))
}

/// A whole number that is not less than `least`.
pub(super) fn whole(least: u32, default: Option<u32>) -> ObjectBuilder {
    let number = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least));
    number.default(default.map(Into::into))
}
