//! The shape of `tympan.toml` on disk. Everything is optional, nothing is checked beyond
//! types and names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::cors::Cors;
use super::deliveries::{Deliveries, WebhookFile};
use super::otlp::OtlpFile;
use super::plan::PlanFile;
use super::plans::AccountFile;
use super::sections::{Fetch, Limits, Log, Speech, Worker};
use super::settings::ModelSource;
use crate::addons::OperatorSettings;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    pub listen: Option<String>,
    pub data_dir: Option<PathBuf>,
    pub database_url: Option<String>,
    pub models_dir: Option<PathBuf>,
    pub compiled_addons_dir: Option<PathBuf>,
    pub model_source: ModelSource,
    pub model_hub_url: Option<String>,
    pub public_base_url: Option<String>,
    pub trusted_proxies: Option<Vec<String>>,
    pub allow_private_urls: bool,
    pub auth: AuthFile,
    pub cors: Cors,
    pub plans: BTreeMap<String, PlanFile>,
    pub accounts: BTreeMap<String, AccountFile>,
    pub default_plan: Option<String>,
    pub models: BTreeMap<String, ModelFile>,
    pub model_aliases: Option<BTreeMap<String, String>>,
    pub addons: AddonsFile,
    pub limits: Limits,
    pub worker: Worker,
    pub speech: Speech,
    pub fetch: Fetch,
    pub deliveries: Deliveries,
    pub webhooks: Vec<WebhookFile>,
    pub log: Log,
    pub otlp: OtlpFile,
    pub extra_ca_file: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AuthFile {
    pub header_aliases: Vec<String>,
    pub keys: Vec<KeyFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyFile {
    pub account: String,
    pub sha256: String,
    #[serde(default)]
    pub admin: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ModelFile {
    pub file: Option<String>,
    pub languages: Option<Vec<String>>,
    pub code_switching: Option<bool>,
}

/// `[addons]`: two settings of its own, and a table for each add-on. A key that is no
/// setting is therefore taken for the name of an add-on, and must hold a table.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AddonsFile {
    pub log_text: bool,
    pub folders: Vec<PathBuf>,
    #[serde(flatten)]
    pub by_name: BTreeMap<String, OperatorSettings>,
}
