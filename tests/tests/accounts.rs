//! Accounts over the real binary: keys that come and go, separation, plans, usage.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tympan_tests::client::Client;
use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;
use tympan_tests::server::{Options, Server, binary};

const RECORDING: &str = "stereo/fw_stereo_two_readers.wav";
const SHOP: &str = "key-of-the-shop";
const BANK: &str = "key-of-the-bank";

/// How long a running server may take to notice what the command line wrote.
const NOTICED: Duration = Duration::from_secs(3);

/// Two accounts beside the one of the bootstrap key, with these settings of plans.
fn two_accounts(plans: &str) -> Options {
    let key = |account: &str, key: &str| {
        format!("[[auth.keys]]\naccount = {account:?}\nsha256 = \"{}\"\n", hex::encode(Sha256::digest(key)))
    };
    Options::default().config(&format!("{}{}{plans}", key("shop", SHOP), key("bank", BANK)))
}

/// A host that keeps whoever asks waiting until it is told to serve the recording.
struct Gate {
    url: String,
    open: Sender<()>,
}

impl Gate {
    fn closed() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/call.flac", listener.local_addr().expect("an address"));
        let (open, opened) = channel::<()>();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody asks");
            let _ = stream.read(&mut [0; 4096]);
            // Also goes on when the test has ended.
            let _ = opened.recv();
            let bytes = fixtures::bytes(RECORDING);
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", bytes.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&bytes));
        });
        Self { url, open }
    }

    fn open(self) {
        self.open.send(()).expect("the host waits");
    }
}

