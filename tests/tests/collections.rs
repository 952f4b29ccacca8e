//! Collections of jobs, as clients use them: listed, filtered, downloaded, given metadata,
//! deleted, and repeated under an idempotency key.

use reqwest::Method;
use serde_json::{Value, json};
use tympan_tests::client::{Answer, Client};
use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};

const RECORDING: &str = "en/jfk.wav";

async fn send(client: &Client, server: &Server, method: Method, path: &str, body: &Value) -> Answer {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    client.send(http.request(method, format!("{}{path}", server.base())).json(body)).await
}

async fn part(client: &Client, server: &Server, path: &str, range: &str) -> Answer {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    client.send(http.get(format!("{}{path}", server.base())).header("range", range)).await
}

async fn post_marked(client: &Client, base: &str, body: &Value) -> Answer {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let request = http.post(format!("{base}/v2/pre-recorded")).json(body);
    client.send(request.header("idempotency-key", "order-17")).await
}

/// Regular files below a folder.
fn files(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("lists").map(|entry| entry.expect("reads").path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

#[tokio::test]
async fn a_finished_job_is_listed_downloaded_and_deleted_without_a_trace() {
    let server = Server::start(Options::default());
    let client = server.client();
    let recording = fixtures::bytes(RECORDING);
    let uploaded = client.upload("jfk.wav", recording.clone()).await.body;
    let audio_url = uploaded["audio_url"].as_str().expect("a URL");
    let metadata = json!({ "speaker": "jfk", "take": 1 });
    let job = client.run(audio_url, json!({ "custom_metadata": metadata })).await;
    assert_eq!(job["status"], "done", "{job}");
    let id = job["id"].as_str().expect("an id");
    let recordings = Recordings::serve(fixtures::folder());
    let other = client.run(&recordings.url("none.wav"), json!({})).await;
    assert_eq!(other["status"], "error", "{other}");

    // Listed whole, found by what it is, linked on the origin that the client used.
    let list = client.get("/v2/pre-recorded").await.body;
    assert_eq!(list["items"], json!([other, job]));
    for query in ["status=done", "custom_metadata[speaker]=jfk&custom_metadata[take]=1", "limit=1&offset=1"] {
        let found = client.get(&format!("/v2/transcription?{query}")).await.body;
        assert_eq!(found["items"], json!([job]), "{query}");
    }
    let first = client.get("/v2/pre-recorded?limit=1").await.body;
    let next = first["next"].as_str().expect("a next page");
    assert_eq!(client.get(next.strip_prefix(server.base()).expect("our origin")).await.body["items"][0], job);
    assert_eq!(client.get("/v2/live").await.body["items"], json!([]));

    // Its audio, whole and in part.
    let path = format!("/v2/pre-recorded/{id}");
    assert!(client.get(&format!("{path}/file")).await.bytes == recording);
    let head = part(&client, &server, &format!("{path}/file"), "bytes=0-3").await;
    assert_eq!((head.status, &head.bytes[..]), (206, &b"RIFF"[..]));
    let tail = part(&client, &server, &format!("{path}/file"), "bytes=-100").await;
    assert!(tail.bytes == recording[recording.len() - 100..]);
    assert_eq!(part(&client, &server, &format!("{path}/file"), "bytes=99999999-").await.status, 416);

    let attached = json!({ "post_session_metadata": { "seen": true } });
    assert_eq!(send(&client, &server, Method::PATCH, &path, &attached).await.status, 204);
    assert_eq!(client.job(id).await["post_session_metadata"]["seen"], true);

    for job in [id, other["id"].as_str().expect("an id")] {
        let path = format!("/v2/pre-recorded/{job}");
        let deleted = send(&client, &server, Method::DELETE, &path, &Value::Null).await;
        assert_eq!((deleted.status, deleted.bytes.len()), (202, 0));
        assert_eq!(client.get(&path).await.status, 404);
        assert_eq!(client.get(&format!("{path}/file")).await.status, 404);
    }
    assert_eq!(client.get("/v2/pre-recorded").await.body["items"], json!([]));
    assert_eq!(files(&server.data_dir().join("blobs")), 0);
}

#[tokio::test]
async fn a_running_job_cannot_be_deleted_and_keeps_what_clients_attach() {
    // The shortest lease has the most heartbeats.
    let server = Server::start(Options::default().config("[worker]\nlease_s = 5\n"));
    let client = server.client();
    let audio = client.upload("long.mp3", fixtures::bytes("long/long_en_5readers.mp3")).await.body;
    let id = client.create(&json!({ "audio_url": audio["audio_url"] })).await;
    let path = format!("/v2/pre-recorded/{id}");
    let attached = json!({ "post_session_metadata": { "ticket": "T-1" } });
    assert_eq!(send(&client, &server, Method::PATCH, &path, &attached).await.status, 204);
    // Several heartbeats write their progress.
    let mut progress = std::collections::BTreeSet::new();
    while progress.len() < 3 {
        let job = client.job(&id).await;
        assert!(job["status"] == "queued" || job["status"] == "processing", "{job}");
        assert_eq!(job["post_session_metadata"]["ticket"], "T-1");
        progress.insert(job["post_session_metadata"].to_string());
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let refused = send(&client, &server, Method::DELETE, &path, &Value::Null).await;
    assert_eq!((refused.status, &refused.body["statusCode"]), (403, &json!(403)));
}

#[tokio::test]
async fn a_repeated_request_makes_one_job_even_over_a_crash() {
    let mut server = Server::start(Options::default());
    let body = json!({ "audio_url": "http://127.0.0.1:1/none.wav", "sentences": true });
    let (client, base) = (server.client(), server.base().to_owned());
    let mut posts = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (client, base, body) = (client.clone(), base.clone(), body.clone());
        posts.spawn(async move { post_marked(&client, &base, &body).await });
    }
    let answers = posts.join_all().await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.body), (200, &answers[0].body));
    }
    server.kill();
    server.restart();
    let again = post_marked(&server.client(), server.base(), &body).await;
    assert_eq!(again.body["id"], answers[0].body["id"]);
    let other = json!({ "audio_url": "http://127.0.0.1:1/other.wav" });
    assert_eq!(post_marked(&server.client(), server.base(), &other).await.status, 409);
    assert_eq!(server.client().get("/v2/pre-recorded").await.body["items"].as_array().map(Vec::len), Some(1));
}
