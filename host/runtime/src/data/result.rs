//! The result of an add-on as its wrapper shows it.

use serde_json::{Map, Value};

use super::descriptor::Descriptor;
use super::job::AddonOutput;

/// What an add-on returned, taken apart into members of its wrapper.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultParts {
    /// The member `results`.
    pub results: Value,
    /// Members that stand beside it.
    pub beside: Map<String, Value>,
    /// Whether nothing was found: no further transcript, and a result without content.
    pub is_empty: bool,
}

impl ResultParts {
    /// Takes `{"results": …, "items": …}` apart where the descriptor names `items` as a member
    /// beside `results`; any other result stays whole.
    pub fn of(output: &AddonOutput, descriptor: &Descriptor) -> ResultParts {
        let result = output.result.as_deref().map(|text| {
            // The host has checked that it is JSON; text that no tree can hold stays text.
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
        });
        let (results, beside) = split(result.unwrap_or_default(), &members_beside(descriptor));
        let is_empty = output.variants.is_empty() && is_nothing(&results);
        ResultParts { results, beside, is_empty }
    }
}

/// `result_members` of the descriptor's `extra`.
fn members_beside(descriptor: &Descriptor) -> Vec<String> {
    let extra: Value = serde_json::from_str(&descriptor.extra).unwrap_or_default();
    let names = extra["result_members"].as_array().cloned().unwrap_or_default();
    names.into_iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn split(result: Value, beside: &[String]) -> (Value, Map<String, Value>) {
    match result {
        Value::Object(mut object) if !beside.is_empty() && object.contains_key("results") => {
            let taken = beside.iter().filter_map(|name| object.remove_entry(name)).collect();
            (object.remove("results").unwrap_or_default(), taken)
        }
        other => (other, Map::new()),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::descriptor::Slot;
    use crate::data::job::VariantOutput;

    fn parts(result: &Value, extra: &str) -> ResultParts {
        let output = AddonOutput { result: Some(result.to_string()), ..AddonOutput::default() };
        ResultParts::of(&output, &descriptor(extra))
    }

    fn descriptor(extra: &str) -> Descriptor {
        Descriptor {
            name: "x".to_owned(),
            version: "1.0.0".to_owned(),
            summary: String::new(),
            request_flag: "x".to_owned(),
            config_key: None,
            config_schema: "{}".to_owned(),
            result_schema: None,
            slot: Slot::Analysis,
            modes: Vec::new(),
            effects: Vec::new(),
            after: Vec::new(),
            requires: Vec::new(),
            capabilities: Vec::new(),
            extra: extra.to_owned(),
        }
    }

    #[test]
    fn nothing_found_is_empty_and_a_number_is_not() {
        for nothing in [json!(null), json!(""), json!([]), json!({})] {
            assert!(parts(&nothing, "{}").is_empty, "{nothing}");
        }
        for something in [json!(0), json!(false), json!("a"), json!([null])] {
            assert!(!parts(&something, "{}").is_empty, "{something}");
        }
        assert!(ResultParts::of(&AddonOutput::default(), &descriptor("{}")).is_empty);
    }

    #[test]
    fn a_variant_is_something() {
        let variant =
            VariantOutput { id: "fr".to_owned(), language: "fr".to_owned(), outcome: Ok(Default::default()) };
        let output = AddonOutput { variants: vec![variant], ..AddonOutput::default() };
        assert!(!ResultParts::of(&output, &descriptor("{}")).is_empty);
    }

    #[test]
    fn named_members_stand_beside_the_results() {
        let named = r#"{"result_members": ["items", "absent"]}"#;
        let found = parts(&json!({"results": ["a"], "items": [1], "rest": 2}), named);
        assert_eq!(found.results, json!(["a"]));
        assert_eq!(Value::from(found.beside), json!({"items": [1]}));
        let whole = json!({"items": [1]});
        assert_eq!(parts(&whole, named).results, whole);
        assert_eq!(
            parts(&json!({"results": 1, "items": 2}), "{}").results,
            json!({"results": 1, "items": 2})
        );
    }
}
