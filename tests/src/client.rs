//! A small client of the HTTP API.

use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use serde_json::{Value, json};

/// How long a job of the tests may take.
const JOB_LIMIT: Duration = Duration::from_secs(300);

/// An answer, whatever its status.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// The body as JSON; null when it is none.
    pub body: Value,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

/// A client with a key.
#[derive(Clone)]
pub struct Client {
    base: String,
    key: String,
    http: reqwest::Client,
}

impl Client {
    /// A client of the server at `base`.
    pub fn new(base: &str, key: &str) -> Self {
        // A second test in the same process finds the provider installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { base: base.to_owned(), key: key.to_owned(), http }
    }

    /// GET with the key.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.http.get(format!("{}{path}", self.base))).await
    }

    /// DELETE with the key.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.http.delete(format!("{}{path}", self.base))).await
    }

    /// POST of JSON with the key.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.http.post(format!("{}{path}", self.base)).json(body)).await
    }

    /// POST of any bytes with the key.
    pub async fn post_bytes(&self, path: &str, content_type: &str, body: Vec<u8>) -> Answer {
        let request = self.http.post(format!("{}{path}", self.base)).header("content-type", content_type);
        self.send(request.body(body)).await
    }

    /// Uploads bytes and gives the `audio_url`.
    pub async fn upload(&self, name: &str, bytes: Vec<u8>) -> Answer {
        let part = reqwest::multipart::Part::bytes(bytes).file_name(name.to_owned());
        let form = reqwest::multipart::Form::new().part("audio", part);
        self.send(self.http.post(format!("{}/v2/upload", self.base)).multipart(form)).await
    }

    /// Posts a job and gives its id.
    pub async fn create(&self, body: &Value) -> String {
        let answer = self.post("/v2/pre-recorded", body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["id"].as_str().expect("an id").to_owned()
    }

    /// The job as it stands.
    pub async fn job(&self, id: &str) -> Value {
        let answer = self.get(&format!("/v2/pre-recorded/{id}")).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    }

    /// Waits until the job is final.
    pub async fn wait(&self, id: &str) -> Value {
        let begun = Instant::now();
        while begun.elapsed() < JOB_LIMIT {
            let job = self.job(id).await;
            if job["status"] == "done" || job["status"] == "error" {
                return job;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("job {id} did not end within {JOB_LIMIT:?}")
    }

    /// Posts a job with further members and waits for its end.
    pub async fn run(&self, audio_url: &str, more: Value) -> Value {
        let mut body = more;
        body["audio_url"] = json!(audio_url);
        let id = self.create(&body).await;
        self.wait(&id).await
    }

    /// Sends any request with the key.
    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        self.try_send(request).await.expect("the server answers with a whole body")
    }

    /// Sends any request with the key to a server that may be gone.
    pub async fn try_send(&self, request: reqwest::RequestBuilder) -> reqwest::Result<Answer> {
        let response = request.header("x-service-key", &self.key).send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let bytes = response.bytes().await?.to_vec();
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Ok(Answer { status, headers, body, bytes })
    }

    /// A request without the key, for [`Self::send`] and [`Self::try_send`].
    pub fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }
}
