//! How a claim ends: with a result, with an error, or with another try.

use std::time::Duration;

use serde_json::{Map, json};
use tracing::Span;

use super::Parts;
use super::assemble::Finished;
use super::failure::{Failure, Stop};
use super::retry::{Failed, chance, next_try_ms};
use super::run::{Run, to_json};
use super::steps::Steps;
use crate::deliver;
use crate::model::code::{Blame, Code};
use crate::model::event::Event;
use crate::model::id::BlobArea;
use crate::store::{Ending, Outcome};

/// What came before this claim.
pub(super) struct History {
    pub faults: i64,
    pub first_claim_ms: i64,
}

/// What is written at the end of a claim.
pub(super) enum Verdict {
    /// The job is final.
    End(Ending, Option<Figures>),
    /// Somebody may try again.
    Release { due_ms: i64, is_fault: bool },
}

/// Measured of a job that is done.
pub(super) struct Figures {
    pub audio_s: f64,
    pub billed_s: f64,
    pub transcription: Duration,
}

/// Saves the result of a run that has one; of the others, decides whether somebody tries again.
pub(super) async fn judge<S: Steps>(
    parts: &Parts<S>,
    run: &Run,
    history: &History,
    outcome: Result<Finished, Stop>,
) -> Verdict {
    let saved = match outcome {
        Ok(finished) => save_result(parts, run, finished).await,
        Err(stop) => Err(stop),
    };
    let now_ms = parts.clock.now_ms();
    let failure = match saved {
        Ok((ending, figures)) => return Verdict::End(ending, Some(figures)),
        Err(Stop::Cancelled) => return Verdict::Release { due_ms: now_ms, is_fault: false },
        Err(Stop::Failed(failure)) => failure,
    };
    let failed = Failed {
        blame: failure.code.blame(),
        attempt: run.lease.attempt,
        faults: history.faults,
        received_ms: run.job.created_ms,
        first_claim_ms: history.first_claim_ms,
        now_ms,
        retry_after: failure.retry_after,
    };
    let next_try_ms = next_try_ms(&failed, parts.settings.retry_horizon, chance());
    let (code, step) = (failure.code.name(), run.progress.step().name());
    let (job, cause, is_final) = (run.job.id, &failure.cause, next_try_ms.is_none());
    note_failure(failure.code);
    match failed.blame {
        Blame::Us => tracing::error!(%job, step, code, cause, is_final, "job failed"),
        _ => tracing::warn!(%job, step, code, cause, is_final, "job failed"),
    }
    match next_try_ms {
        Some(due_ms) => Verdict::Release { due_ms, is_fault: failed.blame == Blame::Us },
        None => Verdict::End(error_ending(run, &failure, now_ms), None),
    }
}

async fn save_result<S: Steps>(
    parts: &Parts<S>,
    run: &Run,
    finished: Finished,
) -> Result<(Ending, Figures), Stop> {
    let result_key = parts.blobs.put(BlobArea::Result, to_json(&finished.result)).await?;
    let measured = &finished.result.metadata;
    let billed_s = measured.billing_time;
    let figures = Figures {
        audio_s: measured.audio_duration,
        billed_s,
        transcription: Duration::from_secs_f64(measured.transcription_time),
    };
    let mut notes = finished.notes;
    notes.insert("attempts".to_owned(), json!(run.lease.attempt));
    let ending = Ending {
        outcome: Outcome::Done { result_key, billed_s },
        completed_ms: parts.clock.now_ms(),
        post_session_metadata: notes,
        deliveries: deliver::for_ending(&run.job.spec, Event::TranscriptionSuccess),
    };
    Ok((ending, figures))
}

pub(super) fn error_ending(run: &Run, failure: &Failure, completed_ms: i64) -> Ending {
    let error = json!({
        "name": failure.code.name(),
        "message": failure.message,
        "step": run.progress.step().name(),
    });
    let mut notes = Map::new();
    notes.insert("error".to_owned(), error);
    notes.insert("attempts".to_owned(), json!(run.lease.attempt));
    Ending {
        outcome: Outcome::Error { error_code: failure.code.status() },
        completed_ms,
        post_session_metadata: notes,
        deliveries: deliver::for_ending(&run.job.spec, Event::TranscriptionError),
    }
}

/// On the span of the job.
pub(super) fn note_failure(code: Code) {
    Span::current().record("job.outcome", code.name()).record("otel.status_code", "ERROR");
}
