//! Reading a CTranslate2 Whisper model: `model.bin` of a faster-whisper folder.
//!
//! Binary versions 4 to 6 share one layout: a list of named arrays, then a list of second
//! names. Values are read a few rows at a time; nothing holds a whole model.

use std::collections::HashMap;
use std::io::{Cursor, Read, Seek};

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::architecture::Architecture;
use super::bytes::{Input, f32_values};
use super::error::Fault;
use super::layout::Rows;

const VERSIONS: std::ops::RangeInclusive<u32> = 4..=6;
const SPEC: &str = "WhisperSpec";
const REVISIONS: std::ops::RangeInclusive<u32> = 1..=3;
/// Values read at once: 1 MiB as f32.
const VALUES_AT_ONCE: u64 = 1 << 18;
/// A longer name is not one of CTranslate2's.
const MAX_NAME_BYTES: u16 = 512;

/// How an array is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F32,
    I8,
    I16,
    I32,
    F16,
    Bf16,
}

impl Kind {
    fn of_code(code: u8) -> Option<Self> {
        [Self::F32, Self::I8, Self::I16, Self::I32, Self::F16, Self::Bf16].get(usize::from(code)).copied()
    }

    fn size_bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }

    fn decode(self, bytes: &[u8]) -> Vec<f32> {
        let pairs = || bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
        match self {
            Self::F32 => f32_values(bytes),
            Self::I8 => bytes.iter().map(|byte| f32::from(*byte as i8)).collect(),
            Self::I16 => pairs().map(|pair| f32::from(pair as i16)).collect(),
            Self::I32 => bytes.as_chunks().0.iter().map(|word| i32::from_le_bytes(*word) as f32).collect(),
            Self::F16 => pairs().map(f16::from_bits).collect::<Vec<_>>().to_f32_vec(),
            Self::Bf16 => pairs().map(bf16::from_bits).collect::<Vec<_>>().to_f32_vec(),
        }
    }
}

/// Where an array lies and how to read it.
#[derive(Debug, Clone)]
struct Variable {
    dims: Vec<u32>,
    kind: Kind,
    offset: u64,
}

impl Variable {
    fn rows(&self) -> u32 {
        self.dims.first().copied().unwrap_or(1)
    }

    fn row_values(&self) -> u64 {
        self.dims.iter().skip(1).map(|dim| u64::from(*dim)).product()
    }
}

/// The index of an opened model.
pub(super) struct Ct2Model<R> {
    input: Input<R>,
    variables: HashMap<String, Variable>,
    aliases: HashMap<String, String>,
}

impl<R: Read + Seek> Ct2Model<R> {
    /// Reads the index and steps over the values.
    pub fn open(reader: R) -> Result<Self, Fault> {
        let mut input = Input::new(reader)?;
        read_start(&mut input)?;
        let mut variables = HashMap::new();
        for _ in 0..input.u32("the number of arrays")? {
            let (name, variable) = read_variable(&mut input)?;
            if variables.insert(name.clone(), variable).is_some() {
                return Err(Fault::Twice { name });
            }
        }
        let mut aliases = HashMap::new();
        for _ in 0..input.u32("the number of second names")? {
            let alias = read_text(&mut input, "the second names")?;
            aliases.insert(alias, read_text(&mut input, "the second names")?);
        }
        match input.remaining_bytes() {
            0 => Ok(Self { input, variables, aliases }),
            extra_bytes => Err(Fault::Trailing { extra_bytes }),
        }
    }

    /// The sizes of the model, possible ones only.
    pub fn architecture(&mut self) -> Result<Architecture, Fault> {
        let embeddings = self.find("decoder/embeddings/weight")?;
        let (vocabulary, state) = (embeddings.rows(), embeddings.dims.get(1).copied().unwrap_or(0));
        let mels = self.find("encoder/conv1/weight")?.dims.get(1).copied().unwrap_or(0);
        let sizes = Architecture {
            vocabulary,
            state,
            audio_heads: self.heads("encoder/num_heads", state)?,
            audio_layers: self.layers("encoder"),
            text_heads: self.heads("decoder/num_heads", state)?,
            text_layers: self.layers("decoder"),
            mels,
        };
        sizes.validate()?;
        self.check_tied_output()?;
        Ok(sizes)
    }

