//! The settings as the rest of the host gets them: complete and valid.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::cors::Cors;
use super::deliveries::Deliveries;
use super::otlp::Otlp;
use super::paths::Paths;
use super::sections::{Fetch, Limits, Log, Speech, Worker};
use crate::addons::OperatorSettings;
use crate::model::plan::Plans;
use crate::model::secret::Secret;
use crate::model::webhook::Webhook;
use crate::net_guard::Authorities;

/// Everything that the operator decided, or left to the defaults.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address to listen on, `host:port`; port 0 takes a free one.
    pub listen: String,
    /// Files and folders.
    pub paths: Paths,
    /// Where `tympan models pull` takes models from.
    pub model_source: ModelSource,
    /// Address of the hub, where it is a mirror of the public one.
    pub model_hub_url: Option<String>,
    /// Origin under which clients reach the service, without a trailing slash.
    pub public_base_url: Option<String>,
    /// Whose `X-Forwarded-Proto` and `X-Forwarded-Host` are believed; absent: everybody's.
    pub trusted_proxies: Option<Vec<IpNet>>,
    /// Whether URLs of requests may reach private and loopback addresses.
    pub allow_private_urls: bool,
    /// Who may vouch for hosts beside the authorities of the system.
    pub authorities: Authorities,
    /// Who may call.
    pub auth: Auth,
    /// Which web pages may call.
    pub cors: Cors,
    /// What accounts may ask for, and how long their data is kept.
    pub plans: Plans,
    /// Speech models by the name that requests use.
    pub models: BTreeMap<String, Model>,
    /// Other names for those models.
    pub model_aliases: BTreeMap<String, String>,
    /// Add-ons.
    pub addons: Addons,
    /// What one client may ask of the host.
    pub limits: Limits,
    /// How jobs are worked on.
    pub worker: Worker,
    /// The speech engine.
    pub speech: Speech,
    /// Downloads of audio.
    pub fetch: Fetch,
    /// Callbacks and webhooks.
    pub deliveries: Deliveries,
    /// Webhooks that the operator registered in the file; `created_ms` is 0.
    pub webhooks: Vec<Webhook>,
    /// Log lines.
    pub log: Log,
    /// Where traces go.
    pub otlp: Otlp,
}

/// Where model files come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelSource {
    /// The public hub, and packages where it does not answer.
    #[default]
    Auto,
    /// The public hub that carries ggml files.
    Hub,
    /// Packages that carry the weights in another form.
    Packages,
}

/// Who may call.
#[derive(Debug, Clone, Default)]
pub struct Auth {
    /// Further names of the header that holds the key, lower case.
    pub header_aliases: Vec<String>,
    /// Keys from the file, by digest.
    pub keys: Vec<ApiKey>,
    /// `TYMPAN_API_KEY`: always accepted, account `default`, admin.
    pub bootstrap_key: Option<Secret>,
}

/// A key of the file: its digest, never the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Owner of the jobs that this key makes.
    pub account: String,
    /// SHA-256 of the key.
    pub sha256: [u8; 32],
    /// May use the operator's part of the API.
    pub is_admin: bool,
}

/// A speech model under one of its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Name of the file in the models folder, or an absolute path.
    pub file: PathBuf,
    /// Languages that it accepts, canonical codes; empty: all.
    pub languages: Vec<String>,
    /// Whether the language may change within a file.
    pub code_switching: bool,
}

/// Add-ons: where they are and what each may do.
#[derive(Debug, Clone, Default)]
pub struct Addons {
    /// Whether text that add-ons write may stand in logs. It can hold what was said.
    pub log_text: bool,
    /// Decisions by name.
    pub by_name: BTreeMap<String, OperatorSettings>,
}
