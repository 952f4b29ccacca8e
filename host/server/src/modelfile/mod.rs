//! Model files: check, convert, quantise, download, import.
//!
//! A model is one ggml file. [`check`] is what stands between any file and whisper.cpp;
//! [`pull`](pull::pull) and [`import`](import::import) install only what passes it. This
//! module knows nothing of jobs, and prints nothing: progress goes to a [`Report`].

mod architecture;
mod bytes;
mod catalog;
mod check;
mod convert;
mod ct2;
mod error;
mod folder;
mod hub;
mod import;
mod layout;
mod mel;
mod output;
mod packaged;
mod packages;
mod pull;
mod record;
mod report;
mod vocabulary;
mod weights;

pub use architecture::{Architecture, Preset};
pub use catalog::{
    CATALOG, CatalogEntry, DEFAULT_MODEL, DEFAULT_WEIGHTS, HubFile, PackageFamily, PackagePart,
};
pub use check::{ModelInfo, check, check_bytes};
pub use ct2::check_ctranslate2_bytes;
pub use error::{Fault, ModelFileError};
pub use folder::{Installed, ModelsFolder, file_name};
pub use hub::PUBLIC_HUB;
pub use import::import;
pub use pull::{PullOptions, Pulled, Source, pull};
pub use report::{Report, Silent};
pub use weights::Weights;
