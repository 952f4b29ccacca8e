//! Reads a component file: only a regular one, and not without end. Opening a pipe would wait for
//! whoever writes into it, and a device may never end.

use std::path::Path;

use tokio::fs;
use tokio::io::AsyncReadExt;

use super::LoadError;
use crate::defaults::COMPONENT_BYTES;

/// Reads a component file; links are followed.
///
/// # Errors
/// When it is no regular file, larger than an add-on may be, or cannot be read.
pub async fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    let facts = fs::metadata(path).await?;
    if !facts.is_file() {
        return Err(LoadError::NotAFile);
    }
    if facts.len() > COMPONENT_BYTES {
        return Err(LoadError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(facts.len() as usize);
    // It may grow meanwhile.
    fs::File::open(path).await?.take(COMPONENT_BYTES + 1).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 > COMPONENT_BYTES { Err(LoadError::TooLarge) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn only_regular_files_of_a_bounded_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("good.wasm"), b"\0asm").unwrap();
        symlink(path("good.wasm"), path("link.wasm")).unwrap();
        for name in ["good.wasm", "link.wasm"] {
            assert_eq!(read(&path(name)).await.unwrap(), b"\0asm");
        }
        symlink("/dev/zero", path("endless.wasm")).unwrap();
        std::fs::create_dir(path("folder.wasm")).unwrap();
        let _socket = UnixListener::bind(path("socket.wasm")).unwrap();
        for name in ["endless.wasm", "folder.wasm", "socket.wasm"] {
            assert!(matches!(read(&path(name)).await, Err(LoadError::NotAFile)), "{name}");
        }
        std::fs::File::create(path("huge.wasm")).unwrap().set_len(COMPONENT_BYTES + 1).unwrap();
        assert!(matches!(read(&path("huge.wasm")).await, Err(LoadError::TooLarge)));
        assert!(matches!(read(&path("absent.wasm")).await, Err(LoadError::Read(_))));
    }
}
