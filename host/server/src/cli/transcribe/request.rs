//! The arguments, and the request that they stand for.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::api::{self, AddonDesk};
use crate::app::{self, Desk, Host};
use crate::config::Config;
use crate::model::id::FileId;
use crate::model::job::JobSpec;
use crate::validate::{self, Rejection};

/// Any origin will do: it only says that the file is in our own store.
const ORIGIN: &str = "http://localhost";

/// Arguments of `transcribe`.
#[derive(Debug, Args)]
pub struct TranscribeArguments {
    /// The audio or video file
    pub(super) file: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
    /// Expected language; may be given several times [default: any]
    #[arg(long)]
    pub(super) language: Vec<String>,
    /// Detect the language of every utterance
    #[arg(long)]
    pub(super) code_switching: bool,
    /// Name of the speech model [default: stt-1]
    #[arg(long)]
    pub(super) model: Option<String>,
    /// Further members of the request, as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(super) request: String,
}

/// Forms of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The transcript
    Text,
    /// Subtitles as SRT
    Srt,
    /// Subtitles as WebVTT
    Vtt,
    /// The whole result
    Json,
}

/// The request that these arguments stand for, checked like any other.
pub(super) async fn spec(
    host: &Host,
    config: &Config,
    arguments: &TranscribeArguments,
    file: FileId,
) -> anyhow::Result<JobSpec> {
    let body = body_of(arguments, file)?;
    let desk = Desk::new(host.library.clone(), config.addons.by_name.clone());
    let catalogue = desk.catalogue();
    let draft = validate::prerecorded(&body, &app::host_rules(config), &catalogue, &[ORIGIN.to_owned()])
        .map_err(refused)?;
    api::normalise(&desk, draft).await.map_err(refused)
}

fn body_of(arguments: &TranscribeArguments, file: FileId) -> anyhow::Result<Map<String, Value>> {
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
    let subtitles = match arguments.format {
        Format::Srt => Some("srt"),
        Format::Vtt => Some("vtt"),
        Format::Text | Format::Json => None,
    };
    if let Some(name) = subtitles {
        body.insert("subtitles".to_owned(), json!(true));
        let options = body.entry("subtitles_config").or_insert_with(|| json!({}));
        options
            .as_object_mut()
            .context("subtitles_config must be an object")?
            .insert("formats".to_owned(), json!([name]));
    }
    Ok(body)
}

fn refused(rejection: Rejection) -> anyhow::Error {
    let (Rejection::Invalid(entries) | Rejection::Contradictory(entries)) = rejection;
    anyhow::anyhow!(entries.join("; "))
}
