//! Hostile clients and hostile files, over the real binary.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tympan_tests::bomb;
use tympan_tests::disk;
use tympan_tests::fixtures;
use tympan_tests::receiver::{Manner, Receiver};
use tympan_tests::server::{KEY, Options, Server};

const LIMITS: &str = "[limits]\nheader_timeout_s = 1\nbody_timeout_s = 1\njson_body_bytes = 2048\n\
                      upload_bytes = 4096\n";

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.base().strip_prefix("http://").unwrap()).await.unwrap()
}

/// Sends bytes as they are, and reads until the connection ends.
async fn raw(server: &Server, bytes: impl AsRef<[u8]>) -> String {
    let mut stream = connect(server).await;
    stream.write_all(bytes.as_ref()).await.unwrap();
    rest(stream).await
}

async fn rest(mut stream: TcpStream) -> String {
    let mut read = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut read)).await;
    // A reset after the answer is as good as an end.
    let _ = ended.expect("the connection ends");
    String::from_utf8_lossy(&read).into_owned()
}

fn post(path: &str, headers: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: a\r\nx-service-key: {KEY}\r\n{headers}\r\n")
}

fn status(answer: &str) -> u16 {
    answer
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .map_or(0, |digits| digits.parse().unwrap())
}

/// Checks that an answer is one error envelope, with the connection's end announced.
fn is_refused(answer: &str, expected: u16) {
    assert_eq!(status(answer), expected, "{answer}");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let envelope: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
    assert_eq!(envelope["statusCode"], expected);
    assert!(head.to_lowercase().contains("connection: close"), "{head}");
}

#[tokio::test]
async fn bodies_over_a_limit_are_refused_before_they_are_read() {
    let server = Server::start(Options::default().config(LIMITS));
    let json = "content-type: application/json\r\n";
    let form = "content-type: multipart/form-data; boundary=b\r\n";
    for (path, kind, limit) in
        [("/v2/pre-recorded", json, 2048), ("/v2/upload", json, 2048), ("/v2/upload", form, 4096 + 64 * 1024)]
    {
        // Nothing of the body is sent: the announcement is enough.
        let mut stream = connect(&server).await;
        let head = post(path, &format!("{kind}content-length: {}\r\n", limit + 1));
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut line = [0; 12];
        stream.read_exact(&mut line).await.unwrap();
        assert_eq!(&line, b"HTTP/1.1 413", "{path} {kind}");
        // Nor is it asked for.
        let expecting = format!("{kind}expect: 100-continue\r\ncontent-length: {}\r\n", limit + 1);
        is_refused(&raw(&server, post(path, &expecting)).await, 413);
    }
    // Not announced, and without an end.
    let mut chunked = post("/v2/pre-recorded", &format!("{json}transfer-encoding: chunked\r\n"));
    chunked.push_str(&format!("1000\r\n{}\r\n", " ".repeat(0x1000)));
    is_refused(&raw(&server, chunked).await, 413);
    // A length that is a lie in the other direction.
    is_refused(&raw(&server, post("/v2/pre-recorded", &format!("{json}content-length: 9\r\n"))).await, 408);
}

#[tokio::test]
async fn strangers_cost_no_reading() {
    let server = Server::start(Options::default().config(LIMITS));
    let head = "POST /v2/upload HTTP/1.1\r\nhost: a\r\nx-service-key: wrong\r\n\
                content-type: multipart/form-data; boundary=b\r\ncontent-length: 4000\r\n\r\n";
    is_refused(&raw(&server, head).await, 401);
}

