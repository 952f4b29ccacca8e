//! What handlers work with.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use ipnet::IpNet;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::error::ApiError;
use super::openapi;
use super::recent::Recent;
use crate::auth::Keys;
use crate::blob::Blobs;
use crate::config::{Cors, Limits};
use crate::limits::{DownloadLimits, Downloads, Policies, RequestRates};
use crate::model::job::PlannedAddon;
use crate::stage::fetch::FetchPolicy;
use crate::store::{Backlog, Store};
use crate::validate::{Catalogue, HostRules};

/// Uploads whose audio is looked at at the same time; each occupies a thread.
const PROBES: usize = 4;

/// The add-ons of this host as far as requests are concerned.
pub trait AddonDesk: Send + Sync {
    /// The add-ons as they are at this moment.
    fn catalogue(&self) -> Arc<Catalogue>;

    /// Asks an add-on whether it accepts its config, and for the config with defaults filled
    /// in. `addon` comes from a draft made with [`AddonDesk::catalogue`].
    fn normalise<'a>(&'a self, addon: &'a PlannedAddon) -> BoxFuture<'a, Result<String, ConfigRefusal>>;
}

/// An add-on did not normalise its config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigRefusal {
    /// The config is wrong.
    Problems(Vec<ConfigProblem>),
    /// The add-on itself failed.
    Failed,
}

/// One thing that an add-on does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// JSON Pointer into the config object; empty for the whole.
    pub pointer: String,
    /// What is wrong; best begins with "must".
    pub message: String,
}

/// Settings of the API.
#[derive(Debug, Clone, Default)]
pub struct ApiSettings {
    /// Origin under which clients reach the service, without a trailing slash.
    pub public_base_url: Option<String>,
    /// Whose `X-Forwarded-…` headers are believed; absent: everybody's.
    pub trusted_proxies: Option<Vec<IpNet>>,
    /// Which web pages may call.
    pub cors: Cors,
    /// What one client may ask of the host.
    pub limits: Limits,
    /// Downloads for `POST /v2/upload` with a URL.
    pub fetch: FetchPolicy,
    /// How many of them may run at a time.
    pub downloads: DownloadLimits,
}

/// Everything that handlers share.
pub struct Api {
    /// Jobs and files.
    pub store: Arc<Store>,
    /// Their bytes.
    pub blobs: Blobs,
    /// Who may call.
    pub keys: Arc<Keys>,
    /// What each account may do.
    pub policies: Arc<Policies>,
    /// How often each key may ask.
    pub rates: Arc<RequestRates>,
    /// Models and rules.
    pub rules: HostRules,
    /// Add-ons.
    pub addons: Arc<dyn AddonDesk>,
    /// Settings.
    pub settings: ApiSettings,
    /// Told of every new job.
    pub job_arrived: Arc<Notify>,
    /// Once cancelled, nothing new is accepted: POST is answered with 503.
    pub draining: CancellationToken,
    /// Work that outlives its request; whoever stops the host waits for it.
    pub tasks: TaskTracker,
    pub(super) downloads: Downloads,
    pub(super) probes: Semaphore,
    pub(super) readiness: Recent<Result<(), ApiError>>,
    pub(super) backlog: Recent<Result<Backlog, ApiError>>,
    pub(super) description: openapi::Made,
}

impl Api {
    /// Puts the parts together.
    pub fn new(
        store: impl Into<Arc<Store>>,
        blobs: Blobs,
        keys: impl Into<Arc<Keys>>,
        policies: Arc<Policies>,
        rules: HostRules,
        addons: Arc<dyn AddonDesk>,
        settings: ApiSettings,
    ) -> Self {
        Self {
            store: store.into(),
            blobs,
            keys: keys.into(),
            policies,
            rates: Arc::default(),
            downloads: Downloads::new(settings.downloads),
            rules,
            addons,
            settings,
            job_arrived: Arc::default(),
            draining: CancellationToken::new(),
            tasks: TaskTracker::new(),
            probes: Semaphore::new(PROBES),
            readiness: Recent::default(),
            backlog: Recent::default(),
            description: openapi::Made::default(),
        }
    }

    /// Does to its end what must not stop half-way when the client goes away.
    pub(super) async fn finish<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (answer, answered) = oneshot::channel();
        let work = async move {
            if let Err(Err(error)) = answer.send(work.await) {
                error.log("the client is gone");
            }
        };
        self.tasks.spawn(work.in_current_span());
        answered.await.unwrap_or_else(|_| Err(ApiError::internal()))
    }
}
