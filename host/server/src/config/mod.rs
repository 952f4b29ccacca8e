//! The configuration: file, environment, defaults, turned once into valid settings.
//!
//! `tympan.toml` is read first, the environment overrides it. Unknown keys and values out
//! of range are refused with a sentence. Nothing else in the host reads the environment,
//! and nothing here knows what the settings are used for.

mod cors;
mod deliveries;
mod environment;
mod error;
mod file;
mod load;
mod otlp;
mod paths;
mod plan;
mod plans;
mod sections;
mod settings;
mod show;
mod tables;

pub use crate::model::secret::Secret;
pub use cors::Cors;
pub use deliveries::Deliveries;
pub use error::ConfigError;
#[cfg(test)]
pub(crate) use load::from_text;
pub use load::load;
pub use otlp::Otlp;
pub use paths::Paths;
pub use sections::{Fetch, Limits, Log, LogFormat, Speech, Worker};
pub use settings::{Addons, ApiKey, Auth, Config, Model, ModelSource};
pub use show::show;
