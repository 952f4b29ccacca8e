//! Downloading one file from the hub that carries whisper.cpp's models.

use std::path::Path;
use std::time::Duration;

use super::Report;
use super::catalog::{HUB_FOLDER, HubFile};
use super::error::ModelFileError;
use super::folder::file_name;
use super::output::{Output, Written};

/// Who asks: some hosts refuse requests that do not say so.
const AGENT: &str = concat!("tympan/", env!("CARGO_PKG_VERSION"));

/// The public hub.
pub const PUBLIC_HUB: &str = "https://huggingface.co";

/// How long the hub may take until it answers at all.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// How long a download may stand still.
const STALL_LIMIT: Duration = Duration::from_secs(30);

/// Downloads `file` of the model `name` to `target` and checks size and digest.
pub(super) async fn download(
    hub_url: &str,
    name: &str,
    file: &HubFile,
    target: &Path,
    report: &dyn Report,
) -> Result<Written, ModelFileError> {
    let file_name = file_name(name, file.weights);
    let url = format!("{}/{HUB_FOLDER}/{file_name}", hub_url.trim_end_matches('/'));
    let fail = |problem: String| ModelFileError::Hub { url: hub_url.to_owned(), problem };
    let mut response = request(&url).await.map_err(&fail)?;
    report.begin(&format!("downloading {file_name}"), Some(file.size_bytes));
    let mut output = Output::create(target)?;
    while let Some(bytes) = response.chunk().await.map_err(|error| fail(broken_off(&error)))? {
        if output.size_bytes() + bytes.len() as u64 > file.size_bytes {
            return Err(fail(format!("sent more than the {} bytes of {file_name}", file.size_bytes)));
        }
        // Blocking writes are fine: the command that downloads has nothing else to do.
        output.write(&bytes)?;
        report.advance(bytes.len() as u64);
    }
    report.end();
    output.finish()?.expect(file.sha256, &file_name)
}

async fn request(url: &str) -> Result<reqwest::Response, String> {
    // Only fails where a provider was installed before, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().user_agent(AGENT).read_timeout(STALL_LIMIT).build();
    let client = client.map_err(|error| format!("cannot be asked ({error})"))?;
    let answer = tokio::time::timeout(ANSWER_LIMIT, client.get(url).send()).await;
    let response = match answer {
        Err(_) => return Err(format!("did not answer within {} seconds", ANSWER_LIMIT.as_secs())),
        Ok(Err(error)) => return Err(format!("could not be reached ({})", innermost(&error))),
        Ok(Ok(response)) => response,
    };
    match response.status() {
        status if status.is_success() => Ok(response),
        status => Err(format!("answered {status}")),
    }
}

fn broken_off(error: &reqwest::Error) -> String {
    format!("broke off the download ({})", innermost(error))
}

/// The outer errors only repeat that a request failed, with its URL.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
