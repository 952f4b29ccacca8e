//! `[otlp]`: where traces go.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

use super::environment::TracesFromEnvironment;
use super::error::ConfigError;
use super::tables::is_header_name;
use crate::model::secret::Secret;

/// What OTLP over HTTP appends to the address of a collector for traces.
const TRACES_PATH: &str = "v1/traces";

/// The name of the service where the operator gives none.
const SERVICE_NAME: &str = "tympan";

/// `[otlp]` as it stands in the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct OtlpFile {
    pub endpoint: Option<String>,
    pub service_name: Option<String>,
    pub headers: BTreeMap<String, Secret>,
}

/// Where traces go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Otlp {
    /// Where spans are posted to; absent: nothing is exported.
    pub traces_url: Option<String>,
    /// The name of this service in traces.
    pub service_name: String,
    /// Headers of each request; keys of collectors.
    pub headers: BTreeMap<String, Secret>,
}

impl Otlp {
    /// The file's values under the standard variables, which win.
    pub(super) fn new(file: OtlpFile, environment: TracesFromEnvironment) -> Result<Self, ConfigError> {
        for (name, value) in &file.headers {
            let setting = || format!("otlp.headers.{name}");
            if !is_header_name(name) {
                return Err(ConfigError::invalid(setting(), "must be the name of a header"));
            }
            if value.expose().is_empty() || !value.expose().bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                return Err(ConfigError::invalid(setting(), "must hold visible ASCII characters"));
            }
        }
        let traces_url = match (environment.traces_endpoint, environment.endpoint, file.endpoint) {
            (Some(url), _, _) => Some(checked("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &url)?.to_string()),
            (None, Some(base), _) => Some(traces_url("OTEL_EXPORTER_OTLP_ENDPOINT", &base)?),
            (None, None, base) => base.map(|base| traces_url("otlp.endpoint", &base)).transpose()?,
        };
        let service_name = environment.service_name.or(file.service_name);
        let service_name = service_name.unwrap_or_else(|| SERVICE_NAME.to_owned());
        if service_name.is_empty() {
            return Err(ConfigError::invalid("otlp.service_name", "must not be empty"));
        }
        Ok(Self { traces_url, service_name, headers: file.headers })
    }
}

fn traces_url(setting: &str, base: &str) -> Result<String, ConfigError> {
    let url = checked(setting, base)?;
    Ok(format!("{}/{TRACES_PATH}", url.as_str().trim_end_matches('/')))
}

fn checked(setting: &str, text: &str) -> Result<Url, ConfigError> {
    let refused = |problem| ConfigError::invalid(setting, problem);
    let url = Url::parse(text).map_err(|_| refused("must be a URL such as http://127.0.0.1:4318"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("must begin with http:// or https://"));
    }
    // Everybody may see the address.
    let has_secrets = !url.username().is_empty() || url.password().is_some() || url.query().is_some();
    if has_secrets || url.fragment().is_some() {
        return Err(refused("must hold neither a user name nor a query; keys go into otlp.headers"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::super::{from_text, show};
    use super::*;

    fn from_both(text: &str, environment: TracesFromEnvironment) -> Result<Otlp, String> {
        Otlp::new(toml::from_str(text).unwrap(), environment).map_err(|error| error.to_string())
    }

    #[test]
    fn the_standard_variables_win() {
        let file = "endpoint = \"http://file:4318/\"\nservice_name = \"of-file\"";
        let some = |text: &str| Some(text.to_owned());
        for (endpoint, traces_endpoint, url) in [
            (None, None, "http://file:4318/v1/traces"),
            (some("http://base:4318"), None, "http://base:4318/v1/traces"),
            (some("https://base/otlp/"), None, "https://base/otlp/v1/traces"),
            (some("http://base:4318"), some("http://exact:9/x"), "http://exact:9/x"),
        ] {
            let environment = TracesFromEnvironment { endpoint, traces_endpoint, service_name: None };
            let otlp = from_both(file, environment).unwrap();
            assert_eq!((otlp.traces_url.as_deref(), otlp.service_name.as_str()), (Some(url), "of-file"));
        }
        let named = TracesFromEnvironment { service_name: some("of-environment"), ..Default::default() };
        assert_eq!(from_both(file, named).unwrap().service_name, "of-environment");
        let nothing = from_both("", TracesFromEnvironment::default()).unwrap();
        assert_eq!((nothing.traces_url, nothing.service_name.as_str()), (None, "tympan"));
    }

    #[test]
    fn wrong_settings_are_refused_by_name() {
        for (text, setting) in [
            ("endpoint = \"collector:4318\"", "otlp.endpoint"),
            ("endpoint = \"\"", "otlp.endpoint"),
            ("endpoint = \"http://u:p@collector\"", "otlp.endpoint"),
            ("endpoint = \"http://collector?key=k\"", "otlp.endpoint"),
            ("service_name = \"\"", "otlp.service_name"),
            ("[headers]\n\"a b\" = \"x\"", "otlp.headers.a b"),
            ("[headers]\nauthorization = \"\"", "otlp.headers.authorization"),
            ("[headers]\nauthorization = \"a\\nb\"", "otlp.headers.authorization"),
        ] {
            let error = from_both(text, TracesFromEnvironment::default()).unwrap_err();
            assert!(error.starts_with(&format!("{setting} must ")), "{text}: {error}");
        }
        let environment =
            TracesFromEnvironment { endpoint: Some("grpc://x".to_owned()), ..Default::default() };
        let error = from_both("", environment).unwrap_err();
        assert!(error.starts_with("OTEL_EXPORTER_OTLP_ENDPOINT must "), "{error}");
    }

    #[test]
    fn keys_of_collectors_are_hidden() {
        let text = "[otlp]\nendpoint = \"http://c:4318\"\nheaders = { authorization = \"Bearer hush\" }";
        let config = from_text(text).unwrap();
        let shown = show(&config);
        assert!(!shown.contains("hush") && !format!("{config:?}").contains("hush"), "{shown}");
        assert!(shown.contains("otlp.traces_url = \"http://c:4318/v1/traces\""), "{shown}");
        assert!(shown.contains("otlp.headers.authorization = \"(hidden)\""), "{shown}");
    }
}
