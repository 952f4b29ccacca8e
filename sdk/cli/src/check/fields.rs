//! The fields of a config, from its JSON Schema, one line each.

use anyhow::Context;
use serde_json::Value;

/// One line per field: name, type, whether it is required, its description.
pub(super) fn of(schema_text: &str) -> anyhow::Result<Vec<String>> {
    let schema: Value = serde_json::from_str(schema_text).context("the config's schema is no JSON")?;
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return Ok(Vec::new()) };
    let mut lines = Vec::with_capacity(properties.len());
    for (name, field) in properties {
        let mut line = format!("{name}: {}", type_of(field, &schema));
        if required.iter().any(|r| r == name.as_str()) {
            line.push_str(", required");
        } else if let Some(default) = field.get("default") {
            line.push_str(&format!(", default {default}"));
        }
        if let Some(description) = field["description"].as_str() {
            line.push_str(&format!(". {}", description.replace('\n', " ")));
        }
        lines.push(line);
    }
    Ok(lines)
}

fn type_of(field: &Value, root: &Value) -> String {
    if let Some(reference) = field["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return target.map_or_else(|| "object".to_owned(), |t| type_of(t, root));
    }
    match &field["type"] {
        Value::String(one) if one == "array" => format!("array of {}", type_of(&field["items"], root)),
        Value::String(one) => one.clone(),
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ if field["enum"].is_array() || field["oneOf"].is_array() => "choice".to_owned(),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_described_through_references() {
        let schema = json!({
            "type": "object", "required": ["phrases"],
            "properties": {
                "phrases": {"type": "array", "items": {"$ref": "#/$defs/Phrase"}, "description": "To look for."},
                "limit": {"type": ["integer", "null"], "default": 3}
            },
            "$defs": {"Phrase": {"type": "string"}}
        });
        let mut lines = of(&schema.to_string()).unwrap();
        lines.sort();
        assert_eq!(
            lines,
            ["limit: integer or null, default 3", "phrases: array of string, required. To look for."]
        );
    }

    #[test]
    fn a_config_without_fields_has_no_lines() {
        assert!(of("{}").unwrap().is_empty());
        assert!(of("nonsense").is_err());
    }
}
