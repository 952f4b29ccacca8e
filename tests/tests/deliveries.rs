//! Callbacks and webhooks as receivers see them.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use tympan_tests::fixtures;
use tympan_tests::receiver::{Manner, Message, Receiver};
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server};

const RECORDING: &str = "en/ljspeech_LJ001-0002.wav";

/// Three short pauses, so that all four attempts fit into a test.
const CONFIG: &str = "[deliveries]\ntimeout_s = 1\nretry_s = [0, 0, 1]\ncallback_secret = \"of-callbacks\"\n";

fn server(config: &str) -> Server {
    Server::start(Options::default().config(config))
}

fn signature_of(message: &Message, secret: &str) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(message.header("x-service-timestamp").as_bytes());
    mac.update(b".");
    mac.update(&message.body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// A job that fails at once: nothing is transcribed.
fn failing(files: &Recordings, callback: &str) -> Value {
    json!({"audio_url": files.url("nowhere.wav"), "callback_url": callback})
}

#[tokio::test]
async fn results_arrive_signed_by_post_put_and_the_deprecated_member() {
    let (server, files, receiver) =
        (server(CONFIG), Recordings::serve(fixtures::folder()), Receiver::polite());
    let client = server.client();
    let metadata = json!({"call": 4711});
    let config = |method: &str| json!({"url": receiver.url(&format!("/{method}?token=t")), "method": method});
    let mut expected = Vec::new();
    for method in ["POST", "PUT"] {
        let request = json!({"audio_url": files.url(RECORDING), "callback": true,
                             "callback_config": config(method), "custom_metadata": metadata});
        let id = client.create(&request).await;
        expected.push((format!("/{method}?token=t"), method, metadata.clone(), client.wait(&id).await));
    }
    let request = json!({"audio_url": files.url(RECORDING), "callback_url": receiver.url("/old")});
    let id = client.create(&request).await;
    expected.push(("/old".to_owned(), "POST", Value::Null, client.wait(&id).await));

    let messages = receiver.wait_for(3);
    for (target, method, metadata, job) in expected {
        let message = messages.iter().find(|message| message.target == target).unwrap();
        assert_eq!(job["status"], "done", "{job}");
        let body = json!({"id": job["id"], "event": "transcription.success",
                          "payload": job["result"], "custom_metadata": metadata});
        assert_eq!(message.json(), body);
        assert_eq!((message.method.as_str(), message.header("content-type")), (method, "application/json"));
        assert!(message.header("user-agent").starts_with("tympan/"));
        assert_eq!(message.header("x-service-event"), "transcription.success");
        assert_eq!(message.header("x-service-delivery").len(), 36);
        assert_eq!(message.header("x-service-signature"), signature_of(message, "of-callbacks"));
    }
    assert!(!server.log().contains("token=t"), "{}", server.log());
}

#[tokio::test]
async fn a_failed_job_tells_its_code_and_message() {
    let (server, files, receiver) = (server(""), Recordings::serve(fixtures::folder()), Receiver::polite());
    let client = server.client();
    let id = client.create(&failing(&files, &receiver.url("/"))).await;
    let job = client.wait(&id).await;
    let message = &receiver.wait_for(1)[0];
    let error = json!({"code": 404, "message": job["post_session_metadata"]["error"]["message"]});
    assert!(error["message"].is_string());
    let body = json!({"id": id, "event": "transcription.error", "error": error, "custom_metadata": null});
    assert_eq!(message.json(), body);
    // No secret is set.
    assert_eq!(message.header("x-service-signature"), "");
}

#[tokio::test]
async fn failed_attempts_are_repeated_under_one_id_until_one_succeeds() {
    let (server, files) = (server(CONFIG), Recordings::serve(fixtures::folder()));
    let bad = [Manner::Status(500), Manner::Close, Manner::TrickledHead, Manner::Status(204)];
    let receiver = Receiver::start(&bad);
    server.client().create(&failing(&files, &receiver.url("/"))).await;
    let messages = receiver.wait_for(4);
    let id = messages[0].header("x-service-delivery");
    for message in &messages {
        assert_eq!(message.header("x-service-delivery"), id);
        assert_eq!(message.body, messages[0].body);
        assert_eq!(message.header("x-service-signature"), signature_of(message, "of-callbacks"));
    }
    assert!(
        messages[3].at - messages[2].at >= Duration::from_millis(1900),
        "the time-out and a pause of 1 s"
    );
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(receiver.messages().len(), 4, "a delivered message is not sent again");
}

#[tokio::test]
async fn redirects_are_not_followed_and_attempts_come_to_an_end() {
    let (server, files) = (server(CONFIG), Recordings::serve(fixtures::folder()));
    let elsewhere = Receiver::polite();
    let receiver = Receiver::start(&[Manner::Redirect(elsewhere.url("/"))]);
    server.client().create(&failing(&files, &receiver.url("/"))).await;
    receiver.wait_for(4);
    tokio::time::sleep(Duration::from_millis(2000)).await;
    assert_eq!((receiver.messages().len(), elsewhere.messages().len()), (4, 0));
}

#[tokio::test]
async fn an_endless_answer_is_a_success_that_costs_nothing() {
    let (server, files) = (server(CONFIG), Recordings::serve(fixtures::folder()));
    let receiver = Receiver::start(&[Manner::EndlessBody]);
    server.client().create(&failing(&files, &receiver.url("/"))).await;
    receiver.wait_for(1);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(receiver.messages().len(), 1);
}

#[tokio::test]
async fn receivers_that_hang_delay_nobody_else() {
    let slow = CONFIG.replace("timeout_s = 1", "timeout_s = 30");
    let (server, files) = (server(&slow), Recordings::serve(fixtures::folder()));
    let (hanging, polite) = (Receiver::start(&[Manner::Hang]), Receiver::polite());
    let client = server.client();
    for _ in 0..8 {
        client.create(&failing(&files, &hanging.url("/"))).await;
    }
    // Four are on their way, and no more.
    hanging.wait_for(4);
    let id = client.create(&failing(&files, &polite.url("/"))).await;
    client.wait(&id).await;
    polite.wait_for(1);
    assert_eq!(hanging.messages().len(), 4);
}

#[tokio::test]
async fn a_killed_server_delivers_after_its_restart_under_the_same_id() {
    let files = Recordings::serve(fixtures::folder());
    let receiver = Receiver::start(&[Manner::Hang, Manner::Status(200)]);
    let mut server = server(&CONFIG.replace("timeout_s = 1", "timeout_s = 30"));
    let id = server.client().create(&failing(&files, &receiver.url("/"))).await;
    // It was received, and we are killed before we know.
    receiver.wait_for(1);
    server.kill();
    server.restart();
    let messages = receiver.wait_for(2);
    assert_eq!(messages[0].header("x-service-delivery"), messages[1].header("x-service-delivery"));
    assert_eq!(messages[1].json()["id"], json!(id));
}

#[tokio::test]
async fn a_shutdown_gives_messages_back_that_do_not_arrive() {
    let files = Recordings::serve(fixtures::folder());
    let receiver = Receiver::start(&[Manner::Hang, Manner::Status(200)]);
    let config = CONFIG.replace("timeout_s = 1", "timeout_s = 30") + "[worker]\nshutdown_grace_s = 1\n";
    let mut server = server(&config);
    server.client().create(&failing(&files, &receiver.url("/"))).await;
    receiver.wait_for(1);
    let (took, ended_well) = server.terminate();
    assert!(ended_well && took < Duration::from_secs(5), "{took:?}, {}", server.log());
    server.restart();
    let messages = receiver.wait_for(2);
    assert_eq!(messages[0].header("x-service-delivery"), messages[1].header("x-service-delivery"));
}

#[tokio::test]
async fn a_signal_during_the_stop_ends_the_process_at_once() {
    let files = Recordings::serve(fixtures::folder());
    let receiver = Receiver::start(&[Manner::Hang, Manner::Status(200)]);
    let config = CONFIG.replace("timeout_s = 1", "timeout_s = 30") + "[worker]\nshutdown_grace_s = 60\n";
    let mut server = server(&config);
    server.client().create(&failing(&files, &receiver.url("/"))).await;
    receiver.wait_for(1);
    server.ask_to_end();
    let begun = Instant::now();
    while !server.log().contains("stopping") {
        assert!(begun.elapsed() < Duration::from_secs(20), "{}", server.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (took, ended_well) = server.terminate();
    assert!(!ended_well && took < Duration::from_secs(10), "{took:?}, {}", server.log());
    assert!(server.log().contains("by a signal during the stop"), "{}", server.log());
    server.restart();
    let messages = receiver.wait_for(2);
    assert_eq!(messages[0].header("x-service-delivery"), messages[1].header("x-service-delivery"));
}

/// Waits until the only delivery of a job, or the newest, stands so.
async fn delivery(server: &Server, job: &str, status: &str) -> Value {
    let path = format!("/v2/admin/deliveries?job={job}");
    let begun = Instant::now();
    loop {
        let answer = server.client().get(&path).await;
        let newest = answer.body["items"][0].clone();
        if newest["status"] == status {
            return newest;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{newest}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_private_address_is_refused_at_once_and_for_good() {
    let receiver = Receiver::polite();
    let mut server = server(CONFIG);
    // The name passes the check of the request only while private addresses are allowed; the
    // file is ours, so that the job itself needs no address.
    let uploaded = server.client().upload("a.wav", fixtures::bytes("en/jfk.wav")).await;
    let url = receiver.url("/").replace("127.0.0.1", "localhost");
    let request = json!({"audio_url": uploaded.body["audio_url"], "callback_url": url});
    let id = server.client().create(&request).await;
    server.kill();
    server.forbid_private_urls();
    server.restart();
    server.client().wait(&id).await;
    let given_up = delivery(&server, &id, "given_up").await;
    assert_eq!((&given_up["attempts"], receiver.messages().len()), (&json!(1), 0));
    assert!(given_up["last_error"].as_str().unwrap().contains("public address"), "{given_up}");
}

#[tokio::test]
async fn what_was_given_up_can_be_replayed_under_its_id() {
    let (server, files) = (server("[deliveries]\nretry_s = []\n"), Recordings::serve(fixtures::folder()));
    let receiver = Receiver::start(&[Manner::Status(500), Manner::Status(200)]);
    let id = server.client().create(&failing(&files, &receiver.url("/?token=t"))).await;
    let given_up = delivery(&server, &id, "given_up").await;
    assert_eq!(given_up["last_error"], "the receiver answered with status 500");
    assert!(!given_up.to_string().contains("token"));
    let path = format!("/v2/admin/deliveries/{}/replay", given_up["id"].as_str().unwrap());
    assert_eq!(server.client().post(&path, &json!({})).await.status, 202);
    let messages = receiver.wait_for(2);
    assert_eq!(messages[0].header("x-service-delivery"), messages[1].header("x-service-delivery"));
    assert_eq!(given_up["id"], messages[1].header("x-service-delivery"));
    delivery(&server, &id, "delivered").await;
}

#[tokio::test]
async fn webhooks_of_the_configuration_and_of_the_api_hear_of_jobs_in_order() {
    let files = Recordings::serve(fixtures::folder());
    let (configured, registered) = (Receiver::polite(), Receiver::polite());
    let config =
        format!("{CONFIG}[[webhooks]]\nurl = {:?}\nsecret = \"of-config\"\n", configured.url("/all"));
    let mut server = server(&config);
    let client = server.client();
    let wish =
        json!({"url": registered.url("/some"), "events": ["transcription.success"], "secret": "of-api"});
    let webhook = client.post("/v2/admin/webhooks", &wish).await;
    assert_eq!(webhook.status, 200, "{}", webhook.body);

    let failed = client.create(&failing(&files, &Receiver::polite().url("/"))).await;
    client.wait(&failed).await;
    let done = client.create(&json!({"audio_url": files.url(RECORDING)})).await;
    client.wait(&done).await;
    let messages = configured.wait_for(4);
    for (id, end) in [(&failed, "transcription.error"), (&done, "transcription.success")] {
        let of_job: Vec<_> =
            messages.iter().filter(|message| message.json()["payload"]["id"] == **id).collect();
        let bodies: Vec<_> = of_job.iter().map(|message| message.json()).collect();
        let body = |event: &str| json!({"event": event, "payload": {"id": id}});
        assert_eq!(bodies, [body("transcription.created"), body(end)]);
        for message in of_job {
            assert_eq!(message.header("x-service-signature"), signature_of(message, "of-config"));
            assert_eq!((message.method.as_str(), message.target.as_str()), ("POST", "/all"));
        }
    }
    let told = registered.wait_for(1);
    assert_eq!(told[0].json(), json!({"event": "transcription.success", "payload": {"id": done}}));
    assert_eq!(told[0].header("x-service-signature"), signature_of(&told[0], "of-api"));
    assert_eq!(registered.messages().len(), 1);

    // One that was registered survives a restart, one that left the configuration does not.
    server.kill();
    server.configure(CONFIG);
    server.restart();
    let list = server.client().get("/v2/admin/webhooks").await.body;
    assert_eq!(list["webhooks"], json!([webhook.body]));
}
