//! Writing a file that will be installed: digest and length are kept along the way.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::ModelFileError;

/// A file being written.
pub(super) struct Output {
    path: PathBuf,
    writer: BufWriter<File>,
    digest: Sha256,
    size_bytes: u64,
}

/// A complete file on the disk.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub path: PathBuf,
    /// Hex.
    pub sha256: String,
    pub size_bytes: u64,
}

impl Output {
    /// Makes or empties the file.
    pub fn create(path: &Path) -> Result<Self, ModelFileError> {
        let file = File::create(path).map_err(|error| ModelFileError::io(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            writer: BufWriter::with_capacity(1 << 20, file),
            digest: Sha256::new(),
            size_bytes: 0,
        })
    }

    /// Bytes written so far.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Appends.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ModelFileError> {
        self.writer.write_all(bytes).map_err(|error| ModelFileError::io(&self.path, error))?;
        self.digest.update(bytes);
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Waits until everything is on the disk.
    pub fn finish(mut self) -> Result<Written, ModelFileError> {
        let result = self.writer.flush().and_then(|()| self.writer.get_ref().sync_all());
        result.map_err(|error| ModelFileError::io(&self.path, error))?;
        let sha256 = hex::encode(self.digest.finalize());
        Ok(Written { path: self.path, sha256, size_bytes: self.size_bytes })
    }
}

impl Written {
    /// Refuses a file with another digest than `expected`.
    pub fn expect(self, expected: &str, what: &str) -> Result<Self, ModelFileError> {
        if self.sha256 == expected {
            return Ok(self);
        }
        Err(ModelFileError::Digest {
            what: what.to_owned(),
            expected: expected.to_owned(),
            found: self.sha256,
        })
    }
}

/// SHA-256 of a whole file, hex.
pub(super) fn digest_of(path: &Path) -> Result<String, ModelFileError> {
    let mut digest = Sha256::new();
    let copied = File::open(path).and_then(|mut file| std::io::copy(&mut file, &mut Hashing(&mut digest)));
    copied.map_err(|error| ModelFileError::io(path, error))?;
    Ok(hex::encode(digest.finalize()))
}

struct Hashing<'a>(&'a mut Sha256);

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_while_writing_is_the_digest_of_the_file() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("file");
        let mut output = Output::create(&path).expect("created");
        for part in [b"some ".as_slice(), &[7; 3_000_000], b" bytes"] {
            output.write(part).expect("written");
        }
        let written = output.finish().expect("finished");
        assert_eq!(written.size_bytes, 3_000_011);
        assert_eq!(written.sha256, digest_of(&path).expect("read"));
        assert!(written.clone().expect(&written.sha256.clone(), "file").is_ok());
        assert!(written.expect("00", "file").is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn full_disk_is_named() {
        let mut output = Output::create(Path::new("/dev/full")).expect("opened");
        let error = output.write(&[0; 4 << 20]).expect_err("nothing fits there");
        assert!(matches!(error, ModelFileError::DiskFull { .. }), "{error}");
    }
}
