//! A part of a file as a source of its own, so that a reader can start behind a tag.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use symphonia::core::io::{MediaSource, MediaSourceStream, MediaSourceStreamOptions};

/// Bytes read at once by a search.
const SEARCH_BYTES: usize = 4 * 1024;

/// Bytes from `start` on, `len` of them; clones read independently. What is patched reads
/// otherwise than the file.
#[derive(Debug, Clone)]
pub(super) struct Window {
    file: Arc<File>,
    start: u64,
    len: u64,
    at: u64,
    /// Positions in the file and what is read there.
    patches: Vec<(u64, Vec<u8>)>,
    cancel: Arc<AtomicBool>,
}

impl Window {
    /// The whole of `file`.
    pub(super) fn whole(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), start: 0, len, at: 0, patches: Vec::new(), cancel: Arc::default() })
    }

    /// The same, with nothing read any more once `cancel` is raised: it ends every reader, however
    /// long the file keeps one busy without a packet.
    pub(super) fn until(self, cancel: &Arc<AtomicBool>) -> Self {
        Self { cancel: Arc::clone(cancel), ..self }
    }

    /// The part from `offset` on, at most `len` bytes long.
    pub(super) fn part(&self, offset: u64, len: u64) -> Self {
        let offset = offset.min(self.len);
        let len = len.min(self.len - offset);
        Self { start: self.start + offset, len, at: 0, ..self.clone() }
    }

    /// The same with `bytes` in place of those at `offset`.
    pub(super) fn patched(mut self, offset: u64, bytes: &[u8]) -> Self {
        self.patches.push((self.start + offset, bytes.to_vec()));
        self
    }

    /// Bytes in this part.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Reads at `offset` until `bytes` is full or the part ends; returns how many were read.
    pub(super) fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("cancelled"));
        }
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = bytes.len().min(left);
        let mut done = 0;
        while done < wanted {
            let position = self.start + offset + done as u64;
            match self.file.read_at(&mut bytes[done..wanted], position) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
        self.patch(self.start + offset, &mut bytes[..done]);
        Ok(done)
    }

    fn patch(&self, position: u64, bytes: &mut [u8]) {
        for (at, patch) in &self.patches {
            for (place, byte) in (*at..).zip(patch) {
                let index = place.checked_sub(position).and_then(|index| usize::try_from(index).ok());
                if let Some(target) = index.and_then(|index| bytes.get_mut(index)) {
                    *target = *byte;
                }
            }
        }
    }

    /// Up to `len` bytes from `offset` on.
    pub(super) fn slice(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len.min(left)];
        let count = self.read_at(offset, &mut bytes)?;
        bytes.truncate(count);
        Ok(bytes)
    }

    /// Where `wanted` is found from `from` on. Little is read at once: in a damaged file one search
    /// may follow close on the other.
    pub(super) fn find(&self, from: u64, wanted: &[u8]) -> io::Result<Option<u64>> {
        let mut at = from;
        loop {
            let piece = self.slice(at, SEARCH_BYTES)?;
            if let Some(found) = piece.windows(wanted.len()).position(|bytes| bytes == wanted) {
                return Ok(Some(at + found as u64));
            }
            if piece.len() < SEARCH_BYTES {
                return Ok(None);
            }
            at += (SEARCH_BYTES + 1 - wanted.len()) as u64;
        }
    }

    /// Wrapped for the readers of symphonia.
    pub(super) fn stream(self) -> MediaSourceStream<'static> {
        MediaSourceStream::new(Box::new(self), MediaSourceStreamOptions::default())
    }
}

impl Read for Window {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.read_at(self.at, bytes)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::End(offset) => self.len.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
        };
        self.at = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

impl MediaSource for Window {
    fn is_seekable(&self) -> bool {
        true
    }

    fn byte_len(&self) -> Option<u64> {
        Some(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(content: &[u8]) -> Window {
        let mut file = tempfile::tempfile().expect("temporary file");
        io::Write::write_all(&mut file, content).expect("write");
        Window::whole(file).expect("metadata")
    }

    #[test]
    fn a_part_ends_where_it_should() {
        let mut part = window(b"0123456789").part(2, 5);
        let mut text = String::new();
        part.read_to_string(&mut text).expect("read");
        assert_eq!(text, "23456");
        assert_eq!(part.seek(SeekFrom::End(-2)).expect("seek"), 3);
        assert_eq!(part.slice(3, 100).expect("read"), b"56");
        assert_eq!(part.slice(50, 100).expect("read"), b"");
        assert!(part.seek(SeekFrom::Current(-50)).is_err());
    }

    #[test]
    fn a_part_of_a_part_stays_inside() {
        let part = window(b"0123456789").part(2, 5).part(3, 100);
        assert_eq!(part.slice(0, 100).expect("read"), b"56");
        assert_eq!(part.part(100, 5).len(), 0);
    }

    #[test]
    fn a_patch_is_read_from_every_part_and_offset() {
        let patched = window(b"0123456789").part(2, 6).patched(1, b"ab");
        assert_eq!(patched.slice(0, 100).expect("read"), b"2ab567");
        assert_eq!(patched.slice(2, 2).expect("read"), b"b5");
        assert_eq!(patched.part(1, 1).slice(0, 9).expect("read"), b"a");
    }
}
