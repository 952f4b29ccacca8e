//! Looks for spoken words in everything that a server has written.

use std::path::{Path, PathBuf};

/// Files below a folder that hold these bytes, in any case of letters. The server may remove
/// some at the same time.
pub fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if std::fs::read(&path).is_ok_and(|bytes| holds(&bytes, text)) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// The same a moment later: checkpoints are removed once the end of the job is written.
pub async fn files_left_with(folder: &Path, text: &str) -> Vec<String> {
    for _ in 0..50 {
        if files_with(folder, text).is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    files_with(folder, text)
}

/// Whether bytes hold `text` (lower case) in any case.
pub fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.to_ascii_lowercase().windows(text.len()).any(|window| window == text.as_bytes())
}

/// All files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}
