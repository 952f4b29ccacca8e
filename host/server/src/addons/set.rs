//! A fixed set of add-ons in the order in which they run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tympan_runtime::Addon;

use super::order::{self, Place};
use super::settings::OperatorSettings;
use crate::model::spec;

/// A component that has been loaded and waits for a place in the set.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The component.
    pub addon: Addon,
    /// Where it was loaded from.
    pub file: PathBuf,
    /// It came with the host.
    pub built_in: bool,
}

/// An add-on of the set.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The component.
    pub addon: Addon,
    /// Where it was loaded from.
    pub file: PathBuf,
    /// It came with the host.
    pub built_in: bool,
    /// What the operator decided about it.
    pub operator: OperatorSettings,
    /// JSON Schema of its config object.
    pub config_schema: Value,
}

/// A file that is not used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The file.
    pub file: PathBuf,
    /// One sentence.
    pub reason: String,
}

/// Add-ons in running order, and the files that were refused.
#[derive(Debug, Default)]
pub struct AddonSet {
    entries: Vec<Entry>,
    refused: Vec<Refusal>,
}

impl AddonSet {
    /// Chooses among candidates of the same name, refuses names that are spoken for and
    /// cycles, and puts the rest in order.
    pub fn build(
        candidates: Vec<Candidate>,
        mut refused: Vec<Refusal>,
        operators: &BTreeMap<String, OperatorSettings>,
    ) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for candidate in candidates {
            let operator = operators.get(&candidate.addon.descriptor().name).cloned().unwrap_or_default();
            match admit(&entries, candidate, operator) {
                Ok((entry, replaced)) => {
                    entries.retain(|other| Some(&other.file) != replaced.as_ref());
                    entries.push(entry);
                }
                Err(refusal) => refused.push(refusal),
            }
        }
        let (entries, cyclic) = in_order(entries);
        refused.extend(cyclic);
        Self { entries, refused }
    }

    /// All add-ons, first to run first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Files that are not used.
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// The add-on of that name.
    pub fn by_name(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.addon.descriptor().name == name)
    }

    /// The files of that folder that this set was made of.
    pub fn files_in(&self, folder: &Path) -> Vec<PathBuf> {
        let of_entries = self.entries.iter().map(|entry| &entry.file);
        of_entries.filter(|file| file.parent() == Some(folder)).cloned().collect()
    }

    /// What that file held when this set was made.
    pub fn loaded_from(&self, file: &Path) -> Option<Candidate> {
        self.entries.iter().find(|entry| entry.file == file).map(|entry| Candidate {
            addon: entry.addon.clone(),
            file: entry.file.clone(),
            built_in: entry.built_in,
        })
    }
}

/// The new entry and the file it takes the place of.
fn admit(
    entries: &[Entry],
    candidate: Candidate,
    operator: OperatorSettings,
) -> Result<(Entry, Option<PathBuf>), Refusal> {
    let Candidate { addon, file, built_in } = candidate;
    let refuse = |reason: String| Refusal { file: file.clone(), reason };
    let descriptor = addon.descriptor();
    let fields = [Some(&descriptor.name), Some(&descriptor.request_flag), descriptor.config_key.as_ref()];
    let fields: Vec<&String> = fields.into_iter().flatten().collect();
    if let Some(field) = fields.iter().find(|field| !spec::may_use(&descriptor.name, field)) {
        return Err(refuse(format!(
            "the name {field} belongs to the service itself; choose another name, flag or config key"
        )));
    }
    let config_schema = serde_json::from_str(&descriptor.config_schema)
        .map_err(|error| refuse(format!("its config schema is not JSON: {error}")))?;
    let same_name = entries.iter().find(|other| other.addon.descriptor().name == descriptor.name);
    if let Some(other) = same_name.filter(|_| !operator.replace) {
        let taken = other.file.display();
        let name = &descriptor.name;
        return Err(refuse(format!(
            "the name {name} is taken by {taken}; set replace = true in [addons.{name}] to use this file instead"
        )));
    }
    let others = entries.iter().filter(|other| other.addon.descriptor().name != descriptor.name);
    for other in others {
        let theirs = other.addon.descriptor();
        let collides = |field: &&&String| {
            ***field == theirs.name
                || ***field == theirs.request_flag
                || theirs.config_key.as_ref() == Some(**field)
        };
        if let Some(field) = fields.iter().find(collides) {
            return Err(refuse(format!("the name {field} is already used by the add-on {}", theirs.name)));
        }
    }
    let replaced = same_name.map(|other| other.file.clone());
    Ok((Entry { addon, file, built_in, operator, config_schema }, replaced))
}

fn in_order(entries: Vec<Entry>) -> (Vec<Entry>, Vec<Refusal>) {
    let places: Vec<Place<'_>> = entries.iter().map(place).collect();
    let resolved = order::resolve(&places);
    let names: Vec<&str> = resolved.cyclic.iter().map(|&at| places[at].name).collect();
    let reason =
        format!("these add-ons wait for each other through `after` or `requires`: {}", names.join(", "));
    let refused = resolved
        .cyclic
        .iter()
        .map(|&at| Refusal { file: entries[at].file.clone(), reason: reason.clone() })
        .collect();
    let ordered = resolved.order.iter().map(|&at| entries[at].clone()).collect();
    (ordered, refused)
}

fn place(entry: &Entry) -> Place<'_> {
    let descriptor = entry.addon.descriptor();
    Place {
        name: &descriptor.name,
        slot: descriptor.slot,
        after: &descriptor.after,
        requires: &descriptor.requires,
        redacts: descriptor.redacts(),
        sees_raw_text: entry.built_in || entry.operator.grants.iter().any(|grant| grant == "raw-text"),
    }
}
