//! Reads what a component file says about itself, without running or compiling it. Takes
//! any bytes; must never panic.

use serde::Serialize;
use sha2::{Digest, Sha256};
use wasmparser::{Encoding, Parser, Payload};

use crate::contract;

/// What a component file says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// Version of the contract that it was built for, for example `0.1.0`.
    pub contract_version: String,
    /// SHA-256 of the file, hex.
    pub sha256: String,
    /// Length of the file.
    pub size_bytes: u64,
    /// Names of imported interfaces, as in the file.
    pub imports: Vec<String>,
    /// Names of exported interfaces, as in the file.
    pub exports: Vec<String>,
}

impl Inspection {
    /// Whether this host speaks the version of the contract that the file was built for.
    pub fn is_supported(&self) -> bool {
        contract::is_supported(&self.contract_version)
    }
}

/// Why a file is not an add-on. The contract's version is not judged here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// No WebAssembly at all.
    #[error("this is not a WebAssembly file; build the add-on with `tympan-addon build`")]
    NotWasm,
    /// A module that was not turned into a component.
    #[error("this is a core WebAssembly module, not a component; build the add-on with `tympan-addon build`")]
    CoreModule,
    /// Cut off or changed.
    #[error("the file is damaged or cut off: {0}")]
    Damaged(String),
    /// Some other component.
    #[error("this component is not an add-on: it does not export `tympan:addon/manifest`")]
    NotAnAddon,
}

/// Reads imports, exports and the contract's version of a component.
pub fn inspect(bytes: &[u8]) -> Result<Inspection, FileError> {
    if bytes.is_empty() {
        return Err(FileError::Empty);
    }
    if !bytes.starts_with(b"\0asm") {
        return Err(FileError::NotWasm);
    }
    let outline = outline(bytes)?;
    let contract_version = outline
        .exports
        .iter()
        .find_map(|name| contract::interface(name).filter(|interface| interface.name == "manifest"))
        .map(|interface| interface.version.to_owned())
        .ok_or(FileError::NotAnAddon)?;
    Ok(Inspection {
        contract_version,
        sha256: hex::encode(Sha256::digest(bytes)),
        size_bytes: bytes.len() as u64,
        imports: outline.imports,
        exports: outline.exports,
    })
}

/// Names at the outermost level of a component.
#[derive(Default)]
struct Outline {
    imports: Vec<String>,
    exports: Vec<String>,
}

/// Walks the whole file, so that a cut anywhere is noticed.
fn outline(bytes: &[u8]) -> Result<Outline, FileError> {
    let mut outline = Outline::default();
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(damaged)? {
            Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                return Err(FileError::CoreModule);
            }
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    outline.imports.push(import.map_err(damaged)?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                for export in section {
                    outline.exports.push(export.map_err(damaged)?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(outline)
}

fn damaged(error: wasmparser::BinaryReaderError) -> FileError {
    FileError::Damaged(format!("{} at byte {}", one_line(error.message()), error.offset()))
}

/// A message of a library in one line: some of them print arrays over several.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Preamble of a component, and of a core module.
    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";

    #[test]
    fn other_files_are_named() {
        assert_eq!(inspect(b""), Err(FileError::Empty));
        assert_eq!(inspect(b"\x7fELF and so on"), Err(FileError::NotWasm));
        assert_eq!(inspect(MODULE), Err(FileError::CoreModule));
        assert_eq!(inspect(COMPONENT), Err(FileError::NotAnAddon));
        assert!(matches!(inspect(&COMPONENT[..6]), Err(FileError::Damaged(_))));
    }

    #[test]
    fn a_section_that_is_longer_than_the_file_is_damage() {
        let mut bytes = COMPONENT.to_vec();
        bytes.extend([7, 200, 1, 0]);
        assert!(matches!(inspect(&bytes), Err(FileError::Damaged(_))));
    }
}
