//! The border to the host: the generated bindings, and the exports of every add-on on top of
//! [`glue`](crate::glue). No logic here.

/// Generated from the contract.
#[allow(unsafe_code, missing_docs, clippy::all, clippy::unwrap_used)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit/0.1.0",
        world: "pure-addon",
        pub_export_macro: true,
        export_macro_name: "export_component",
    });
}

mod convert;
mod panic;

use std::marker::PhantomData;

use bindings::exports::tympan::addon::{manifest, transform};
use bindings::tympan::addon::types;

use crate::addon::Addon;
use crate::descriptor::Descriptor;
use crate::glue;
use crate::transcript::Transcript;

/// Implements the contract's exports for an add-on.
pub struct Glue<A>(PhantomData<A>);

impl<A: Addon> manifest::Guest for Glue<A> {
    fn describe() -> manifest::Descriptor {
        panic::install_hook();
        Descriptor::of::<A>().into()
    }

    fn validate_config(config: String) -> Result<String, Vec<manifest::ConfigProblem>> {
        panic::install_hook();
        glue::validate_config::<A>(&config)
            .map_err(|problems| problems.into_iter().map(manifest::ConfigProblem::from).collect())
    }
}

impl<A: Addon> transform::Guest for Glue<A> {
    fn process(
        context: types::JobContext,
        input: types::Transcript,
    ) -> Result<types::AddonOutput, types::AddonError> {
        panic::install_hook();
        let (config, job) = convert::job_from(context);
        let reply = glue::process::<A>(&config, &job, Transcript::from(input))?;
        Ok(reply.into())
    }
}
