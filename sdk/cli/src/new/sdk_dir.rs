//! Finds the crate `tympan-sdk` that a new add-on will depend on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Where the crate lies in a checkout of the project.
const IN_CHECKOUT: &str = "sdk/sdk";

/// The SDK's folder, absolute: the given one, or that of the checkout around this program.
pub(super) fn find(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(dir) = given {
        let Some(found) = crate_in(dir) else {
            bail!("{} holds no tympan SDK: give a checkout of tympan, or its folder sdk/sdk", dir.display());
        };
        return found.canonicalize().with_context(|| format!("cannot open {}", dir.display()));
    }
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    let around = program.ok().and_then(|path| path.ancestors().find_map(crate_in));
    around.context("cannot find the tympan SDK: give the folder of a checkout with --sdk DIR")
}

fn crate_in(dir: &Path) -> Option<PathBuf> {
    [dir.to_owned(), dir.join(IN_CHECKOUT)].into_iter().find(|candidate| is_sdk(candidate))
}

fn is_sdk(dir: &Path) -> bool {
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap_or_default();
    let name = manifest.parse::<toml::Table>().ok().and_then(|table| {
        let package = table.get("package")?;
        package.get("name")?.as_str().map(str::to_owned)
    });
    name.as_deref() == Some("tympan-sdk")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_and_the_crate_in_it_are_both_found() {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let by_checkout = find(Some(&checkout)).unwrap();
        assert_eq!(by_checkout, find(Some(&checkout.join(IN_CHECKOUT))).unwrap());
        assert!(by_checkout.is_absolute());
    }

    #[test]
    fn a_folder_without_the_sdk_is_refused_by_name() {
        let error = find(Some(Path::new(env!("CARGO_MANIFEST_DIR")))).unwrap_err().to_string();
        assert!(error.contains("no tympan SDK"), "{error}");
    }
}
