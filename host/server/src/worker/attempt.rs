//! One claim of a job, from the lease to its end.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::Parts;
use super::assemble::Finished;
use super::blocking::on_disk;
use super::checkpoint::{Checkpoints, Identity};
use super::failure::{Failure, Stop};
use super::heartbeat::Heartbeat;
use super::progress::Progress;
use super::retry::{Failed, chance, next_try_ms};
use super::run::{Run, run_job, to_json};
use super::scratch::Scratch;
use super::slots::Place;
use super::steps::Steps;
use crate::deliver;
use crate::metrics;
use crate::model::cause::chain;
use crate::model::code::{Blame, Code};
use crate::model::event::Event;
use crate::model::id::BlobArea;
use crate::store::{Claimed, Ending, Outcome};
use crate::telemetry;

/// Processes that a job may end before it is given up.
const CRASHES_ALLOWED: i64 = 3;
/// Pause between tries to write how a claim ended.
const SETTLE_PAUSE: Duration = Duration::from_secs(1);

/// Works on a claimed job, as a part of the trace that its request began.
pub(super) async fn attempt<S: Steps>(
    parts: &Parts<S>,
    claimed: Claimed,
    place: Place,
    cancel: CancellationToken,
) {
    let (job, number) = (&claimed.job, claimed.lease.attempt);
    let span = tracing::info_span!(
        "job",
        otel.kind = "consumer",
        otel.status_code = Empty,
        job.id = %job.id,
        job.kind = job.kind.name(),
        job.model = job.spec.model,
        job.attempt = number,
        job.audio_s = Empty,
        job.outcome = Empty,
    );
    telemetry::adopt(&span, job.spec.trace_parent.as_deref());
    work(parts, claimed, place, cancel).instrument(span).await;
}

/// 1. Keep the lease while working.
/// 2. Give up a job that ended its process too often; of others, a panic is a failure of ours.
/// 3. Write how the claim ended.
/// 4. Clean up.
async fn work<S: Steps>(parts: &Parts<S>, claimed: Claimed, place: Place, cancel: CancellationToken) {
    let history = History { faults: claimed.faults, first_claim_ms: claimed.first_claim_ms };
    let crashes = claimed.crashes;
    tracing::info!(job = %claimed.job.id, attempt = claimed.lease.attempt, crashes, "job claimed");
    let run = begin(parts, claimed, place, cancel);
    let heartbeat = Heartbeat {
        store: run.store.clone(),
        lease: run.lease.clone(),
        progress: run.progress.clone(),
        clock: parts.clock.clone(),
        lease_time: parts.settings.lease_time,
    };
    let heartbeat = AbortOnDropHandle::new(tokio::spawn(heartbeat.keep(run.cancel.clone())));
    let outcome = if crashes >= CRASHES_ALLOWED {
        let cause = format!("{crashes} processes ended while they computed it");
        Err(Failure::plain(Code::StoppedUnexpectedly, cause).into())
    } else {
        let work = AssertUnwindSafe(run_job(&parts.steps, &run)).catch_unwind();
        work.await.unwrap_or_else(|_| Err(Failure::plain(Code::Internal, "the worker panicked").into()))
    };
    // What follows may have to wait for the database, and computes nothing.
    run.place.leave();
    let verdict = judge(parts, &run, &history, outcome).await;
    let written = settle(parts, &run, verdict).await;
    drop(heartbeat);
    if let Some(Verdict::End(ending, figures)) = written {
        note_end(&run, &ending, figures.as_ref());
        clean_up(&run).await;
    }
}

