//! Files: brought and taken.

use utoipa::openapi::path::{HttpMethod, OperationBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, KnownFormat, ObjectBuilder, Ref, Required, SchemaFormat, Type};

use super::operation::{Described, answer, binary, failing, header, id, operation, text, with_content};
use crate::api::stored::Upload;
use crate::validate;

const TAG: &str = "files";

pub(super) fn operations() -> Vec<Described> {
    let upload = upload(operation(TAG, "upload", "Stores a recording for later jobs")).build();
    let read = read(operation(TAG, "getFile", "Downloads a stored recording")).build();
    vec![
        Described { path: "/v2/upload".to_owned(), method: HttpMethod::Post, operation: upload },
        Described { path: "/file/{id}".to_owned(), method: HttpMethod::Get, operation: read },
    ]
}

fn upload(operation: OperationBuilder) -> OperationBuilder {
    let bytes = text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)));
    let form = ObjectBuilder::new().schema_type(Type::Object).property("audio", bytes).required("audio");
    let by_url = Ref::from_schema_name(validate::UPLOAD_BY_URL);
    let body = RequestBodyBuilder::new()
        .content("multipart/form-data", ContentBuilder::new().schema(Some(form)).build())
        .content("application/json", ContentBuilder::new().schema(Some(by_url)).build())
        .required(Some(Required::True))
        .build();
    let operation = operation
        .request_body(Some(body))
        .response("200", answer::<Upload<'_>>("The recording can be named by jobs."));
    failing(operation, &[400, 401, 403, 404, 408, 413, 415, 422, 429, 502, 503, 504])
}

/// Bytes of a recording, all or some.
pub(super) fn read(operation: OperationBuilder) -> OperationBuilder {
    let range = header("range", "A part of the file, such as bytes=0-1023.", text());
    let operation = operation
        .parameter(id("Id of the file or job."))
        .parameter(range)
        .response("200", with_content("The file.", "application/octet-stream", binary()))
        .response("206", with_content("The part that was asked for.", "application/octet-stream", binary()));
    failing(operation, &[401, 403, 404, 416, 429, 503])
}
