//! The router over a real store and blob folder; add-ons are scripted.

mod collections;
mod connections;
mod cors;
mod deliveries;
mod description;
mod erasure;
mod errors;
mod files;
mod fuzz;
mod idempotency;
mod jobs;
mod lists;
mod logs;
mod plans;
mod rows;
mod uploads;
mod usage;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, request};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{AddonDesk, Api, ApiSettings, ConfigProblem, ConfigRefusal, router};
use crate::auth::Keys;
use crate::blob::Blobs;
use crate::config::{self, Auth, Secret};
use crate::limits::Policies;
use crate::model::job::PlannedAddon;
use crate::store::Store;
use crate::validate::{AddonFacts, Catalogue, HostRules, ModelRules};

const KEY: &str = "test-key";
const AUDIO: &str = "https://audio.example/a.wav";

/// One add-on, `shout`, whose word must be loud; `crash` makes it fail.
struct Scripted(Arc<Catalogue>);

impl Scripted {
    fn new() -> Self {
        let facts = AddonFacts {
            name: "shout".into(),
            flag: "shout".into(),
            config_key: Some("shout_config".into()),
            schema: json!({ "type": "object", "properties": { "word": { "type": "string" } } }),
            digest: "0".repeat(64),
            requires: Vec::new(),
            forced: false,
            redacts: false,
        };
        Self(Arc::new(Catalogue::new(vec![facts], Vec::new()).0))
    }
}

impl AddonDesk for Scripted {
    fn catalogue(&self) -> Arc<Catalogue> {
        self.0.clone()
    }

    fn normalise<'a>(&'a self, addon: &'a PlannedAddon) -> BoxFuture<'a, Result<String, ConfigRefusal>> {
        Box::pin(async move {
            let config: Value = serde_json::from_str(&addon.config).unwrap();
            match config["word"].as_str() {
                Some("crash") => Err(ConfigRefusal::Failed),
                Some(word) if word != word.to_uppercase() => {
                    Err(ConfigRefusal::Problems(vec![ConfigProblem {
                        pointer: "/word".into(),
                        message: "must be loud".into(),
                    }]))
                }
                word => Ok(json!({ "word": word.unwrap_or("HEY"), "times": 3 }).to_string()),
            }
        })
    }
}

/// A stored result with this transcript.
fn result_of(text: &str) -> String {
    let metadata = json!({
        "audio_duration": 1.5, "number_of_distinct_channels": 1, "billing_time": 1.5, "transcription_time": 0.25,
    });
    let transcription = json!({ "full_transcript": text, "languages": ["en"], "utterances": [] });
    json!({ "metadata": metadata, "transcription": transcription }).to_string()
}

/// An API over a data folder of its own.
struct Harness {
    api: Arc<Api>,
    router: Router,
    folder: tempfile::TempDir,
}

/// An answer, read completely.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("{:?}", String::from_utf8_lossy(&self.bytes)))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Checks that this is an error envelope with this status, and returns it.
    fn envelope(&self, status: u16) -> Value {
        let body = self.json();
        assert_eq!(self.status.as_u16(), status, "{body}");
        assert_eq!(body["statusCode"], status, "{body}");
        for member in ["timestamp", "path", "request_id", "message"] {
            assert!(body[member].as_str().is_some_and(|text| !text.is_empty()), "{member} in {body}");
        }
        assert_eq!(body["request_id"], self.header("x-request-id"));
        assert_eq!(body["request_id"], self.header("x-aipi-call-id"));
        assert_eq!(body.get("validation_errors").is_some(), matches!(status, 400 | 422), "{body}");
        for entry in body["validation_errors"].as_array().into_iter().flatten() {
            let entry = entry.as_str().expect("entries are strings");
            assert!(entry.contains(" must ") || entry.contains(" is required"), "{entry}");
        }
        body
    }
}

impl Harness {
    async fn new() -> Self {
        Self::with(|_| {}, Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() }).await
    }

    async fn with(change: impl FnOnce(&mut ApiSettings), auth: Auth) -> Self {
        Self::build(change, auth, "").await
    }

    /// With the plans of this configuration text.
    async fn planned(plans: &str) -> Self {
        let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
        Self::build(|_| {}, auth, plans).await
    }

    async fn build(change: impl FnOnce(&mut ApiSettings), auth: Auth, plans: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("tympan.db")).await.unwrap();
        let blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
        let mut settings = ApiSettings::default();
        change(&mut settings);
        let rules = HostRules {
            models: vec![ModelRules { name: "stt-1".into(), languages: Vec::new(), code_switching: true }],
            model_aliases: BTreeMap::from([("solaria-1".into(), "stt-1".into())]),
            allow_private_urls: false,
        };
        let policies = Arc::new(Policies::new(config::from_text(plans).unwrap().plans));
        let desk = Arc::new(Scripted::new());
        let api = Arc::new(Api::new(store, blobs, Keys::new(&auth), policies, rules, desk, settings));
        Self { router: router(api.clone()), api, folder }
    }

    fn request(method: &str, path: &str) -> request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "speech.example")
            .header("x-service-key", KEY)
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap().to_vec();
        let answer = Answer { status: parts.status, headers: parts.headers, bytes };
        description::fits(&method, &path, &answer);
        answer
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Self::request("GET", path).body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, body.to_string()).await
    }

    async fn delete(&self, path: &str) -> Answer {
        self.send(Self::request("DELETE", path).body(Body::empty()).unwrap()).await
    }

    async fn patch(&self, path: &str, body: &Value) -> Answer {
        let request = Self::request("PATCH", path).header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    async fn post_text(&self, path: &str, body: impl Into<Body>) -> Answer {
        let request = Self::request("POST", path).header("content-type", "application/json");
        self.send(request.body(body.into()).unwrap()).await
    }
}
