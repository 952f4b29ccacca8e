//! Reading little-endian numbers from a file of known length.
//!
//! Nothing is allocated before it is known that the file holds that much.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::error::Fault;

/// Reads a text of at most `most_bytes` from a regular file: pipes and devices may never end.
///
/// # Errors
/// When it is none, is longer, or cannot be read.
pub(super) fn text(path: &Path, most_bytes: u64) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(most_bytes + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most_bytes {
        return Err(io::Error::other(format!("it has more than {most_bytes} bytes")));
    }
    Ok(text)
}

/// A file with its length and the place where reading goes on.
pub(super) struct Input<R> {
    reader: BufReader<R>,
    position: u64,
    size_bytes: u64,
}

impl<R: Read + Seek> Input<R> {
    /// Starts at the first byte.
    pub fn new(mut reader: R) -> Result<Self, Fault> {
        let size_bytes = reader.seek(SeekFrom::End(0)).map_err(Fault::Read)?;
        reader.rewind().map_err(Fault::Read)?;
        Ok(Self { reader: BufReader::with_capacity(64 * 1024, reader), position: 0, size_bytes })
    }

    /// Length of the whole file.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Where the next read starts.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Bytes from here to the end.
    pub fn remaining_bytes(&self) -> u64 {
        self.size_bytes - self.position
    }

    /// Fills `buffer`; `inside` names the part of the file for the error.
    pub fn fill(&mut self, buffer: &mut [u8], inside: &str) -> Result<(), Fault> {
        self.require(buffer.len() as u64, inside)?;
        self.reader.read_exact(buffer).map_err(Fault::Read)?;
        self.position += buffer.len() as u64;
        Ok(())
    }

    /// The next `size_bytes` bytes; the caller has bounded the number.
    pub fn take(&mut self, size_bytes: usize, inside: &str) -> Result<Vec<u8>, Fault> {
        self.require(size_bytes as u64, inside)?;
        let mut buffer = vec![0; size_bytes];
        self.fill(&mut buffer, inside)?;
        Ok(buffer)
    }

    /// Steps over `size_bytes` bytes, all of which must exist.
    pub fn skip(&mut self, size_bytes: u64, inside: &str) -> Result<(), Fault> {
        self.require(size_bytes, inside)?;
        let step = i64::try_from(size_bytes).expect("a file is shorter than 2^63 bytes");
        self.reader.seek_relative(step).map_err(Fault::Read)?;
        self.position += size_bytes;
        Ok(())
    }

    /// Goes on at `position`.
    pub fn seek_to(&mut self, position: u64) -> Result<(), Fault> {
        self.reader.seek(SeekFrom::Start(position)).map_err(Fault::Read)?;
        self.position = position;
        Ok(())
    }

    pub fn u8(&mut self, inside: &str) -> Result<u8, Fault> {
        self.array::<1>(inside).map(|[byte]| byte)
    }

    pub fn u16(&mut self, inside: &str) -> Result<u16, Fault> {
        self.array(inside).map(u16::from_le_bytes)
    }

    pub fn u32(&mut self, inside: &str) -> Result<u32, Fault> {
        self.array(inside).map(u32::from_le_bytes)
    }

    pub fn i32(&mut self, inside: &str) -> Result<i32, Fault> {
        self.array(inside).map(i32::from_le_bytes)
    }

    fn array<const N: usize>(&mut self, inside: &str) -> Result<[u8; N], Fault> {
        let mut buffer = [0; N];
        self.fill(&mut buffer, inside)?;
        Ok(buffer)
    }

    fn require(&self, size_bytes: u64, inside: &str) -> Result<(), Fault> {
        if size_bytes <= self.remaining_bytes() {
            return Ok(());
        }
        Err(Fault::Truncated { size_bytes: self.size_bytes, inside: inside.to_owned() })
    }
}

/// Little-endian f32 values of `bytes`.
pub(super) fn f32_values(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}
