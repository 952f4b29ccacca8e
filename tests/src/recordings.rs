//! A server of files on loopback, for `audio_url`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

/// Serves a folder until the process ends.
pub struct Recordings {
    port: u16,
}

impl Recordings {
    /// Serves the files below `folder`.
    pub fn serve(folder: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let folder = folder.clone();
                std::thread::spawn(move || answer(stream, &folder));
            }
        });
        Self { port }
    }

    /// The address of a file.
    pub fn url(&self, file: &str) -> String {
        let mut url = reqwest::Url::parse(&format!("http://127.0.0.1:{}/", self.port)).expect("a URL");
        url.set_path(file);
        url.to_string()
    }
}

/// One request, one answer; errors end the connection, which is what the caller sees.
fn answer(mut stream: TcpStream, folder: &Path) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0_u8; 1];
    while !head.ends_with(b"\r\n\r\n") && head.len() < 8192 {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let url = reqwest::Url::parse("http://x/").ok()?.join(head.split(' ').nth(1)?).ok()?;
    let names = url.path_segments()?.map(percent_decoded);
    let path = names.fold(folder.to_owned(), |path, name| path.join(name));
    match std::fs::read(path) {
        Ok(bytes) => {
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", bytes.len())
                .ok()?;
            stream.write_all(&bytes).ok()
        }
        Err(_) => {
            stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").ok()
        }
    }
}

fn percent_decoded(segment: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex =
            (*first == b'%').then(|| tail.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
