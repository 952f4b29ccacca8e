//! One attempt to deliver a message, from its claim to the note of how it ended.

use std::time::Duration;

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
use crate::model::date::{self, later};
use crate::model::event::Target;
use crate::model::secret::Secret;
use crate::store::{Attempted, DeliveryClaim};
use crate::telemetry;

/// Pause after a shortage of ours.
const SHORTAGE_PAUSE: Duration = Duration::from_secs(30);
/// How long after a message was written a shortage of ours takes none of its attempts. Then it does,
/// or what the message is about might be kept for ever.
const SHORTAGE_HORIZON: Duration = Duration::from_secs(24 * 3600);

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
        None => return Attempted::Released { error: None, next_try_ms: now_ms },
        Some(Ok(())) => return Attempted::Delivered { at_ms: now_ms },
        Some(Err(failure)) => failure,
    };
    let error = failure.to_string();
    if failure == Failure::Shortage && now_ms < later(claim.created_ms, SHORTAGE_HORIZON) {
        return Attempted::Released { error: Some(error), next_try_ms: later(now_ms, SHORTAGE_PAUSE) };
    }
    let pause = settings.pause_after(claim.attempt).filter(|_| !failure.is_final());
    Attempted::Failed { error, next_try_ms: pause.map(|pause| later(now_ms, pause)) }
}

/// Logs, counts and traces what was written down.
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
        Attempted::Released { error: Some(error), .. } => {
            span.record("delivery.error", error.as_str()).record("otel.status_code", "ERROR");
            tracing::warn!(%delivery, %job, event, attempt, failure = %error, "put off, which counts as no attempt");
            metrics::delivery_tried(target, "failed");
        }
        Attempted::Released { error: None, .. } => {}
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
        Err(error) => Err(Failure::ours(claim, "read the webhook", error.code(), &error)),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::model::event::Event;
    use crate::model::id::JobId;
    use crate::model::job::CallbackMethod;
    use crate::store::Delivery;

    const DAY_MS: i64 = 24 * 3_600_000;

    /// The last attempt, for a message that was written at 0.
    fn last_claim() -> DeliveryClaim {
        let delivery = Delivery {
            id: Uuid::new_v4(),
            event: Event::TranscriptionSuccess,
            target: Target::Callback,
            url: "http://example.com/".to_owned(),
            method: CallbackMethod::Post,
            webhook_id: None,
        };
        DeliveryClaim { delivery, job_id: JobId::new(), created_ms: 0, owner: "p".to_owned(), attempt: 6 }
    }

    fn after(failure: Failure, now_ms: i64) -> Attempted {
        decide(&Settings::default(), &last_claim(), Some(Err(failure)), now_ms)
    }

    #[test]
    fn a_shortage_of_ours_takes_no_attempt_for_a_day() {
        let error = Failure::Shortage.to_string();
        let put_off = Attempted::Released { error: Some(error.clone()), next_try_ms: DAY_MS - 1 + 30_000 };
        assert_eq!(after(Failure::Shortage, DAY_MS - 1), put_off);
        assert_eq!(after(Failure::Shortage, DAY_MS), Attempted::Failed { error, next_try_ms: None });
    }

    #[test]
    fn a_defect_of_ours_counts_like_a_fault_of_the_receiver() {
        for failure in [Failure::Internal, Failure::Timeout] {
            let error = failure.to_string();
            assert_eq!(after(failure, 1), Attempted::Failed { error, next_try_ms: None });
        }
    }
}
