//! Write add-ons for the tympan transcription service.
//!
//! An add-on is a config struct, one `impl` of [`Addon`] and one macro line. It becomes a
//! sandboxed WebAssembly component with `tympan-addon build`; its logic is tested natively
//! with plain `cargo test`, through [`testing`].
//!
//! ```
//! use std::collections::BTreeMap;
//! use tympan_sdk::prelude::*;
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Config {
//!     /// What was heard, and how to write it.
//!     spelling: BTreeMap<String, String>,
//! }
//!
//! struct MySpelling;
//!
//! impl Addon for MySpelling {
//!     type Config = Config;
//!     type Output = ();
//!     const META: Meta =
//!         Meta::new("my_spelling", env!("CARGO_PKG_VERSION"), Slot::Transcript, "Client-chosen spelling");
//!
//!     fn process(config: Config, _job: &Job, doc: &mut Doc) -> Result<()> {
//!         doc.map_words(|word| config.spelling.get(word).cloned());
//!         Ok(())
//!     }
//! }
//!
//! addon!(MySpelling);
//!
//! let config = json!({"spelling": {"gorge": "George"}});
//! let outcome = testing::run::<MySpelling>(config, &["hello gorge, hello"]).unwrap();
//! assert_eq!(outcome.texts(), ["hello George, hello"]);
//! ```
//!
//! This crate knows the contract (`wit/`) and nothing of the host.

mod addon;
mod descriptor;
mod doc;
mod error;
mod export;
mod glue;
mod job;
mod meta;
mod recorded;
mod runtime;
pub mod testing;
mod transcript;

pub use addon::{Addon, NoConfig, Problem, Problems};
pub use descriptor::Descriptor;
pub use doc::{Doc, Variant};
pub use error::{Error, Result, fail};
pub use job::{AudioInfo, Job, Previous};
pub use meta::{Capability, Effect, Meta, Mode, Slot};
pub use recorded::{Recorded, RecordedError};
pub use runtime::{Level, Runtime};
pub use transcript::{Transcript, Utterance, Word};

pub use {schemars, serde, serde_json};

/// What an add-on's file needs: `use tympan_sdk::prelude::*;`.
pub mod prelude {
    pub use crate::testing;
    pub use crate::{
        Addon, Capability, Doc, Effect, Error, Job, Level, Meta, Mode, NoConfig, Problems, Result, Slot,
        Transcript, Utterance, Word, addon, fail,
    };
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};
    pub use serde_json::json;
}

#[doc(hidden)]
pub mod __private {
    pub use crate::export::{Glue, bindings};
}

/// Makes the crate's component from a type that implements [`Addon`]; once per crate.
///
/// On other targets than WebAssembly it expands to nothing, so that a crate with an add-on in
/// it can be tested, measured and linked like any library.
#[macro_export]
macro_rules! addon {
    ($addon:ty) => {
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code)]
        const _: () = {
            type Component = $crate::__private::Glue<$addon>;
            $crate::__private::bindings::export_component!(Component with_types_in $crate::__private::bindings);
        };
    };
}
