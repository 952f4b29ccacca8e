//! The environment variables that override the file. No other module reads any.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::error::ConfigError;
use super::file::File;
use super::settings::ModelSource;
use crate::model::secret::Secret;

/// A snapshot of the environment; tests make their own.
#[derive(Debug, Clone, Default)]
pub(super) struct Environment(BTreeMap<String, OsString>);

/// What comes from the environment only.
#[derive(Debug, Default)]
pub(super) struct FromEnvironment {
    pub bootstrap_key: Option<Secret>,
    pub addon_folders: Vec<PathBuf>,
    pub traces: TracesFromEnvironment,
}

/// The variables by which collectors of traces are named everywhere.
#[derive(Debug, Default)]
pub(super) struct TracesFromEnvironment {
    pub endpoint: Option<String>,
    pub traces_endpoint: Option<String>,
    pub service_name: Option<String>,
}

impl Environment {
    /// The variables of this process that concern us; names that are not UTF-8 do not.
    pub fn of_process() -> Self {
        Self(
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect(),
        )
    }

    #[cfg(test)]
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        Self(pairs.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect())
    }

    /// A variable that is set and not empty.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn text(&self, name: &str) -> Result<Option<String>, ConfigError> {
        let Some(value) = self.0.get(name).filter(|value| !value.is_empty()) else { return Ok(None) };
        match value.to_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(ConfigError::invalid(name, "must be UTF-8")),
        }
    }

    fn boolean(&self, name: &str) -> Result<Option<bool>, ConfigError> {
        match self.text(name)?.as_deref() {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(_) => Err(ConfigError::invalid(name, "must be true or false")),
        }
    }

    /// Puts every variable that is set in the place of the file's value.
    pub fn override_file(&self, file: &mut File) -> Result<FromEnvironment, ConfigError> {
        replace(&mut file.listen, self.text("TYMPAN_LISTEN")?);
        replace(&mut file.data_dir, self.path("TYMPAN_DATA_DIR"));
        replace(&mut file.database_url, self.text("TYMPAN_DATABASE_URL")?);
        replace(&mut file.models_dir, self.path("TYMPAN_MODELS_DIR"));
        replace(&mut file.compiled_addons_dir, self.path("TYMPAN_COMPILED_ADDONS_DIR"));
        replace(&mut file.model_hub_url, self.text("TYMPAN_MODEL_HUB_URL")?);
        replace(&mut file.extra_ca_file, self.path("TYMPAN_EXTRA_CA_FILE"));
        replace(&mut file.public_base_url, self.text("TYMPAN_PUBLIC_BASE_URL")?);
        if let Some(origins) = self.text("TYMPAN_CORS_ALLOWED_ORIGINS")? {
            file.cors.allowed_origins = origins.split(',').map(|origin| origin.trim().to_owned()).collect();
        }
        if let Some(allowed) = self.boolean("TYMPAN_ALLOW_PRIVATE_URLS")? {
            file.allow_private_urls = allowed;
        }
        if let Some(source) = self.text("TYMPAN_MODEL_SOURCE")? {
            file.model_source = model_source(&source)?;
        }
        Ok(FromEnvironment {
            bootstrap_key: self.text("TYMPAN_API_KEY")?.map(bootstrap_key).transpose()?,
            addon_folders: self.folders("TYMPAN_ADDONS_DIR"),
            traces: TracesFromEnvironment {
                endpoint: self.text("OTEL_EXPORTER_OTLP_ENDPOINT")?,
                traces_endpoint: self.text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")?,
                service_name: self.text("OTEL_SERVICE_NAME")?,
            },
        })
    }

    fn folders(&self, name: &str) -> Vec<PathBuf> {
        let Some(list) = self.0.get(name) else { return Vec::new() };
        std::env::split_paths(list).filter(|folder| !folder.as_os_str().is_empty()).collect()
    }
}

/// Spaces around the value of a header are not part of it, so that nobody could send such a key.
fn bootstrap_key(text: String) -> Result<Secret, ConfigError> {
    if text.trim() != text {
        return Err(ConfigError::invalid("TYMPAN_API_KEY", "must not begin or end with spaces"));
    }
    Ok(Secret::new(text))
}

fn replace<T>(setting: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *setting = value;
    }
}

fn model_source(text: &str) -> Result<ModelSource, ConfigError> {
    match text {
        "auto" => Ok(ModelSource::Auto),
        "hub" => Ok(ModelSource::Hub),
        "packages" => Ok(ModelSource::Packages),
        _ => Err(ConfigError::invalid("TYMPAN_MODEL_SOURCE", "must be auto, hub or packages")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_variable_wins_and_an_empty_one_does_not() {
        let mut file = File { listen: Some("a:1".into()), data_dir: Some("/file".into()), ..File::default() };
        let environment = Environment::of(&[
            ("TYMPAN_LISTEN", ""),
            ("TYMPAN_DATA_DIR", "/environment"),
            ("TYMPAN_ALLOW_PRIVATE_URLS", "true"),
            ("TYMPAN_ADDONS_DIR", "/a::/b"),
            ("TYMPAN_COMPILED_ADDONS_DIR", "/c"),
            ("TYMPAN_API_KEY", "k"),
            ("TYMPAN_CORS_ALLOWED_ORIGINS", "https://a.example, https://b.example"),
        ]);
        let rest = environment.override_file(&mut file).unwrap();
        assert_eq!(file.listen.as_deref(), Some("a:1"));
        assert_eq!(file.data_dir, Some(PathBuf::from("/environment")));
        assert!(file.allow_private_urls);
        assert_eq!(file.cors.allowed_origins, ["https://a.example", "https://b.example"]);
        assert_eq!(file.compiled_addons_dir, Some(PathBuf::from("/c")));
        assert_eq!(rest.addon_folders, [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert_eq!(rest.bootstrap_key.map(|key| key.expose().to_owned()).as_deref(), Some("k"));
    }

    #[test]
    fn values_that_mean_nothing_are_refused_by_name() {
        for (name, value) in [
            ("TYMPAN_ALLOW_PRIVATE_URLS", "yes"),
            ("TYMPAN_MODEL_SOURCE", "disk"),
            ("TYMPAN_API_KEY", " "),
            ("TYMPAN_API_KEY", "key\n"),
        ] {
            let error = Environment::of(&[(name, value)]).override_file(&mut File::default()).unwrap_err();
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }
}
