//! From a file to a component that is ready to run: digest, contract version, imports,
//! compiled code, descriptor. Cheap refusals come before the expensive compilation.

pub mod binary;
pub mod cache;
mod file;

use std::collections::BTreeSet;
use std::panic::resume_unwind;

use tokio::sync::Semaphore;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Error};

use crate::call::state::State;
use crate::call::{DescribeError, Program};
use crate::check::descriptor::{self, DescriptorError};
use crate::check::imports::{self, ImportError};
use crate::check::shown;
use crate::contract;
use crate::contract::v0_1::Linked;
use crate::data::descriptor::{Descriptor, RawDescriptor};
use crate::defaults::{COMPONENT_BYTES, DESCRIBE_TIMEOUT, Limits};
use binary::{FileError, Inspection};
use cache::Cache;

pub use file::read;

/// What the operator decided about one add-on.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Names of the capabilities that it may use.
    pub grants: BTreeSet<String>,
    /// What one call may use up.
    pub limits: Limits,
    /// The only file that is accepted, SHA-256 in hex.
    pub expected_sha256: Option<String>,
    /// Names, flags and config keys that this add-on must not use: fields of the
    /// request and of the result that belong to somebody else.
    pub taken_names: BTreeSet<String>,
}

/// Why a file is no add-on for this host. One sentence each, for the operator.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read. The cause is in the sentence, and so no source of its own.
    #[error("cannot read the file: {0}")]
    Read(std::io::Error),
    /// A pipe, a device, a socket or a folder.
    #[error("this is not a regular file")]
    NotAFile,
    /// The file is too large to be an add-on.
    #[error("the file has more than {COMPONENT_BYTES} bytes, which is the most that an add-on may have")]
    TooLarge,
    /// The operator expected another file.
    #[error("its SHA-256 is {actual}, the config expects {expected}")]
    Digest {
        /// Of the file.
        actual: String,
        /// Of the config.
        expected: String,
    },
    /// The file is not an add-on.
    #[error(transparent)]
    File(#[from] FileError),
    /// Built for another host.
    #[error("it was built for version {0} of the contract, this host supports {supported}", supported = contract::SUPPORTED)]
    Version(String),
    /// It imports something that it may not have.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// It lacks the export that does the work.
    #[error("it does not export `tympan:addon/transform`, so there is nothing to run")]
    NoTransform,
    /// It is not valid, or uses features that this host does not have.
    #[error("it does not compile: {0}")]
    Compile(String),
    /// Its functions or types differ from the contract's.
    #[error("it does not fit the contract: {0}")]
    Link(String),
    /// It failed when asked who it is.
    #[error("it failed to describe itself: {0}")]
    Describe(String),
    /// It says something about itself that cannot be.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
}

impl From<std::io::Error> for LoadError {
    fn from(cause: std::io::Error) -> Self {
        Self::Read(cause)
    }
}

/// What loading needs of the runtime.
pub struct Loader<'a> {
    /// Compiles and runs.
    pub engine: &'a Engine,
    /// What components may import.
    pub linker: &'a Linker<State>,
    /// Compiled code of earlier loads.
    pub cache: Option<&'a Cache>,
    /// One compilation, or `describe`, at a time: a Python component takes 400 MB to compile.
    pub compile_turn: &'a Semaphore,
}

/// A component that passed every check.
pub struct Loaded {
    /// What the file says.
    pub inspection: Inspection,
    /// What the add-on says.
    pub descriptor: Descriptor,
    /// Ready to be instantiated.
    pub linked: Linked,
}

impl Loaded {
    /// Whether the operator's policy allows this component.
    pub fn allow(&self, policy: &Policy) -> Result<(), LoadError> {
        check_digest(&self.inspection, policy)?;
        Ok(descriptor::allow(&self.descriptor, policy)?)
    }
}

