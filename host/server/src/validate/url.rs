//! Addresses in a request: of the audio and of the callback.

use serde_json::{Value, json};
use url::{ParseError, Url};

use super::fields::Fields;
use super::problems::Problems;
use crate::model::id::FileId;
use crate::model::job::{AudioSource, Callback, CallbackMethod};
use crate::net_guard::check_url;

/// `audio_url`: a file of ours when it is `/file/{id}` on one of `own_origins`, otherwise one
/// to fetch. Whether it can be reached, and whether it may be, is found out by the job.
pub(super) fn audio_source(
    request: &Fields<'_>,
    own_origins: &[String],
    problems: &mut Problems,
) -> Option<AudioSource> {
    if request.get("audio_url").is_none() {
        problems.invalid("audio_url is required");
        return None;
    }
    let text = request.text("audio_url", problems)?;
    let url = match web_url(text) {
        Ok(url) => url,
        Err(demand) => {
            problems.invalid(format!("audio_url must {demand}"));
            return None;
        }
    };
    Some(match own_file(&url, own_origins) {
        Some(id) => AudioSource::Stored(id),
        None => AudioSource::Url(text.trim().to_owned()),
    })
}

/// The URL, or what it must be.
fn web_url(text: &str) -> Result<Url, &'static str> {
    let other = "be a URL that begins with http:// or https://";
    let url = Url::parse(text).map_err(|error| match error {
        ParseError::InvalidPort => "have a port from 0 to 65535",
        _ => other,
    })?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() { Ok(url) } else { Err(other) }
}

fn own_file(url: &Url, own_origins: &[String]) -> Option<FileId> {
    let origin = url.origin().ascii_serialization();
    if own_origins.contains(&origin) { file_in_path(url) } else { None }
}

fn file_in_path(url: &Url) -> Option<FileId> {
    FileId::parse(url.path().strip_prefix("/file/")?.trim_end_matches('/'))
}

/// The file that an `audio_url` names if its host is one of our names that this host does not know.
pub fn possible_file(audio_url: &str) -> Option<FileId> {
    file_in_path(&Url::parse(audio_url).ok()?)
}

/// Where the client wants to hear of the end. `callback_config` wins over the deprecated
/// `callback_url`.
pub(super) fn callback(
    request: &Fields<'_>,
    allow_private: bool,
    problems: &mut Problems,
) -> Option<Callback> {
    let on = request.flag("callback", problems);
    let legacy = target(request, "callback_url", allow_private, problems);
    let config = request.inner("callback_config", problems);
    if !on {
        return legacy.map(|url| Callback { url, method: CallbackMethod::Post });
    }
    let Some(config) = config else {
        if request.get("callback_config").is_none() && request.get("callback_url").is_none() {
            problems.contradictory("callback_config is required when callback is true");
        }
        return legacy.map(|url| Callback { url, method: CallbackMethod::Post });
    };
    let method = method(&config, problems);
    if config.get("url").is_none() {
        problems.invalid("callback_config.url is required");
    }
    target(&config, "url", allow_private, problems).map(|url| Callback { url, method })
}

/// The members of the request that concern callbacks, as they are echoed.
pub(super) fn echo_callback(request: &Fields<'_>, callback: Option<&Callback>) -> Vec<(&'static str, Value)> {
    let on = request.get("callback") == Some(&Value::Bool(true));
    let mut members = vec![("callback", on.into())];
    if let Some(url) = request.get("callback_url") {
        members.push(("callback_url", url.clone()));
    }
    if let Some(callback) = callback.filter(|_| on && request.get("callback_config").is_some()) {
        members.push(("callback_config", json!({ "url": callback.url, "method": callback.method })));
    }
    members
}

fn method(config: &Fields<'_>, problems: &mut Problems) -> CallbackMethod {
    match config.get("method") {
        None => CallbackMethod::Post,
        Some(Value::String(text)) if text == "POST" => CallbackMethod::Post,
        Some(Value::String(text)) if text == "PUT" => CallbackMethod::Put,
        Some(_) => {
            problems.invalid("callback_config.method must be one of POST, PUT");
            CallbackMethod::Post
        }
    }
}

fn target(fields: &Fields<'_>, name: &str, allow_private: bool, problems: &mut Problems) -> Option<String> {
    let text = fields.text(name, problems)?;
    match check_url(text, allow_private) {
        Ok(_) => Some(text.to_owned()),
        Err(error) => {
            problems.invalid(format!("{} {}", fields.path(name), error));
            None
        }
    }
}
