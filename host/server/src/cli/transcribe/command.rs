//! From a file to what is printed.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use super::job::{run_job, store_file};
use super::request::{Format, TranscribeArguments, spec};
use crate::app::Host;
use crate::cli::output;
use crate::cli::signals::Signals;
use crate::config::{Config, Log, Otlp};
use crate::model::job::Status;
use crate::net_guard::Authorities;
use crate::store::Job;
use crate::telemetry;

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
