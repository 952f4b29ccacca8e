//! Version 0.1 of the contract: generated bindings, and the way between them and the
//! host's own types.

mod convert;
mod host;

// The derives of the generated types implement unsafe traits.
#[allow(unsafe_code, missing_docs)]
mod bindings {
    wasmtime::component::bindgen!({
        world: "pure-addon",
        path: "../../wit/0.1.0",
        exports: { default: async },
    });
}

use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Result, Store};

use crate::call::state::State;
use crate::data::descriptor::{ConfigProblem, RawDescriptor};
use crate::data::job::{AddonError, AddonOutput, JobContext};
use crate::data::transcript::Transcript;

/// A component with all its imports resolved, ready to be instantiated.
#[derive(Clone)]
pub struct Linked(bindings::PureAddonPre<State>);

/// A component that runs in a store of its own.
pub struct Instance(bindings::PureAddon);

/// Gives a linker the interfaces of this version.
pub fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    bindings::tympan::addon::runtime::add_to_linker::<_, HasSelf<State>>(linker, |state| state)
}

impl Linked {
    /// Resolves the imports of a component. Types are compared on the first
    /// [`Linked::instantiate`] only.
    pub fn new(linker: &Linker<State>, component: &Component) -> Result<Linked> {
        Ok(Linked(bindings::PureAddonPre::new(linker.instantiate_pre(component)?)?))
    }

    /// Starts an instance in an unused store.
    pub async fn instantiate(&self, store: &mut Store<State>) -> Result<Instance> {
        Ok(Instance(self.0.instantiate_async(store).await?))
    }
}

impl Instance {
    /// Asks the add-on who it is.
    pub async fn describe(&self, store: &mut Store<State>) -> Result<RawDescriptor> {
        Ok(self.0.tympan_addon_manifest().call_describe(store).await?.into())
    }

    /// Asks the add-on to check and complete a config.
    pub async fn validate_config(
        &self,
        store: &mut Store<State>,
        config: &str,
    ) -> Result<std::result::Result<String, Vec<ConfigProblem>>> {
        let answer = self.0.tympan_addon_manifest().call_validate_config(store, config).await?;
        Ok(answer.map_err(|problems| problems.into_iter().map(Into::into).collect()))
    }

    /// Runs the add-on on a transcript. What it returns is not checked yet.
    pub async fn process(
        &self,
        store: &mut Store<State>,
        context: JobContext,
        input: &Transcript,
    ) -> Result<std::result::Result<AddonOutput, AddonError>> {
        let answer =
            self.0.tympan_addon_transform().call_process(store, &context.into(), &input.into()).await?;
        Ok(answer.map(Into::into).map_err(Into::into))
    }
}
