//! What is said: made from the job and its kept result at the moment of sending.

use std::io;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::{Value, json};
use tokio::fs::File;
use tokio::io::AsyncSeekExt;
use tokio_util::io::ReaderStream;

use super::failure::Failure;
use super::sign::Signature;
use crate::blob::{BlobError, Blobs};
use crate::model::code::Code;
use crate::model::event::{Event, Target};
use crate::model::id::JobId;
use crate::store::{DeliveryClaim, Job, Store, StoreError};

/// Bytes of a result in memory at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// The kept result cannot be read to its end.
#[derive(Debug, thiserror::Error)]
#[error("the kept result cannot be read")]
pub(super) struct Unreadable(#[from] io::Error);

impl Unreadable {
    /// Whether it is a shortage or a defect.
    pub fn code(&self) -> Code {
        Code::of_disk(&self.0)
    }
}

/// JSON text before, from and after a result, which is never in memory as a whole.
pub(super) struct Message {
    before: Bytes,
    result: Option<File>,
    after: Bytes,
    size_bytes: u64,
}

impl Message {
    /// The message of a delivery as things stand now.
    pub async fn build(store: &Store, blobs: &Blobs, claim: &DeliveryClaim) -> Result<Self, Failure> {
        if claim.delivery.target == Target::Webhook {
            return Ok(Self::text(webhook(claim.delivery.event, claim.job_id)));
        }
        let ours = |error: StoreError| Failure::ours(claim, "read the job", error.code(), &error);
        let job = store.find_job(claim.job_id).await.map_err(ours)?;
        let job = job.ok_or(Failure::Erased)?;
        if claim.delivery.event != Event::TranscriptionSuccess {
            return Ok(Self::text(error(claim.delivery.event, &job)));
        }
        let key = job.result_key.as_ref().ok_or(Failure::Erased)?;
        match blobs.open_blob(key).await {
            Ok(result) => Self::around(File::from_std(result), &job, claim).await,
            Err(BlobError::Missing(_)) => Err(Failure::Erased),
            Err(error) => Err(Failure::ours(claim, "open the result", error.code(), &error)),
        }
    }

    fn text(value: Value) -> Self {
        let before = Bytes::from(value.to_string());
        Self { size_bytes: before.len() as u64, before, result: None, after: Bytes::new() }
    }

    async fn around(result: File, job: &Job, claim: &DeliveryClaim) -> Result<Self, Failure> {
        let mut before = json!({ "id": job.id, "event": claim.delivery.event.name() }).to_string();
        before.pop();
        before.push_str(",\"payload\":");
        let after = format!(",\"custom_metadata\":{}}}", json!(job.spec.custom_metadata));
        let ours =
            |error: io::Error| Failure::ours(claim, "measure the result", Code::of_disk(&error), &error);
        let length = result.metadata().await.map_err(ours)?.len();
        let size_bytes = before.len() as u64 + length + after.len() as u64;
        Ok(Self { before: before.into(), result: Some(result), after: after.into(), size_bytes })
    }

    /// Length of the whole text.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Reads the whole once into `signature`.
    pub async fn sign(&self, mut signature: Signature) -> Result<String, Unreadable> {
        let mut pieces = self.pieces().await?;
        while let Some(piece) = pieces.next().await {
            signature.update(&piece?);
        }
        Ok(signature.finish())
    }

    /// The text from its beginning, in pieces.
    pub async fn pieces(&self) -> Result<BoxStream<'static, Result<Bytes, Unreadable>>, Unreadable> {
        let result = match &self.result {
            Some(file) => {
                let mut again = file.try_clone().await?;
                again.rewind().await?;
                Some(again)
            }
            None => None,
        };
        let read = |file: File| {
            ReaderStream::with_capacity(file, PIECE_BYTES).map(|piece| piece.map_err(Unreadable))
        };
        let middle = stream::iter(result).flat_map(read);
        let ends = |text: &Bytes| stream::iter([Ok(text.clone())]);
        Ok(ends(&self.before).chain(middle).chain(ends(&self.after)).boxed())
    }
}

fn webhook(event: Event, id: JobId) -> Value {
    json!({ "event": event.name(), "payload": { "id": id } })
}

fn error(event: Event, job: &Job) -> Value {
    json!({
        "id": job.id,
        "event": event.name(),
        "error": {
            "code": job.error_code,
            "message": job.post_session_metadata.get("error").and_then(|error| error.get("message")),
        },
        "custom_metadata": job.spec.custom_metadata,
    })
}
