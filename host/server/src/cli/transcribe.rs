//! `tympan transcribe`: one file, without a server. The same path as a job of the service,
//! over a temporary data folder.

use std::fs::Permissions;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::output;
use super::signals::Signals;
use crate::api::{self, AddonDesk};
use crate::app::{self, Desk, Host};
use crate::config::{Config, Log, Otlp};
use crate::model::date;
use crate::model::id::{AccountId, BlobArea, FileId, JobId, RequestId};
use crate::model::job::{JobSpec, Kind, Status};
use crate::net_guard::Authorities;
use crate::store::{FileFacts, FileRecord, Job, NewJob};
use crate::telemetry;
use crate::validate::{self, Rejection};
use crate::worker;

/// Any origin will do: it only says that the file is in our own store.
const ORIGIN: &str = "http://localhost";

/// Arguments of `transcribe`.
#[derive(Debug, Args)]
pub struct TranscribeArguments {
    /// The audio or video file
    file: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Expected language; may be given several times [default: any]
    #[arg(long)]
    language: Vec<String>,
    /// Detect the language of every utterance
    #[arg(long)]
    code_switching: bool,
    /// Name of the speech model [default: stt-1]
    #[arg(long)]
    model: Option<String>,
    /// Further members of the request, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    request: String,
}

/// Forms of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The transcript
    Text,
    /// Subtitles as SRT
    Srt,
    /// Subtitles as WebVTT
    Vtt,
    /// The whole result
    Json,
}

/// Transcribes one file and prints the result on standard output.
///
/// # Errors
/// When the arguments make no request, or the job fails; the message says why.
pub async fn run(arguments: TranscribeArguments, config: &Config) -> anyhow::Result<()> {
    // Whoever sits here is the operator as well, and may see the cause of a failure of ours.
    telemetry::init(
        &Log { filter: "error".to_owned(), ..config.log.clone() },
        &Otlp::default(),
        &Authorities::default(),
    )?;
    let mut signals = Signals::listen()?;
    // The recording and what is said in it are nobody else's business.
    let private = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix("tympan-").permissions(private).tempdir();
    let folder = folder.context("cannot make a temporary folder")?;
    tokio::select! {
        done = transcribe(&arguments, config, folder.path()) => done,
        // The temporary folder goes with us.
        () = signals.any() => anyhow::bail!("interrupted"),
    }
}

async fn transcribe(arguments: &TranscribeArguments, config: &Config, folder: &Path) -> anyhow::Result<()> {
    let host = Host::open(config, folder, &folder.join("tympan.db")).await?;
    let file = store_file(&host, &arguments.file).await?;
    let spec = spec(&host, config, arguments, file).await?;
    let job = run_job(&host, config, folder, spec).await?;
    if job.status == Status::Error {
        let message = job.post_session_metadata.get("error").and_then(|error| error["message"].as_str());
        anyhow::bail!("{}", message.unwrap_or("the file could not be transcribed"));
    }
    let damage = damage(&job);
    for sentence in &damage {
        output::note(format_args!("note: {sentence}"));
    }
    let key = job.result_key.context("a job that is done has a result")?;
    let mut result: Value = serde_json::from_slice(&host.blobs.get(&key).await?)?;
    if !damage.is_empty() {
        result["audio_damage"] = json!(damage);
    }
    print(arguments.format, &result)
}

/// What of the file could not be decoded, in sentences.
fn damage(job: &Job) -> Vec<String> {
    let told = job.post_session_metadata.get("audio_damage").and_then(Value::as_array);
    told.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn account() -> AccountId {
    AccountId("local".to_owned())
}

async fn store_file(host: &Host, path: &Path) -> anyhow::Result<FileId> {
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

/// The request that these arguments stand for, checked like any other.
async fn spec(
    host: &Host,
    config: &Config,
    arguments: &TranscribeArguments,
    file: FileId,
) -> anyhow::Result<JobSpec> {
    let mut body: Map<String, Value> =
        serde_json::from_str(&arguments.request).context("--request must be a JSON object")?;
    body.insert("audio_url".to_owned(), json!(format!("{ORIGIN}/file/{file}")));
    if !arguments.language.is_empty() || arguments.code_switching {
        let language = json!({"languages": arguments.language, "code_switching": arguments.code_switching});
        body.insert("language_config".to_owned(), language);
    }
    if let Some(model) = &arguments.model {
        body.insert("model".to_owned(), json!(model));
    }
    if let Format::Srt | Format::Vtt = arguments.format {
        let name = if arguments.format == Format::Srt { "srt" } else { "vtt" };
        body.insert("subtitles".to_owned(), json!(true));
        let options = body.entry("subtitles_config").or_insert_with(|| json!({}));
        options
            .as_object_mut()
            .context("subtitles_config must be an object")?
            .insert("formats".to_owned(), json!([name]));
    }
    let desk = Desk::new(host.library.clone(), config.addons.by_name.clone());
    let catalogue = desk.catalogue();
    let draft = validate::prerecorded(&body, &app::host_rules(config), &catalogue, &[ORIGIN.to_owned()])
        .map_err(refused)?;
    api::normalise(&desk, draft).await.map_err(refused)
}

fn refused(rejection: Rejection) -> anyhow::Error {
    let (Rejection::Invalid(entries) | Rejection::Contradictory(entries)) = rejection;
    anyhow::anyhow!(entries.join("; "))
}

async fn run_job(host: &Host, config: &Config, folder: &Path, spec: JobSpec) -> anyhow::Result<Job> {
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

fn print(format: Format, result: &Value) -> anyhow::Result<()> {
    let transcription = &result["transcription"];
    match format {
        Format::Json => output::line(format_args!("{}", serde_json::to_string_pretty(result)?))?,
        Format::Text => {
            for utterance in transcription["utterances"].as_array().into_iter().flatten() {
                output::line(format_args!("{}", utterance["text"].as_str().unwrap_or_default().trim()))?;
            }
        }
        Format::Srt | Format::Vtt => {
            let file = transcription["subtitles"][0]["subtitles"].as_str();
            output::text(file.context("no subtitles were made; is the add-on subtitles installed?")?)?;
        }
    }
    Ok(())
}
