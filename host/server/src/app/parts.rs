//! From the configuration to the settings of single parts.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use tympan_runtime::{Runtime, RuntimeSettings};

use crate::addons::{Library, LibrarySettings};
use crate::config::{Config, Model};
use crate::engine::{Engine, EngineSettings, SpeechModelSettings};
use crate::model::language::Language;
use crate::modelfile;
use crate::validate::{DEFAULT_MODEL, HostRules, ModelRules};

/// Opens the add-on folders, with copies of components kept in the data folder.
///
/// # Errors
/// When the engine for add-ons cannot start. A file that cannot be loaded is no error.
pub async fn open_library(config: &Config) -> anyhow::Result<Library> {
    let data_dir = &config.paths.data_dir;
    let runtime = Runtime::new(RuntimeSettings {
        cache_dir: Some(config.paths.compiled_addons_dir.clone()),
        log_text: config.addons.log_text,
        ..RuntimeSettings::default()
    })?;
    let built_in = &config.paths.built_in_addons;
    let settings = LibrarySettings {
        folders: built_in.iter().chain(&config.paths.addon_folders).cloned().collect(),
        built_in_folders: built_in.len(),
        components_dir: data_dir.join("components"),
        addons: config.addons.by_name.clone(),
    };
    Ok(Library::open(runtime, settings).await)
}

/// Starts the speech engine with the models of the configuration.
///
/// # Errors
/// When a model file is missing or not a model, or the processor lacks what we compile for.
pub fn open_engine(config: &Config) -> anyhow::Result<Engine> {
    let mut models = BTreeMap::new();
    for (name, model) in &config.models {
        models.insert(name.clone(), speech_model(&config.paths.models_dir, name, model)?);
    }
    let threads = usize::try_from(config.speech.threads).context("speech.threads is too large")?;
    Ok(Engine::new(EngineSettings { threads, models })?)
}

/// What requests are measured against.
pub fn host_rules(config: &Config) -> HostRules {
    let mut models: Vec<ModelRules> = config
        .models
        .iter()
        .map(|(name, model)| ModelRules {
            name: name.clone(),
            languages: languages(model),
            code_switching: model.code_switching,
        })
        .collect();
    models.sort_by_key(|model| model.name != DEFAULT_MODEL);
    HostRules {
        models,
        model_aliases: config.model_aliases.clone(),
        allow_private_urls: config.allow_private_urls,
    }
}

fn speech_model(folder: &Path, name: &str, model: &Model) -> anyhow::Result<SpeechModelSettings> {
    let file = folder.join(&model.file);
    if !file.is_file() {
        anyhow::bail!(
            "the model file of {name} is missing ({}); run `tympan models pull base`, or set models.{name}.file",
            file.display()
        );
    }
    // Jobs would be taken and end as errors, one after the other.
    modelfile::check(&file).with_context(|| {
        format!("the model file of {name} cannot be used; run `tympan models pull base`, or set models.{name}.file")
    })?;
    let languages = languages(model);
    Ok(SpeechModelSettings {
        file,
        languages: (!languages.is_empty()).then_some(languages),
        code_switching: model.code_switching,
    })
}

fn languages(model: &Model) -> Vec<Language> {
    model.languages.iter().filter_map(|code| Language::parse(code)).collect()
}
