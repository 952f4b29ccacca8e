//! How many files and connections the system lets this process hold open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Config;
use crate::worker;

/// Of a connection: itself, and the file that it sends or receives.
const PER_CONNECTION: u64 = 2;
/// Of an exchange with another host: the runtime of its thread, the connection, the file.
const PER_EXCHANGE: u64 = 6;
/// The database, models, logs and the files of running jobs.
const REST: u64 = 256;

/// Raises the limit as far as the system allows, and warns where the configuration may need
/// more. Beyond it requests get 503 and jobs are tried again.
pub(super) fn raise_limit(config: &Config) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    let needed = needed(config);
    if limit.is_some_and(|limit| limit < needed) {
        tracing::warn!(
            limit,
            needed,
            "the limit of open files is low for this configuration: raise it (ulimit -n, LimitNOFILE=), \
             or lower limits.connections"
        );
    }
}

fn needed(config: &Config) -> u64 {
    let fetches = u64::from(config.fetch.in_flight) * worker::CROWD as u64;
    let exchanges = fetches + u64::from(config.deliveries.in_flight);
    u64::from(config.limits.connections) * PER_CONNECTION + exchanges * PER_EXCHANGE + REST
}
