//! The library of add-ons as the API sees it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tympan_runtime::ConfigError;

use crate::addons::{AddonSet, Entry, Library, OperatorSettings};
use crate::api::{AddonDesk, ConfigProblem, ConfigRefusal};
use crate::model::job::PlannedAddon;
use crate::validate::{AbsentAddon, AddonFacts, Catalogue};

/// Answers for the library. The catalogue is made once for each set of add-ons.
pub struct Desk {
    library: Arc<Library>,
    operators: BTreeMap<String, OperatorSettings>,
    made: Mutex<Option<(Arc<AddonSet>, Arc<Catalogue>)>>,
}

impl Desk {
    /// A desk in front of `library`.
    pub fn new(library: Arc<Library>, operators: BTreeMap<String, OperatorSettings>) -> Self {
        Self { library, operators, made: Mutex::default() }
    }

    fn make(&self, set: &AddonSet) -> Catalogue {
        let present = set.entries().iter().map(facts).collect();
        let absent = self.operators.iter().filter(|(name, _)| set.by_name(name).is_none());
        let absent = absent.map(|(name, operator)| AbsentAddon {
            name: name.clone(),
            required: operator.required,
            forced: operator.force,
        });
        let (catalogue, refused) = Catalogue::new(present, absent.collect());
        for (name, reason) in refused {
            tracing::warn!(addon = name, reason, "add-on cannot be used: its config schema is not valid");
        }
        catalogue
    }
}

impl AddonDesk for Desk {
    fn catalogue(&self) -> Arc<Catalogue> {
        let set = self.library.current();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((of, catalogue)) if Arc::ptr_eq(of, &set) => catalogue.clone(),
            _ => {
                let catalogue = Arc::new(self.make(&set));
                *made = Some((set, catalogue.clone()));
                catalogue
            }
        }
    }

    fn normalise<'a>(&'a self, addon: &'a PlannedAddon) -> BoxFuture<'a, Result<String, ConfigRefusal>> {
        async move {
            let component = self.library.with_digest(&addon.name, &addon.digest).await;
            let component = component.ok_or(ConfigRefusal::Failed)?;
            component.validate_config(&addon.config).await.map_err(refusal)
        }
        .boxed()
    }
}

fn refusal(error: ConfigError) -> ConfigRefusal {
    match error {
        ConfigError::Problems(problems) => ConfigRefusal::Problems(
            problems
                .into_iter()
                .map(|problem| ConfigProblem { pointer: problem.pointer, message: problem.message })
                .collect(),
        ),
        ConfigError::Failed(_) => ConfigRefusal::Failed,
    }
}

fn facts(entry: &Entry) -> AddonFacts {
    let descriptor = entry.addon.descriptor();
    AddonFacts {
        name: descriptor.name.clone(),
        flag: descriptor.request_flag.clone(),
        config_key: descriptor.config_key.clone(),
        schema: entry.config_schema.clone(),
        digest: entry.addon.digest().to_owned(),
        requires: descriptor.requires.clone(),
        forced: entry.operator.force,
        redacts: descriptor.redacts(),
    }
}
