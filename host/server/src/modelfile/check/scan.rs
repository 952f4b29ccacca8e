//! A whole file, from its start to its end.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use super::head::{check_filters, check_vocabulary, read_header};
use super::tensors::find_tensors;
use crate::modelfile::architecture::{Architecture, Preset};
use crate::modelfile::bytes::Input;
use crate::modelfile::error::{Fault, ModelFileError};
use crate::modelfile::layout::Layout;
use crate::modelfile::record;
use crate::modelfile::weights::Weights;

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
pub(in crate::modelfile) struct Scan {
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
pub(in crate::modelfile) fn scan<R: Read + Seek>(input: &mut Input<R>) -> Result<Scan, Fault> {
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
