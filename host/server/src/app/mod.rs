//! Wires the parts of the host together from the configuration; decides nothing itself.

mod desk;
mod parts;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
pub use desk::Desk;
pub use parts::{host_rules, open_engine, open_library};

use crate::addons::Library;
use crate::blob::Blobs;
use crate::config::Config;
use crate::deliver::{self, Sender};
use crate::engine::Engine;
use crate::limits::Policies;
use crate::model::cause::chain;
use crate::model::date;
use crate::retain::Sweeper;
use crate::stage::decode::DecodeLimits;
use crate::stage::fetch::FetchPolicy;
use crate::store::{ConcurrencyLimit, Store, StoreError};
use crate::worker::{self, ModelDigests, Stages, SystemClock, Worker};

/// The parts that every way to run jobs needs.
pub struct Host {
    /// Jobs and files.
    pub store: Arc<Store>,
    /// Their bytes.
    pub blobs: Blobs,
    /// The speech engine.
    pub engine: Engine,
    /// The add-ons.
    pub library: Arc<Library>,
    /// What each account may do.
    pub policies: Arc<Policies>,
}

impl Host {
    /// Opens the data of `data_dir`, the engine and the add-ons.
    ///
    /// # Errors
    /// When a folder, the database, the engine or a model file cannot be opened.
    pub async fn open(config: &Config, data_dir: &Path, database_file: &Path) -> anyhow::Result<Self> {
        let engine = open_engine(config)?;
        private_folder(data_dir).await?;
        let store = Arc::new(open_store(database_file).await?);
        let blobs = Blobs::open(&data_dir.join("blobs")).with_context(|| unusable(data_dir))?;
        let library = Arc::new(open_library(config).await?);
        let policies = Arc::new(Policies::new(config.plans.clone()));
        Ok(Self { store, blobs, engine, library, policies })
    }

    /// Puts the webhooks of the configuration into the store and makes a sender, for the
    /// process that `owner` names.
    ///
    /// # Errors
    /// When the store does not take them, or there is no TLS to be had.
    pub async fn sender(&self, config: &Config, owner: &str) -> anyhow::Result<Sender> {
        let mut webhooks = config.webhooks.clone();
        for webhook in &mut webhooks {
            webhook.created_ms = date::now_ms();
        }
        let replaced = self.store.replace_configured_webhooks(webhooks).await;
        replaced.map_err(|error| refused(error, &config.paths.database_file))?;
        let settings = delivery_settings(config);
        let (store, blobs, owner) = (self.store.clone(), self.blobs.clone(), owner.to_owned());
        Ok(Sender::new(deliver::Parts { store, blobs, settings, owner })?)
    }

    /// A worker on this host.
    ///
    /// # Errors
    /// When its folders cannot be made.
    pub fn worker(&self, config: &Config, settings: worker::Settings) -> anyhow::Result<Worker<Stages>> {
        let steps = Stages {
            blobs: self.blobs.clone(),
            engine: self.engine.clone(),
            library: self.library.clone(),
            fetch_policy: fetch_policy(config),
            decode_limits: decode_limits(config),
            model_digests: ModelDigests::default(),
        };
        let clock = Arc::new(SystemClock);
        let (store, blobs, policies) = (self.store.clone(), self.blobs.clone(), self.policies.clone());
        let limit_of: ConcurrencyLimit = Arc::new(move |account| policies.concurrent_prerecorded(account));
        let folder = settings.scratch_dir.clone();
        Worker::new(worker::Parts { store, blobs, steps, clock, limit_of, settings })
            .with_context(|| unusable(&folder))
    }
}

/// Opens the database, in a folder of its own if need be.
///
/// # Errors
/// When the folder cannot be made, or the file is no database of ours, or has no room.
pub async fn open_store(file: &Path) -> anyhow::Result<Store> {
    let folder = file.parent().unwrap_or(Path::new(""));
    private_folder(folder).await?;
    Store::open(file).await.map_err(|error| refused(error, file))
}