#[tokio::test]
async fn slow_clients_lose_their_connection() {
    let server = Server::start(Options::default().config(LIMITS));
    // A head that comes byte by byte is as late as one that does not come.
    let mut trickling = connect(&server).await;
    let dripped = async {
        for byte in post("/v2/pre-recorded", "x: ").bytes().chain(std::iter::repeat(b'x')) {
            if trickling.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), dripped).await.expect("a head without an end is cut off");
    // A body that comes byte by byte has one limit for the whole.
    let mut stream = connect(&server).await;
    let head = post("/v2/pre-recorded", "content-type: application/json\r\ncontent-length: 2000\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..30 {
        if stream.write_all(b" ").await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    is_refused(&rest(stream).await, 408);
    // An idle connection.
    assert_eq!(rest(connect(&server).await).await, "");
    assert_eq!(server.client().get("/healthz").await.status, 200);
}

#[tokio::test]
async fn heads_are_limited_in_lines_and_bytes_on_every_request_of_a_connection() {
    let server = Server::start(Options::default());
    let head = |lines: usize, value: usize| {
        let further = format!("x: {}\r\n", "v".repeat(value)).repeat(lines);
        format!("GET /healthz HTTP/1.1\r\nhost: a\r\n{further}\r\n")
    };
    let first = "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";
    for (sent, expected) in [
        (head(99, 1), 200),
        (head(100, 1), 431),
        (head(1, 60 * 1024), 200),
        // The library looks at the limit before it reads on, so that one more piece may pass.
        (head(1, 256 * 1024), 431),
        ("nonsense\r\n\r\n".to_owned(), 400),
    ] {
        for before in ["", first] {
            let mut stream = connect(&server).await;
            stream.write_all(before.as_bytes()).await.unwrap();
            if !before.is_empty() {
                // The next request goes out when the first answer is there.
                let mut answer = vec![0; 4096];
                let read = stream.read(&mut answer).await.unwrap();
                assert_eq!(status(&String::from_utf8_lossy(&answer[..read])), 200);
            }
            stream.write_all(sent.as_bytes()).await.unwrap();
            if expected == 200 {
                let mut line = [0; 12];
                stream.read_exact(&mut line).await.unwrap();
                assert_eq!(&line, b"HTTP/1.1 200");
            } else {
                let answer = rest(stream).await;
                assert_eq!(status(&answer), expected, "{}", &sent[..sent.len().min(80)]);
                is_refused(&answer, expected);
            }
        }
    }
}

#[tokio::test]
async fn what_comes_behind_a_request_does_not_spoil_its_answer() {
    let server = Server::start(Options::default());
    let answer = raw(&server, "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\nnonsense\r\n\r\n").await;
    assert_eq!(status(&answer), 200, "{answer}");
    let (_, second) = answer.split_once("{\"status\":\"ok\"}").unwrap();
    // Both were sent as one, so that the second may be the bare line of the library.
    assert_eq!(status(second), 400, "{answer}");
}

#[tokio::test]
async fn bodies_are_never_unpacked() {
    let server = Server::start(Options::default());
    for (path, kind) in [
        ("/v2/pre-recorded", "application/json"),
        ("/v2/upload", "application/json"),
        ("/v2/upload", "multipart/form-data; boundary=b"),
        ("/v2/admin/webhooks", "application/json"),
    ] {
        for encoding in ["gzip", "br", "zstd", "identity, gzip"] {
            let headers = format!(
                "content-type: {kind}\r\ncontent-encoding: {encoding}\r\ncontent-length: 2\r\nconnection: close\r\n"
            );
            let answer = raw(&server, post(path, &headers) + "{}").await;
            is_refused(&answer, 415);
            assert!(answer.contains("without content-encoding"), "{answer}");
        }
    }
    let plain = "content-type: application/json\r\ncontent-encoding: identity\r\ncontent-length: 2\r\nconnection: close\r\n";
    is_refused(&raw(&server, post("/v2/pre-recorded", plain) + "{}").await, 400);
    // Nor is audio that comes packed: a client sees why.
    let packed = Receiver::start(&[Manner::Body("content-encoding: gzip\r\n", vec![0x1f, 0x8b, 8, 0])]);
    let job = server.client().run(&packed.url("/a.wav"), json!({})).await;
    assert_eq!(job["error_code"], 422, "{job}");
    assert!(
        job["post_session_metadata"]["error"]["message"].to_string().contains("without content-encoding")
    );
    assert_eq!(packed.messages()[0].header("accept-encoding"), "identity");
    // An archive is no audio, whatever it is called.
    let archive = [b"PK\x03\x04".as_slice(), &[0; 200]].concat();
    let refused = server.client().upload("a.wav", archive).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.to_string().contains("ZIP archive"), "{}", refused.body);
}

