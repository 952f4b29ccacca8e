//! A loaded add-on: what it is, its two functions, what it did so far.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::call::report::{Call, CallReport, exception};
use crate::call::{Program, failure, json};
use crate::counters::{Counters, Tally};
use crate::data::descriptor::{ConfigProblem, Descriptor};
use crate::data::job::AddonError;
use crate::defaults::{CONFIG_BYTES, CONFIG_PROBLEM_BYTES, CONFIG_PROBLEMS, Limits};
use crate::load::{LoadError, Loaded, Policy};
use crate::runtime::Shared;
use crate::validated::{Answer, Validated};

/// A loaded add-on; cloning shares it. It keeps its runtime alive.
#[derive(Clone)]
pub struct Addon(Arc<Inner>);

struct Inner {
    runtime: Arc<Shared>,
    loaded: Arc<Loaded>,
    path: Option<PathBuf>,
    limits: Limits,
    tally: Tally,
    validated: Mutex<Validated>,
}

/// Why a config was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The config is wrong.
    #[error("the config has {} problem(s)", .0.len())]
    Problems(Vec<ConfigProblem>),
    /// The add-on failed while it looked at the config.
    #[error("the add-on failed to check its config: {}", .0.exception)]
    Failed(AddonError),
}

impl Addon {
    pub(crate) fn new(
        runtime: Arc<Shared>,
        loaded: Arc<Loaded>,
        path: Option<PathBuf>,
        limits: Limits,
    ) -> Addon {
        let (tally, validated) = (Tally::default(), Mutex::default());
        Addon(Arc::new(Inner { runtime, loaded, path, limits, tally, validated }))
    }

    /// The same component under another policy, with counters of its own. Costs nothing:
    /// a host can load a file, learn its name, and then apply what the operator decided.
    pub fn with_policy(&self, policy: &Policy) -> Result<Addon, LoadError> {
        let Inner { runtime, loaded, path, .. } = &*self.0;
        loaded.allow(policy)?;
        Ok(Addon::new(runtime.clone(), loaded.clone(), path.clone(), policy.limits.clone()))
    }

    /// What it says about itself.
    pub fn descriptor(&self) -> &Descriptor {
        &self.0.loaded.descriptor
    }

    /// SHA-256 of the file, hex.
    pub fn digest(&self) -> &str {
        &self.0.loaded.inspection.sha256
    }

    /// Where it was loaded from, if from a file.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Names of imported interfaces.
    pub fn imports(&self) -> &[String] {
        &self.0.loaded.inspection.imports
    }

    /// Length of the file.
    pub fn size_bytes(&self) -> u64 {
        self.0.loaded.inspection.size_bytes
    }

    /// Version of the contract that it was built for.
    pub fn contract_version(&self) -> &str {
        &self.0.loaded.inspection.contract_version
    }

    /// What one call may use up.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// What it did since it was loaded.
    pub fn counters(&self) -> Counters {
        self.0.tally.read()
    }

    /// Asks the add-on whether `config` (JSON text) is right; gives the config to keep
    /// with the job, defaults filled in, or the first problems of a long list. Answers are
    /// remembered.
    pub async fn validate_config(&self, config: &str) -> Result<String, ConfigError> {
        if config.len() > CONFIG_BYTES {
            let message = format!("must not be longer than {CONFIG_BYTES} bytes");
            return Err(ConfigError::Problems(vec![ConfigProblem { pointer: String::new(), message }]));
        }
        if let Some(answer) = self.validated().get(config) {
            return answer.map_err(ConfigError::Problems);
        }
        let place = self.0.runtime.validations.acquire().await;
        let answer = self.program().validate_config(config).await;
        drop(place);
        let answer = answer.and_then(is_config).map(shortened).map_err(|error| {
            self.0.tally.count_failure(&error);
            ConfigError::Failed(error)
        })?;
        self.validated().keep(config, &answer);
        answer.map_err(ConfigError::Problems)
    }

    /// Starts an instance and drops it, which is how every call begins: shows what that costs.
    pub async fn start(&self) -> Result<(), AddonError> {
        self.program().start().await
    }

    /// Runs it once. Waits while as many calls as the runtime allows are under way.
    pub async fn process(&self, call: Call<'_>) -> CallReport {
        let job_id = call.context.job_id.clone();
        let report = self.program().process(call, &self.0.runtime.calls).await;
        self.0.tally.count(&report);
        self.log(&job_id, &report);
        report
    }

    /// Without a word that the add-on wrote, unless the operator asked for them.
    fn log(&self, job_id: &str, report: &CallReport) {
        let Descriptor { name, version, .. } = self.descriptor();
        for line in report.log_text.iter().flatten() {
            tracing::info!(job_id, addon = name, level = line.level, text = line.text, "add-on wrote");
        }
        if let Err(error) = &report.outcome {
            tracing::warn!(
                job_id,
                addon = name,
                version,
                digest = self.digest(),
                status_code = error.status_code,
                exception = self.shown_exception(error),
                message_bytes = error.message.len(),
                text = self.0.runtime.log_text.then_some(error.message.as_str()),
                panic_location = report.panic_location,
                log_lines = report.log_lines,
                log_bytes = report.log_bytes,
                "add-on failed"
            );
        }
    }

    fn shown_exception<'a>(&self, error: &'a AddonError) -> &'a str {
        if self.0.runtime.log_text { &error.exception } else { exception::label(&error.exception) }
    }

    fn program(&self) -> Program<'_> {
        Program {
            engine: &self.0.runtime.engine,
            linked: &self.0.loaded.linked,
            digest: self.digest(),
            limits: &self.0.limits,
            keeps_text: self.0.runtime.log_text,
        }
    }

    fn validated(&self) -> std::sync::MutexGuard<'_, Validated> {
        self.0.validated.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether what the add-on calls a config is one.
fn is_config(answer: Answer) -> Result<Answer, AddonError> {
    match answer {
        Ok(config) if config.len() > CONFIG_BYTES || !json::is_object(&config) => {
            Err(failure::invalid_output("its config is not a JSON object, or too long".to_owned()))
        }
        answer => Ok(answer),
    }
}

/// A client reads a few problems; an add-on can return a million.
fn shortened(answer: Answer) -> Answer {
    answer.map_err(|mut problems| {
        problems.truncate(CONFIG_PROBLEMS);
        for problem in &mut problems {
            for text in [&mut problem.pointer, &mut problem.message] {
                text.truncate(text.floor_char_boundary(CONFIG_PROBLEM_BYTES));
            }
        }
        problems
    })
}

impl fmt::Debug for Addon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.descriptor().name;
        f.debug_struct("Addon").field("name", name).field("digest", &self.digest()).finish_non_exhaustive()
    }
}
