//! A server that is killed at random moments while jobs come, are worked on and are told of:
//! what was accepted ends, and what has ended is told under one id.
//!
//! Six kills in a usual run, fifty by `make crash`. `TYMPAN_KILLS` is their number,
//! `TYMPAN_KILLS_SEED` repeats the moments of an earlier run.

mod claims;
mod traffic;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tympan_tests::receiver::{Manner, Receiver};
use tympan_tests::server::{Options, Server};

use claims::Findings;
use traffic::Traffic;

/// Longest life of a server that listens, milliseconds: a few steps of a few jobs.
const LONGEST_LIFE_MS: u64 = 4_000;
/// Longest life of a server that is killed while it starts, milliseconds.
const LONGEST_START_MS: u64 = 400;
/// The receiver's pause before it answers, so that kills come in the middle of messages.
const ANSWER_PAUSE: Duration = Duration::from_millis(100);
/// Longest time until the last job has ended and the last message has arrived.
const QUIET_LIMIT: Duration = Duration::from_secs(300);

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("the variable holds a number"))
}

fn seed_of_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
    now.as_nanos() as u64
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_and_nothing_told_under_two_ids_when_the_server_is_killed() {
    let kills = number("TYMPAN_KILLS").unwrap_or(6);
    let seed = number("TYMPAN_KILLS_SEED").unwrap_or_else(seed_of_now);
    println!("TYMPAN_KILLS={kills} TYMPAN_KILLS_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let receiver = Receiver::start(&[Manner::Late(ANSWER_PAUSE)]);
    let webhook = format!("[[webhooks]]\nurl = {:?}\nsecret = \"of-webhooks\"\n", receiver.url("/webhook"));
    let config = format!("{webhook}[deliveries]\ncallback_secret = \"of-callbacks\"\n");
    let mut server = Server::start(Options::default().config(&config));
    server.keep_address();
    let traffic = Traffic::start(server.client(), receiver.url("/callback"), random.random()).await;

    let mut killed = 0;
    while killed < kills {
        tokio::time::sleep(Duration::from_millis(random.random_range(0..=LONGEST_LIFE_MS))).await;
        server.kill();
        killed += 1;
        while killed < kills && random.random_ratio(1, 4) {
            server.restart_and_kill(Duration::from_millis(random.random_range(0..=LONGEST_START_MS)));
            killed += 1;
        }
        server.restart();
    }
    let posts = traffic.stop().await;
    let client = server.client();
    let begun = Instant::now();
    while !claims::is_quiet(&client).await {
        assert!(begun.elapsed() < QUIET_LIMIT, "work is left: {}", server.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let findings = Findings::gather(&client, receiver.messages()).await;
    println!("{posts}\n{findings}");
    findings.check_jobs(&posts);
    findings.check_messages();
    findings.check_usage(&client).await;
}
