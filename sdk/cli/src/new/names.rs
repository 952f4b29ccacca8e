//! The name of a new add-on, and which names cannot be one.

use std::path::Path;

use anyhow::bail;

/// Keywords of Rust, those kept for later included.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield", "union",
];

/// Crates that come with Rust or that the new crate depends on.
const CRATES: [&str; 9] =
    ["alloc", "core", "proc_macro", "schemars", "serde", "serde_json", "std", "test", "tympan_sdk"];

/// Types that the code of a new add-on names or imports.
const TYPES: [&str; 25] = [
    "Addon",
    "Box",
    "Capability",
    "Config",
    "Deserialize",
    "Doc",
    "Effect",
    "Error",
    "Hit",
    "Job",
    "JsonSchema",
    "Level",
    "Meta",
    "Mode",
    "NoConfig",
    "Option",
    "Problems",
    "Result",
    "Serialize",
    "Slot",
    "String",
    "Transcript",
    "Utterance",
    "Vec",
    "Word",
];

/// Fields of a request or a result that belong to the host, one a line: it refuses an add-on of
/// such a name.
const HOST_FIELDS: &str = include_str!("../../../../wit/reserved-names.txt");

/// The new crate's name in the spellings that the templates need.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// `call-report`
    krate: String,
    /// `call_report`
    addon: String,
    /// `CallReport`
    type_name: String,
}

impl Names {
    pub(super) fn of(dir: &Path) -> anyhow::Result<Self> {
        let last = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let addon = last.replace('-', "_");
        let mut chars = addon.chars();
        let starts_well = chars.next().is_some_and(|c| c.is_ascii_lowercase());
        let goes_on_well = chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !starts_well || !goes_on_well || !(2..=64).contains(&addon.len()) {
            bail!(
                "`{last}` cannot name an add-on: use 2 to 64 of a-z, 0-9, `-` and `_`, starting with a letter"
            );
        }
        let type_name: String = addon.split('_').map(capitalised).collect();
        if KEYWORDS.contains(&addon.as_str()) || CRATES.contains(&addon.as_str()) {
            bail!("`{last}` cannot name an add-on: it means something else in Rust");
        }
        if HOST_FIELDS.lines().any(|field| field == addon) {
            bail!("`{last}` cannot name an add-on: the API has a field `{addon}` of its own");
        }
        if TYPES.contains(&type_name.as_str()) {
            bail!(
                "`{last}` cannot name an add-on: its type would be `{type_name}`, which its code needs for another"
            );
        }
        Ok(Self { krate: last.to_owned(), addon, type_name })
    }

    pub(super) fn fill(&self, template: &str, sdk: &Path) -> String {
        template
            .replace("{{crate}}", &self.krate)
            .replace("{{addon}}", &self.addon)
            .replace("{{type}}", &self.type_name)
            .replace("{{sdk}}", &toml::Value::from(sdk.to_string_lossy().as_ref()).to_string())
    }
}

fn capitalised(part: &str) -> String {
    let mut chars = part.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_spelled_three_ways() {
        let names = Names::of(Path::new("some/where/call-report2")).unwrap();
        assert_eq!(names.krate, "call-report2");
        assert_eq!(names.addon, "call_report2");
        assert_eq!(names.type_name, "CallReport2");
    }

    #[test]
    fn names_that_the_host_would_refuse_are_refused() {
        for bad in ["", "a", "2calls", "Call", "ca ll", "käse", "..", &"a".repeat(65)] {
            assert!(Names::of(Path::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_that_mean_something_else_are_refused() {
        for bad in [
            "self",
            "fn",
            "core",
            "std",
            "test",
            "tympan-sdk",
            "serde",
            "audio_url",
            "result",
            "word",
            "vec",
            "proc-macro",
            "no-config",
        ] {
            let error = Names::of(Path::new(bad)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{bad}` cannot name an add-on: ")), "{error}");
        }
        for good in ["words", "self-test", "sentences", "hits"] {
            assert!(Names::of(Path::new(good)).is_ok(), "{good}");
        }
    }

    #[test]
    fn the_path_is_a_valid_toml_string() {
        let names = Names::of(Path::new("ab")).unwrap();
        let filled = names.fill("path = {{sdk}}", Path::new("/a \"b\"/c"));
        let table: toml::Table = filled.parse().unwrap();
        assert_eq!(table["path"].as_str(), Some("/a \"b\"/c"));
    }
}
