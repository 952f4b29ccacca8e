//! Writing a ggml file, tensor by tensor, from a CTranslate2 folder or from an f16 ggml
//! file.

use std::fs::File;
use std::path::{Path, PathBuf};

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::Report;
use super::architecture::{AUDIO_POSITIONS, Architecture, FFT_BINS, TEXT_POSITIONS};
use super::bytes::{Input, f32_values};
use super::check::{MAGIC, Scan, scan};
use super::ct2::Ct2Model;
use super::error::{Fault, ModelFileError};
use super::layout::{Layout, Tensor};
use super::output::{Output, Written};
use super::weights::{Stored, Weights};
use super::{mel, vocabulary};

/// Values copied at once: whole blocks of 32, not necessarily whole rows.
const VALUES_AT_ONCE: u64 = 1 << 18;

/// Turns a faster-whisper folder into a ggml file at `target`.
pub(super) fn from_ctranslate2(
    folder: &Path,
    target: &Path,
    weights: Weights,
    report: &dyn Report,
) -> Result<Written, ModelFileError> {
    let path = folder.join("model.bin");
    let at = |fault| ModelFileError::fault(&path, fault);
    let file = File::open(&path).map_err(|error| ModelFileError::io(&path, error))?;
    let mut model = Ct2Model::open(file).map_err(at)?;
    let sizes = model.architecture().map_err(at)?;
    let layout = Layout::new(&sizes);
    check_zero_biases(&mut model, &layout, &sizes).map_err(at)?;
    let tokens = vocabulary::read(folder, sizes.end_of_text())?;
    let mut writer = GgmlWriter::create(target, path.clone(), weights)?;
    writer.header(&sizes)?;
    writer.filters(&sizes)?;
    writer.tokens(&tokens)?;
    report.begin("converting", Some(size_bytes(&layout, weights)));
    for tensor in &layout.tensors {
        writer.tensor(tensor, report, &mut |sink| model.read_rows(&tensor.rows, &tensor.dims, sink))?;
    }
    report.end();
    writer.output.finish()
}

/// Writes the f16 ggml file at `source` again with `weights`.
pub(super) fn from_ggml(
    source: &Path,
    target: &Path,
    weights: Weights,
    report: &dyn Report,
) -> Result<Written, ModelFileError> {
    let at = |fault| ModelFileError::fault(source, fault);
    let file = File::open(source).map_err(|error| ModelFileError::io(source, error))?;
    let mut input = Input::new(file).map_err(at)?;
    let Scan { info, layout, preamble, offsets } = scan(&mut input).map_err(at)?;
    let found = info.weights;
    if found != Weights::F16 {
        let path = source.to_owned();
        return Err(ModelFileError::CannotQuantize { path, found: found.name(), wanted: weights.name() });
    }
    let mut writer = GgmlWriter::create(target, source.to_owned(), weights)?;
    writer.header(&info.architecture)?;
    input.seek_to(preamble.start).map_err(at)?;
    let preamble_bytes = usize::try_from(preamble.end - preamble.start).expect("a few megabytes");
    writer.output.write(&input.take(preamble_bytes, "the vocabulary").map_err(at)?)?;
    report.begin("quantising", Some(size_bytes(&layout, weights)));
    for (tensor, offset) in layout.tensors.iter().zip(offsets) {
        let stored = found.stored(tensor.role);
        writer.tensor(tensor, report, &mut |sink| read_tensor(&mut input, tensor, stored, offset, sink))?;
    }
    report.end();
    writer.output.finish()
}

/// Receives values; reads call it a few rows at a time.
type Sink<'a> = &'a mut dyn FnMut(&[f32]) -> Result<(), Failure>;

/// Copying fails at one end or the other.
enum Failure {
    Read(Fault),
    Write(ModelFileError),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Read(fault)
    }
}

