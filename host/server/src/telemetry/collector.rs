//! The way to the collector of traces: our own HTTP client, on the runtime of the service.
//!
//! The exporter's thread has no runtime, so that requests are handed over. A collector that
//! does not take spans is told of once, and once more when it does again.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use crate::net_guard::{Authorities, client};

/// Longest answer that is read.
const ANSWER_BYTES: usize = 64 * 1024;

/// Sends requests of the exporter.
#[derive(Debug)]
pub(super) struct Collector {
    client: reqwest::Client,
    runtime: Handle,
    is_failing: AtomicBool,
}

impl Collector {
    /// Belongs to the runtime that it is made on. The address is the operator's own and may
    /// be private.
    pub fn new(limit: Duration, authorities: &Authorities) -> Result<Self, reqwest::Error> {
        let client = client(true, authorities, |builder| builder.timeout(limit))?;
        Ok(Self { client, runtime: Handle::current(), is_failing: AtomicBool::new(false) })
    }

    fn note(&self, failure: Option<String>) {
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(cause) if !was_failing => {
                tracing::warn!(cause, "the collector of traces does not take spans; they are dropped");
            }
            None if was_failing => tracing::info!("the collector of traces takes spans again"),
            _ => {}
        }
    }
}

impl HttpClient for Collector {
    fn send_bytes<'collector, 'sending>(
        &'collector self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sending>>
    where
        'collector: 'sending,
        Self: 'sending,
    {
        let sending = self.runtime.spawn(send(self.client.clone(), request));
        Box::pin(async move {
            let outcome = sending.await.map_err(HttpError::from).and_then(|sent| sent);
            self.note(match &outcome {
                Ok(answer) if answer.status().is_success() => None,
                Ok(answer) => Some(format!("status {}", answer.status())),
                Err(error) => Some(error.to_string()),
            });
            outcome
        })
    }
}

async fn send(client: reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let request = reqwest::Request::try_from(request)?;
    // Without its address: that may hold what keeps strangers out.
    let mut answer = client.execute(request).await.map_err(reqwest::Error::without_url)?;
    let status = answer.status();
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        body.extend_from_slice(&piece);
        if body.len() > ANSWER_BYTES {
            return Err("the answer is too long".into());
        }
    }
    Ok(Response::builder().status(status).body(body.into())?)
}