/// What a run needs. A job whose plan keeps nothing leaves no checkpoint and no file with a name.
fn begin<S: Steps>(parts: &Parts<S>, claimed: Claimed, place: Place, cancel: CancellationToken) -> Run {
    let Claimed { lease, job, checkpoints, .. } = claimed;
    let (store, blobs, place) = (parts.store.clone(), parts.blobs.clone(), Arc::new(place));
    let scratch_dir = &parts.settings.scratch_dir;
    let (checkpoints, scratch) = if job.zero_retention {
        let none = Checkpoints::none(store.clone(), blobs, lease.clone(), place.clone());
        (none, Scratch::nameless(scratch_dir))
    } else {
        let known = Checkpoints::new(store.clone(), blobs, lease.clone(), place.clone(), checkpoints);
        (known, Scratch::of(scratch_dir, job.id))
    };
    Run {
        scratch,
        progress: Arc::new(Progress::since(&job.post_session_metadata)),
        checkpoints: Arc::new(checkpoints),
        trail: Mutex::new(Identity::start()),
        place,
        store,
        lease,
        cancel,
        job,
    }
}

/// What came before this claim.
struct History {
    faults: i64,
    first_claim_ms: i64,
}

/// What is written at the end of a claim.
enum Verdict {
    /// The job is final.
    End(Ending, Option<Figures>),
    /// Somebody may try again.
    Release { due_ms: i64, is_fault: bool },
}

/// Measured of a job that is done.
struct Figures {
    audio_s: f64,
    billed_s: f64,
    transcription: Duration,
}

async fn judge<S: Steps>(
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

fn error_ending(run: &Run, failure: &Failure, completed_ms: i64) -> Ending {
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

/// Writes how a claim ended, again and again while the database does not answer, and returns what
/// was written. A result that the database refuses for good becomes a failure of ours. Nothing
/// is written when the lease is lost or the service stops: the job is then taken up from its
/// last checkpoint.
async fn settle<S: Steps>(parts: &Parts<S>, run: &Run, mut verdict: Verdict) -> Option<Verdict> {
    loop {
        let written = match &verdict {
            Verdict::End(ending, _) => run.store.finish(&run.lease, ending.clone()).await,
            Verdict::Release { due_ms, is_fault } => run.store.release(&run.lease, *due_ms, *is_fault).await,
        };
        let error = match written {
            Ok(is_ours) => return is_ours.then_some(verdict),
            Err(error) => error,
        };
        let is_final = error.is_permanent();
        tracing::error!(job = %run.job.id, is_final, error = chain(&error), "the end of a job cannot be written");
        match &verdict {
            Verdict::End(Ending { outcome: Outcome::Done { .. }, .. }, _) if is_final => {
                let failure = Failure::new(Code::Internal, &error);
                note_failure(failure.code);
                verdict = Verdict::End(error_ending(run, &failure, parts.clock.now_ms()), None);
                continue;
            }
            _ if is_final => return None,
            _ => {}
        }
        tokio::select! {
            () = tokio::time::sleep(SETTLE_PAUSE) => {}
            () = run.cancel.cancelled() => return None,
        }
    }
}

fn note_failure(code: Code) {
    Span::current().record("job.outcome", code.name()).record("otel.status_code", "ERROR");
}

fn note_end(run: &Run, ending: &Ending, figures: Option<&Figures>) {
    if let Some(Figures { audio_s, billed_s, transcription }) = figures {
        Span::current().record("job.outcome", "done").record("job.audio_s", audio_s);
        metrics::transcribed(*billed_s, *transcription);
    }
    let code = match ending.outcome {
        Outcome::Done { .. } => 200,
        Outcome::Error { error_code } => error_code,
    };
    let age_ms = ending.completed_ms - run.job.created_ms;
    metrics::job_ended(code, Duration::from_millis(age_ms.max(0).unsigned_abs()));
}

/// What cannot be removed here is removed by the sweeper.
async fn clean_up(run: &Run) {
    run.checkpoints.delete_blobs().await;
    let scratch = run.scratch.clone();
    if let Err(error) = on_disk(move || scratch.remove()).await {
        tracing::warn!(job = %run.job.id, error = chain(&error), "scratch folder cannot be removed");
    }
    tracing::info!(job = %run.job.id, "job ended");
}
