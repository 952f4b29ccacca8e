//! The contract with add-ons, one module per version that this host speaks, and the
//! names of its interfaces.

pub mod v0_1;

/// The versions that this host speaks, for messages.
pub const SUPPORTED: &str = "0.1";

/// An interface of the contract by its name in a component, such as
/// `tympan:addon/runtime@0.1.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface<'a> {
    /// `runtime`.
    pub name: &'a str,
    /// `0.1.0`.
    pub version: &'a str,
}

/// Takes a name apart; `None` when it is not of the contract.
pub fn interface(full_name: &str) -> Option<Interface<'_>> {
    let (name, version) = full_name.strip_prefix("tympan:addon/")?.split_once('@')?;
    Some(Interface { name, version })
}

/// Whether a component that was built for `version` can be run. Patch versions only add
/// to the contract (see its head).
pub fn is_supported(version: &str) -> bool {
    version.strip_prefix(SUPPORTED).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let parts = interface("tympan:addon/runtime@0.1.0");
        assert_eq!(parts, Some(Interface { name: "runtime", version: "0.1.0" }));
        assert_eq!(interface("wasi:io/poll@0.2.0"), None);
        assert_eq!(interface("tympan:addon/runtime"), None);
    }

    #[test]
    fn only_patch_versions_may_differ() {
        assert!(is_supported("0.1.0"));
        assert!(is_supported("0.1.7"));
        assert!(!is_supported("0.10.0"));
        assert!(!is_supported("0.2.0"));
        assert!(!is_supported("1.1.0"));
    }
}