fn read_tensor(
    input: &mut Input<File>,
    tensor: &Tensor,
    stored: Stored,
    offset: u64,
    sink: Sink,
) -> Result<(), Failure> {
    input.seek_to(offset)?;
    let mut left = tensor.values();
    while left > 0 {
        let count = left.min(VALUES_AT_ONCE);
        let bytes = input.take(stored.size_bytes(count) as usize, &tensor.name)?;
        let values = match stored {
            Stored::F32 => f32_values(&bytes),
            _ => bytes
                .as_chunks()
                .0
                .iter()
                .map(|pair| f16::from_le_bytes(*pair))
                .collect::<Vec<_>>()
                .to_f32_vec(),
        };
        sink(&values)?;
        left -= count;
    }
    Ok(())
}

/// Bytes of all values once written.
fn size_bytes(layout: &Layout, weights: Weights) -> u64 {
    layout.tensors.iter().map(|tensor| weights.stored(tensor.role).size_bytes(tensor.values())).sum()
}

fn check_zero_biases(model: &mut Ct2Model<File>, layout: &Layout, sizes: &Architecture) -> Result<(), Fault> {
    for rows in &layout.zero_biases {
        model.read_rows(rows, &[sizes.state], &mut |values| {
            if values.iter().all(|value| *value == 0.0) {
                return Ok(());
            }
            Err(Fault::NotRepresentable { what: format!("a bias of attention keys ({})", rows.variable) })
        })?;
    }
    Ok(())
}

struct GgmlWriter {
    output: Output,
    source: PathBuf,
    weights: Weights,
}

impl GgmlWriter {
    fn create(target: &Path, source: PathBuf, weights: Weights) -> Result<Self, ModelFileError> {
        Ok(Self { output: Output::create(target)?, source, weights })
    }

    fn header(&mut self, sizes: &Architecture) -> Result<(), ModelFileError> {
        self.numbers(&[
            MAGIC,
            sizes.vocabulary,
            AUDIO_POSITIONS,
            sizes.state,
            sizes.audio_heads,
            sizes.audio_layers,
            TEXT_POSITIONS,
            sizes.state,
            sizes.text_heads,
            sizes.text_layers,
            sizes.mels,
            self.weights.file_type(),
        ])
    }

    fn filters(&mut self, sizes: &Architecture) -> Result<(), ModelFileError> {
        self.numbers(&[sizes.mels, FFT_BINS])?;
        let mut bytes = Vec::new();
        Stored::F32.encode(&mel::filters(sizes.mels), &mut bytes);
        self.output.write(&bytes)
    }

    fn tokens(&mut self, tokens: &[Vec<u8>]) -> Result<(), ModelFileError> {
        self.numbers(&[tokens.len() as u32])?;
        for token in tokens {
            self.numbers(&[token.len() as u32])?;
            self.output.write(token)?;
        }
        Ok(())
    }

    /// `read` fetches the values; what it reports is a fault of the source.
    fn tensor(
        &mut self,
        tensor: &Tensor,
        report: &dyn Report,
        read: &mut dyn FnMut(Sink) -> Result<(), Failure>,
    ) -> Result<(), ModelFileError> {
        let stored = self.weights.stored(tensor.role);
        self.numbers(&[tensor.dims.len() as u32, tensor.name.len() as u32, stored.code()])?;
        self.numbers(&tensor.dims.iter().rev().copied().collect::<Vec<_>>())?;
        self.output.write(tensor.name.as_bytes())?;
        let mut bytes = Vec::new();
        let outcome = read(&mut |values| {
            bytes.clear();
            stored.encode(values, &mut bytes);
            report.advance(bytes.len() as u64);
            self.output.write(&bytes).map_err(Failure::Write)
        });
        outcome.map_err(|failure| match failure {
            Failure::Read(fault) => ModelFileError::fault(&self.source, fault),
            Failure::Write(error) => error,
        })
    }

    fn numbers(&mut self, numbers: &[u32]) -> Result<(), ModelFileError> {
        numbers.iter().try_for_each(|number| self.output.write(&number.to_le_bytes()))
    }
}
