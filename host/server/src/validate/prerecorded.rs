//! The body of a pre-recorded request, from JSON to a job.

use serde_json::{Map, Value};

use super::addons::{self, Wanted};
use super::fields::Fields;
use super::problems::{Problems, Rejection};
use super::rules::{Catalogue, HostRules, ModelRules};
use super::{language, url};
use crate::model::job::{AudioSource, Callback, JobSpec, LanguageConfig, PlannedAddon};

/// Longest `custom_metadata`, written as JSON, in characters.
pub(super) const METADATA_CHARS: usize = 2000;

/// A request that is valid as far as can be said without running an add-on.
#[derive(Debug)]
pub struct Draft {
    spec: JobSpec,
    config_keys: Vec<Option<String>>,
}

impl Draft {
    /// The add-ons that will run, each with the field that holds its config. They may still
    /// refuse that config or fill in defaults.
    pub fn addons(&self) -> impl Iterator<Item = (&PlannedAddon, Option<&str>)> {
        self.spec.addons.iter().zip(self.config_keys.iter().map(Option::as_deref))
    }

    /// Takes over the configs as the add-ons normalised them, in the order of
    /// [`Draft::addons`], and echoes them to the client.
    pub fn finish(mut self, normalised: Vec<String>) -> JobSpec {
        debug_assert_eq!(normalised.len(), self.spec.addons.len());
        for ((addon, key), config) in self.spec.addons.iter_mut().zip(self.config_keys).zip(normalised) {
            addon.config = config;
            if let (Some(key), Ok(echo @ Value::Object(_))) = (key, serde_json::from_str(&addon.config)) {
                self.spec.request_params.insert(key, echo);
            }
        }
        self.spec
    }
}

/// Checks the body of a request. `own_origins` are the addresses under which clients reach
/// this host, as `scheme://host[:port]`.
///
/// # Errors
/// [`Rejection`] with everything that is wrong.
pub fn prerecorded(
    body: &Map<String, Value>,
    rules: &HostRules,
    catalogue: &Catalogue,
    own_origins: &[String],
) -> Result<Draft, Rejection> {
    let request = Fields::root(body);
    let mut problems = Problems::default();
    let audio = url::audio_source(&request, own_origins, &mut problems);
    let model = language::model(&request, rules, &mut problems);
    let language = language::language_config(&request, &mut problems);
    if let Some(model) = model {
        language::check_model(model, &language, &mut problems);
    }
    let wanted = addons::read(&request, catalogue, &mut problems);
    let callback = url::callback(&request, rules.allow_private_urls, &mut problems);
    let accurate_word_times = request.flag("accurate_words_timestamps", &mut problems);
    let custom_metadata = metadata(&request, &mut problems);
    problems.verdict()?;

    let request_params = echo(&request, &wanted, &language, callback.as_ref(), model);
    let spec = JobSpec {
        model: model.map(|model| model.name.clone()).expect("an unknown model has been rejected"),
        audio: audio.expect("a missing audio_url has been rejected"),
        language,
        addons: wanted.planned,
        missing_addons: wanted.missing,
        accurate_word_times,
        callback,
        custom_metadata,
        request_params,
        trace_parent: None,
    };
    Ok(Draft { spec, config_keys: wanted.config_keys })
}

/// What a job of an account that keeps no data must have: nothing of it can be stored or
/// polled.
///
/// # Errors
/// [`Rejection`] with what is missing.
pub fn without_retention(spec: &JobSpec) -> Result<(), Rejection> {
    let mut problems = Problems::default();
    if matches!(spec.audio, AudioSource::Stored(_)) {
        problems
            .contradictory("audio_url must name a file outside of this service: the account keeps no data");
    }
    if spec.callback.is_none() {
        problems
            .contradictory("callback must be true: the account keeps no data, results come by callback only");
    }
    problems.verdict()
}

/// The `audio_url` of a request that holds nothing else.
///
/// # Errors
/// [`Rejection`] with what is wrong with it.
pub fn audio_url(body: &Map<String, Value>, own_origins: &[String]) -> Result<AudioSource, Rejection> {
    let mut problems = Problems::default();
    let audio = url::audio_source(&Fields::root(body), own_origins, &mut problems);
    problems.verdict()?;
    Ok(audio.expect("a missing audio_url has been rejected"))
}

/// `request_params`: the fields of the specification with their defaults, those of loaded
/// add-ons, and nothing that was ignored.
fn echo(
    request: &Fields<'_>,
    wanted: &Wanted,
    language: &LanguageConfig,
    callback: Option<&Callback>,
    model: Option<&ModelRules>,
) -> Map<String, Value> {
    let mut echo = wanted.echo.clone();
    let mut put = |name: &str, value: Value| echo.insert(name.to_owned(), value);
    put("audio_url", request.get("audio_url").cloned().unwrap_or_default());
    put(
        "model",
        request.get("model").cloned().unwrap_or_else(|| model.map(|model| model.name.clone()).into()),
    );
    put("language_config", language::echo(language));
    put(
        "accurate_words_timestamps",
        (request.get("accurate_words_timestamps") == Some(&Value::Bool(true))).into(),
    );
    for (name, value) in url::echo_callback(request, callback) {
        put(name, value);
    }
    if let Some(metadata) = request.get("custom_metadata") {
        put("custom_metadata", metadata.clone());
    }
    echo
}

fn metadata(request: &Fields<'_>, problems: &mut Problems) -> Option<Map<String, Value>> {
    let metadata = request.object("custom_metadata", problems)?;
    let length = serde_json::to_string(metadata).map_or(usize::MAX, |text| text.chars().count());
    if length > METADATA_CHARS {
        problems.invalid(format!(
            "custom_metadata must not be longer than {METADATA_CHARS} characters when written as JSON"
        ));
    }
    Some(metadata.clone())
}