#[tokio::test]
async fn small_files_that_decode_to_days_are_refused_in_passing() {
    // The same limit that is 24 hours without this setting; lower, so that the test is short.
    let server = Server::start(Options::default().config("[limits]\naudio_duration_s = 3600\n"));
    let client = server.client();
    let (short, days) = (bomb::flac(30, 1), bomb::flac(3 * 24 * 3600, 1));
    assert!(days.len() < 1_000_000, "{}", days.len());
    let files = Receiver::start(&[Manner::Body("", short), Manner::Body("", days.clone())]);
    // What is refused below is refused for its length.
    let job = client.run(&files.url("/short.flac"), json!({})).await;
    assert_eq!(job["status"], "done", "{job}");
    let begun = Instant::now();
    let job = client.run(&files.url("/days.flac"), json!({})).await;
    assert_eq!((&job["status"], &job["error_code"]), (&json!("error"), &json!(413)), "{job}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let uploaded = client.upload("days.flac", days).await;
    assert_eq!(uploaded.status, 413, "{}", uploaded.body);
    assert_eq!(client.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn no_path_of_a_client_touches_the_disk() {
    let server = Server::start(Options::default());
    let outside = server.data_dir().parent().unwrap().join("outside");
    std::fs::write(&outside, "outside").unwrap();
    let up = "../".repeat(12);
    for path in [
        "/file/../../etc/passwd".to_owned(),
        format!("/file/{up}etc/passwd"),
        "/file/..%2f..%2fetc%2fpasswd".to_owned(),
        "/file/%2e%2e/%2e%2e/etc/passwd".to_owned(),
        "/file/%252e%252e%252fetc%252fpasswd".to_owned(),
        "/file/%2fetc%2fpasswd".to_owned(),
        "/file//etc/passwd".to_owned(),
        "/file/..\\..\\etc\\passwd".to_owned(),
        "/file/..%5c..%5coutside".to_owned(),
        "/file/%00".to_owned(),
        "/file/6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d%00.wav".to_owned(),
        "/v2/pre-recorded/%00/file".to_owned(),
        "/v2/pre-recorded/..%2f..%2foutside/file".to_owned(),
        format!("/file/{}", outside.display()),
        format!("/file/file:%2f%2f{}", outside.display()),
    ] {
        let head =
            format!("GET {path} HTTP/1.1\r\nhost: a\r\nx-service-key: {KEY}\r\nconnection: close\r\n\r\n");
        let answer = raw(&server, head).await;
        assert!(matches!(status(&answer), 400 | 404), "{path}: {answer}");
        assert!(!answer.contains("root:") && !answer.contains("\r\n\r\noutside"), "{path}: {answer}");
    }

    let before = disk::files(&server.data_dir());
    let name = format!("{up}{}/planted.wav", server.data_dir().display());
    let uploaded = server.client().upload(&name, fixtures::bytes("en/jfk.wav")).await;
    assert_eq!(uploaded.status, 200, "{}", uploaded.body);
    let kept = uploaded.body["audio_metadata"]["filename"].as_str().unwrap();
    assert_eq!(kept, "planted.wav");
    let after = disk::files(&server.data_dir());
    let added: Vec<_> = after.iter().filter(|file| !before.contains(file)).collect();
    assert!(added.iter().all(|file| !file.to_string_lossy().contains("planted")), "{added:?}");
    assert!(!Path::new("/planted.wav").exists());
    // A URL of the file system is none.
    for url in
        [format!("file://{}", outside.display()), outside.display().to_string(), "data:audio/wav,x".into()]
    {
        for path in ["/v2/pre-recorded", "/v2/upload"] {
            let refused = server.client().post(path, &json!({"audio_url": url})).await;
            assert_eq!(refused.status, 400, "{url}: {}", refused.body);
        }
    }
}

#[tokio::test]
async fn no_secret_is_shown() {
    let config = "[deliveries]\ncallback_secret = \"hush-callback\"\n\
        [[webhooks]]\nurl = \"https://u:hush-user@hooks.example/hush-path?hush-query\"\nsecret = \"hush-webhook\"\n\
        [otlp.headers]\nauthorization = \"Bearer hush-collector\"\n\
        [cors]\nallowed_origins = [\"https://app.example\"]\n";
    let output =
        Options::default().config(config).variable("TYMPAN_API_KEY", "hush-key").command(&["check-config"]);
    let shown = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{shown}");
    assert!(!shown.contains("hush"), "{shown}");
    for line in [
        "auth.TYMPAN_API_KEY = \"(hidden)\"",
        "deliveries.callback_secret = \"(hidden)\"",
        "otlp.headers.authorization = \"(hidden)\"",
        "cors.allowed_origins = [\"https://app.example\"]",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line} in {shown}");
    }
}

#[test]
fn a_build_that_exports_nothing_says_so() {
    let by_file = Options::default().config("[otlp]\nendpoint = \"http://127.0.0.1:4318\"\n");
    let by_variable = Options::default().variable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    for options in [by_file, by_variable] {
        let output = options.command(&["serve"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(
            said.contains("this build exports no traces; build it with the cargo feature otlp"),
            "{said}"
        );
    }
}
