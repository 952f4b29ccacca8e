//! A client that posts jobs and looks at them, to a server that comes and goes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tympan_tests::client::{Answer, Client};
use tympan_tests::fixtures;
use tympan_tests::recordings::Recordings;

/// What is transcribed: one and two channels, several formats, a file that is not there.
pub const RECORDINGS: [&str; 6] = [
    "en/ljspeech_LJ001-0002.wav",
    "en/librispeech_7902-96591-0000.flac",
    "stereo/fw_stereo_two_readers.wav",
    "tel/weather_8k_mulaw.wav",
    "damaged/silence_3s.wav",
    MISSING,
];
/// Fails the job, which is told as well.
pub const MISSING: &str = "nowhere.wav";
/// Uploaded before the first kill; no number of it is in [`RECORDINGS`].
const UPLOADED: &str = "en/librivox_0880.wav";
/// Jobs that may be open before the client only looks at them.
const MOST_OPEN: usize = 10;
/// Pause of the client between two requests, milliseconds.
const PAUSE_MS: std::ops::RangeInclusive<u64> = 5..=80;

/// A POST that was sent at least once.
#[derive(Debug, Clone)]
pub struct Post {
    /// What is to be transcribed.
    pub recording: &'static str,
    /// Whether its end is told by a callback.
    pub has_callback: bool,
    /// Sent under an idempotency key, again and again until it was answered.
    pub is_marked: bool,
    /// The id in the answer; absent: none was read.
    pub id: Option<String>,
}

/// All posts by the number in their metadata.
#[derive(Debug, Default)]
pub struct Posts(pub BTreeMap<u64, Post>);

impl fmt::Display for Posts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered = self.0.values().filter(|post| post.id.is_some()).count();
        write!(f, "{} posts, {answered} of them answered", self.0.len())
    }
}

/// The client, at work.
pub struct Traffic {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Posts>,
}

impl Traffic {
    /// Uploads a recording, then posts and looks until it is stopped.
    pub async fn start(client: Client, callback: String, seed: u64) -> Self {
        let uploaded = client.upload(UPLOADED, fixtures::bytes(UPLOADED)).await;
        let stop = Arc::new(AtomicBool::new(false));
        let sender = Sender {
            client,
            callback,
            uploaded: uploaded.body["audio_url"].as_str().expect("an address").to_owned(),
            files: Recordings::serve(fixtures::folder()),
            random: StdRng::seed_from_u64(seed),
            posts: Posts::default(),
            ended: BTreeMap::new(),
        };
        Self { task: tokio::spawn(sender.run(stop.clone())), stop }
    }

    /// The posts, once each marked one was answered.
    pub async fn stop(self) -> Posts {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.expect("the client has found nothing wrong")
    }
}

struct Sender {
    client: Client,
    callback: String,
    uploaded: String,
    files: Recordings,
    random: StdRng,
    posts: Posts,
    /// Jobs that were seen ended, as they were seen then.
    ended: BTreeMap<String, Value>,
}

impl Sender {
    async fn run(mut self, stop: Arc<AtomicBool>) -> Posts {
        while !stop.load(Ordering::Relaxed) {
            let accepted = self.posts.0.values().filter(|post| post.id.is_some()).count();
            if accepted - self.ended.len() < MOST_OPEN {
                self.post().await;
            }
            self.look().await;
            self.pause().await;
        }
        self.posts
    }

    async fn post(&mut self) {
        let number = self.posts.0.len() as u64;
        let recording = RECORDINGS.into_iter().chain([UPLOADED]).choose(&mut self.random).expect("some");
        let audio_url = match recording {
            UPLOADED => self.uploaded.clone(),
            file => self.files.url(file),
        };
        let post =
            Post { recording, has_callback: self.random.random(), is_marked: self.random.random(), id: None };
        let mut body =
            json!({"audio_url": audio_url, "sentences": true, "custom_metadata": {"number": number}});
        if post.has_callback {
            body["callback_url"] = json!(self.callback);
        }
        let is_marked = post.is_marked;
        self.posts.0.insert(number, post);
        loop {
            let mut request = self.client.request(Method::POST, "/v2/pre-recorded").json(&body);
            if is_marked {
                request = request.header("idempotency-key", format!("number-{number}"));
            }
            if let Some(answer) = answer(self.client.try_send(request).await) {
                let id = answer.body["id"].as_str().expect("an id").to_owned();
                self.posts.0.get_mut(&number).expect("just put there").id = Some(id);
                return;
            }
            if !is_marked {
                return;
            }
            self.pause().await;
        }
    }

    /// Looks at a job that was accepted: it is there, and once it has ended nothing changes.
    async fn look(&mut self) {
        let (ended, open): (Vec<String>, Vec<String>) = self
            .posts
            .0
            .values()
            .filter_map(|post| post.id.clone())
            .partition(|id| self.ended.contains_key(id));
        let looks_again = open.is_empty() || self.random.random_ratio(1, 4);
        let ids = if looks_again { ended } else { open };
        let Some(id) = ids.into_iter().choose(&mut self.random) else { return };
        let request = self.client.request(Method::GET, &format!("/v2/pre-recorded/{id}"));
        let Some(answer) = answer(self.client.try_send(request).await) else { return };
        if let Some(earlier) = self.ended.get(&id) {
            assert_eq!(*earlier, answer.body, "a job changed after its end");
        } else if answer.body["status"] == "done" || answer.body["status"] == "error" {
            self.ended.insert(id, answer.body);
        }
    }

    async fn pause(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.random.random_range(PAUSE_MS))).await;
    }
}

/// A dead server gives none; one that answers takes what it is asked.
fn answer(outcome: reqwest::Result<Answer>) -> Option<Answer> {
    let answer = outcome.ok()?;
    assert_eq!(answer.status, 200, "{}", answer.body);
    Some(answer)
}
