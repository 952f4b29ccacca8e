//! `tympan serve`: the service, until it is told to stop.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::running::{Running, start};
use super::signals::Signals;
use super::{open_files, output};
use crate::api::{Api, ApiSettings};
use crate::app::{self, Desk, Host};
use crate::auth::{Keys, Watch};
use crate::config::Config;
use crate::limits::DownloadLimits;
use crate::{metrics, telemetry};

/// Why a service without a key does not start.
const NO_KEY: &str = "nobody could call this service: create a key with `tympan keys create --account NAME`, \
                      set TYMPAN_API_KEY, or add a key to [[auth.keys]]";

/// Runs the service. The address stands on the one line of standard output.
///
/// # Errors
/// When something is missing at the start: a key, a model, a folder, the port.
pub async fn run(config: Config) -> anyhow::Result<()> {
    let exporter = telemetry::init(&config.log, &config.otlp, &config.authorities)?;
    metrics::init();
    open_files::raise_limit(&config);
    for folder in config.paths.missing_addon_folders() {
        tracing::warn!(folder = %folder.display(), "this folder of add-ons does not exist");
    }
    let mut signals = Signals::listen()?;
    let Some(host) = open(&config, &mut signals).await? else { return Ok(()) };
    let listener = TcpListener::bind(&config.listen)
        .await
        .with_context(|| format!("cannot listen on {}; set TYMPAN_LISTEN", config.listen))?;
    let address = listener.local_addr()?;
    let broken = CancellationToken::new();
    let (running, _watching) = begin(&config, &host, listener, &broken).await?;
    output::line(format_args!("listening on http://{address}"))?;
    let reload = async || {
        host.library.reload().await;
        host.forget_components().await;
    };
    tokio::select! {
        () = signals.stop(reload) => {}
        () = broken.cancelled() => {}
    }

    let is_broken = broken.is_cancelled();
    tracing::info!(is_broken, "stopping");
    let shut_down = async {
        running.shut_down(Duration::from_secs(config.worker.shutdown_grace_s)).await?;
        exporter.finish().await;
        anyhow::Ok(())
    };
    tokio::select! {
        ended = shut_down => ended?,
        () = signals.stop(std::future::pending) => {
            anyhow::bail!("stopped at once by a signal during the stop; the next start takes up what was running");
        }
    }
    anyhow::ensure!(!is_broken, "a part of the service ended unexpectedly; the log says where");
    Ok(())
}

/// Data, engine and add-ons; `None` when the service is told to stop before it has them. Add-ons
/// may have to be compiled, and others may come meanwhile.
async fn open(config: &Config, signals: &mut Signals) -> anyhow::Result<Option<Host>> {
    let is_reload_due = Cell::new(false);
    let host = tokio::select! {
        opened = Host::open(config, &config.paths.data_dir, &config.paths.database_file) => opened?,
        () = signals.stop(async || is_reload_due.set(true)) => return Ok(None),
    };
    if is_reload_due.get() {
        host.library.reload().await;
    }
    host.forget_components().await;
    Ok(Some(host))
}

/// Starts the parts that work on jobs, and those that watch keys and erase data, which nobody waits
/// for.
async fn begin(
    config: &Config,
    host: &Host,
    listener: TcpListener,
    broken: &CancellationToken,
) -> anyhow::Result<(Running, [AbortOnDropHandle<()>; 2])> {
    let worker = host.worker(config, app::worker_settings(config))?;
    let sender = host.sender(config, worker.instance().name()).await?;
    let mut api = api_of(config, host);
    api.job_arrived = worker.waker();
    let watch = Watch {
        store: host.store.clone(),
        keys: api.keys.clone(),
        policies: host.policies.clone(),
        rates: api.rates.clone(),
    };
    watch.refresh().await?;
    anyhow::ensure!(!api.keys.digests().is_empty(), NO_KEY);
    let watching = AbortOnDropHandle::new(start(broken, watch.run()));
    let sweeping = AbortOnDropHandle::new(start(broken, host.sweeper().run()));
    let running = Running::start(listener, Arc::new(api), worker, sender, config, broken);
    Ok((running, [watching, sweeping]))
}

fn api_of(config: &Config, host: &Host) -> Api {
    let settings = ApiSettings {
        public_base_url: config.public_base_url.clone(),
        trusted_proxies: config.trusted_proxies.clone(),
        cors: config.cors.clone(),
        limits: config.limits.clone(),
        fetch: app::fetch_policy(config),
        downloads: DownloadLimits {
            in_flight: config.fetch.in_flight,
            in_flight_per_account: config.fetch.in_flight_per_account,
        },
    };
    let desk = Arc::new(Desk::new(host.library.clone(), config.addons.by_name.clone()));
    let (store, blobs) = (host.store.clone(), host.blobs.clone());
    let (keys, policies) = (Keys::new(&config.auth), host.policies.clone());
    Api::new(store, blobs, keys, policies, app::host_rules(config), desk, settings)
}
