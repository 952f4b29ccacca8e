//! What must hold once everything is quiet, held against three witnesses: the client's own
//! record, the lists of the service, and what the receiver got.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Value, json};
use tympan_tests::client::Client;
use tympan_tests::receiver::Message;
use tympan_tests::timeless::timeless;

use crate::traffic::{MISSING, Post, Posts};

/// A claim after which a job that never got further is given up.
const LAST_CLAIM: u64 = 4;

/// Whether no job is open and no message is owed.
pub async fn is_quiet(client: &Client) -> bool {
    let open = client.get("/v2/pre-recorded?status=queued&status=processing&limit=1").await.body;
    let owed = client.get("/v2/admin/deliveries?status=pending&limit=1").await.body;
    open["items"] == json!([]) && owed["items"] == json!([])
}

/// What the service and the receiver know.
pub struct Findings {
    jobs: Vec<Value>,
    deliveries: Vec<Value>,
    messages: Vec<Message>,
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = |status: &str| self.jobs.iter().filter(|job| job["status"] == status).count();
        let given_up = self.jobs.iter().filter(|job| was_given_up(job)).count();
        let claimed = |least: u64| self.jobs.iter().filter(|job| attempts(job) >= least).count();
        writeln!(f, "{} jobs: {} done, {} failed,", self.jobs.len(), ended("done"), ended("error"))?;
        writeln!(f, "{given_up} of these given up after three lost claims,")?;
        writeln!(f, "{} jobs claimed more than once, {} more than twice", claimed(2), claimed(3))?;
        let repeated = self.messages.len() - self.deliveries.len();
        write!(f, "{} deliveries, {repeated} of them received once more", self.deliveries.len())
    }
}

impl Findings {
    /// Reads the lists of a quiet service.
    pub async fn gather(client: &Client, messages: Vec<Message>) -> Self {
        let jobs = all(client, "/v2/pre-recorded").await;
        Self { jobs, deliveries: all(client, "/v2/admin/deliveries").await, messages }
    }

    /// Every accepted job is there once and ended as its audio says; equal audio, equal result.
    pub fn check_jobs(&self, posts: &Posts) {
        let mut of_number: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
        for job in &self.jobs {
            let number = job["custom_metadata"]["number"].as_u64().expect("each job has a number");
            of_number.entry(number).or_default().push(job);
        }
        let mut results: BTreeMap<&str, Value> = BTreeMap::new();
        for (number, post) in &posts.0 {
            let jobs = of_number.remove(number).unwrap_or_default();
            assert!(jobs.len() <= 1, "one POST made {} jobs: {post:?}", jobs.len());
            let Some(job) = jobs.first() else {
                assert!(post.id.is_none(), "an accepted job is lost: {post:?}");
                continue;
            };
            assert!(post.id.as_ref().is_none_or(|id| job["id"] == **id), "another id than {post:?}: {job}");
            assert!(!post.is_marked || post.id.is_some(), "a marked POST was never answered: {post:?}");
            check_end(post, job);
            if job["status"] == "done" {
                let result = timeless(job);
                let known = results.entry(post.recording).or_insert_with(|| result.clone());
                assert_eq!(*known, result, "{}", post.recording);
            }
            self.check_deliveries(post, job);
        }
        assert!(of_number.is_empty(), "jobs that nobody asked for: {of_number:?}");
    }

    /// A job is told of once to each who is to hear: by one delivery, which has arrived.
    fn check_deliveries(&self, post: &Post, job: &Value) {
        let end = if job["status"] == "done" { "transcription.success" } else { "transcription.error" };
        let mut expected = vec![("webhook", "transcription.created"), ("webhook", end)];
        if post.has_callback {
            expected.push(("callback", end));
        }
        expected.sort_unstable();
        let of_job = self.deliveries.iter().filter(|delivery| delivery["job"] == job["id"]);
        let mut found: Vec<_> =
            of_job.map(|delivery| (text(delivery, "target"), text(delivery, "event"))).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{job}");
    }