/// Asks until the status is the expected one, and says how long that took.
async fn until_status(client: &Client, path: &str, status: u16) -> Duration {
    let begun = Instant::now();
    loop {
        let answer = client.get(path).await;
        if answer.status == status {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < NOTICED, "still {} and not {status}", answer.status);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn wait_for_status(client: &Client, id: &str, status: &str) {
    for _ in 0..100 {
        if client.job(id).await["status"] == status {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the job never was {status}");
}

#[tokio::test]
async fn keys_are_created_and_revoked_under_a_running_server() {
    let server = Server::start(Options::default());
    let created =
        server.command(&["keys", "create", "--account", "shop", "--plan", "free", "--label", "till 1"]);
    assert!(created.status.success(), "{created:?}");
    let key = String::from_utf8(created.stdout).expect("text").trim_end().to_owned();
    assert!(key.starts_with("tympan_") && !key.contains(char::is_whitespace), "{key}");

    let shop = Client::new(server.base(), &key);
    until_status(&shop, "/v2/usage", 200).await;
    let usage = shop.get("/v2/usage").await.body;
    assert_eq!((&usage["account"], &usage["plan"]), (&json!("shop"), &json!("free")), "{usage}");
    assert_eq!(shop.get("/v2/admin/usage").await.status, 403);

    let admin = server.command(&["keys", "create", "--account", "shop", "--admin"]);
    let admin = Client::new(server.base(), String::from_utf8(admin.stdout).expect("text").trim_end());
    until_status(&admin, "/v2/admin/usage", 200).await;

    let list = String::from_utf8(server.command(&["keys", "list"]).stdout).expect("text");
    assert!(!list.contains(&key), "{list}");
    let line = list.lines().find(|line| line.contains("till 1")).expect("the key is listed");
    let id = line.split(' ').next().expect("an id");
    assert!(server.command(&["keys", "revoke", id]).status.success());
    until_status(&shop, "/v2/usage", 401).await;
    assert_eq!(admin.get("/v2/usage").await.status, 200, "the other key stays");
    assert!(!server.command(&["keys", "revoke", id]).status.success(), "only once");

    for file in std::fs::read_dir(server.data_dir()).expect("lists").flatten() {
        if file.path().is_file() {
            let bytes = std::fs::read(file.path()).expect("reads");
            assert!(!bytes.windows(key.len()).any(|part| part == key.as_bytes()), "{:?}", file.path());
        }
    }
    assert!(!server.log().contains(&key));
}

#[tokio::test]
async fn names_that_cannot_be_used_are_refused_with_a_sentence() {
    let server = Server::start(Options::default().config("[accounts.shop]\nplan = \"paid\"\n"));
    for (arguments, sentence) in [
        (&["create", "--account", ""][..], "--account must"),
        (&["create", "--account", "a", "--plan", "gold"], "--plan must be one of enterprise, free, paid"),
        (&["create", "--account", "shop", "--plan", "free"], "change accounts.shop.plan instead"),
        (&["create", "--account", "a", "--label", "a\nb"], "--label must"),
        (&["revoke", "6c09f2ab-9a4e-4c8c-8a34-3d6f0a1b2c3d"], "tympan keys list"),
    ] {
        let output = server.command(&[&["keys"], arguments].concat());
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(!output.status.success() && said.contains(sentence), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_service_without_any_key_stops_and_names_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let serve = |folder: &std::path::Path| {
        let mut command = Command::new(binary("tympan"));
        command.arg("serve").current_dir(folder).env_remove("TYMPAN_API_KEY").env_remove("TYMPAN_CONFIG");
        command.env("TYMPAN_DATA_DIR", folder.join("data")).env("TYMPAN_LISTEN", "127.0.0.1:0");
        command.output().expect("runs")
    };
    let output = serve(folder.path());
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(!output.status.success() && said.contains("tympan keys create"), "{said}");
    assert!(output.stdout.is_empty(), "it never listened");
}

#[tokio::test]
async fn accounts_do_not_see_each_other() {
    let server = Server::start(two_accounts(""));
    let (shop, bank) = (Client::new(server.base(), SHOP), Client::new(server.base(), BANK));
    let audio_url = shop.upload("call.wav", fixtures::bytes(RECORDING)).await.body["audio_url"].clone();
    let audio_url = audio_url.as_str().expect("an address");
    let job = shop.run(audio_url, json!({})).await;
    assert_eq!(job["status"], "done", "{job}");
    let id = job["id"].as_str().expect("an id");
    let file = audio_url.strip_prefix(server.base()).expect("an address of ours");
    for path in [&format!("/v2/pre-recorded/{id}"), &format!("/v2/transcription/{id}"), file] {
        assert_eq!(shop.get(path).await.status, 200, "{path}");
        assert_eq!(bank.get(path).await.status, 404, "{path}");
        assert_eq!(server.client().get(path).await.status, 404, "an admin is no owner: {path}");
    }
    let theirs = bank.run(audio_url, json!({})).await;
    assert_eq!((&theirs["status"], &theirs["error_code"]), (&json!("error"), &json!(404)), "{theirs}");
    assert_eq!(bank.get("/v2/usage").await.body["jobs"], 0);
    assert_eq!(shop.get("/v2/usage").await.body["jobs"], 1);
}

#[tokio::test]
async fn a_full_account_queues_or_is_refused_and_others_go_on() {
    // The gates stay closed for as long as a slow machine needs.
    let plans = "[worker]\nslots = 3\n[fetch]\nidle_timeout_s = 600\n[plans.one]\nconcurrent_prerecorded = 1\n\
                 [plans.strict]\nconcurrent_prerecorded = 1\nwhen_full = \"reject\"\n\
                 [accounts.shop]\nplan = \"one\"\n[accounts.bank]\nplan = \"strict\"\n";
    let server = Server::start(two_accounts(plans));
    let files = Recordings::serve(fixtures::folder());
    let (shop, bank) = (Client::new(server.base(), SHOP), Client::new(server.base(), BANK));
    let gates = [Gate::closed(), Gate::closed()];

    let shop_first = shop.create(&json!({"audio_url": gates[0].url})).await;
    let bank_first = bank.create(&json!({"audio_url": gates[1].url})).await;
    wait_for_status(&shop, &shop_first, "processing").await;
    let shop_second = shop.create(&json!({"audio_url": files.url(RECORDING)})).await;
    let refused = bank.post("/v2/pre-recorded", &json!({"audio_url": files.url(RECORDING)})).await;
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert_eq!(refused.headers["retry-after"], "5");
    assert_eq!(refused.body["statusCode"], 429);

    // A slot is free: another account's job passes the one that waits for its own account.
    let other = server.client().run(&files.url(RECORDING), json!({})).await;
    assert_eq!(other["status"], "done", "{other}");
    assert_eq!(shop.job(&shop_second).await["status"], "queued");

    gates.into_iter().for_each(Gate::open);
    for (client, id) in [(&shop, &shop_first), (&shop, &shop_second), (&bank, &bank_first)] {
        let job = client.wait(id).await;
        assert_eq!(job["status"], "done", "{job}");
    }
    let again = bank.post("/v2/pre-recorded", &json!({"audio_url": files.url(RECORDING)})).await;
    assert_eq!(again.status, 200, "{}", again.body);
}

#[tokio::test]
async fn hosts_that_keep_us_waiting_hold_no_slot() {
    let config = "[worker]\nslots = 1\n[fetch]\nidle_timeout_s = 600\nin_flight_per_account = 3\n";
    let server = Server::start(two_accounts(config));
    let files = Recordings::serve(fixtures::folder());
    let (shop, bank) = (Client::new(server.base(), SHOP), Client::new(server.base(), BANK));
    let gates = [(); 3].map(|()| Gate::closed());
    let mut held = Vec::new();
    for gate in &gates[..2] {
        held.push(shop.create(&json!({"audio_url": gate.url})).await);
    }
    // They stand aside after a while.
    let quick = shop.run(&files.url(RECORDING), json!({})).await;
    assert_eq!(quick["status"], "done", "{quick}");

    // The account has used up its share; others have theirs.
    held.push(shop.create(&json!({"audio_url": gates[2].url})).await);
    wait_for_status(&shop, &held[2], "processing").await;
    held.push(shop.create(&json!({"audio_url": files.url(RECORDING)})).await);
    let other = bank.run(&files.url(RECORDING), json!({})).await;
    assert_eq!(other["status"], "done", "{other}");
    assert_eq!(shop.job(&held[3]).await["status"], "queued");

    gates.into_iter().for_each(Gate::open);
    for id in held {
        let job = shop.wait(&id).await;
        assert_eq!((&job["status"], &job["post_session_metadata"]["attempts"]), (&json!("done"), &json!(1)));
    }
}

#[tokio::test]
async fn a_key_that_asks_too_often_gets_429_and_strangers_do_no_harm() {
    let plans = "[plans.slow]\nrequests_per_s = 2\nburst = 10\n[accounts.shop]\nplan = \"slow\"\n";
    let server = Server::start(two_accounts(plans));
    let (shop, bank) = (Client::new(server.base(), SHOP), Client::new(server.base(), BANK));
    let mut statuses = Vec::new();
    for _ in 0..30 {
        statuses.push(shop.get("/v2/usage").await.status);
    }
    assert!(statuses[..10].iter().all(|status| *status == 200), "{statuses:?}");
    let last = shop.get("/v2/usage").await;
    assert!(statuses.contains(&429) && last.status == 429, "{statuses:?}");
    assert_eq!(last.headers["retry-after"], "1");
    assert_eq!(bank.get("/v2/usage").await.status, 200);

    let memory_kb = resident_kb(&server);
    let flood = reqwest::Client::builder().no_proxy().build().expect("a client");
    for number in 0..3_000 {
        let request = flood.get(format!("{}/v2/usage", server.base()));
        let answer =
            request.header("x-service-key", format!("{number:0>4000}")).send().await.expect("answers");
        assert_eq!(answer.status().as_u16(), 401);
    }
    let grown_kb = resident_kb(&server).saturating_sub(memory_kb);
    assert!(grown_kb < 8_000, "3,000 unknown keys of 4 kB took {grown_kb} kB");
}

/// Memory of the server process.
fn resident_kb(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[tokio::test]
async fn a_job_is_billed_and_credits_run_out() {
    let plans = "[plans.free]\nprice_per_hour = 3600\n[accounts.shop]\nplan = \"free\"\n";
    let server = Server::start(two_accounts(plans));
    let files = Recordings::serve(fixtures::folder());
    let shop = Client::new(server.base(), SHOP);
    let mut billed_s = 0.0;
    // 50 credits at one a second.
    while billed_s < 50.0 {
        let job = shop.run(&files.url(RECORDING), json!({})).await;
        assert_eq!(job["status"], "done", "{job}");
        let metadata = &job["result"]["metadata"];
        let once_s = metadata["billing_time"].as_f64().expect("a number");
        assert!(once_s > 1.0, "{metadata}");
        billed_s += once_s;
        let usage = shop.get("/v2/usage").await.body;
        assert_near(&usage["billed_seconds"], billed_s);
        assert_near(&usage["credits"]["used"], billed_s);
        assert_near(&usage["credits"]["left"], (50.0 - billed_s).max(0.0));
    }
    let refused = shop.post("/v2/pre-recorded", &json!({"audio_url": files.url(RECORDING)})).await;
    assert_eq!(refused.status, 429);
    assert!(
        refused.body["message"].as_str().is_some_and(|text| text.contains("credits")),
        "{}",
        refused.body
    );
    assert!(refused.headers.contains_key("retry-after"));

    let all = server.client().get("/v2/admin/usage").await.body;
    assert_eq!(all["accounts"].as_array().map(Vec::len), Some(1), "{all}");
    assert_near(&all["accounts"][0]["billed_seconds"], billed_s);
}

fn assert_near(value: &Value, expected: f64) {
    let value = value.as_f64().expect("a number");
    assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
}
