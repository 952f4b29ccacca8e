//! Real connections: slow, oversized, and during a shutdown.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Harness, KEY};
use crate::api::{ConnectionLimits, serve};
use crate::config::{Auth, Secret};
use crate::model::id::{AccountId, BlobArea, FileId};
use crate::store::{FileFacts, FileRecord};

struct Server {
    harness: Harness,
    address: std::net::SocketAddr,
    shutdown: CancellationToken,
    cut_off: CancellationToken,
    serving: JoinHandle<()>,
}

impl Server {
    async fn start(body_timeout_s: u64) -> Self {
        Self::patient(body_timeout_s, Duration::from_millis(300)).await
    }

    async fn patient(body_timeout_s: u64, header_timeout: Duration) -> Self {
        let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
        let harness = Harness::with(|settings| settings.limits.body_timeout_s = body_timeout_s, auth).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits =
            ConnectionLimits { connections: 4, header_timeout, stall_timeout: Duration::from_millis(300) };
        let (shutdown, cut_off) = (CancellationToken::new(), CancellationToken::new());
        let serving =
            tokio::spawn(serve(listener, harness.router.clone(), limits, shutdown.clone(), cut_off.clone()));
        Self { harness, address, shutdown, cut_off, serving }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

async fn read_all(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await;
    // A reset after the answer is as good as an end.
    let _ = read.expect("the connection ends");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A file of the account behind the key.
async fn stored(server: &Server, bytes: Vec<u8>) -> FileId {
    let api = &server.harness.api;
    let id = FileId::new();
    let size_bytes = Some(bytes.len() as u64);
    let blob_key = Some(api.blobs.put(BlobArea::Audio, bytes).await.unwrap());
    let facts = FileFacts { blob_key, size_bytes, ..FileFacts::default() };
    let account_id = AccountId("default".into());
    let file = FileRecord { id, account_id, source: None, created_ms: 0, facts };
    api.store.insert_file(file).await.unwrap();
    id
}

fn post(length: usize) -> String {
    format!(
        "POST /v2/pre-recorded HTTP/1.1\r\nhost: a\r\nx-service-key: {KEY}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    )
}

#[tokio::test]
async fn a_client_that_sends_too_much_can_read_why() {
    let server = Server::start(30).await;
    let length = 8 * 1024 * 1024;
    let mut stream = server.connect().await;
    stream.write_all(post(length).as_bytes()).await.unwrap();
    // As a client that writes the whole body before it reads anything.
    stream.write_all(&vec![b' '; length]).await.unwrap();
    let answer = read_all(stream).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.to_lowercase().contains("connection: close"), "{answer}");
    assert!(answer.contains("\"statusCode\":413"), "{answer}");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_408_and_a_head_that_does_not_come_ends() {
    let server = Server::start(1).await;
    let mut stream = server.connect().await;
    stream.write_all(post(100).as_bytes()).await.unwrap();
    stream.write_all(b"{\"audio_url\"").await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 408");

    let mut stream = server.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost").await.unwrap();
    assert!(!read_all(stream).await.contains("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_body_in_a_coding_that_is_not_understood_is_501() {
    let server = Server::start(30).await;
    let head = post(0).replace("content-length: 0\r\n\r\n", "");
    for (codings, status) in [
        ("transfer-encoding: gzip, chunked", 501),
        ("transfer-encoding: gzip\r\ntransfer-encoding: chunked", 501),
        ("transfer-encoding: identity, chunked", 501),
        ("transfer-encoding: chunked, chunked", 400),
        ("transfer-encoding: gzip", 400),
        // The object lacks its audio_url.
        ("Transfer-Encoding: Chunked", 400),
    ] {
        let mut stream = server.connect().await;
        let sent = format!("{head}{codings}\r\nconnection: close\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n");
        stream.write_all(sent.as_bytes()).await.unwrap();
        let answer = read_all(stream).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{codings}: {answer}");
        assert!(answer.contains(&format!("\"statusCode\":{status}")), "{codings}: {answer}");
        assert_eq!(answer.contains("audio_url"), codings == "Transfer-Encoding: Chunked", "{answer}");
        assert!(status != 501 || answer.contains("transfer-encoding"), "{answer}");
    }
}

#[tokio::test]
async fn what_is_no_request_is_answered_with_an_envelope() {
    let server = Server::start(30).await;
    let long = "a".repeat(3 * 1024 * 1024);
    let many = "x: y\r\n".repeat(200);
    for (sent, status) in [
        ("nonsense\r\n\r\n".to_owned(), 400),
        ("GET /healthz HTTP/9.9\r\n\r\n".to_owned(), 400),
        ("GET /heal\u{1}thz HTTP/1.1\r\nhost: a\r\n\r\n".to_owned(), 400),
        ("GET /healthz HTTP/1.1\r\nhost a\r\n\r\n".to_owned(), 400),
        ("POST /v2/upload HTTP/1.1\r\ncontent-length: -1\r\n\r\n".to_owned(), 400),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}".to_owned(), 400),
        (format!("GET /{long} HTTP/1.1\r\nhost: a\r\n\r\n"), 431),
        (format!("GET /healthz HTTP/1.1\r\nx: {long}\r\n\r\n"), 431),
        (format!("GET /healthz HTTP/1.1\r\n{many}\r\n"), 431),
    ] {
        let mut stream = server.connect().await;
        // As a client that writes everything before it reads anything.
        stream.write_all(sent.as_bytes()).await.unwrap();
        let answer = read_all(stream).await;
        let what = &sent[..sent.len().min(60)];
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{what}: {answer}"));
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{what}: {head}");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
        let envelope: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(envelope["statusCode"], status);
        assert_eq!(envelope.get("validation_errors").is_some(), status == 400, "{envelope}");
        let id = envelope["request_id"].as_str().unwrap();
        assert!(head.contains(&format!("x-request-id: {id}\r\n")), "{head}");
    }
}

#[tokio::test]
async fn a_request_has_one_host() {
    let server = Server::start(30).await;
    for (head, status) in [
        ("HTTP/1.1\r\nhost: a", "200 OK"),
        ("HTTP/1.0", "200 OK"),
        ("HTTP/1.1\r\nx: y", "400 Bad Request"),
        ("HTTP/1.1\r\nhost: a\r\nHost: b", "400 Bad Request"),
        ("HTTP/1.0\r\nhost: a\r\nhost: a", "400 Bad Request"),
    ] {
        let mut stream = server.connect().await;
        let sent = format!("GET /healthz {head}\r\nconnection: close\r\n\r\n");
        stream.write_all(sent.as_bytes()).await.unwrap();
        let answer = read_all(stream).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}"))
                || answer.starts_with(&format!("HTTP/1.0 {status}")),
            "{head}: {answer}"
        );
        assert_eq!(answer.contains("one Host header"), status.starts_with("400"), "{answer}");
    }
}

#[tokio::test]
async fn a_file_that_looks_like_an_answer_is_sent_as_it_is() {
    let server = Server::start(30).await;
    let bytes = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n".to_vec();
    let id = stored(&server, bytes.clone()).await;
    let mut stream = server.connect().await;
    let request =
        format!("GET /file/{id} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nx-service-key: {KEY}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = read_all(stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.as_bytes().ends_with(&bytes), "{answer}");
}

#[tokio::test]
async fn who_has_been_quiet_for_longest_makes_room() {
    const ASK: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";
    let server = Server::patient(30, Duration::from_secs(3600)).await;
    let ask = async |stream: &mut TcpStream| {
        stream.write_all(ASK).await.unwrap();
        let mut answer = [0; 4096];
        let length = stream.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..length]).into_owned()
    };
    let mut client = server.connect().await;
    let mut idle = [server.connect().await, server.connect().await, server.connect().await];
    idle[1].write_all(&ASK[..10]).await.unwrap();
    assert!(ask(&mut client).await.contains("200 OK"));
    let mut late = Vec::new();
    for gone in idle {
        late.push(server.connect().await);
        assert!(ask(late.last_mut().unwrap()).await.contains("200 OK"));
        assert_eq!(read_all(gone).await, "");
    }
    assert!(ask(&mut client).await.contains("200 OK"), "it was the last to become quiet of the four");
}

#[tokio::test]
async fn while_all_are_being_answered_the_next_one_waits() {
    let server = Server::patient(1, Duration::from_secs(3600)).await;
    let mut busy = Vec::new();
    for _ in 0..4 {
        let mut stream = server.connect().await;
        stream.write_all(post(100).as_bytes()).await.unwrap();
        stream.write_all(b"{").await.unwrap();
        busy.push(stream);
    }
    let mut late = server.connect().await;
    late.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    assert!(read_all(late).await.contains("200 OK"));
    for stream in busy {
        assert!(read_all(stream).await.starts_with("HTTP/1.1 408"));
    }
}

#[tokio::test]
async fn a_shutdown_finishes_answers_and_cuts_off_the_rest() {
    let server = Server::start(30).await;
    let mut half = server.connect().await;
    half.write_all(post(100).as_bytes()).await.unwrap();
    let mut kept_alive = server.connect().await;
    kept_alive.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let mut first = [0; 15];
    kept_alive.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");

    server.shutdown.cancel();
    let mut serving = server.serving;
    let early = tokio::time::timeout(Duration::from_millis(500), &mut serving).await;
    assert!(early.is_err(), "half a request is waited for");
    server.cut_off.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(5), serving).await;
    ended.expect("serving ends at the cut").unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
    assert_eq!(server.harness.api.store.queue_counts().await.unwrap().queued, 0);
}

#[tokio::test]
async fn a_client_that_reads_nothing_loses_its_place() {
    let server = Server::start(30).await;
    // More than any socket buffer holds.
    let id = stored(&server, vec![0; 64 * 1024 * 1024]).await;
    let mut stream = server.connect().await;
    let request = format!("GET /file/{id} HTTP/1.1\r\nhost: a\r\nx-service-key: {KEY}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let received = read_all(stream).await;
    assert!(received.starts_with("HTTP/1.1 200"));
    assert!(received.len() < 64 * 1024 * 1024, "{}", received.len());
}
