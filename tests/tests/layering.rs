//! Which part of the server may know which: read from the `use` lines of the source.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Each part with the parts of the crate that it may name. A part that is not listed here
/// fails the test, so that a new one is placed on purpose.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("config", &["addons", "model", "net_guard"]),
    ("validate", &["model", "net_guard"]),
    ("auth", &["config", "limits", "model", "store"]),
    ("limits", &["model"]),
    ("telemetry", &["config", "net_guard"]),
    ("blob", &["model"]),
    ("store", &["model"]),
    ("net_guard", &["priority"]),
    ("priority", &[]),
    ("modelfile", &[]),
    ("engine", &["model", "modelfile", "priority"]),
    ("stage/fetch", &["model", "net_guard"]),
    ("stage/decode", &["model"]),
    ("stage/segment", &["model", "engine"]),
    ("stage/transcribe", &["model", "engine"]),
    ("metrics", &["store"]),
    ("addons", &["metrics", "model"]),
    ("retain", &["model", "store", "blob"]),
    ("worker", &["addons", "blob", "deliver", "engine", "metrics", "model", "stage", "store", "telemetry"]),
    ("deliver", &["metrics", "model", "store", "blob", "net_guard", "telemetry"]),
    (
        "api",
        &[
            "auth",
            "blob",
            "config",
            "limits",
            "metrics",
            "model",
            "retain",
            "stage",
            "store",
            "telemetry",
            "validate",
        ],
    ),
];

/// Crates that only some parts may use.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("axum", &["api"]),
    ("whisper_rs", &["engine"]),
    ("symphonia", &["stage/decode"]),
    ("reqwest", &["deliver", "stage/fetch", "net_guard", "modelfile", "telemetry"]),
    ("tympan_runtime", &["addons"]),
    ("tympan_vad", &["stage/segment"]),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/server/src")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Unit tests in files of their own may know more.
        let is_test = path.file_stem().is_some_and(|name| name == "tests" || name == "suite");
        if is_test {
            continue;
        }
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// `api`, `stage/decode`, …; empty for the files that only wire things together.
fn part_of(file: &Path) -> String {
    let relative = file.strip_prefix(source()).unwrap().with_extension("");
    let names: Vec<String> = relative.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    match names[0].as_str() {
        "lib" | "main" | "app" | "cli" => String::new(),
        "stage" => {
            names.get(1).filter(|name| *name != "mod").map_or(String::new(), |name| format!("stage/{name}"))
        }
        part => part.to_owned(),
    }
}

/// The code of a file without its unit tests, which may know more.
fn code_of(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

/// Parts named as `crate::part`.
fn named_parts(code: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for rest in line.split("crate::").skip(1) {
            let path: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
            let names: Vec<&str> = path.split("::").collect();
            match (names[0], names.get(1)) {
                ("", _) => {}
                ("stage", Some(stage)) if !stage.is_empty() => parts.push(format!("stage/{stage}")),
                (part, _) => parts.push(part.to_owned()),
            }
        }
    }
    parts
}

#[test]
fn arrows_between_parts_point_down() {
    let may_know: BTreeMap<&str, &[&str]> = MAY_KNOW.iter().copied().collect();
    let mut faults = Vec::new();
    for file in rust_files(&source()) {
        let part = part_of(&file);
        if part.is_empty() {
            continue;
        }
        let Some(allowed) = may_know.get(part.as_str()) else {
            faults.push(format!("{part} has no row in MAY_KNOW"));
            continue;
        };
        for named in named_parts(&code_of(&file)) {
            let root = named.split('/').next().unwrap_or_default();
            if named != part && !allowed.contains(&root) && !allowed.contains(&named.as_str()) {
                faults.push(format!("{}: {part} must not know {named}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn heavy_crates_stay_in_their_part() {
    let mut faults = Vec::new();
    for file in rust_files(&source()) {
        let part = part_of(&file);
        let code = code_of(&file);
        for (name, parts) in ONLY_IN {
            let uses = code
                .lines()
                .any(|line| !line.trim_start().starts_with("//") && line.contains(&format!("{name}::")));
            if uses && !part.is_empty() && !parts.contains(&part.as_str()) {
                faults.push(format!("{}: {part} must not use {name}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn only_the_config_reads_the_environment() {
    let readers: Vec<String> = rust_files(&source())
        .into_iter()
        .filter(|file| part_of(file) != "config" && code_of(file).contains("env::var"))
        .map(|file| file.display().to_string())
        .collect();
    assert!(readers.is_empty(), "these files read the environment: {readers:?}");
}
