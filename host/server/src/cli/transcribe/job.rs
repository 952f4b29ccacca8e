//! The job of one file, in a store of its own.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::app::Host;
use crate::config::Config;
use crate::model::date;
use crate::model::id::{AccountId, BlobArea, FileId, JobId, RequestId};
use crate::model::job::{JobSpec, Kind, Status};
use crate::store::{FileFacts, FileRecord, Job, NewJob};
use crate::worker;

fn account() -> AccountId {
    AccountId("local".to_owned())
}

pub(super) async fn store_file(host: &Host, path: &Path) -> anyhow::Result<FileId> {
    let unreadable = || format!("cannot read {}", path.display());
    let source = tokio::fs::File::open(path).await.with_context(unreadable)?;
    // A pipe will do; a device may never end.
    let kind = source.metadata().await.with_context(unreadable)?.file_type();
    anyhow::ensure!(
        kind.is_file() || kind.is_fifo(),
        "{} is a folder or a device, not an audio or video file",
        path.display()
    );
    let stored = host.blobs.put_stream(BlobArea::Audio, source, u64::MAX).await?;
    let facts = FileFacts {
        filename: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        size_bytes: Some(stored.size_bytes),
        sha256: Some(stored.sha256),
        blob_key: Some(stored.key),
        ..FileFacts::default()
    };
    let id = FileId::new();
    let record = FileRecord { id, account_id: account(), source: None, created_ms: date::now_ms(), facts };
    host.store.insert_file(record).await?;
    Ok(id)
}

/// Works on it until it is done or failed, and shows how far it is.
pub(super) async fn run_job(
    host: &Host,
    config: &Config,
    folder: &Path,
    spec: JobSpec,
) -> anyhow::Result<Job> {
    let id = JobId::new();
    let job = NewJob {
        id,
        account_id: account(),
        request_id: RequestId::new(),
        kind: Kind::PreRecorded,
        spec,
        created_ms: date::now_ms(),
        zero_retention: false,
    };
    host.store.create_job(job).await?;
    // Short leases make for frequent signs of life, which carry the progress.
    // Whoever waits here learns at once what is wrong.
    let settings = worker::Settings {
        lease_time: Duration::from_secs(3),
        retry_horizon: Duration::ZERO,
        ..worker::Settings::in_folder(folder)
    };
    let stop = CancellationToken::new();
    let mut working = tokio::spawn(host.worker(config, settings)?.run(stop.clone()));
    let bar = progress_bar();
    let job = tokio::select! {
        job = wait_final(host, id, &bar) => job?,
        ended = &mut working => {
            ended.context("the worker panicked")?;
            anyhow::bail!("the worker ended unexpectedly");
        }
    };
    bar.finish_and_clear();
    stop.cancel();
    working.await.context("the worker panicked")?;
    Ok(job)
}

async fn wait_final(host: &Host, id: JobId, bar: &ProgressBar) -> anyhow::Result<Job> {
    loop {
        let job = host.store.get_job(&account(), id).await?.context("the job is in the store")?;
        if matches!(job.status, Status::Done | Status::Error) {
            return Ok(job);
        }
        show(bar, &job);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:12} {wide_bar} {percent}% {elapsed}");
    ProgressBar::new(100).with_style(style.expect("the template is valid"))
}

fn show(bar: &ProgressBar, job: &Job) {
    let step = job.post_session_metadata.get("step").and_then(Value::as_str);
    let part = job.post_session_metadata.get("progress").and_then(Value::as_f64);
    bar.set_message(step.unwrap_or("waiting").to_owned());
    bar.set_position((part.unwrap_or_default() * 100.0) as u64);
}
