//! `[cors]`: which web pages may call the API from a browser.

use serde::{Deserialize, Serialize};
use url::Url;

use super::error::ConfigError;

/// Stands for every origin.
const ANY: &str = "*";

/// `[cors]`: pages of other origins. Without any the browser keeps all of them out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cors {
    /// `scheme://host[:port]` as browsers write it, or `*` alone for every page.
    pub allowed_origins: Vec<String>,
}

impl Cors {
    /// Whether a page of this origin (the value of a header `Origin`) may read answers.
    pub fn allows(&self, origin: &str) -> bool {
        self.allowed_origins.iter().any(|allowed| allowed == ANY || allowed == origin)
    }

    /// The same with every origin in the form in which browsers write it.
    pub(super) fn check(self) -> Result<Self, ConfigError> {
        let refused = |problem: String| ConfigError::invalid("cors.allowed_origins", problem);
        if self.allowed_origins.len() > 1 && self.allowed_origins.iter().any(|text| text == ANY) {
            return Err(refused("must hold \"*\" alone or not at all".to_owned()));
        }
        let mut allowed_origins = Vec::new();
        for text in self.allowed_origins {
            let origin = if text == ANY { Some(text.clone()) } else { origin(&text) };
            allowed_origins.push(origin.ok_or_else(|| {
                refused(format!("must hold origins such as https://app.example, {text:?} is none"))
            })?);
        }
        Ok(Self { allowed_origins })
    }
}

/// Beside http and https also the schemes of apps (`capacitor://localhost`).
fn origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty() && !host.contains('*'))?;
    let has_more = !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some();
    if has_more || !url.username().is_empty() || url.password().is_some() {
        return None;
    }
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{}://{host}{port}", url.scheme()))
}

#[cfg(test)]
mod tests {
    use super::super::{from_text, show};

    fn origins(list: &str) -> Result<Vec<String>, String> {
        from_text(&format!("[cors]\nallowed_origins = [{list}]"))
            .map(|config| config.cors.allowed_origins.clone())
    }

    #[test]
    fn nobody_is_allowed_unless_named() {
        let cors = from_text("").unwrap().cors;
        assert!(cors.allowed_origins.is_empty() && !cors.allows("https://app.example"));
        let cors = from_text("[cors]\nallowed_origins = [\"https://app.example\"]").unwrap().cors;
        assert!(cors.allows("https://app.example"));
        for other in ["http://app.example", "https://app.example:8443", "https://a.app.example", "null", ""] {
            assert!(!cors.allows(other), "{other}");
        }
        assert!(from_text("[cors]\nallowed_origins = [\"*\"]").unwrap().cors.allows("null"));
    }

    #[test]
    fn origins_are_kept_as_browsers_write_them() {
        for (written, kept) in [
            ("https://App.Example:443/", "https://app.example"),
            ("http://localhost:5173", "http://localhost:5173"),
            ("http://[::1]:80", "http://[::1]"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("capacitor://localhost", "capacitor://localhost"),
            ("*", "*"),
        ] {
            assert_eq!(origins(&format!("{written:?}")).unwrap(), [kept], "{written}");
        }
    }

    #[test]
    fn what_is_no_origin_is_refused_by_name() {
        for wrong in [
            "",
            "app.example",
            "null",
            "https://",
            "https://app.example/path",
            "https://app.example?x",
            "https://app.example#x",
            "https://user@app.example",
            "https://user:p@app.example",
            "https://*.app.example",
            "https://app.example:99999",
            "file:///home",
            "data:text/html,x",
        ] {
            let error = origins(&format!("{wrong:?}")).unwrap_err();
            assert!(error.starts_with("cors.allowed_origins must hold origins"), "{wrong}: {error}");
            assert!(error.ends_with(&format!("{wrong:?} is none")), "{error}");
        }
        let both = origins("\"*\", \"https://app.example\"").unwrap_err();
        assert!(both.starts_with("cors.allowed_origins must hold \"*\" alone"), "{both}");
    }

    #[test]
    fn check_config_shows_the_origins() {
        let shown = show(&from_text("[cors]\nallowed_origins = [\"https://App.example\"]").unwrap());
        assert!(shown.contains("cors.allowed_origins = [\"https://app.example\"]"), "{shown}");
    }
}
