//! The complete check of a ggml file before whisper.cpp sees it.
//!
//! whisper.cpp ends the process on many faults, so each number it relies on is verified
//! here. The values of the tensors are stepped over: a check takes milliseconds.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use super::architecture::{AUDIO_POSITIONS, Architecture, FFT_BINS, Preset, TEXT_POSITIONS};
use super::bytes::{Input, f32_values};
use super::error::{Fault, ModelFileError};
use super::layout::{Layout, Tensor};
use super::record;
use super::vocabulary::MAX_TOKEN_BYTES;
use super::weights::Weights;

/// First four bytes of the file, as a number.
pub(super) const MAGIC: u32 = 0x6767_6d6c;
/// Longer than any tensor's name.
const MAX_NAME_BYTES: u32 = 64;

/// What a usable model file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Sizes of the model.
    pub architecture: Architecture,
    /// How its matrices are stored.
    pub weights: Weights,
    /// Length of the file.
    pub size_bytes: u64,
    /// The published model of these sizes.
    pub preset: Option<Preset>,
    /// (decoder layer, head) pairs that follow the audio, as the original model's own
    /// config names them; they go before those of `preset`. Empty where none are known.
    pub alignment_heads: Vec<(u32, u32)>,
}

/// A checked file and where its parts lie.
pub(super) struct Scan {
    pub info: ModelInfo,
    pub layout: Layout,
    /// Bytes from the first mel filter to the last token, copied as they are.
    pub preamble: std::ops::Range<u64>,
    /// Where the values of each tensor of `layout` start.
    pub offsets: Vec<u64>,
}

/// Checks the file at `path`; whatever passes can be given to whisper.cpp.
pub fn check(path: &Path) -> Result<ModelInfo, ModelFileError> {
    let io = |error| ModelFileError::io(path, error);
    // Opening a pipe would wait for somebody to write into it.
    if !path.metadata().map_err(io)?.is_file() {
        return Err(ModelFileError::fault(path, Fault::NotAFile));
    }
    let file = File::open(path).map_err(io)?;
    let mut info = scan(&mut Input::new(file).map_err(|fault| ModelFileError::fault(path, fault))?)
        .map_err(|fault| ModelFileError::fault(path, fault))?
        .info;
    info.alignment_heads = record::read(path).map(|record| record.heads_for(&info)).unwrap_or_default();
    Ok(info)
}

/// [`check`] over bytes in memory, for fuzzing.
pub fn check_bytes(bytes: &[u8]) -> Result<ModelInfo, Fault> {
    Ok(scan(&mut Input::new(Cursor::new(bytes))?)?.info)
}

/// Walks the whole file.
pub(super) fn scan<R: Read + Seek>(input: &mut Input<R>) -> Result<Scan, Fault> {
    let (architecture, weights) = read_header(input)?;
    let start = input.position();
    check_filters(input, &architecture)?;
    check_vocabulary(input, &architecture)?;
    let preamble = start..input.position();
    let layout = Layout::new(&architecture);
    let offsets = find_tensors(input, &layout, weights)?;
    let info = ModelInfo {
        architecture,
        weights,
        size_bytes: input.size_bytes(),
        preset: architecture.preset(),
        alignment_heads: Vec::new(),
    };
    Ok(Scan { info, layout, preamble, offsets })
}

fn read_header<R: Read + Seek>(input: &mut Input<R>) -> Result<(Architecture, Weights), Fault> {
    const HEADER: &str = "the header";
    if input.remaining_bytes() < 4 || input.u32(HEADER)? != MAGIC {
        return Err(Fault::NotGgml);
    }
    let mut next = |field: &'static str| {
        let found = input.i32(HEADER)?;
        u32::try_from(found).map_err(|_| Fault::Size {
            field,
            found: found.into(),
            expected: "a positive number".to_owned(),
        })
    };
    let vocabulary = next("vocabulary size")?;
    expect("number of encoder positions", next("number of encoder positions")?, AUDIO_POSITIONS)?;
    let state = next("state width")?;
    let audio_heads = next("number of encoder heads")?;
    let audio_layers = next("number of encoder layers")?;
    expect("number of decoder positions", next("number of decoder positions")?, TEXT_POSITIONS)?;
    expect("decoder's state width", next("decoder's state width")?, state)?;
    let text_heads = next("number of decoder heads")?;
    let text_layers = next("number of decoder layers")?;
    let mels = next("number of mel bands")?;
    let file_type = next("file type")?;
    let sizes = Architecture { vocabulary, state, audio_heads, audio_layers, text_heads, text_layers, mels };
    sizes.validate()?;
    let weights = Weights::ALL.into_iter().find(|weights| weights.file_type() == file_type);
    Ok((sizes, weights.ok_or_else(|| Fault::Weights { found: file_type_name(file_type) })?))
}

fn check_filters<R: Read + Seek>(input: &mut Input<R>, sizes: &Architecture) -> Result<(), Fault> {
    const FILTERS: &str = "the mel filters";
    expect("number of mel filters", input.u32(FILTERS)?, sizes.mels)?;
    expect("length of a mel filter", input.u32(FILTERS)?, FFT_BINS)?;
    let values = f32_values(&input.take((sizes.mels * FFT_BINS * 4) as usize, FILTERS)?);
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    Err(Fault::NotFinite { place: FILTERS.to_owned() })
}