impl Loader<'_> {
    /// Checks, compiles and describes a component.
    pub async fn load(&self, bytes: Vec<u8>, policy: &Policy) -> Result<Loaded, LoadError> {
        let inspecting = move || binary::inspect(&bytes).map(|inspection| (inspection, bytes));
        let inspected = tokio::task::spawn_blocking(inspecting).await;
        let (inspection, bytes) = inspected.unwrap_or_else(|error| resume_unwind(error.into_panic()))?;
        check_digest(&inspection, policy)?;
        check_file(&inspection)?;
        let component = self.component(bytes, &inspection.sha256).await?;
        let linked =
            Linked::new(self.linker, &component).map_err(|error| LoadError::Link(sentence(&error)))?;
        let raw = match self.cache.and_then(|cache| cache.description(&inspection.sha256)) {
            Some(raw) => raw,
            None => {
                let raw = self.describe(&linked, &inspection.sha256, &policy.limits).await?;
                if let Some(cache) = self.cache {
                    cache.keep_description(&inspection.sha256, &raw);
                }
                raw
            }
        };
        let loaded = Loaded { inspection, descriptor: descriptor::check(raw)?, linked };
        loaded.allow(policy)?;
        Ok(loaded)
    }

    async fn component(&self, bytes: Vec<u8>, digest: &str) -> Result<Component, LoadError> {
        let _turn = self.compile_turn.acquire().await.expect("the semaphore is never closed");
        let (engine, cache, digest) = (self.engine.clone(), self.cache.cloned(), digest.to_owned());
        let compiled = tokio::task::spawn_blocking(move || {
            if let Some(component) = cache.as_ref().and_then(|cache| cache.component(&engine, &digest)) {
                return Ok(component);
            }
            let component = Component::new(&engine, &bytes)?;
            if let Some(cache) = cache {
                cache.keep_component(&digest, &component);
            }
            Ok(component)
        });
        match compiled.await {
            Ok(Ok(component)) => Ok(component),
            Ok(Err(error)) => Err(LoadError::Compile(sentence(&error))),
            Err(_) => Err(LoadError::Compile("the compiler failed on it".to_owned())),
        }
    }

    async fn describe(
        &self,
        linked: &Linked,
        digest: &str,
        limits: &Limits,
    ) -> Result<RawDescriptor, LoadError> {
        // The memory pool has one place for it.
        let _turn = self.compile_turn.acquire().await.expect("the semaphore is never closed");
        let program = Program { engine: self.engine, linked, digest, limits, keeps_text: false };
        program.describe().await.map_err(|error| match error {
            DescribeError::Start(error) | DescribeError::Trap(error) => LoadError::Link(sentence(&error)),
            DescribeError::Failed(error) => LoadError::Describe(error.message),
            DescribeError::Timeout => {
                LoadError::Describe(format!("no answer within {} ms", DESCRIBE_TIMEOUT.as_millis()))
            }
        })
    }
}

fn check_digest(inspection: &Inspection, policy: &Policy) -> Result<(), LoadError> {
    match &policy.expected_sha256 {
        Some(expected) if !expected.eq_ignore_ascii_case(&inspection.sha256) => {
            let (actual, expected) = (inspection.sha256.clone(), expected.clone());
            Err(LoadError::Digest { actual, expected })
        }
        _ => Ok(()),
    }
}

fn check_file(inspection: &Inspection) -> Result<(), LoadError> {
    if !inspection.is_supported() {
        return Err(LoadError::Version(shown(&inspection.contract_version)));
    }
    imports::check(&inspection.imports)?;
    let transforms = |name: &String| contract::interface(name).is_some_and(|found| found.name == "transform");
    if inspection.exports.iter().any(transforms) { Ok(()) } else { Err(LoadError::NoTransform) }
}

/// The chain of causes on one line.
fn sentence(error: &Error) -> String {
    let causes: Vec<String> = error.chain().map(|cause| binary::one_line(&cause.to_string())).collect();
    causes.join(": ")
}
