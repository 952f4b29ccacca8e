//! A server of files on loopback, for `audio_url`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

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
    let mut path = folder.to_owned();
    for name in url.path_segments()? {
        path.push(&*percent_decode_str(name).decode_utf8_lossy());
    }
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
