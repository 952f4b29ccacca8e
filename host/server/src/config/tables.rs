//! Tables of the file that hold names, digests and languages: checked one by one.

use std::collections::BTreeMap;
use std::path::{Component, PathBuf};

use super::error::ConfigError;
use super::file::{AuthFile, KeyFile, ModelFile};
use super::sections::within;
use super::settings::{ApiKey, Auth, Model};
use crate::addons::{MOST_MEMORY_MB, OFFERED_CAPABILITIES, OperatorSettings};
use crate::model::id::AccountId;
use crate::model::language::Language;
use crate::model::secret::Secret;

/// The model file behind both model names, as `tympan models pull base` leaves it.
const MODEL_FILE: &str = "ggml-base-q8_0.bin";

/// No job is worked on for longer.
const MOST_TIMEOUT_MS: u64 = 7_200_000;

/// Headers that every request has for another purpose.
const OTHER_HEADERS: [&str; 6] =
    ["connection", "content-length", "content-type", "host", "transfer-encoding", "user-agent"];

pub(super) fn auth(file: AuthFile, bootstrap_key: Option<Secret>) -> Result<Auth, ConfigError> {
    let mut header_aliases = Vec::new();
    for alias in file.header_aliases {
        if !is_header_name(&alias) {
            return Err(ConfigError::invalid(
                "auth.header_aliases",
                format!("must hold header names, {alias:?} is none"),
            ));
        }
        let alias = alias.to_ascii_lowercase();
        if OTHER_HEADERS.contains(&alias.as_str()) {
            return Err(ConfigError::invalid(
                "auth.header_aliases",
                format!("must not hold {alias:?}, which means something else"),
            ));
        }
        header_aliases.push(alias);
    }
    let mut keys: Vec<ApiKey> = Vec::with_capacity(file.keys.len());
    for (at, key) in file.keys.into_iter().enumerate() {
        let key = api_key(at, key)?;
        if let Some(other) = keys.iter().position(|other| other.sha256 == key.sha256) {
            let problem = format!("must not be that of auth.keys.{other} as well");
            return Err(ConfigError::invalid(format!("auth.keys.{at}.sha256"), problem));
        }
        keys.push(key);
    }
    Ok(Auth { header_aliases, keys, bootstrap_key })
}

/// A token in the sense of RFC 9110, section 5.6.2.
pub(super) fn is_header_name(text: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token)
}

fn api_key(at: usize, key: KeyFile) -> Result<ApiKey, ConfigError> {
    if !AccountId::is_valid(&key.account) {
        return Err(ConfigError::invalid(format!("auth.keys.{at}.account"), AccountId::RULE));
    }
    let mut sha256 = [0; 32];
    hex::decode_to_slice(&key.sha256, &mut sha256).map_err(|_| {
        ConfigError::invalid(format!("auth.keys.{at}.sha256"), "must be the SHA-256 of a key: 64 hex digits")
    })?;
    Ok(ApiKey { account: key.account, sha256, is_admin: key.admin })
}

pub(super) fn models(file: BTreeMap<String, ModelFile>) -> Result<BTreeMap<String, Model>, ConfigError> {
    let any = Model { file: PathBuf::from(MODEL_FILE), languages: Vec::new(), code_switching: true };
    let five = ["en", "fr", "de", "es", "it"].map(str::to_owned).to_vec();
    let mut models = BTreeMap::from([
        ("stt-1".to_owned(), any.clone()),
        ("stt-3".to_owned(), Model { languages: five, code_switching: false, ..any.clone() }),
    ]);
    for (name, changes) in file {
        let model = models.entry(name.clone()).or_insert_with(|| any.clone());
        if let Some(file) = changes.file {
            model.file = model_file(&name, &file)?;
        }
        if let Some(languages) = changes.languages {
            model.languages = canonical(&name, &languages)?;
        }
        if let Some(code_switching) = changes.code_switching {
            model.code_switching = code_switching;
        }
    }
    Ok(models)
}

/// A path as `models_dir` is joined with.
fn model_file(model: &str, text: &str) -> Result<PathBuf, ConfigError> {
    let file = PathBuf::from(text);
    let leads_out = file.components().any(|part| part == Component::ParentDir);
    if text.is_empty() || leads_out && file.is_relative() {
        let problem = "must be the name of a file in the models folder or an absolute path";
        return Err(ConfigError::invalid(format!("models.{model}.file"), problem));
    }
    Ok(file)
}

fn canonical(model: &str, languages: &[String]) -> Result<Vec<String>, ConfigError> {
    let mut codes = Vec::new();
    for text in languages {
        let language = Language::parse(text).ok_or_else(|| {
            ConfigError::invalid(
                format!("models.{model}.languages"),
                format!("must hold language codes, {text:?} is none"),
            )
        })?;
        codes.push(language.code().to_owned());
    }
    Ok(codes)
}

pub(super) fn aliases(
    file: Option<BTreeMap<String, String>>,
    models: &BTreeMap<String, Model>,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let usual =
        || [("solaria-1", "stt-1"), ("solaria-3", "stt-3")].map(|(a, b)| (a.to_owned(), b.to_owned())).into();
    let aliases: BTreeMap<String, String> = file.unwrap_or_else(usual);
    for (alias, model) in &aliases {
        if !models.contains_key(model) {
            return Err(ConfigError::invalid(
                format!("model_aliases.{alias}"),
                format!("must name a model, {model:?} is none"),
            ));
        }
        if models.contains_key(alias) {
            return Err(ConfigError::invalid(
                format!("model_aliases.{alias}"),
                "must not be the name of a model",
            ));
        }
    }
    Ok(aliases)
}

fn is_addon_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (2..=64).contains(&text.len()) && text.as_bytes()[0].is_ascii_lowercase() && text.bytes().all(is_part)
}

pub(super) fn addons(
    by_name: BTreeMap<String, OperatorSettings>,
) -> Result<BTreeMap<String, OperatorSettings>, ConfigError> {
    for (name, addon) in &by_name {
        if !is_addon_name(name) {
            let problem = "must be named as an add-on is, with [a-z][a-z0-9_]{1,63}";
            return Err(ConfigError::invalid(format!("addons.{name}"), problem));
        }
        if let Some(unknown) = addon.grants.iter().find(|name| !OFFERED_CAPABILITIES.contains(&name.as_str()))
        {
            let known = OFFERED_CAPABILITIES.join(", ");
            let problem = format!("must hold names of capabilities ({known}), {unknown:?} is none");
            return Err(ConfigError::invalid(format!("addons.{name}.grants"), problem));
        }
        if let Some(digest) = &addon.sha256
            && hex::decode(digest).map_or(0, |bytes| bytes.len()) != 32
        {
            return Err(ConfigError::invalid(format!("addons.{name}.sha256"), "must be 64 hex digits"));
        }
        for (key, limit, most) in [
            ("timeout_ms", addon.timeout_ms, MOST_TIMEOUT_MS),
            ("memory_mb", addon.memory_mb, MOST_MEMORY_MB),
            ("output_mb", addon.output_mb, MOST_MEMORY_MB),
        ] {
            within(&format!("addons.{name}.{key}"), limit.unwrap_or(1), 1, most)?;
        }
    }
    Ok(by_name)
}
