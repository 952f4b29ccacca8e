//! Writes how a claim ended.

use std::time::Duration;

use super::Parts;
use super::failure::Failure;
use super::run::Run;
use super::steps::Steps;
use super::verdict::{Verdict, error_ending, note_failure};
use crate::model::cause::chain;
use crate::model::code::Code;
use crate::store::{Ending, Outcome};

/// Pause between tries to write how a claim ended.
const SETTLE_PAUSE: Duration = Duration::from_secs(1);

/// Writes how a claim ended, again and again while the database does not answer, and returns what
/// was written. A result that the database refuses for good becomes a failure of ours. Nothing
/// is written when the lease is lost or the service stops: the job is then taken up from its
/// last checkpoint.
pub(super) async fn settle<S: Steps>(parts: &Parts<S>, run: &Run, mut verdict: Verdict) -> Option<Verdict> {
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
