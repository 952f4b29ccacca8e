//! The description of the API against the API itself: each answer of these tests is looked up
//! in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use super::{Answer, Harness};
use crate::api::openapi;
use crate::api::router::{ROUTES, route_of};

/// What is not described: the description.
const UNDESCRIBED: &str = "/openapi.json";

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// The description without what requests may hold.
static DESCRIPTION: LazyLock<Value> = LazyLock::new(openapi::same_for_all);

/// For each path, method and status the schema of its body; none for one without a JSON body.
static ANSWERS: LazyLock<BTreeMap<(String, String, String), Option<Validator>>> = LazyLock::new(|| {
    let mut answers = BTreeMap::new();
    for (path, method, operation) in operations() {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let schema = response["content"].get("application/json").map(|content| &content["schema"]);
            let key = (path.clone(), method.clone(), status.clone());
            answers.insert(key, schema.map(ready));
        }
    }
    answers
});

fn operations() -> impl Iterator<Item = (String, String, &'static Value)> {
    let paths = DESCRIPTION["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (path.clone(), method.to_uppercase(), operation))
    })
}

fn ready(schema: &Value) -> Validator {
    let mut document = schema.clone();
    document["components"] = DESCRIPTION["components"].clone();
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(true);
    options.build(&document).unwrap()
}

/// Fails when an answer is not as it is described.
pub(super) fn fits(method: &Method, path: &str, answer: &Answer) {
    let route = route_of(path);
    let is_everywhere = answer.status == StatusCode::METHOD_NOT_ALLOWED || answer.status.as_u16() == 500;
    // A HEAD is a GET, and OPTIONS is between a browser and the layer around the API.
    let is_implied = [Method::HEAD, Method::OPTIONS].contains(method);
    if !ROUTES.iter().any(|(path, _)| *path == route) || route == UNDESCRIBED || is_everywhere || is_implied {
        return;
    }
    let status = answer.status.as_str();
    let key = (route.to_owned(), method.to_string(), status.to_owned());
    let schema =
        ANSWERS.get(&key).unwrap_or_else(|| panic!("{method} {route} is not said to answer {status}"));
    match schema {
        Some(schema) => {
            let body = answer.json();
            let complaint = schema.iter_errors(&body).next();
            assert!(complaint.is_none(), "{method} {route} answered {body}: {}", complaint.unwrap());
        }
        None => assert_ne!(answer.header("content-type"), "application/json", "{method} {route} {status}"),
    }
}

#[tokio::test]
async fn every_operation_is_described_and_every_described_one_exists() {
    let harness = Harness::new().await;
    let mut found = BTreeSet::new();
    for (path, _) in ROUTES.into_iter().filter(|(path, _)| *path != UNDESCRIBED) {
        for method in METHODS {
            let request = Harness::request(method.as_str(), path).body(Body::empty()).unwrap();
            if harness.send(request).await.status != StatusCode::METHOD_NOT_ALLOWED {
                found.insert((path.to_owned(), method.to_string()));
            }
        }
    }
    let described: BTreeSet<_> = operations().map(|(path, method, _)| (path, method)).collect();
    assert_eq!(found, described);
}

#[tokio::test]
async fn the_document_describes_this_host() {
    let harness = Harness::new().await;
    let document = harness.get("/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{ "url": "http://speech.example" }]));
    assert_eq!(document["security"], json!([{ "x-service-key": [] }]));
    assert_eq!(document["components"]["securitySchemes"]["x-service-key"]["in"], "header");
    let schemas = &document["components"]["schemas"];
    let request = &schemas["PreRecordedRequest"]["properties"];
    assert_eq!(request["model"]["enum"], json!(["stt-1", "solaria-1", null]));
    assert_eq!(request["shout_config"]["anyOf"][0]["$ref"], "#/components/schemas/ShoutConfig");
    assert_eq!(schemas["ShoutConfig"]["properties"]["word"]["type"], "string");
    let ids: Vec<&Value> = operations().map(|(_, _, operation)| &operation["operationId"]).collect();
    assert!(ids.iter().all(|id| id.is_string() && ids.iter().filter(|other| other == &id).count() == 1));
    assert_no_dangling_reference(&document, &document);
}

fn assert_no_dangling_reference(part: &Value, document: &Value) {
    if let Some(target) = part.get("$ref").and_then(Value::as_str) {
        let pointer = target.strip_prefix('#').expect("the document stands alone");
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    match part {
        Value::Array(items) => items.iter().for_each(|item| assert_no_dangling_reference(item, document)),
        Value::Object(members) => {
            members.values().for_each(|member| assert_no_dangling_reference(member, document));
        }
        _ => {}
    }
}

#[tokio::test]
async fn the_page_is_whole_and_names_no_other_host() {
    let harness = Harness::new().await;
    let redirect = harness.get("/docs").await;
    assert_eq!((redirect.status.as_u16(), redirect.header("location")), (308, "docs/"));
    let page = harness.get("/docs/").await;
    assert_eq!(page.header("content-type"), "text/html");
    assert!(page.header("content-security-policy").starts_with("default-src 'self'"));
    let text = String::from_utf8(page.bytes).unwrap();
    let parts = text.split(['"']).filter(|part| part.ends_with(".js") || part.ends_with(".css"));
    let parts: Vec<&str> = parts.collect();
    assert!(parts.len() >= 4, "{parts:?}");
    for part in parts {
        assert!(!part.contains("//"), "{part}");
        let answer = harness.get(&format!("/docs/{}", part.trim_start_matches("./"))).await;
        assert_eq!(answer.status, StatusCode::OK, "{part}");
    }
    let start = harness.get("/docs/swagger-initializer.js").await;
    let start = String::from_utf8(start.bytes).unwrap();
    assert!(start.contains("\"../openapi.json\"") && start.contains("\"validatorUrl\": \"none\""), "{start}");
    harness.get("/docs/nothing.js").await.envelope(404);
    harness.get("/docs/..%2f..%2fCargo.toml").await.envelope(404);
    assert!(redirect.headers.get(header::CONTENT_SECURITY_POLICY).is_none());
}

#[tokio::test]
async fn the_description_is_made_once() {
    let harness = Harness::new().await;
    let [first, again] = [(); 2].map(|()| harness.api.description.of(&harness.api));
    assert_eq!(first.as_ptr(), again.as_ptr(), "the same bytes, not equal ones");
}
