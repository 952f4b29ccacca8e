//! The model of a request and the languages that it allows.

use serde_json::{Value, json};

use super::fields::Fields;
use super::problems::Problems;
use super::rules::{HostRules, ModelRules};
use crate::model::job::LanguageConfig;
use crate::model::language::Language;

/// The model of a request that names none.
pub const DEFAULT_MODEL: &str = "stt-1";

/// The model that the request names by its name or an alias, or the default one.
pub(super) fn model<'r>(
    request: &Fields<'_>,
    rules: &'r HostRules,
    problems: &mut Problems,
) -> Option<&'r ModelRules> {
    let name = match request.get("model") {
        None => DEFAULT_MODEL,
        Some(_) => request.text("model", problems)?,
    };
    let canonical = rules.model_aliases.get(name).map_or(name, String::as_str);
    let found = rules.models.iter().find(|model| model.name == canonical);
    if found.is_none() {
        let names: Vec<&str> = rules.models.iter().map(|model| model.name.as_str()).collect();
        problems.invalid(format!("model must be one of {}", names.join(", ")));
    }
    found
}

/// `language_config`, with its place in the echo.
pub(super) fn language_config(request: &Fields<'_>, problems: &mut Problems) -> LanguageConfig {
    let Some(config) = request.inner("language_config", problems) else { return LanguageConfig::default() };
    let mut languages = Vec::new();
    for (at, item) in config.list("languages", problems).unwrap_or_default().iter().enumerate() {
        match item.as_str().map(Language::parse) {
            Some(Some(language)) if languages.contains(&language) => {}
            Some(Some(language)) => languages.push(language),
            Some(None) => {
                problems.invalid(format!("language_config.languages.{at} must be a known language code"))
            }
            None => problems.invalid(format!("language_config.languages.{at} must be a string")),
        }
    }
    LanguageConfig { languages, code_switching: config.flag("code_switching", problems) }
}

/// The config as it is echoed: canonical codes, defaults filled in.
pub(super) fn echo(config: &LanguageConfig) -> Value {
    json!({ "languages": config.languages, "code_switching": config.code_switching })
}

/// What a model cannot do.
pub(super) fn check_model(model: &ModelRules, config: &LanguageConfig, problems: &mut Problems) {
    if config.code_switching && !model.code_switching {
        problems.contradictory(format!(
            "language_config.code_switching must be false with the model {}",
            model.name
        ));
    }
    if model.languages.is_empty() {
        return;
    }
    let allowed: Vec<&str> = model.languages.iter().map(|language| language.code()).collect();
    for language in config.languages.iter().filter(|language| !model.languages.contains(language)) {
        problems.contradictory(format!(
            "language_config.languages must hold only {} with the model {}, not {language}",
            allowed.join(", "),
            model.name
        ));
    }
}
