//! Fetching against a server on loopback that misbehaves in every way.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tympan::model::code::{Blame, Code};
use tympan::net_guard::Authorities;
use tympan::stage::fetch::{FetchError, FetchPolicy, Fetched, fetch};

const SECRET: &str = "sig-4711";

fn policy() -> FetchPolicy {
    FetchPolicy {
        authorities: Authorities::default(),
        allow_private: true,
        max_bytes: 100_000,
        total_timeout: Duration::from_secs(5),
        connect_timeout: Duration::from_secs(2),
        idle_timeout: Duration::from_secs(1),
        max_redirects: 3,
    }
}

/// Starts a server and returns its origin.
async fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(answer(socket));
        }
    });
    format!("http://{address}")
}

async fn answer(mut socket: TcpStream) {
    let mut request = vec![0; 8192];
    let count = socket.read(&mut request).await.unwrap_or(0);
    let request = String::from_utf8_lossy(&request[..count]).into_owned();
    let path = request.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").to_owned();
    let reply: Vec<u8> = match path.as_str() {
        "/ok.wav" => response("200 OK", "Content-Length: 5\r\n", b"hello"),
        "/named" => {
            response("200 OK", "Content-Disposition: attachment; filename=\"call.mp3\"\r\n", b"hello")
        }
        "/echo" => response("200 OK", "", request.as_bytes()),
        "/404" => response("404 Not Found", "", b""),
        "/403" => response("403 Forbidden", "", b""),
        "/410" => response("410 Gone", "", b""),
        "/500" => response("500 Internal Server Error", "", b""),
        "/429" => response("429 Too Many Requests", "Retry-After: 7\r\n", b""),
        "/503" => response("503 Unavailable", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n", b""),
        "/gzip" => response("200 OK", "Content-Encoding: gzip\r\n", b"\x1f\x8b"),
        "/huge-stated" => response("200 OK", "Content-Length: 99999999999\r\n", b"x"),
        "/huge-unstated" => return endless(&mut socket).await,
        "/short" => response("200 OK", "Content-Length: 50\r\n", b"only this"),
        "/longer" => response("200 OK", "Content-Length: 5\r\n", b"hello and more"),
        "/silent" => return tokio::time::sleep(Duration::from_secs(60)).await,
        "/drip" => return drip(&mut socket).await,
        "/loop" => response("302 Found", "Location: /loop\r\n", b""),
        "/hop1" => response("301 Moved", "Location: hop2\r\n", b""),
        "/hop2" => response("307 Moved", "Location: /ok.wav\r\n", b""),
        "/to-file" => response("302 Found", "Location: file:///etc/passwd\r\n", b""),
        "/to-nothing" => response("302 Found", "", b""),
        "/not-http" => b"SSH-2.0-OpenSSH\r\n".to_vec(),
        _ => response("404 Not Found", "", b""),
    };
    let _ = socket.write_all(&reply).await;
}

fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status}\r\n{headers}Connection: close\r\n\r\n").as_bytes(), body].concat()
}

async fn endless(socket: &mut TcpStream) {
    let _ = socket.write_all(&response("200 OK", "", b"")).await;
    while socket.write_all(&[0; 10_000]).await.is_ok() {}
}

/// One byte now and then: never idle for long, never done.
async fn drip(socket: &mut TcpStream) {
    let _ = socket.write_all(&response("200 OK", "", b"")).await;
    while socket.write_all(b"x").await.is_ok() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn get(url: &str, policy: &FetchPolicy) -> (Result<Fetched, FetchError>, Vec<u8>) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("media");
    let mut file = tokio::fs::File::create(&path).await.expect("file");
    let outcome = fetch(url, policy, &mut file, &CancellationToken::new()).await;
    let mut bytes = Vec::new();
    std::fs::File::open(&path).expect("file").read_to_end(&mut bytes).expect("read");
    if let Err(error) = &outcome {
        let text = error.to_string();
        assert!(!text.contains("127.0.0.1") && !text.contains(SECRET) && !text.contains("http:"), "{text}");
    }
    (outcome, bytes)
}

