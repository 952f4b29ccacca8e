//! An opened model and its sizes.

use std::io::{Cursor, Read, Seek};

use super::index::Index;
use super::variable::Variable;
use crate::modelfile::architecture::Architecture;
use crate::modelfile::bytes::Input;
use crate::modelfile::error::Fault;

/// The index of an opened model.
pub(in crate::modelfile) struct Ct2Model<R> {
    input: Input<R>,
    pub(super) index: Index,
}

impl<R: Read + Seek> Ct2Model<R> {
    /// Reads the index and steps over the values.
    pub fn open(reader: R) -> Result<Self, Fault> {
        let mut input = Input::new(reader)?;
        let index = Index::read(&mut input)?;
        Ok(Self { input, index })
    }

    /// The sizes of the model, possible ones only.
    pub fn architecture(&mut self) -> Result<Architecture, Fault> {
        let embeddings = self.index.find("decoder/embeddings/weight")?;
        let (vocabulary, state) = (embeddings.rows(), embeddings.dims.get(1).copied().unwrap_or(0));
        let mels = self.index.find("encoder/conv1/weight")?.dims.get(1).copied().unwrap_or(0);
        let sizes = Architecture {
            vocabulary,
            state,
            audio_heads: self.heads("encoder/num_heads", state)?,
            audio_layers: self.index.layers("encoder"),
            text_heads: self.heads("decoder/num_heads", state)?,
            text_layers: self.index.layers("decoder"),
            mels,
        };
        sizes.validate()?;
        self.index.check_tied_output()?;
        Ok(sizes)
    }

    /// Older models do not store the number; Whisper's heads are 64 wide.
    fn heads(&mut self, name: &str, state: u32) -> Result<u32, Fault> {
        let Ok(variable) = self.index.find(name).cloned() else { return Ok(state / 64) };
        if !variable.dims.is_empty() {
            return Err(Fault::Shape { name: name.to_owned(), found: variable.dims, expected: Vec::new() });
        }
        let value = self.read_values(&variable, 0, 1, name)?.first().copied();
        Ok(value.unwrap_or_default() as u32)
    }

    pub(super) fn read_values(
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
}

/// Reads the index and the sizes of a model in memory, for fuzzing.
pub fn check_ctranslate2_bytes(bytes: &[u8]) -> Result<Architecture, Fault> {
    Ct2Model::open(Cursor::new(bytes))?.architecture()
}
