//! Which arrays a file has, and under which names.

use std::collections::HashMap;
use std::io::{Read, Seek};

use super::variable::{Kind, Variable};
use crate::modelfile::bytes::Input;
use crate::modelfile::error::Fault;

const VERSIONS: std::ops::RangeInclusive<u32> = 4..=6;
const SPEC: &str = "WhisperSpec";
const REVISIONS: std::ops::RangeInclusive<u32> = 1..=3;
/// A longer name is not one of CTranslate2's.
const MAX_NAME_BYTES: u16 = 512;

/// The arrays by name, and the second names of some.
pub(super) struct Index {
    variables: HashMap<String, Variable>,
    aliases: HashMap<String, String>,
}

impl Index {
    /// Reads the whole file, and steps over the values.
    pub fn read<R: Read + Seek>(input: &mut Input<R>) -> Result<Self, Fault> {
        read_start(input)?;
        let mut variables = HashMap::new();
        for _ in 0..input.u32("the number of arrays")? {
            let (name, variable) = read_variable(input)?;
            if variables.insert(name.clone(), variable).is_some() {
                return Err(Fault::Twice { name });
            }
        }
        let mut aliases = HashMap::new();
        for _ in 0..input.u32("the number of second names")? {
            let alias = read_text(input, "the second names")?;
            aliases.insert(alias, read_text(input, "the second names")?);
        }
        match input.remaining_bytes() {
            0 => Ok(Self { variables, aliases }),
            extra_bytes => Err(Fault::Trailing { extra_bytes }),
        }
    }

    pub fn find(&self, name: &str) -> Result<&Variable, Fault> {
        self.variables.get(self.resolve(name)).ok_or_else(|| Fault::Missing { name: name.to_owned() })
    }

    pub fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// Layers of the encoder or the decoder.
    pub fn layers(&self, half: &str) -> u32 {
        let has = |index: &u32| self.find(&format!("{half}/layer_{index}/ffn/linear_0/weight")).is_ok();
        (0..).take_while(has).count() as u32
    }

    /// Whisper's output layer is its embedding table, and ggml files store it once.
    pub fn check_tied_output(&self) -> Result<(), Fault> {
        const OUTPUT: &str = "decoder/projection/weight";
        let is_own = self.variables.contains_key(OUTPUT) && !self.aliases.contains_key(OUTPUT);
        let is_embedding = self.resolve("decoder/embeddings/weight") == OUTPUT;
        if is_own && !is_embedding {
            return Err(Fault::NotRepresentable { what: format!("an output layer of its own ({OUTPUT})") });
        }
        Ok(())
    }
}

fn read_start<R: Read + Seek>(input: &mut Input<R>) -> Result<(), Fault> {
    const START: &str = "the start of model.bin";
    let version = input.u32(START)?;
    if !VERSIONS.contains(&version) {
        return Err(Fault::NotCtranslate2 { found: format!("version {version}") });
    }
    let spec = read_text(input, START)?;
    if spec != SPEC {
        return Err(Fault::NotCtranslate2 { found: format!("a {spec:?} model") });
    }
    let revision = input.u32(START)?;
    if !REVISIONS.contains(&revision) {
        return Err(Fault::NotCtranslate2 { found: format!("revision {revision} of {SPEC}") });
    }
    Ok(())
}

fn read_variable<R: Read + Seek>(input: &mut Input<R>) -> Result<(String, Variable), Fault> {
    const HEAD: &str = "the head of an array";
    let name = read_text(input, HEAD)?;
    let rank = input.u8(HEAD)?;
    let dims = (0..rank).map(|_| input.u32(HEAD)).collect::<Result<Vec<u32>, Fault>>()?;
    let code = input.u8(HEAD)?;
    let size_bytes = u64::from(input.u32(HEAD)?);
    let kind =
        Kind::of_code(code).ok_or_else(|| Fault::Weights { found: format!("number {code} ({name})") })?;
    let expected = dims.iter().try_fold(kind.size_bytes(), |bytes, dim| bytes.checked_mul(u64::from(*dim)));
    if expected != Some(size_bytes) || size_bytes == 0 {
        let values = u32::try_from(size_bytes / kind.size_bytes()).unwrap_or(u32::MAX);
        return Err(Fault::Shape { name, found: dims, expected: vec![values] });
    }
    let offset = input.position();
    input.skip(size_bytes, &format!("the array {name}"))?;
    Ok((name, Variable { dims, kind, offset }))
}

/// A text is stored as its length, the final zero counted, then the bytes and the zero.
fn read_text<R: Read + Seek>(input: &mut Input<R>, inside: &str) -> Result<String, Fault> {
    let size_bytes = input.u16(inside)?;
    let bad = || Fault::NotCtranslate2 { found: format!("an unreadable text in {inside}") };
    if !(1..=MAX_NAME_BYTES).contains(&size_bytes) {
        return Err(bad());
    }
    let mut bytes = input.take(usize::from(size_bytes), inside)?;
    if bytes.pop() != Some(0) {
        return Err(bad());
    }
    String::from_utf8(bytes).map_err(|_| bad())
}
