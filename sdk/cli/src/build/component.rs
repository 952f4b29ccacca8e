//! From the core module that rustc writes to a component.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use wit_component::ComponentEncoder;

/// The component made from the module in this file.
pub(super) fn from_module(path: &Path, name: &str) -> anyhow::Result<Vec<u8>> {
    let module = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !exports_an_addon(&module) {
        bail!("{name} exports no add-on: put `addon!(YourType);` into src/lib.rs");
    }
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true).module(&module).and_then(ComponentEncoder::encode).with_context(|| {
        format!(
            "{name} cannot become a component; a dependency that imports from a browser or from the \
             system (getrandom, uuid, wasm-bindgen) is the usual reason"
        )
    })
}

/// The name of the contract's export stands in the module's export section.
fn exports_an_addon(module: &[u8]) -> bool {
    let marker = b"tympan:addon/manifest@";
    let describe = b"#describe";
    module.windows(marker.len()).enumerate().filter(|(_, window)| window == marker).any(|(at, _)| {
        let rest = &module[at + marker.len()..];
        rest.iter().take(32).position(|&b| b == b'#').is_some_and(|hash| rest[hash..].starts_with(describe))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_export_is_recognised_by_its_name() {
        assert!(exports_an_addon(b"..tympan:addon/manifest@0.1.0#describe.."));
        assert!(!exports_an_addon(b"..tympan:addon/manifest@0.1.0.."));
        assert!(!exports_an_addon(b"\0asm"));
    }
}
