//! What can go wrong with a model file, said so that an operator knows what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of this module; each message is complete in itself.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// The file is not a model that can be used.
    #[error("{path} is not a usable Whisper model: {fault}", path = path.display())]
    Unusable { path: PathBuf, fault: Fault },
    /// The operating system refused.
    #[error("{path}: {source}", path = path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Nothing more can be written.
    #[error("no space left on the disk that holds {path}; free some and run the command again", path = path.display())]
    DiskFull { path: PathBuf },
    /// A file is not the one it should be.
    #[error(
        "{what} has the SHA-256 {found} instead of {expected}, so it was not installed; run the command again"
    )]
    Digest { what: String, expected: String, found: String },
    /// A name that no source carries.
    #[error("no model named {name:?} can be pulled; `tympan models list` shows the names")]
    UnknownModel { name: String },
    /// A name that cannot be part of a file name.
    #[error(
        "{name:?} cannot be a model's name; use 1 to 64 of a-z, 0-9, `.`, `-` and `_`, starting with a letter or digit"
    )]
    BadName { name: String },
    /// The hub that carries ggml files gave nothing.
    #[error("the model hub at {url} {problem}")]
    Hub { url: String, problem: String },
    /// The packages gave nothing.
    #[error("{0}")]
    Packages(String),
    /// No source carries the model.
    #[error("model {name:?} is not carried by {source_name}; set TYMPAN_MODEL_SOURCE={other}")]
    NotCarried { name: String, source_name: &'static str, other: &'static str },
    /// Every source failed.
    #[error("{first}; then {second}")]
    AllSources { first: Box<ModelFileError>, second: Box<ModelFileError> },
    /// Weights that were quantised once are not converted again.
    #[error("{path} holds {found} weights; only f16 can be turned into {wanted}", path = path.display())]
    CannotQuantize { path: PathBuf, found: &'static str, wanted: &'static str },
}

impl ModelFileError {
    /// Gives an operating system error its path; a full disk has a variant of its own.
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { path, source },
        }
    }

    /// Gives a fault its path; an operating system error stays one.
    pub(super) fn fault(path: &Path, fault: Fault) -> Self {
        match fault {
            Fault::Read(source) => Self::io(path, source),
            fault => Self::Unusable { path: path.to_owned(), fault },
        }
    }
}

/// What is wrong inside a file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The operating system refused to read.
    #[error("{0}")]
    Read(io::Error),
    /// The file is cut off.
    #[error("it ends after {size_bytes} bytes, inside {inside}; the file is truncated")]
    Truncated { size_bytes: u64, inside: String },
    /// There is more after the last tensor.
    #[error("{extra_bytes} bytes follow its last tensor")]
    Trailing { extra_bytes: u64 },
    /// Another kind of file.
    #[error("it does not start with ggml's mark; `import` takes ggml files and faster-whisper folders")]
    NotGgml,
    /// A pipe, a device or a socket.
    #[error("it is no regular file")]
    NotAFile,
    /// Another kind of folder.
    #[error("it holds no model.bin; `import` takes ggml files and faster-whisper folders")]
    NoModelBin,
    /// Another kind of file, or a newer version.
    #[error("its model.bin is not a CTranslate2 Whisper model of binary version 4 to 6 ({found})")]
    NotCtranslate2 { found: String },
    /// A size that no Whisper model has.
    #[error("its {field} is {found}, and {expected} was expected")]
    Size { field: &'static str, found: i64, expected: String },
    /// Weights in a form that is not supported.
    #[error("its weights are of type {found}; f16, q8_0 and q5_1 are supported")]
    Weights { found: String },
    /// A number that is not finite.
    #[error("{place} holds a value that is not a finite number")]
    NotFinite { place: String },
    /// A tensor of another architecture.
    #[error("it holds a tensor {name:?}, which a Whisper model of its size does not have")]
    UnknownTensor { name: String },
    /// A tensor that stands there twice.
    #[error("it holds the tensor {name} twice")]
    Twice { name: String },
    /// A tensor that is not there.
    #[error("the tensor {name} is missing")]
    Missing { name: String },
    /// A tensor of another shape.
    #[error("the tensor {name} has the shape {found:?} instead of {expected:?}")]
    Shape { name: String, found: Vec<u32>, expected: Vec<u32> },
    /// A tensor of another type than its place needs.
    #[error("the tensor {name} is of type {found} instead of {expected}")]
    TensorType { name: String, found: String, expected: &'static str },
    /// A vocabulary that is not Whisper's.
    #[error("its vocabulary is not Whisper's: {problem}")]
    Vocabulary { problem: String },
    /// Something that the ggml form cannot hold.
    #[error("{what} cannot be kept in a ggml file")]
    NotRepresentable { what: String },
}