/// Files made by others also list the special tokens or some of them: whisper.cpp allows
/// it up to the vocabulary's size.
fn check_vocabulary<R: Read + Seek>(input: &mut Input<R>, sizes: &Architecture) -> Result<(), Fault> {
    const VOCABULARY: &str = "the vocabulary";
    let count = input.u32(VOCABULARY)?;
    let allowed = sizes.end_of_text()..=sizes.vocabulary;
    if !allowed.contains(&count) {
        let problem = format!("{count} tokens instead of {} to {}", allowed.start(), allowed.end());
        return Err(Fault::Vocabulary { problem });
    }
    for id in 0..count {
        let size_bytes = input.u32(VOCABULARY)?;
        if size_bytes > MAX_TOKEN_BYTES {
            return Err(Fault::Vocabulary { problem: format!("token {id} has {size_bytes} bytes") });
        }
        input.skip(size_bytes.into(), VOCABULARY)?;
    }
    Ok(())
}

fn find_tensors<R: Read + Seek>(
    input: &mut Input<R>,
    layout: &Layout,
    weights: Weights,
) -> Result<Vec<u64>, Fault> {
    let places: HashMap<&str, usize> =
        layout.tensors.iter().enumerate().map(|(at, tensor)| (tensor.name.as_str(), at)).collect();
    let mut offsets = vec![None; layout.tensors.len()];
    for _ in 0..layout.tensors.len() {
        if input.remaining_bytes() == 0 {
            break;
        }
        let (at, offset) = read_tensor(input, layout, &places, weights)?;
        if offsets[at].replace(offset).is_some() {
            return Err(Fault::Twice { name: layout.tensors[at].name.clone() });
        }
    }
    let missing = |at: usize| Fault::Missing { name: layout.tensors[at].name.clone() };
    let offsets = offsets.into_iter().enumerate().map(|(at, offset)| offset.ok_or_else(|| missing(at)));
    let offsets = offsets.collect::<Result<Vec<u64>, Fault>>()?;
    match input.remaining_bytes() {
        0 => Ok(offsets),
        extra_bytes => Err(Fault::Trailing { extra_bytes }),
    }
}

/// Reads one tensor's head and steps over its values: its place in the layout and where
/// the values start.
fn read_tensor<R: Read + Seek>(
    input: &mut Input<R>,
    layout: &Layout,
    places: &HashMap<&str, usize>,
    weights: Weights,
) -> Result<(usize, u64), Fault> {
    const HEAD: &str = "the head of a tensor";
    let (rank, name_bytes, type_code) = (input.u32(HEAD)?, input.u32(HEAD)?, input.u32(HEAD)?);
    if !(1..=4).contains(&rank) || name_bytes > MAX_NAME_BYTES {
        return Err(Fault::UnknownTensor { name: format!("of rank {rank}, name of {name_bytes} bytes") });
    }
    let mut dims = (0..rank).map(|_| input.u32(HEAD)).collect::<Result<Vec<u32>, Fault>>()?;
    dims.reverse();
    let name = String::from_utf8_lossy(&input.take(name_bytes as usize, HEAD)?).into_owned();
    let Some(&at) = places.get(name.as_str()) else { return Err(Fault::UnknownTensor { name }) };
    let tensor = &layout.tensors[at];
    check_tensor(tensor, &dims, type_code, weights)?;
    let offset = input.position();
    input.skip(weights.stored(tensor.role).size_bytes(tensor.values()), &format!("the tensor {name}"))?;
    Ok((at, offset))
}

fn check_tensor(tensor: &Tensor, dims: &[u32], type_code: u32, weights: Weights) -> Result<(), Fault> {
    let name = || tensor.name.clone();
    if dims != tensor.dims {
        return Err(Fault::Shape { name: name(), found: dims.to_vec(), expected: tensor.dims.clone() });
    }
    let expected = weights.stored(tensor.role);
    if type_code != expected.code() {
        return Err(Fault::TensorType {
            name: name(),
            found: type_name(type_code),
            expected: expected.name(),
        });
    }
    Ok(())
}

fn expect(field: &'static str, found: u32, expected: u32) -> Result<(), Fault> {
    if found == expected {
        return Ok(());
    }
    Err(Fault::Size { field, found: found.into(), expected: expected.to_string() })
}

/// Names of ggml's tensor types, for messages.
fn type_name(code: u32) -> String {
    let name = match code {
        0 => "f32",
        1 => "f16",
        2 => "q4_0",
        3 => "q4_1",
        6 => "q5_0",
        7 => "q5_1",
        8 => "q8_0",
        other => return format!("number {other}"),
    };
    name.to_owned()
}

/// Names of ggml's file types, which are numbered apart from the tensor types.
fn file_type_name(code: u32) -> String {
    let name = match code % 1000 {
        0 => "f32",
        1 => "f16",
        2 => "q4_0",
        3 => "q4_1",
        7 => "q8_0",
        8 => "q5_0",
        9 => "q5_1",
        _ => return format!("number {code}"),
    };
    match code / 1000 {
        0 | 2 => name.to_owned(),
        version => format!("{name} in block version {version}"),
    }
}
