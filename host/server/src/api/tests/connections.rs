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
    serving: JoinHandle<()>,
}

impl Server {
    async fn start(body_timeout_s: u64) -> Self {
        let auth = Auth { bootstrap_key: Some(Secret::new(KEY)), ..Auth::default() };
        let harness = Harness::with(|settings| settings.limits.body_timeout_s = body_timeout_s, auth).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = ConnectionLimits {
            connections: 4,
            header_timeout: Duration::from_millis(300),
            stall_timeout: Duration::from_millis(300),
            shutdown_grace: Duration::from_millis(500),
        };
        let shutdown = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, harness.router.clone(), limits, shutdown.clone()));
        Self { harness, address, shutdown, serving }
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
async fn more_connections_than_allowed_wait_their_turn() {
    let server = Server::start(30).await;
    let idle =
        [server.connect().await, server.connect().await, server.connect().await, server.connect().await];
    let mut late = server.connect().await;
    late.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    // The idle ones lose their places when their heads are overdue.
    assert!(read_all(late).await.contains("HTTP/1.1 200"));
    drop(idle);
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
    let ended = tokio::time::timeout(Duration::from_secs(5), server.serving).await;
    ended.expect("serving ends within the grace").unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
    assert_eq!(server.harness.api.store.queue_counts().await.unwrap().queued, 0);
}

#[tokio::test]
async fn a_client_that_reads_nothing_loses_its_place() {
    let server = Server::start(30).await;
    let api = &server.harness.api;
    // More than any socket buffer holds.
    let blob_key = api.blobs.put(BlobArea::Audio, vec![0; 64 * 1024 * 1024]).await.unwrap();
    let file = FileRecord {
        id: FileId::new(),
        account_id: AccountId("default".into()),
        source: None,
        created_ms: 0,
        facts: FileFacts {
            blob_key: Some(blob_key),
            size_bytes: Some(64 * 1024 * 1024),
            ..FileFacts::default()
        },
    };
    api.store.insert_file(file.clone()).await.unwrap();
    let mut stream = server.connect().await;
    let request = format!("GET /file/{} HTTP/1.1\r\nhost: a\r\nx-service-key: {KEY}\r\n\r\n", file.id);
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let received = read_all(stream).await;
    assert!(received.starts_with("HTTP/1.1 200"));
    assert!(received.len() < 64 * 1024 * 1024, "{}", received.len());
}
