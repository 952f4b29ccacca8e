//! One claim of a job, from the lease to its last word.

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

/// Leases without a word after which a job is given up.
const CRASHES_ALLOWED: i64 = 3;
/// Pause between tries to write a job's last word.
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

/// 1. Give up a job that ended its process too often. 2. Keep the lease while working.
/// 3. Work; a panic is a failure of ours. 4. Write the last word. 5. Clean up.
async fn work<S: Steps>(parts: &Parts<S>, claimed: Claimed, place: Place, cancel: CancellationToken) {
    let Claimed { lease, job, crashes, faults, checkpoints } = claimed;
    tracing::info!(job = %job.id, attempt = lease.attempt, crashes, "job claimed");
    let (store, place) = (parts.store.clone(), Arc::new(place));
    let checkpoints = match job.zero_retention {
        true => Checkpoints::none(store.clone(), parts.blobs.clone(), lease.clone(), place.clone()),
        false => {
            Checkpoints::new(store.clone(), parts.blobs.clone(), lease.clone(), place.clone(), checkpoints)
        }
    };
    let run = Run {
        scratch: match job.zero_retention {
            true => Scratch::nameless(&parts.settings.scratch_dir),
            false => Scratch::of(&parts.settings.scratch_dir, job.id),
        },
        progress: Arc::new(Progress::default()),
        checkpoints: Arc::new(checkpoints),
        trail: Mutex::new(Identity::start()),
        place,
        store,
        lease,
        cancel,
        job,
    };
    let heartbeat = Heartbeat {
        store: run.store.clone(),
        lease: run.lease.clone(),
        progress: run.progress.clone(),
        clock: parts.clock.clone(),
        lease_time: parts.settings.lease_time,
    };
    let heartbeat = AbortOnDropHandle::new(tokio::spawn(heartbeat.keep(run.cancel.clone())));
    let outcome = if crashes >= CRASHES_ALLOWED {
        Err(Failure::plain(Code::StoppedUnexpectedly, format!("{crashes} leases ended without a word"))
            .into())
    } else {
        let work = AssertUnwindSafe(run_job(&parts.steps, &run)).catch_unwind();
        work.await.unwrap_or_else(|_| Err(Failure::plain(Code::Internal, "the worker panicked").into()))
    };
    // The last word may have to wait for the database, and computes nothing.
    run.place.leave();
    let word = last_word(parts, &run, faults, outcome).await;
    let written = settle(parts, &run, word).await;
    drop(heartbeat);
    if let Some(Word::End(ending)) = written {
        note_end(&run, &ending);
        clean_up(&run).await;
    }
}

/// What is written at the end of a claim.
enum Word {
    /// The job is final.
    End(Ending),
    /// Somebody may try again.
    Release { due_ms: i64, is_fault: bool },
}

async fn last_word<S: Steps>(
    parts: &Parts<S>,
    run: &Run,
    faults: i64,
    outcome: Result<Finished, Stop>,
) -> Word {
    let saved = match outcome {
        Ok(finished) => save_result(parts, run, finished).await,
        Err(stop) => Err(stop),
    };
    let now_ms = parts.clock.now_ms();
    let span = Span::current();
    let failure = match saved {
        Ok(ending) => {
            span.record("job.outcome", "done");
            return Word::End(ending);
        }
        Err(Stop::Cancelled) => return Word::Release { due_ms: now_ms, is_fault: false },
        Err(Stop::Failed(failure)) => failure,
    };
    let failed = Failed {
        blame: failure.code.blame(),
        attempt: run.lease.attempt,
        faults,
        received_ms: run.job.created_ms,
        now_ms,
        retry_after: failure.retry_after,
    };
    let next_try_ms = next_try_ms(&failed, parts.settings.retry_horizon, chance());
    let (code, step) = (failure.code.name(), run.progress.step().name());
    let (job, cause, is_final) = (run.job.id, &failure.cause, next_try_ms.is_none());
    span.record("job.outcome", code).record("otel.status_code", "ERROR");
    match failed.blame {
        Blame::Us => tracing::error!(%job, step, code, cause, is_final, "job failed"),
        _ => tracing::warn!(%job, step, code, cause, is_final, "job failed"),
    }
    match next_try_ms {
        Some(due_ms) => Word::Release { due_ms, is_fault: failed.blame == Blame::Us },
        None => Word::End(error_ending(run, &failure, now_ms)),
    }
}

async fn save_result<S: Steps>(parts: &Parts<S>, run: &Run, finished: Finished) -> Result<Ending, Stop> {
    let result_key = parts.blobs.put(BlobArea::Result, to_json(&finished.result)).await?;
    let figures = &finished.result.metadata;
    let billed_s = figures.billing_time;
    Span::current().record("job.audio_s", figures.audio_duration);
    metrics::transcribed(billed_s, Duration::from_secs_f64(figures.transcription_time));
    let mut notes = finished.notes;
    notes.insert("attempts".to_owned(), json!(run.lease.attempt));
    Ok(Ending {
        outcome: Outcome::Done { result_key, billed_s },
        completed_ms: parts.clock.now_ms(),
        post_session_metadata: notes,
        deliveries: deliver::for_ending(&run.job.spec, Event::TranscriptionSuccess),
    })
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

/// Writes the last word, again and again while the database does not answer, and returns what
/// was written. A result that the database refuses for good becomes a failure of ours. Nothing
/// is written when the lease is lost or the service stops: the job is then taken up from its
/// last checkpoint.
async fn settle<S: Steps>(parts: &Parts<S>, run: &Run, mut word: Word) -> Option<Word> {
    loop {
        let written = match &word {
            Word::End(ending) => run.store.finish(&run.lease, ending.clone()).await,
            Word::Release { due_ms, is_fault } => run.store.release(&run.lease, *due_ms, *is_fault).await,
        };
        let error = match written {
            Ok(is_ours) => return is_ours.then_some(word),
            Err(error) => error,
        };
        let is_final = error.is_permanent();
        tracing::error!(job = %run.job.id, is_final, error = chain(&error), "the end of a job cannot be written");
        match &word {
            Word::End(Ending { outcome: Outcome::Done { .. }, .. }) if is_final => {
                let failure = Failure::new(Code::Internal, &error);
                word = Word::End(error_ending(run, &failure, parts.clock.now_ms()));
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

fn note_end(run: &Run, ending: &Ending) {
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
