//! `tympan-addon check`: what a component is and what it asks for.

mod fields;

use std::fmt::Write;

use anyhow::Context;
use serde_json::json;
use tympan_runtime::{Descriptor, Inspection, Limits, Runtime};

use crate::args::CheckArgs;
use crate::{runtime, schema};

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let bytes = runtime::block_on(runtime::read(&args.file))?;
    let inspection = Runtime::inspect(&bytes)?;
    let addon = runtime::block_on(runtime::load(bytes, &args.file, Limits::default()))?;
    let descriptor = addon.descriptor();
    schema::compile(&descriptor.config_schema).context("the config's schema")?;
    if let Some(result_schema) = &descriptor.result_schema {
        schema::compile(result_schema).context("the result's schema")?;
    }
    if args.json {
        println!("{:#}", json!({ "component": inspection, "descriptor": descriptor }));
    } else {
        print!("{}", report(&inspection, descriptor)?);
    }
    Ok(())
}

/// Size and contract of a component that was just built.
pub(crate) fn one_line(bytes: &[u8]) -> anyhow::Result<String> {
    let inspection = Runtime::inspect(bytes)?;
    Ok(format!("{} KB, contract {}", inspection.size_bytes.div_ceil(1000), inspection.contract_version))
}

fn report(inspection: &Inspection, descriptor: &Descriptor) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut line = |label: &str, value: &str| writeln!(text, "{label:<13} {value}");
    line("name", &format!("{} {}", descriptor.name, descriptor.version))?;
    line("summary", &descriptor.summary)?;
    line("contract", &inspection.contract_version)?;
    line("size", &format!("{} bytes", inspection.size_bytes))?;
    line("sha256", &inspection.sha256)?;
    line("imports", &list(&inspection.imports))?;
    line("slot", &format!("{:?}", descriptor.slot).to_lowercase())?;
    line("runs after", &list(&descriptor.after))?;
    line("requires", &list(&descriptor.requires))?;
    line("effects", &list(&descriptor.effects))?;
    line("modes", &list(&descriptor.modes))?;
    line("request flag", &descriptor.request_flag)?;
    line("config", descriptor.config_key.as_deref().unwrap_or("none"))?;
    for field in fields::of(&descriptor.config_schema)? {
        line("", &field)?;
    }
    line("result", if descriptor.result_schema.is_some() { "yes" } else { "none" })?;
    if descriptor.capabilities.is_empty() {
        line("asks for", "nothing")?;
    }
    for asked in &descriptor.capabilities {
        let need = if asked.required { "required" } else { "optional" };
        let scope =
            if asked.scope.is_empty() { String::new() } else { format!(" for {}", list(&asked.scope)) };
        line("asks for", &format!("{} ({need}){scope}: {}", asked.name, asked.reason))?;
    }
    Ok(text)
}

fn list(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tympan_runtime::{CapabilityRequest, Slot};

    #[test]
    fn the_report_names_what_the_operator_must_know() {
        let inspection = Inspection {
            contract_version: "0.1.0".into(),
            sha256: "ab".repeat(32),
            size_bytes: 1234,
            imports: vec!["tympan:addon/runtime@0.1.0".into()],
            exports: vec![],
        };
        let descriptor = Descriptor {
            name: "call_report".into(),
            version: "1.2.3".into(),
            summary: "Sums a call up".into(),
            request_flag: "call_report".into(),
            config_key: Some("call_report_config".into()),
            config_schema: json!({"type": "object", "properties": {"limit": {"type": "integer"}}})
                .to_string(),
            result_schema: None,
            slot: Slot::Analysis,
            modes: vec!["pre-recorded".into()],
            effects: vec![],
            after: vec!["diarization".into()],
            requires: vec![],
            capabilities: vec![CapabilityRequest {
                name: "http".into(),
                required: true,
                reason: "asks the ticket system".into(),
                scope: vec!["tickets.example".into()],
            }],
            extra: "{}".into(),
        };
        let text = report(&inspection, &descriptor).unwrap();
        for expected in [
            "call_report 1.2.3",
            "0.1.0",
            "1234 bytes",
            "tympan:addon/runtime@0.1.0",
            "analysis",
            "limit: integer",
            "diarization",
            "http (required) for tickets.example: asks the ticket system",
        ] {
            assert!(text.contains(expected), "{expected} in\n{text}");
        }
    }
}
