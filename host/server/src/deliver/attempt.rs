//! One attempt to deliver a message, from its claim to the note of how it ended.

use tokio_util::sync::CancellationToken;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::body::Message;
use super::failure::Failure;
use super::post::post;
use super::sender::Sending;
use super::settings::Settings;
use crate::metrics;
use crate::model::cause::chain;
use crate::model::date;
use crate::model::event::Target;
use crate::model::secret::Secret;
use crate::store::{Attempted, DeliveryClaim};
use crate::telemetry;

/// 1. Send, or be told to stop.
/// 2. Decide what is next.
/// 3. Note it; when that fails, the end of the lease makes the message due again.
/// 4. Tell it, once it is true.
pub(super) async fn attempt(sending: &Sending, claim: DeliveryClaim, cancel: CancellationToken) {
    let span = span(sending, &claim).await;
    let outcome = tokio::select! {
        outcome = send(sending, &claim).instrument(span.clone()) => Some(outcome),
        () = cancel.cancelled() => None,
    };
    let attempted = decide(&sending.settings, &claim, outcome, date::now_ms());
    let (delivery, job) = (claim.delivery.id, claim.job_id);
    match sending.store.end_attempt(&claim, attempted.clone()).await {
        Ok(true) => tell(&span, &claim, &attempted),
        Ok(false) => tracing::warn!(%delivery, %job, "an attempt ended after its claim"),
        Err(error) => {
            tracing::error!(%delivery, %job, error = chain(&error), "the end of an attempt cannot be written");
        }
    }
}

/// What is next; without an outcome we were told to stop.
fn decide(
    settings: &Settings,
    claim: &DeliveryClaim,
    outcome: Option<Result<(), Failure>>,
    now_ms: i64,
) -> Attempted {
    let failure = match outcome {
        None => return Attempted::Released { next_try_ms: now_ms },
        Some(Ok(())) => return Attempted::Delivered { at_ms: now_ms },
        Some(Err(failure)) => failure,
    };
    let pause = settings.pause_after(claim.attempt).filter(|_| !failure.is_final());
    let next_try_ms = pause.map(|pause| now_ms.saturating_add(pause.as_millis() as i64));
    Attempted::Failed { error: failure.to_string(), next_try_ms }
}

fn tell(span: &Span, claim: &DeliveryClaim, attempted: &Attempted) {
    let (delivery, job, attempt) = (claim.delivery.id, claim.job_id, claim.attempt);
    let (event, target) = (claim.delivery.event.name(), claim.delivery.target.name());
    match attempted {
        Attempted::Delivered { .. } => {
            tracing::info!(%delivery, %job, event, attempt, "delivered");
            metrics::delivery_tried(target, "delivered");
        }
        Attempted::Failed { error, next_try_ms } => {
            span.record("delivery.error", error.as_str()).record("otel.status_code", "ERROR");
            let is_final = next_try_ms.is_none();
            tracing::warn!(%delivery, %job, event, attempt, is_final, failure = %error, "not delivered");
            metrics::delivery_tried(target, if is_final { "given_up" } else { "failed" });
        }
        Attempted::Released { .. } => {}
    }
}

/// A part of the trace of the job. Its row is only read where traces are collected.
async fn span(sending: &Sending, claim: &DeliveryClaim) -> Span {
    let span = tracing::info_span!(
        "delivery",
        otel.kind = "producer",
        otel.status_code = Empty,
        job.id = %claim.job_id,
        delivery.id = %claim.delivery.id,
        delivery.event = claim.delivery.event.name(),
        delivery.target = claim.delivery.target.name(),
        delivery.attempt = claim.attempt,
        delivery.error = Empty,
    );
    if !span.is_disabled()
        && let Ok(Some(job)) = sending.store.find_job(claim.job_id).await
    {
        telemetry::adopt(&span, job.spec.trace_parent.as_deref());
    }
    span
}

async fn send(sending: &Sending, claim: &DeliveryClaim) -> Result<(), Failure> {
    let secret = secret(sending, claim).await?;
    let message = Message::build(&sending.store, &sending.blobs, claim).await?;
    let timestamp_s = date::now_ms() / 1000;
    post(&sending.client, &sending.settings, claim, message, secret.as_ref(), timestamp_s).await
}

/// What signs the message. A webhook that is gone hears nothing any more.
async fn secret(sending: &Sending, claim: &DeliveryClaim) -> Result<Option<Secret>, Failure> {
    let id = match (claim.delivery.target, claim.delivery.webhook_id) {
        (Target::Callback, _) => return Ok(sending.settings.callback_secret.clone()),
        (Target::Webhook, Some(id)) => id,
        (Target::Webhook, None) => return Err(Failure::Unregistered),
    };
    match sending.store.get_webhook(id).await {
        Ok(webhook) => Ok(webhook.ok_or(Failure::Unregistered)?.secret),
        Err(error) => Err(Failure::ours(claim, "read the webhook", &error)),
    }
}
