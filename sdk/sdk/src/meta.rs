//! What an add-on says about itself, as a constant.

/// An add-on's place in the pipeline; the host runs the slots in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// May change the transcript: spelling, diarization, redaction.
    Transcript,
    /// Reads the transcript and returns a result or variants.
    Analysis,
    /// Final artefacts: subtitles.
    Render,
}

impl Slot {
    /// The contract's name of the slot.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transcript => "transcript",
            Self::Analysis => "analysis",
            Self::Render => "render",
        }
    }
}

/// What kind of job an add-on runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A whole recording, once.
    PreRecorded,
    /// The whole transcript of a live session, after it ended.
    PostProcessing,
}

impl Mode {
    /// The contract's name of the mode.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreRecorded => "pre-recorded",
            Self::PostProcessing => "post-processing",
        }
    }
}

/// What the host has to know about an add-on's consequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Removes private text: runs after every other add-on of its slot, and a failure fails the job
    /// instead of delivering the text.
    Redacts,
    /// Runs once per transcript variant (translation) as well.
    PerVariant,
}

impl Effect {
    /// The contract's name of the effect.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Redacts => "redacts",
            Self::PerVariant => "per-variant",
        }
    }
}

/// Something outside the sandbox that the add-on asks the operator for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// `raw-text`, `http`, …: an open set.
    pub name: &'static str,
    /// True: the add-on does not load without the grant. False: it works without, less well.
    pub required: bool,
    /// One sentence for the operator.
    pub reason: &'static str,
    /// Narrowing, such as host names for `http`.
    pub scope: &'static [&'static str],
}

impl Capability {
    /// A capability without which the add-on does not load.
    pub const fn required(name: &'static str, reason: &'static str) -> Self {
        Self { name, required: true, reason, scope: &[] }
    }

    /// A capability that the add-on can do without.
    pub const fn optional(name: &'static str, reason: &'static str) -> Self {
        Self { name, required: false, reason, scope: &[] }
    }

    /// Asks for a part only, such as certain host names.
    pub const fn scope(mut self, scope: &'static [&'static str]) -> Self {
        self.scope = scope;
        self
    }
}

/// The constant part of an add-on's descriptor.
///
/// The request flag is the name, the request's config object is `<name>_config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) slot: Slot,
    pub(crate) summary: &'static str,
    pub(crate) request_flag: &'static str,
    pub(crate) config_key: Option<&'static str>,
    pub(crate) after: &'static [&'static str],
    pub(crate) requires: &'static [&'static str],
    pub(crate) effects: &'static [Effect],
    pub(crate) modes: &'static [Mode],
    pub(crate) capabilities: &'static [Capability],
    pub(crate) result_members: &'static [&'static str],
}

impl Meta {
    /// `name` is the key of the result in responses; `version` is usually
    /// `env!("CARGO_PKG_VERSION")`; `summary` is one line for operators.
    ///
    /// # Panics
    /// While compiling, when the name does not match `[a-z][a-z0-9_]{1,63}`.
    pub const fn new(name: &'static str, version: &'static str, slot: Slot, summary: &'static str) -> Self {
        assert!(is_valid_name(name), "an add-on's name must match [a-z][a-z0-9_]{{1,63}}");
        Self {
            name,
            version,
            slot,
            summary,
            request_flag: name,
            config_key: None,
            after: &[],
            requires: &[],
            effects: &[],
            modes: &[Mode::PreRecorded, Mode::PostProcessing],
            capabilities: &[],
            result_members: &[],
        }
    }

    /// Another request field than the name switches the add-on on.
    pub const fn flag(mut self, flag: &'static str) -> Self {
        assert!(is_valid_name(flag), "a request flag must match [a-z][a-z0-9_]{{1,63}}");
        self.request_flag = flag;
        self
    }

    /// Another request field than `<name>_config` holds the config.
    pub const fn config_key(mut self, key: &'static str) -> Self {
        assert!(is_valid_name(key), "a config key must match [a-z][a-z0-9_]{{1,63}}");
        self.config_key = Some(key);
        self
    }

    /// Runs after these when they are on in the same job.
    pub const fn after(mut self, names: &'static [&'static str]) -> Self {
        self.after = names;
        self
    }

    /// Needs what these produce: switching this add-on on switches them on.
    pub const fn requires(mut self, names: &'static [&'static str]) -> Self {
        self.requires = names;
        self
    }

    /// What the host has to know about the consequences.
    pub const fn effects(mut self, effects: &'static [Effect]) -> Self {
        self.effects = effects;
        self
    }

    /// The kinds of job it runs in; all by default.
    pub const fn modes(mut self, modes: &'static [Mode]) -> Self {
        self.modes = modes;
        self
    }

    /// What it asks the operator for.
    pub const fn capabilities(mut self, capabilities: &'static [Capability]) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Members that stand beside `results` in the wrapper.
    ///
    /// With this set, `Output` must serialise as an object: its `results` member becomes the
    /// wrapper's `results`, each member named here stands beside it.
    pub const fn result_members(mut self, names: &'static [&'static str]) -> Self {
        self.result_members = names;
        self
    }
}

/// `[a-z][a-z0-9_]{1,63}`, the host's rule for names, flags and config keys.
const fn is_valid_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.len() < 2 || bytes.len() > 64 || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 1;
    while at < bytes.len() {
        if !(bytes[at].is_ascii_lowercase() || bytes[at].is_ascii_digit() || bytes[at] == b'_') {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_hosts_rule() {
        for good in ["ab", "a1", "call_report", &"a".repeat(64)] {
            assert!(is_valid_name(good), "{good}");
        }
        for bad in ["", "a", "1a", "_a", "Call", "a-b", "ä_b", &"a".repeat(65)] {
            assert!(!is_valid_name(bad), "{bad}");
        }
    }
}
