//! What the service bears: 64 clients that post jobs and look at them while jobs run, on
//! loopback, in four rounds. Prints Markdown and ends by itself after about two minutes.
//!
//! `make load`. `TYMPAN_LOAD_S` is the length of a round in seconds.

use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use tympan_tests::client::Client;
use tympan_tests::fixtures;
use tympan_tests::load::{Figures, Manner, Times, load};
use tympan_tests::server::{Options, Server};
use tympan_tests::silence;

const CLIENTS: usize = 64;
/// Pause of a client between two looks at its job.
const LOOK_PAUSE: Duration = Duration::from_millis(200);
/// More jobs than the eager clients post, so that none is refused.
const CONFIG: &str = "[limits]\nqueued_jobs = 10000000\n[log]\nfilter = \"warn\"\n";
/// Short speech, for one client in eight: Whisper is at work all the time.
const SPEECH: &str = "tel/weather_8k_mulaw.wav";
/// Jobs of which one follows the other, for the time that a job takes.
const SINGLE_JOBS: usize = 50;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let length = match std::env::var("TYMPAN_LOAD_S") {
        Ok(text) => text.parse().context("TYMPAN_LOAD_S must be a number of seconds")?,
        Err(_) => 20,
    };
    let length = Duration::from_secs(length);
    let server = Server::start(Options::default().config(CONFIG));
    let client = server.client();
    let silent = json!({ "audio_url": upload(&client, silence::wav(1)).await }).to_string();
    let spoken = json!({ "audio_url": upload(&client, fixtures::bytes(SPEECH)).await }).to_string();
    // The model is loaded by the first job with speech, and stays.
    client.wait(&client.create(&serde_json::from_str(&spoken)?).await).await;
    single_jobs(&client, &silent).await?;

    println!(
        "\n| {CLIENTS} clients | POST/s | p50 | p99 | most | GET/s | p50 | p99 | most | jobs done | errors |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let idle = load(server.base(), CLIENTS, &[String::new()], Manner::Idle, length).await;
    show("clients alone: GET /healthz", &idle);
    let mut bodies = vec![silent.clone(); 8];
    bodies[0] = spoken;
    let mut memory_mib = vec![memory_mib(&server)?];
    for round in ["post, look every 200 ms until done, 1 of 8 with speech", "the same again"] {
        let figures = load(server.base(), CLIENTS, &bodies, Manner::Patient(LOOK_PAUSE), length).await;
        show(round, &figures);
        memory_mib.push(self::memory_mib(&server)?);
    }
    let eager = load(server.base(), CLIENTS, &[silent], Manner::Eager, length).await;
    show("post and look, without a pause", &eager);
    let waiting = eager.posts.count();
    println!(
        "\nMemory of the service: {:.0} MiB before, {:.0} MiB after the first, {:.0} MiB after the second round \
         of whole jobs; {:.0} MiB while up to {waiting} jobs wait.",
        memory_mib[0],
        memory_mib[1],
        memory_mib[2],
        self::memory_mib(&server)?
    );
    Ok(())
}

async fn upload(client: &Client, bytes: Vec<u8>) -> String {
    let answer = client.upload("audio.wav", bytes).await;
    answer.body["audio_url"].as_str().expect("an upload gives an address").to_owned()
}

/// From POST to done for one second without speech, one job after the other.
async fn single_jobs(client: &Client, body: &str) -> anyhow::Result<()> {
    let body = serde_json::from_str(body)?;
    let mut times = Vec::new();
    for _ in 0..SINGLE_JOBS {
        let begun = Instant::now();
        let id = client.create(&body).await;
        while client.job(&id).await["status"] != "done" {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    println!(
        "A job of 1 s without speech, POST to done, {SINGLE_JOBS} in turn: median {}, p99 {}, most {}",
        ms(times[SINGLE_JOBS / 2]),
        ms(times[SINGLE_JOBS * 99 / 100]),
        ms(times[SINGLE_JOBS - 1])
    );
    Ok(())
}

fn show(name: &str, figures: &Figures) {
    let (posts, looks) = (cells(&figures.posts, figures.took), cells(&figures.looks, figures.took));
    println!("| {name} | {posts} | {looks} | {} | {} |", figures.done, figures.errors.len());
    for error in figures.errors.iter().take(3) {
        println!("{error}");
    }
}

fn cells(times: &Times, took: Duration) -> String {
    if times.count() == 0 {
        return "| | |".to_owned();
    }
    let rate = times.count() as f64 / took.as_secs_f64();
    let [p50, p99, most] = [0.5, 0.99, 1.0].map(|share| ms(times.quantile(share)));
    format!("{rate:.0} | {p50} | {p99} | {most}")
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Resident memory of the process now.
fn memory_mib(server: &Server) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}
