//! The descriptor that the host reads: [`Meta`] plus the schemas of config and result.

use std::any::TypeId;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::json;

use crate::addon::{Addon, NoConfig};
use crate::meta::Meta;

/// What the host reads of an add-on before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// The constant part.
    pub meta: Meta,
    /// Request field of the config object; none when there is nothing to configure.
    pub config_key: Option<String>,
    /// JSON Schema (2020-12) of the config, as text.
    pub config_schema: String,
    /// JSON Schema of the result, as text; none for `Output = ()`.
    pub result_schema: Option<String>,
    /// JSON object with what the contract does not type.
    pub extra: String,
}

impl Descriptor {
    /// The descriptor of an add-on.
    pub fn of<A: Addon>() -> Self {
        let meta = A::META;
        let has_config = TypeId::of::<A::Config>() != TypeId::of::<NoConfig>();
        let default_key = || format!("{}_config", meta.name);
        let has_output = TypeId::of::<A::Output>() != TypeId::of::<()>();
        let extra = match meta.result_members {
            [] => json!({}),
            members => json!({ "result_members": members }),
        };
        Self {
            meta,
            config_key: has_config.then(|| meta.config_key.map_or_else(default_key, str::to_owned)),
            config_schema: schema::<A::Config>(SchemaSettings::draft2020_12().for_deserialize()),
            result_schema: has_output
                .then(|| schema::<A::Output>(SchemaSettings::draft2020_12().for_serialize())),
            extra: extra.to_string(),
        }
    }
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> String {
    let schema = settings.into_generator().into_root_schema_for::<T>();
    schema.as_value().to_string()
}
