//! TLS: whom the service trusts when it fetches audio and sends messages.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ServerConfig;
use serde_json::{Value, json};
use tympan_tests::fixtures;
use tympan_tests::receiver::{Manner, Receiver};
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};
use tympan_tests::tls::Authority;

const HOST: &str = "127.0.0.1";

/// A server that trusts `authority` beside those of the system. The folder holds its file.
fn trusting(authority: &Authority) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, format!("# Ours\n{}\n{}", Authority::default().pem(), authority.pem())).unwrap();
    let config = format!("extra_ca_file = {path:?}\n[deliveries]\nretry_s = [0]\n");
    (Server::start(Options::default().config(&config)), folder)
}

/// Identities that must be refused, each with the reason that is told.
fn bad_identities(authority: &Authority) -> [(Arc<ServerConfig>, &'static str); 3] {
    [
        (Authority::default().certify(HOST), "is signed by nobody whom this service trusts"),
        (authority.certify_expired(HOST), "has expired or is not valid yet"),
        (authority.certify("other.example"), "is for another host name"),
    ]
}

/// The only delivery of a job once it is no longer pending.
async fn delivery(server: &Server, job: &str) -> Value {
    let begun = Instant::now();
    loop {
        let list = server.client().get(&format!("/v2/admin/deliveries?job={job}")).await.body;
        let only = list["items"][0].clone();
        if only["status"] == "delivered" || only["status"] == "given_up" {
            return only;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{only}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn messages_go_to_receivers_with_a_good_certificate_only() {
    let authority = Authority::default();
    let (server, _folder) = trusting(&authority);
    let files = Recordings::serve(fixtures::folder());
    let failing = |callback: String| json!({"audio_url": files.url("nowhere.wav"), "callback_url": callback});

    let good = Receiver::start_tls(&[Manner::Status(200)], authority.certify(HOST));
    let id = server.client().create(&failing(good.url("/"))).await;
    assert_eq!(good.wait_for(1)[0].json()["id"], json!(id));
    assert_eq!(delivery(&server, &id).await["status"], "delivered");

    for (identity, reason) in bad_identities(&authority) {
        let bad = Receiver::start_tls(&[Manner::Status(200)], identity);
        let id = server.client().create(&failing(bad.url("/"))).await;
        let told = delivery(&server, &id).await;
        assert_eq!(told["status"], "given_up", "{told}");
        assert_eq!(told["last_error"], format!("the TLS certificate of the receiver {reason}"));
        // The receiver may get another certificate any time.
        assert_eq!((&told["attempts"], bad.messages().len()), (&json!(2), 0), "{told}");
    }
}

#[tokio::test]
async fn audio_is_fetched_from_hosts_with_a_good_certificate_only() {
    let authority = Authority::default();
    let (server, _folder) = trusting(&authority);
    let client = server.client();
    let sound = [Manner::Body("", fixtures::bytes("en/jfk.wav"))];
    let good = Receiver::start_tls(&sound, authority.certify(HOST));
    let job = client.run(&good.url("/jfk.wav"), json!({})).await;
    assert_eq!(job["status"], "done", "{job}");
    let uploaded = client.post("/v2/upload", &json!({"audio_url": good.url("/jfk.wav")})).await;
    assert_eq!(uploaded.status, 200, "{}", uploaded.body);

    for (identity, reason) in bad_identities(&authority) {
        let bad = Receiver::start_tls(&sound, identity);
        let sentence = format!("the TLS certificate of the host of audio_url {reason}");
        let job = client.run(&bad.url("/jfk.wav"), json!({})).await;
        assert_eq!((&job["status"], &job["error_code"]), (&json!("error"), &json!(400)), "{job}");
        assert_eq!(job["post_session_metadata"]["error"]["message"], sentence);
        assert_eq!(job["post_session_metadata"]["attempts"], 1);
        let refused = client.post("/v2/upload", &json!({"audio_url": bad.url("/jfk.wav")})).await;
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert!(refused.body.to_string().contains(reason), "{}", refused.body);
        assert!(bad.messages().is_empty(), "nothing was asked of a stranger");
    }
}

#[tokio::test]
async fn an_authority_is_trusted_only_where_the_operator_says_so() {
    let authority = Authority::default();
    let server = Server::start(Options::default());
    let host = Receiver::start_tls(&[Manner::Body("", Vec::new())], authority.certify(HOST));
    let job = server.client().run(&host.url("/a.wav"), json!({})).await;
    let message = job["post_session_metadata"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("is signed by nobody whom this service trusts"), "{job}");
}

#[test]
fn a_file_without_certificates_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, "nothing").unwrap();
    let options = Options::default().variable("TYMPAN_EXTRA_CA_FILE", path.to_str().unwrap());
    for command in ["serve", "check-config"] {
        let output = options.command(&[command]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(said.contains("extra_ca_file must name a file of certificates in PEM form"), "{said}");
    }
}
