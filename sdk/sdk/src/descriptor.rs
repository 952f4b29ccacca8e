//! The descriptor that the host reads: [`Meta`] plus the schemas of config and result.

use std::any::TypeId;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

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
    let settings = settings.with_transform(RecursiveTransform(bound_integers));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    schema.as_value().to_string()
}

/// Says what an integer's type holds, so that a client reads of a bound like any other. Types of
/// 64 bits are left as they are: their ends are no numbers that JSON can be relied on to carry.
fn bound_integers(schema: &mut Schema) {
    let (least, most) = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => (Some(i32::MIN), i32::MAX as u32),
        Some("uint32") => (None, u32::MAX),
        _ => return,
    };
    let members = schema.ensure_object();
    members.entry("maximum").or_insert(most.into());
    if let Some(least) = least {
        members.entry("minimum").or_insert(least.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Numbers {
        count: u32,
        #[schemars(range(max = 9))]
        few: Option<u32>,
        shift: Vec<i32>,
        long: u64,
    }

    #[test]
    fn integers_say_what_their_type_holds() {
        let text = schema::<Numbers>(SchemaSettings::draft2020_12().for_deserialize());
        let schema: Value = serde_json::from_str(&text).unwrap();
        let property = |name: &str| &schema["properties"][name];
        assert_eq!(property("count")["maximum"], u32::MAX);
        assert_eq!(property("few")["maximum"], 9);
        assert_eq!(property("shift")["items"]["minimum"], i32::MIN);
        assert_eq!(property("shift")["items"]["maximum"], i32::MAX);
        assert_eq!(property("long").get("maximum"), None);
    }
}
