//! Which worker processes of this data folder are alive.
//!
//! Each holds a lock on a file of its own as long as it lives; the operating system lets
//! go of it however the process ends. So the work of a dead process is found at once,
//! without waiting for its leases to run out.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use uuid::Uuid;

/// Begins the name of a file that is not locked yet.
const STARTING: char = '.';

/// This process, as the owner of leases.
pub struct Instance {
    name: String,
    folder: PathBuf,
    is_released: AtomicBool,
    // Locked until dropped.
    _file: File,
}

impl Instance {
    /// Announces this process in `folder`: under its name from when the file is locked, or
    /// another process could take it for dead in between.
    pub fn start(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let name = Uuid::new_v4().simple().to_string();
        let starting = folder.join(format!("{STARTING}{name}"));
        let file = File::create_new(&starting)?;
        file.lock()?;
        fs::rename(&starting, folder.join(&name))?;
        Ok(Self { name, folder: folder.to_owned(), is_released: AtomicBool::new(false), _file: file })
    }

    /// Owner of its leases.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of processes that are no more.
    pub fn dead(&self) -> io::Result<Vec<String>> {
        let mut dead = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != self.name && !name.starts_with(STARTING) && is_unlocked(&entry.path())? {
                dead.push(name);
            }
        }
        Ok(dead)
    }

    /// Says that all leases of jobs have been given back.
    pub fn release(&self) {
        self.is_released.store(true, Ordering::Relaxed);
    }

    /// Called when this process has no claims of any kind any more. Without it, or with leases left,
    /// it is found dead once it has ended.
    pub fn end(&self) -> io::Result<()> {
        if self.is_released.load(Ordering::Relaxed) { self.forget(&self.name) } else { Ok(()) }
    }

    /// Forgets a dead process, once its leases are ended.
    pub fn forget(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(name))
    }
}

fn is_unlocked(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        // Its process has just ended in order.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_are_told_from_the_dead() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let here = Instance::start(folder.path()).expect("starts");
        let other = Instance::start(folder.path()).expect("starts");
        assert_eq!(here.dead().expect("lists"), Vec::<String>::new());
        // As after a kill: the lock is gone, the file is not.
        fs::write(folder.path().join("gone"), b"").expect("writes");
        // As another process is found between the two steps of its start.
        fs::write(folder.path().join(".starts"), b"").expect("writes");
        assert_eq!(here.dead().expect("lists"), vec!["gone".to_owned()]);
        here.forget("gone").expect("forgets");
        let third = Instance::start(folder.path()).expect("starts");
        let dead = third.name().to_owned();
        drop(third);
        assert_eq!(here.dead().expect("lists"), vec![dead.clone()], "it ended without a word");
        here.forget(&dead).expect("forgets");
        other.end().expect("ends");
        assert!(folder.path().join(other.name()).exists(), "it may have leases");
        other.release();
        other.end().expect("ends");
        drop(other);
        assert_eq!(here.dead().expect("lists"), Vec::<String>::new());
        assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 2);
    }
}
