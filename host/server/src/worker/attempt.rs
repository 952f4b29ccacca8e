//! One claim of a job, from the lease to its end.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::Parts;
use super::blocking::on_disk;
use super::checkpoint::{Checkpoints, Identity};
use super::failure::Failure;
use super::heartbeat::Heartbeat;
use super::progress::Progress;
use super::run::{Run, run_job};
use super::scratch::Scratch;
use super::settle::settle;
use super::slots::Place;
use super::steps::Steps;
use super::verdict::{Figures, History, Verdict, judge};
use crate::metrics;
use crate::model::cause::chain;
use crate::model::code::Code;
use crate::store::{Claimed, Ending, Outcome};
use crate::telemetry;

/// Processes that a job may end before it is given up.
const CRASHES_ALLOWED: i64 = 3;

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
