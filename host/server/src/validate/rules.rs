//! What a request is measured against: the models and add-ons that this host has.

use std::collections::BTreeMap;

use serde_json::Value;

use super::schema::Schema;
use crate::model::language::Language;
use crate::model::spec;

/// A speech model that a request may name.
#[derive(Debug, Clone)]
pub struct ModelRules {
    /// Its name.
    pub name: String,
    /// Languages that it accepts; empty: all.
    pub languages: Vec<Language>,
    /// Whether the language may change within a file.
    pub code_switching: bool,
}

/// What stays the same while the host runs.
#[derive(Debug, Clone)]
pub struct HostRules {
    /// Speech models.
    pub models: Vec<ModelRules>,
    /// Other names for those models.
    pub model_aliases: BTreeMap<String, String>,
    /// Whether callbacks may go to private and loopback addresses.
    pub allow_private_urls: bool,
}

/// What validation needs to know of a loaded add-on.
#[derive(Debug, Clone)]
pub struct AddonFacts {
    /// Name in the result.
    pub name: String,
    /// Field of the request that switches it on.
    pub flag: String,
    /// Field of the request that holds its config object.
    pub config_key: Option<String>,
    /// JSON Schema of that object.
    pub schema: Value,
    /// SHA-256 of the component, hex.
    pub digest: String,
    /// Add-ons that are on whenever this one is.
    pub requires: Vec<String>,
    /// On in every job.
    pub forced: bool,
    /// Declares the effect `redacts`.
    pub redacts: bool,
}

/// An add-on that the operator's configuration names and that is not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentAddon {
    /// Its name, which is its flag too.
    pub name: String,
    /// A request that asks for it is refused.
    pub required: bool,
    /// Every request asks for it.
    pub forced: bool,
}

/// A loaded add-on with its schema ready.
#[derive(Debug)]
pub(super) struct KnownAddon {
    pub facts: AddonFacts,
    pub schema: Schema,
}

/// The add-ons of this host in the order in which they run.
#[derive(Debug, Default)]
pub struct Catalogue {
    pub(super) addons: Vec<KnownAddon>,
    pub(super) absent: Vec<AbsentAddon>,
}

impl Catalogue {
    /// Prepares the schemas. An add-on whose schema cannot be used is left out and returned
    /// by name with the reason.
    pub fn new(addons: Vec<AddonFacts>, absent: Vec<AbsentAddon>) -> (Self, Vec<(String, String)>) {
        let mut known = Vec::new();
        let mut refused = Vec::new();
        for facts in addons {
            let is_of_specification = spec::ADDON_FLAGS.contains(&facts.flag.as_str());
            let compiled = if is_of_specification {
                Schema::compile_ignoring_unknown(&facts.schema)
            } else {
                Schema::compile(&facts.schema)
            };
            match compiled {
                Ok(schema) => known.push(KnownAddon { facts, schema }),
                Err(reason) => refused.push((facts.name, reason)),
            }
        }
        (Self { addons: known, absent }, refused)
    }
}
