//! Checks what an add-on says about itself: first whether it makes sense, then whether
//! the operator allows it.

use super::shown;
use crate::call::json;
use crate::data::descriptor::{Descriptor, RawDescriptor, Slot};
use crate::load::Policy;

/// Longest version and summary that are shown.
const SHORT_TEXT_BYTES: usize = 500;

/// Capabilities that this host can give.
pub const OFFERED_CAPABILITIES: [&str; 1] = ["raw-text"];

/// The kind of job that this host has.
const OFFERED_MODE: &str = "pre-recorded";

/// A descriptor that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorError {
    /// Not a name.
    #[error("its {what} `{name}` must match [a-z][a-z0-9_]{{1,63}}")]
    Pattern {
        /// Which name.
        what: &'static str,
        /// As given.
        name: String,
    },
    /// A name that belongs to somebody else.
    #[error("its {what} `{name}` is already taken")]
    Taken {
        /// Which name.
        what: &'static str,
        /// As given.
        name: String,
    },
    /// A slot of a later host.
    #[error("its slot `{0}` is unknown; known are transcript, analysis and render")]
    Slot(String),
    /// For kinds of job of a later host.
    #[error("its modes ({0}) lack `{OFFERED_MODE}`, the only kind of job that this host has")]
    Modes(String),
    /// A text that must be a JSON object.
    #[error("its {0} is not a JSON object")]
    NotAnObject(&'static str),
    /// Something missing or far too long.
    #[error("its {0} is empty or longer than {SHORT_TEXT_BYTES} bytes")]
    Text(&'static str),
    /// A capability that it cannot do without.
    #[error("it requires the capability `{name}` ({reason}), which {}", if *offered { "the operator did not grant" } else { "this host does not offer" })]
    Capability {
        /// Name of the capability.
        name: String,
        /// What the add-on says it is for.
        reason: String,
        /// Whether the operator could grant it.
        offered: bool,
    },
}

/// Turns what the add-on said into a descriptor that the host can rely on.
pub fn check(raw: RawDescriptor) -> Result<Descriptor, DescriptorError> {
    check_name("name", &raw.name)?;
    check_name("request flag", &raw.request_flag)?;
    if let Some(config_key) = &raw.config_key {
        check_name("config key", config_key)?;
    }
    for other in raw.after.iter().chain(&raw.requires) {
        check_name("neighbour", other)?;
    }
    check_text("version", &raw.version)?;
    check_text("summary", &raw.summary)?;
    check_object("config schema", &raw.config_schema)?;
    if let Some(schema) = &raw.result_schema {
        check_object("result schema", schema)?;
    }
    check_object("`extra`", &raw.extra)?;
    let slot = slot(&raw.slot)?;
    if !raw.modes.iter().any(|mode| mode == OFFERED_MODE) {
        return Err(DescriptorError::Modes(shown(&raw.modes.join(", "))));
    }
    Ok(Descriptor {
        name: raw.name,
        version: raw.version,
        summary: raw.summary,
        request_flag: raw.request_flag,
        config_key: raw.config_key,
        config_schema: raw.config_schema,
        result_schema: raw.result_schema,
        slot,
        modes: raw.modes,
        effects: raw.effects,
        after: raw.after,
        requires: raw.requires,
        capabilities: raw.capabilities,
        extra: raw.extra,
    })
}

/// Whether the operator's policy leaves room for this add-on.
pub fn allow(descriptor: &Descriptor, policy: &Policy) -> Result<(), DescriptorError> {
    let config_key = descriptor.config_key.as_ref().map(|config_key| ("config key", config_key));
    let names = [("name", &descriptor.name), ("request flag", &descriptor.request_flag)];
    for (what, name) in names.into_iter().chain(config_key) {
        if policy.taken_names.contains(name) {
            return Err(DescriptorError::Taken { what, name: name.clone() });
        }
    }
    for request in descriptor.capabilities.iter().filter(|request| request.required) {
        let offered = OFFERED_CAPABILITIES.contains(&request.name.as_str());
        if !offered || !policy.grants.contains(&request.name) {
            let (name, reason) = (shown(&request.name), shown(&request.reason));
            return Err(DescriptorError::Capability { name, reason, offered });
        }
    }
    Ok(())
}

fn slot(text: &str) -> Result<Slot, DescriptorError> {
    match text {
        "transcript" => Ok(Slot::Transcript),
        "analysis" => Ok(Slot::Analysis),
        "render" => Ok(Slot::Render),
        other => Err(DescriptorError::Slot(shown(other))),
    }
}

fn check_name(what: &'static str, name: &str) -> Result<(), DescriptorError> {
    let is_name = (2..=64).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if is_name {
        return Ok(());
    }
    Err(DescriptorError::Pattern { what, name: shown(name) })
}

fn check_text(what: &'static str, text: &str) -> Result<(), DescriptorError> {
    if (1..=SHORT_TEXT_BYTES).contains(&text.len()) { Ok(()) } else { Err(DescriptorError::Text(what)) }
}

fn check_object(what: &'static str, text: &str) -> Result<(), DescriptorError> {
    if json::is_object(text) { Ok(()) } else { Err(DescriptorError::NotAnObject(what)) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::data::descriptor::CapabilityRequest;

    fn raw() -> RawDescriptor {
        RawDescriptor {
            name: "word_count".to_owned(),
            version: "1.0.0".to_owned(),
            summary: "Counts words".to_owned(),
            request_flag: "word_count".to_owned(),
            config_key: Some("word_count_config".to_owned()),
            config_schema: "{}".to_owned(),
            result_schema: None,
            slot: "analysis".to_owned(),
            modes: vec!["pre-recorded".to_owned()],
            effects: Vec::new(),
            after: Vec::new(),
            requires: Vec::new(),
            capabilities: Vec::new(),
            extra: "{}".to_owned(),
        }
    }

    fn check_and_allow(raw: RawDescriptor, policy: &Policy) -> Result<Descriptor, DescriptorError> {
        let descriptor = check(raw)?;
        allow(&descriptor, policy)?;
        Ok(descriptor)
    }

    fn refusal(policy: &Policy, change: impl FnOnce(&mut RawDescriptor)) -> String {
        let mut descriptor = raw();
        change(&mut descriptor);
        check_and_allow(descriptor, policy).unwrap_err().to_string()
    }

    #[test]
    fn a_sound_descriptor_passes() {
        assert_eq!(check_and_allow(raw(), &Policy::default()).unwrap().slot, Slot::Analysis);
    }

    #[test]
    fn names_follow_the_pattern() {
        let policy = Policy::default();
        for name in ["", "a", "Word", "1word", "word-count", "wörter", &"a".repeat(65)] {
            assert!(refusal(&policy, |d| d.name = name.to_owned()).contains("must match"), "{name}");
        }
        assert!(refusal(&policy, |d| d.request_flag = "No".to_owned()).contains("request flag"));
        assert!(refusal(&policy, |d| d.config_key = Some("No".to_owned())).contains("config key"));
        assert!(refusal(&policy, |d| d.after = vec!["No".to_owned()]).contains("neighbour"));
    }

    #[test]
    fn taken_names_are_refused() {
        let policy = Policy { taken_names: BTreeSet::from(["audio_url".to_owned()]), ..Policy::default() };
        assert_eq!(
            refusal(&policy, |d| d.name = "audio_url".to_owned()),
            "its name `audio_url` is already taken"
        );
        assert!(refusal(&policy, |d| d.request_flag = "audio_url".to_owned()).contains("request flag"));
    }

    #[test]
    fn messages_hold_one_short_line() {
        let policy = Policy::default();
        let long = || "line\n".repeat(1 << 16);
        let request =
            || CapabilityRequest { name: long(), required: true, reason: long(), scope: Vec::new() };
        for message in [
            refusal(&policy, |d| d.name = long()),
            refusal(&policy, |d| d.slot = long()),
            refusal(&policy, |d| d.modes = vec![long(); 9]),
            refusal(&policy, |d| d.capabilities = vec![request()]),
        ] {
            assert!(message.len() < 1500 && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn slots_and_json_are_checked() {
        let policy = Policy::default();
        assert!(refusal(&policy, |d| d.slot = "video".to_owned()).contains("`video`"));
        assert!(refusal(&policy, |d| d.modes = Vec::new()).contains("lack `pre-recorded`"));
        assert!(refusal(&policy, |d| d.modes = vec!["live".to_owned()]).contains("modes (live)"));
        assert!(refusal(&policy, |d| d.config_schema = "true".to_owned()).contains("config schema"));
        assert!(refusal(&policy, |d| d.result_schema = Some("{".to_owned())).contains("result schema"));
        assert!(refusal(&policy, |d| d.version = String::new()).contains("version"));
    }

    #[test]
    fn a_required_capability_needs_the_grant() {
        let request = |name: &str, required| CapabilityRequest {
            name: name.to_owned(),
            required,
            reason: "to see names".to_owned(),
            scope: Vec::new(),
        };
        let none = Policy::default();
        let granted =
            Policy { grants: BTreeSet::from(["raw-text".to_owned(), "llm".to_owned()]), ..Policy::default() };
        assert!(
            refusal(&none, |d| d.capabilities = vec![request("raw-text", true)]).contains("did not grant")
        );
        assert!(
            refusal(&granted, |d| d.capabilities = vec![request("llm", true)]).contains("does not offer")
        );
        let with = |request| RawDescriptor { capabilities: vec![request], ..raw() };
        assert!(check_and_allow(with(request("raw-text", true)), &granted).is_ok());
        assert!(check_and_allow(with(request("llm", false)), &none).is_ok());
    }
}