    /// Each delivery has arrived, always with the same content and a signature, and nothing
    /// came under another id.
    pub fn check_messages(&self) {
        let mut received: BTreeMap<&str, Vec<&Message>> = BTreeMap::new();
        for message in &self.messages {
            received.entry(message.header("x-service-delivery")).or_default().push(message);
        }
        let mut told = BTreeSet::new();
        for delivery in &self.deliveries {
            assert_eq!(delivery["status"], "delivered", "{delivery}");
            let messages = received.remove(text(delivery, "id"));
            let messages = messages.unwrap_or_else(|| panic!("never received: {delivery}"));
            for message in &messages {
                assert_eq!(message.body, messages[0].body, "{delivery}");
                assert_eq!(message.target, format!("/{}", text(delivery, "target")));
                assert_ne!(message.header("x-service-signature"), "", "{delivery}");
            }
            let body = messages[0].json();
            let job = if delivery["target"] == "callback" { &body["id"] } else { &body["payload"]["id"] };
            assert_eq!((job, &body["event"]), (&delivery["job"], &delivery["event"]));
            let subject = (job.to_string(), text(delivery, "event"), text(delivery, "target"));
            assert!(told.insert(subject), "told under two ids: {delivery}");
        }
        assert!(received.is_empty(), "unknown deliveries: {:?}", received.keys());
        self.check_order();
    }

    /// A webhook hears that a job was created before it hears of its end.
    fn check_order(&self) {
        let mut created = BTreeSet::new();
        for message in self.messages.iter().filter(|message| message.target == "/webhook") {
            let (event, job) =
                (message.header("x-service-event"), message.json()["payload"]["id"].to_string());
            match event {
                "transcription.created" => _ = created.insert(job),
                _ => assert!(created.contains(&job), "{event} came first for {job}"),
            }
        }
    }

    /// Each job that is done was billed once.
    pub async fn check_usage(&self, client: &Client) {
        let usage = client.get("/v2/usage").await.body;
        let done: Vec<_> = self.jobs.iter().filter(|job| job["status"] == "done").collect();
        let billed_s = done.iter().map(|job| job["result"]["metadata"]["billing_time"].as_f64());
        let billed_s: f64 = billed_s.map(|time| time.expect("a time")).sum();
        assert_eq!(usage["jobs"], done.len(), "{usage}");
        let reported_s = usage["billed_seconds"].as_f64().expect("seconds");
        assert!((reported_s - billed_s).abs() < 0.001, "{reported_s} s instead of {billed_s} s");
    }
}

/// Done; or failed because there is no audio, or because every claim in a row was lost.
fn check_end(post: &Post, job: &Value) {
    match (post.recording, was_given_up(job)) {
        (_, true) => assert!(attempts(job) >= LAST_CLAIM, "{job}"),
        (MISSING, _) => {
            assert_eq!((&job["status"], &job["error_code"]), (&json!("error"), &json!(404)), "{job}")
        }
        _ => assert_eq!(job["status"], "done", "{job}"),
    }
}

fn was_given_up(job: &Value) -> bool {
    job["post_session_metadata"]["error"]["message"]
        .as_str()
        .is_some_and(|message| message.contains("processing stopped unexpectedly"))
}

fn attempts(job: &Value) -> u64 {
    job["post_session_metadata"]["attempts"].as_u64().expect("a final job says how often it was claimed")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().expect("a text")
}

/// All items of a list.
async fn all(client: &Client, path: &str) -> Vec<Value> {
    const PAGE: usize = 100;
    let mut items = Vec::new();
    loop {
        let page = client.get(&format!("{path}?limit={PAGE}&offset={}", items.len())).await.body;
        let page = page["items"].as_array().expect("items").clone();
        let is_last = page.len() < PAGE;
        items.extend(page);
        if is_last {
            return items;
        }
    }
}