/// Why the database ends a start.
fn refused(error: StoreError, file: &Path) -> anyhow::Error {
    let what = match (&error, file.parent()) {
        (StoreError::Full(_), Some(folder)) => unusable(folder),
        _ => format!("the database {} cannot be used", file.display()),
    };
    anyhow::Error::new(error).context(what)
}

/// Makes a folder for us alone: recordings, transcripts and secrets lie in it.
async fn private_folder(folder: &Path) -> anyhow::Result<()> {
    if folder == Path::new("") {
        return Ok(());
    }
    if tokio::fs::metadata(folder).await.is_ok_and(|found| !found.is_dir()) {
        anyhow::bail!("{} must be a folder, and is none", folder.display());
    }
    let making = tokio::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).await;
    making.with_context(|| unusable(folder))
}

/// Why a start ends. Without rows and bytes the service could only refuse each request: whoever
/// supervises it is told at once, and starts it again.
fn unusable(data_dir: &Path) -> String {
    format!(
        "the data folder {} cannot be used; free some space on its disk, or allow us to write there, and \
         start again",
        data_dir.display()
    )
}

impl Host {
    /// Removes the copies of replaced add-ons that no unfinished job was promised.
    pub async fn forget_components(&self) {
        match self.store.promised_addons().await {
            Ok(promised) => self.library.forget_copies(promised).await,
            Err(error) => {
                tracing::warn!(error = chain(&error), "cannot look for copies of add-ons that nobody needs")
            }
        }
    }

    /// What erases data that plans do not keep.
    pub fn sweeper(&self) -> Sweeper {
        let policies = self.policies.clone();
        Sweeper {
            store: self.store.clone(),
            blobs: self.blobs.clone(),
            periods: Arc::new(move |account| policies.policy_of(account).periods()),
        }
    }
}

/// What deliveries may do.
pub fn delivery_settings(config: &Config) -> deliver::Settings {
    let chosen = &config.deliveries;
    deliver::Settings {
        allow_private: config.allow_private_urls,
        authorities: config.authorities.clone(),
        callback_secret: chosen.callback_secret.clone(),
        timeout: Duration::from_secs(chosen.timeout_s),
        pauses: chosen.retry_s.iter().copied().map(Duration::from_secs).collect(),
        in_flight: chosen.in_flight,
        in_flight_per_account: chosen.in_flight_per_account,
        in_flight_per_receiver: chosen.in_flight_per_receiver,
    }
}

/// The worker's settings of the configuration.
pub fn worker_settings(config: &Config) -> worker::Settings {
    let chosen = &config.worker;
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    worker::Settings {
        slots: count(chosen.slots),
        fetches: count(config.fetch.in_flight),
        fetches_per_account: count(config.fetch.in_flight_per_account),
        lease_time: Duration::from_secs(chosen.lease_s),
        shutdown_grace: Duration::from_secs(chosen.shutdown_grace_s),
        retry_horizon: Duration::from_secs(chosen.retry_horizon_s),
        ..worker::Settings::in_folder(&config.paths.data_dir)
    }
}

/// What downloads of audio may do.
pub fn fetch_policy(config: &Config) -> FetchPolicy {
    let fetch = &config.fetch;
    FetchPolicy {
        allow_private: config.allow_private_urls,
        authorities: config.authorities.clone(),
        max_bytes: fetch.max_bytes,
        total_timeout: Duration::from_secs(fetch.total_timeout_s),
        connect_timeout: Duration::from_secs(fetch.connect_timeout_s),
        idle_timeout: Duration::from_secs(fetch.idle_timeout_s),
        max_redirects: fetch.max_redirects,
    }
}

fn decode_limits(config: &Config) -> DecodeLimits {
    let mut limits = DecodeLimits::default();
    if let Some(longest_s) = config.limits.audio_duration_s {
        limits.max_duration_s = longest_s as f64;
        // Two channels of the longest recording are always taken.
        limits.max_channel_s = limits.max_channel_s.max(2.0 * limits.max_duration_s);
    }
    limits
}