async fn failure(path: &str, policy: &FetchPolicy) -> FetchError {
    let origin = server().await.replace("http://", "http://user:sig-4711@");
    get(&format!("{origin}{path}?token={SECRET}"), policy).await.0.expect_err(path)
}

fn code(error: &FetchError) -> Code {
    error.code().expect("nobody cancelled")
}

fn blame(error: &FetchError) -> Blame {
    code(error).blame()
}

fn status(error: &FetchError) -> u16 {
    code(error).status()
}

#[tokio::test]
async fn a_file_arrives_with_its_digest_and_name() {
    let origin = server().await;
    let (outcome, bytes) = get(&format!("{origin}/ok.wav?x=1"), &policy()).await;
    let fetched = outcome.expect("fetched");
    assert_eq!((bytes.as_slice(), fetched.size_bytes), (&b"hello"[..], 5));
    assert_eq!(fetched.sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_eq!(fetched.filename.as_deref(), Some("ok.wav"));
    let (outcome, _) = get(&format!("{origin}/named"), &policy()).await;
    assert_eq!(outcome.expect("fetched").filename.as_deref(), Some("call.mp3"));
}

#[tokio::test]
async fn credentials_of_the_url_are_sent_and_compression_is_not_asked_for() {
    let origin = server().await.replace("http://", "http://user:pass@");
    let (outcome, bytes) = get(&format!("{origin}/echo"), &policy()).await;
    outcome.expect("fetched");
    let request = String::from_utf8_lossy(&bytes).to_lowercase();
    assert!(request.contains("authorization: basic dxnlcjpwyxnz"), "{request}");
    assert!(request.contains("user-agent: tympan/"), "{request}");
    assert!(request.contains("accept-encoding: identity") && !request.contains("user:pass"), "{request}");
}

#[tokio::test]
async fn statuses_are_permanent_or_transient() {
    for (path, code) in [("/404", 404), ("/410", 404), ("/403", 400), ("/gzip", 422)] {
        let error = failure(path, &policy()).await;
        assert_eq!((blame(&error), status(&error)), (Blame::Input, code), "{path}");
    }
    for (path, wait) in [("/500", None), ("/429", Some(7)), ("/503", Some(0))] {
        let error = failure(path, &policy()).await;
        assert_eq!(blame(&error), Blame::Outside, "{path}");
        assert_eq!(error.retry_after().map(|wait| wait.as_secs()), wait, "{path}");
    }
}

#[tokio::test]
async fn size_is_limited_whatever_the_header_says() {
    for path in ["/huge-stated", "/huge-unstated"] {
        let error = failure(path, &policy()).await;
        assert!(matches!(error, FetchError::TooLarge(100_000)) && status(&error) == 413, "{path}: {error}");
    }
    let (outcome, bytes) = get(&format!("{}/longer", server().await), &policy()).await;
    assert_eq!((outcome.expect("fetched").size_bytes, bytes.as_slice()), (5, &b"hello"[..]));
    assert_eq!(blame(&failure("/short", &policy()).await), Blame::Outside);
}

#[tokio::test]
async fn slow_servers_are_left() {
    // In each case the other limit is too far away to be the one that was met.
    let far = Duration::from_secs(50);
    let impatient = FetchPolicy { total_timeout: far, ..policy() };
    let short = FetchPolicy { total_timeout: Duration::from_secs(1), idle_timeout: far, ..policy() };
    // What drips is never idle, and yet of no use.
    for (path, limits) in [("/silent", &impatient), ("/drip", &short), ("/drip", &impatient)] {
        let started = Instant::now();
        assert!(matches!(failure(path, limits).await, FetchError::Timeout), "{path}");
        assert!(started.elapsed() < far, "{path}");
    }
}

#[tokio::test]
async fn redirects_are_followed_and_checked() {
    let (outcome, bytes) = get(&format!("{}/hop1", server().await), &policy()).await;
    assert_eq!(
        (outcome.expect("fetched").filename.as_deref(), bytes.as_slice()),
        (Some("ok.wav"), &b"hello"[..])
    );
    assert!(matches!(failure("/loop", &policy()).await, FetchError::TooManyRedirects(3)));
    assert!(matches!(failure("/to-file", &policy()).await, FetchError::RedirectTarget(_)));
    assert!(matches!(failure("/to-nothing", &policy()).await, FetchError::RedirectWithoutTarget));
}

#[tokio::test]
async fn private_addresses_are_refused_unless_allowed() {
    let closed = FetchPolicy { allow_private: false, ..policy() };
    let origin = server().await;
    let port = origin.rsplit(':').next().expect("port");
    for host in
        ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost", "169.254.169.254"]
    {
        let (outcome, bytes) = get(&format!("http://{host}:{port}/ok.wav"), &closed).await;
        let error = outcome.expect_err(host);
        assert_eq!((blame(&error), status(&error)), (Blame::Input, 400), "{host}");
        assert!(bytes.is_empty());
    }
    let (outcome, _) = get(&format!("http://localhost:{port}/ok.wav"), &policy()).await;
    outcome.expect("allowed");
}

#[tokio::test]
async fn a_name_that_resolves_to_this_machine_is_refused_at_the_connection() {
    // Whatever this machine is called beside `localhost`, which is refused as it stands.
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let text = read("/etc/hostname") + &read("/etc/hosts");
    let mut found = None;
    for name in text.split_whitespace().filter(|name| !name.contains("localhost")) {
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic());
        let is_ours = |address: SocketAddr| match address.ip() {
            IpAddr::V4(ip) => ip.is_loopback() || ip.is_private(),
            IpAddr::V6(ip) => ip.is_loopback(),
        };
        if is_name && tokio::net::lookup_host((name, 80)).await.is_ok_and(|mut all| all.any(is_ours)) {
            found = Some(name);
        }
    }
    let name = found.expect("the hosts file has a name of this machine");
    let closed = FetchPolicy { allow_private: false, ..policy() };
    let (outcome, _) = get(&format!("http://{name}:9/"), &closed).await;
    assert!(matches!(outcome, Err(FetchError::Blocked)), "{outcome:?}");
}

