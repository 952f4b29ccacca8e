//! A receiver of callbacks and webhooks on loopback, as well or badly behaved as a test needs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// How long a test waits for a message.
const MESSAGE_LIMIT: Duration = Duration::from_secs(60);

/// What a receiver does with a request that it has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Manner {
    /// Answers with this status.
    Status(u16),
    /// Answers 200 after a pause.
    Late(Duration),
    /// Answers with these headers (each ends its line) and this body.
    Body(&'static str, Vec<u8>),
    /// Redirects there.
    Redirect(String),
    /// Answers 200 with a body that never ends.
    EndlessBody,
    /// Answers one byte of a head at a time and never ends it.
    TrickledHead,
    /// Keeps the connection and says nothing.
    Hang,
    /// Closes the connection.
    Close,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Message {
    /// `POST`, `PUT`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Vec<u8>,
    /// When it had been read.
    pub at: Instant,
}

impl Message {
    /// A header; empty when it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// Takes requests until the process ends.
pub struct Receiver {
    base: String,
    seen: Arc<(Mutex<Vec<Message>>, Condvar)>,
}

impl Receiver {
    /// Behaves in the first manner at first, then in the next; the last one stays.
    pub fn start(manners: &[Manner]) -> Self {
        Self::listen("http", manners, Some)
    }

    /// The same behind TLS, as whom the certificate says.
    pub fn start_tls(manners: &[Manner], identity: Arc<ServerConfig>) -> Self {
        Self::listen("https", manners, move |stream| {
            let connection = ServerConnection::new(identity.clone()).ok()?;
            Some(StreamOwned::new(connection, stream))
        })
    }

    fn listen<S: Read + Write>(
        scheme: &str,
        manners: &[Manner],
        wrap: impl Fn(TcpStream) -> Option<S> + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let (manners, shared) = (manners.to_vec(), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (manners, shared, wrap) = (manners.clone(), shared.clone(), wrap.clone());
                std::thread::spawn(move || take(wrap(stream)?, &manners, &shared));
            }
        });
        Self { base: format!("{scheme}://127.0.0.1:{port}"), seen }
    }

    /// Takes everything.
    pub fn polite() -> Self {
        Self::start(&[Manner::Status(200)])
    }

    /// An address of this receiver.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// All requests so far.
    pub fn messages(&self) -> Vec<Message> {
        self.seen.0.lock().expect("no receiver has panicked").clone()
    }

    /// Waits until there are so many.
    pub fn wait_for(&self, count: usize) -> Vec<Message> {
        let seen = self.seen.0.lock().expect("no receiver has panicked");
        let waited = self.seen.1.wait_timeout_while(seen, MESSAGE_LIMIT, |seen| seen.len() < count);
        let (seen, _) = waited.expect("no receiver has panicked");
        assert!(seen.len() >= count, "{} instead of {count} messages", seen.len());
        seen.clone()
    }
}

/// One request; errors end the connection, which is what the sender sees.
fn take(
    mut stream: impl Read + Write,
    manners: &[Manner],
    seen: &(Mutex<Vec<Message>>, Condvar),
) -> Option<()> {
    let message = read(&mut stream)?;
    let manner = {
        let mut messages = seen.0.lock().ok()?;
        let at = messages.len().min(manners.len() - 1);
        messages.push(message);
        seen.1.notify_all();
        manners[at].clone()
    };
    match manner {
        Manner::Status(status) => say(&mut stream, status),
        Manner::Late(pause) => {
            std::thread::sleep(pause);
            say(&mut stream, 200)
        }
        Manner::Body(headers, body) => {
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).ok()?;
            stream.write_all(&body).ok()?;
            stream.flush().ok()
        }
        Manner::Redirect(location) => {
            let head = format!("HTTP/1.1 307 There\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).ok()
        }
        Manner::EndlessBody => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").ok()?;
            let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
            loop {
                stream.write_all(&chunk).ok()?;
            }
        }
        Manner::TrickledHead => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nx-long: ").ok()?;
            loop {
                stream.write_all(b"x").ok()?;
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        Manner::Hang => {
            // Ends when the sender gives up.
            let _ = stream.read(&mut [0]);
            Some(())
        }
        Manner::Close => Some(()),
    }
}

fn say(stream: &mut impl Write, status: u16) -> Option<()> {
    let head = format!("HTTP/1.1 {status} Said\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.flush().ok()
}

fn read(stream: &mut impl Read) -> Option<Message> {
    let mut head = Vec::new();
    let mut byte = [0_u8; 1];
    while !head.ends_with(b"\r\n\r\n") && head.len() < 16_384 {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let mut lines = head.trim_end().split("\r\n");
    let mut first = lines.next()?.split(' ');
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(Some(0), |(_, length)| length.parse().ok())?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    Some(Message { method, target, headers, body, at: Instant::now() })
}
