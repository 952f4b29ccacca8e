//! What every blob store must do; the folder runs it now, another store will run the same.

use std::io::Read;
use std::time::{Duration, SystemTime};

use super::*;
use crate::model::id::{BlobArea, BlobKey};

fn store() -> (Blobs, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    (Blobs::open(folder.path()).expect("opens"), folder)
}

fn count_files(folder: &std::path::Path) -> usize {
    let entries: Vec<_> = std::fs::read_dir(folder).expect("lists").map(|e| e.expect("reads")).collect();
    entries.iter().map(|e| if e.path().is_dir() { count_files(&e.path()) } else { 1 }).sum()
}

#[tokio::test]
async fn bytes_come_back_under_their_key_until_they_are_deleted() {
    let (blobs, _folder) = store();
    let key = blobs.put(BlobArea::Result, b"one".to_vec()).await.expect("put");
    let other = blobs.put(BlobArea::Result, b"two".to_vec()).await.expect("put");
    assert_eq!(blobs.get(&key).await.expect("get"), b"one");
    let mut text = String::new();
    blobs.open_blob(&other).await.expect("opens").read_to_string(&mut text).expect("reads");
    assert_eq!(text, "two");
    blobs.delete(&key).await.expect("deletes");
    blobs.delete(&key).await.expect("deleting twice is no error");
    assert!(matches!(blobs.get(&key).await, Err(BlobError::Missing(missing)) if missing == key));
    assert!(blobs.get(&other).await.is_ok());
}

#[tokio::test]
async fn a_stream_is_stored_with_its_size_and_digest() {
    let (blobs, folder) = store();
    let bytes = vec![7_u8; 600_000];
    let stored = blobs.put_stream(BlobArea::Audio, &bytes[..], 600_000).await.expect("put");
    assert_eq!(stored.size_bytes, 600_000);
    // sha256sum of 600,000 bytes of value 7.
    assert_eq!(stored.sha256, "b8414ecc3a85cd404ec365ff7cafc4493f7064a15830dfc6aee60c0675886b94");
    assert_eq!(blobs.get(&stored.key).await.expect("get"), bytes);
    assert_eq!(count_files(folder.path()), 1, "no temporary file stays");
}

#[tokio::test]
async fn too_many_bytes_or_a_failing_source_leave_nothing() {
    let (blobs, folder) = store();
    let bytes = vec![7_u8; 600_000];
    let outcome = blobs.put_stream(BlobArea::Audio, &bytes[..], 599_999).await;
    assert!(matches!(outcome, Err(BlobError::TooLarge { limit_bytes: 599_999 })), "{outcome:?}");
    let broken = tokio_util::io::StreamReader::new(futures_util::stream::iter([
        Ok(bytes::Bytes::from_static(b"begin")),
        Err(std::io::Error::other("gone")),
    ]));
    let outcome = blobs.put_stream(BlobArea::Audio, broken, 1_000).await;
    assert!(matches!(outcome, Err(BlobError::Source(_))), "{outcome:?}");
    assert_eq!(count_files(folder.path()), 0);
}

#[tokio::test]
async fn old_blobs_are_listed_and_old_leftovers_removed() {
    let (blobs, folder) = store();
    let key = blobs.put(BlobArea::Checkpoint, b"x".to_vec()).await.expect("put");
    std::fs::write(folder.path().join("tmp/leftover"), b"half").expect("writes");
    std::fs::create_dir_all(folder.path().join("audio/zz")).expect("creates");
    std::fs::write(folder.path().join("audio/zz/notes.txt"), b"not ours").expect("writes");
    let hour = Duration::from_secs(3600);
    let (before, after) = (SystemTime::now() - hour, SystemTime::now() + hour);
    assert_eq!(blobs.all_older_than(before).await.expect("lists"), Vec::new());
    blobs.remove_unfinished(before).await.expect("removes");
    assert!(folder.path().join("tmp/leftover").exists(), "too young");
    assert_eq!(blobs.all_older_than(after).await.expect("lists"), vec![key]);
    blobs.remove_unfinished(after).await.expect("removes");
    assert!(!folder.path().join("tmp/leftover").exists());
    assert!(folder.path().join("audio/zz/notes.txt").exists());
}

/// The device refuses every write as a full disk does.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_told_apart() {
    let (blobs, folder) = store();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("tmp/probe")).expect("links");
    assert!(matches!(blobs.probe().await, Err(BlobError::Full(_))));
    std::fs::remove_file(folder.path().join("tmp/probe")).expect("removes");
    blobs.probe().await.expect("there is space again");
    let key = BlobKey::new(BlobArea::Audio);
    assert!(matches!(blobs.get(&key).await, Err(BlobError::Missing(_))));
}