#[tokio::test]
async fn nobody_there_is_transient_and_an_invalid_name_is_not() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
    let address = listener.local_addr().expect("address");
    drop(listener);
    let (outcome, _) = get(&format!("http://{address}/"), &policy()).await;
    assert!(matches!(outcome, Err(FetchError::Connection)), "{outcome:?}");
    let (outcome, _) = get("http://nowhere.invalid/a.wav", &policy()).await;
    assert_eq!(blame(&outcome.expect_err("invalid")), Blame::Input);
    assert_eq!(blame(&failure("/not-http", &policy()).await), Blame::Outside);
}

#[tokio::test]
async fn cancelling_stops_a_download() {
    let folder = tempfile::tempdir().expect("folder");
    let mut file = tokio::fs::File::create(folder.path().join("media")).await.expect("file");
    let cancel = CancellationToken::new();
    let later = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        later.cancel();
    });
    let url = format!("{}/silent", server().await);
    let far = Duration::from_secs(50);
    let patient = FetchPolicy { total_timeout: far, idle_timeout: far, ..policy() };
    let outcome = fetch(&url, &patient, &mut file, &cancel).await;
    assert!(matches!(outcome, Err(FetchError::Cancelled)), "{outcome:?}");
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_not_used() {
    // Nothing listens there: with a proxy the fetch would fail.
    let output = tokio::process::Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "fetch::a_file_arrives_with_its_digest_and_name"])
        .env("http_proxy", "http://127.0.0.1:1")
        .env("HTTP_PROXY", "http://127.0.0.1:1")
        .env("ALL_PROXY", "http://127.0.0.1:1")
        .output()
        .await
        .expect("run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