    /// Calls `sink` with the values of the given rows, whole rows at a time.
    pub fn read_rows<E: From<Fault>>(
        &mut self,
        part: &Rows,
        dims: &[u32],
        sink: &mut dyn FnMut(&[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let variable = self.find(&part.variable)?.clone();
        check_shape(part, &variable, dims)?;
        let rows = variable.rows() / part.of;
        let row_values = variable.row_values();
        let scales = self.scales(&part.variable, &variable)?;
        let first = rows * part.index;
        let rows_at_once = u32::try_from((VALUES_AT_ONCE / row_values).max(1)).unwrap_or(u32::MAX);
        let mut done = 0;
        while done < rows {
            let count = rows_at_once.min(rows - done);
            let mut values = self.read_values(&variable, first + done, count, &part.variable)?;
            scales.apply(&mut values, row_values as usize, (first + done) as usize);
            if !values.iter().all(|value| value.is_finite()) {
                return Err(Fault::NotFinite { place: part.variable.clone() }.into());
            }
            sink(&values)?;
            done += count;
        }
        Ok(())
    }

    fn read_values(
        &mut self,
        variable: &Variable,
        first_row: u32,
        rows: u32,
        inside: &str,
    ) -> Result<Vec<f32>, Fault> {
        let row_bytes = variable.row_values() * variable.kind.size_bytes();
        self.input.seek_to(variable.offset + u64::from(first_row) * row_bytes)?;
        let size_bytes = usize::try_from(u64::from(rows) * row_bytes).expect("the file is that long");
        Ok(variable.kind.decode(&self.input.take(size_bytes, inside)?))
    }

    /// Integers come with what they were multiplied by: a number per row, or one for all.
    fn scales(&mut self, name: &str, variable: &Variable) -> Result<Scales, Fault> {
        match variable.kind {
            Kind::F32 | Kind::F16 | Kind::Bf16 => return Ok(Scales::None),
            Kind::I8 | Kind::I16 => {}
            Kind::I32 => return Err(Fault::Weights { found: format!("packed integers ({name})") }),
        }
        let scale_name = format!("{}_scale", self.resolve(name));
        let scale = self.find(&scale_name)?.clone();
        if !scale.dims.is_empty() && scale.dims != [1] && scale.dims != [variable.rows()] {
            return Err(Fault::Shape {
                name: scale_name,
                found: scale.dims,
                expected: vec![variable.rows()],
            });
        }
        let values = self.read_values(&scale, 0, scale.rows(), &scale_name)?;
        if !values.iter().all(|value| value.is_finite() && *value != 0.0) {
            return Err(Fault::NotFinite { place: scale_name });
        }
        Ok(match values.as_slice() {
            [one] => Scales::One(*one),
            _ => Scales::PerRow(values),
        })
    }

    fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    fn find(&self, name: &str) -> Result<&Variable, Fault> {
        self.variables.get(self.resolve(name)).ok_or_else(|| Fault::Missing { name: name.to_owned() })
    }

    /// Older models do not store the number; Whisper's heads are 64 wide.
    fn heads(&mut self, name: &str, state: u32) -> Result<u32, Fault> {
        let Ok(variable) = self.find(name).cloned() else { return Ok(state / 64) };
        if !variable.dims.is_empty() {
            return Err(Fault::Shape { name: name.to_owned(), found: variable.dims, expected: Vec::new() });
        }
        let value = self.read_values(&variable, 0, 1, name)?.first().copied();
        Ok(value.unwrap_or_default() as u32)
    }

    fn layers(&self, half: &str) -> u32 {
        let has = |index: &u32| self.find(&format!("{half}/layer_{index}/ffn/linear_0/weight")).is_ok();
        (0..).take_while(has).count() as u32
    }

    /// Whisper's output layer is its embedding table, and ggml files store it once.
    fn check_tied_output(&self) -> Result<(), Fault> {
        const OUTPUT: &str = "decoder/projection/weight";
        let is_own = self.variables.contains_key(OUTPUT) && !self.aliases.contains_key(OUTPUT);
        let is_embedding = self.resolve("decoder/embeddings/weight") == OUTPUT;
        if is_own && !is_embedding {
            return Err(Fault::NotRepresentable { what: format!("an output layer of its own ({OUTPUT})") });
        }
        Ok(())
    }
}

/// Reads the index and the sizes of a model in memory, for fuzzing.
pub fn check_ctranslate2_bytes(bytes: &[u8]) -> Result<Architecture, Fault> {
    Ct2Model::open(Cursor::new(bytes))?.architecture()
}

enum Scales {
    None,
    One(f32),
    PerRow(Vec<f32>),
}

impl Scales {
    fn apply(&self, values: &mut [f32], row_values: usize, first_row: usize) {
        match self {
            Self::None => {}
            Self::One(scale) => values.iter_mut().for_each(|value| *value /= scale),
            Self::PerRow(scales) => {
                for (row, scale) in values.chunks_mut(row_values).zip(&scales[first_row..]) {
                    row.iter_mut().for_each(|value| *value /= scale);
                }
            }
        }
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

/// The part must have the tensor's values. A bias of a convolution is one column more in
/// ggml, so the leading sizes and the product count.
fn check_shape(part: &Rows, variable: &Variable, dims: &[u32]) -> Result<(), Fault> {
    let mut found = variable.dims.clone();
    let divides = found.first().is_some_and(|rows| rows.is_multiple_of(part.of));
    if divides {
        found[0] /= part.of;
    }
    let expected = dims.iter().copied().rev().skip_while(|dim| *dim == 1).collect::<Vec<_>>();
    if divides && found.iter().rev().copied().eq(expected) {
        return Ok(());
    }
    Err(Fault::Shape { name: part.variable.clone(), found, expected: dims.to_vec() })
}
