//! Many clients at once that post jobs and look at them, for figures and for a test.
//!
//! Each has one connection that it keeps. They cost little, because they share the machine with
//! the service: requests are made once, and of an answer only the status is read.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::server::KEY;

/// What each client does until its time is over.
#[derive(Debug, Clone, Copy)]
pub enum Manner {
    /// Posts a job and looks at it after each pause until it has ended, then posts the next.
    Patient(Duration),
    /// Posts a job, looks at it once, posts the next.
    Eager,
    /// Gets what costs the service least: shows what the clients themselves can do.
    Idle,
}

/// How long requests of one kind took.
#[derive(Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// How many there were.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that this share of them did not exceed, 0.0 to 1.0; zero when there were none.
    pub fn quantile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    }
}

/// What the clients have seen.
#[derive(Debug, Default)]
pub struct Figures {
    /// Jobs posted.
    pub posts: Times,
    /// Everything that was got.
    pub looks: Times,
    /// Jobs that were seen ended with a result.
    pub done: usize,
    /// Answers other than 200, jobs that failed, connections that broke.
    pub errors: Vec<String>,
    /// How long it took in all.
    pub took: Duration,
}

/// Lets so many clients post `bodies` in turn, each for `length`; a patient one then waits for
/// the end of its job.
pub async fn load(
    base: &str,
    clients: usize,
    bodies: &[String],
    manner: Manner,
    length: Duration,
) -> Figures {
    let address = base.strip_prefix("http://").expect("an address over HTTP");
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..clients {
        let (address, body) = (address.to_owned(), bodies[number % bodies.len()].clone());
        tasks.spawn(async move {
            let mut figures = Figures::default();
            if let Err(error) = work(&address, &body, manner, begun + length, &mut figures).await {
                figures.errors.push(error.to_string());
            }
            figures
        });
    }
    let mut all = Figures::default();
    for figures in tasks.join_all().await {
        all.posts.0.extend(figures.posts.0);
        all.looks.0.extend(figures.looks.0);
        all.done += figures.done;
        all.errors.extend(figures.errors);
    }
    all.took = begun.elapsed();
    all
}

async fn work(
    address: &str,
    body: &str,
    manner: Manner,
    until: Instant,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let mut line = Line::open(address).await?;
    while Instant::now() < until {
        if let Manner::Idle = manner {
            line.exchange(Method::GET, "/healthz", "", &mut figures.looks).await?;
            continue;
        }
        let answer = line.exchange(Method::POST, "/v2/pre-recorded", body, &mut figures.posts).await?;
        let path = format!("/v2/pre-recorded/{}", serde_json::from_slice::<Accepted>(&answer)?.id);
        loop {
            if let Manner::Patient(pause) = manner {
                tokio::time::sleep(pause).await;
            }
            let answer = line.exchange(Method::GET, &path, "", &mut figures.looks).await?;
            let status = serde_json::from_slice::<Looked>(&answer)?.status;
            figures.done += usize::from(status == "done");
            anyhow::ensure!(status != "error", "a job failed");
            if status == "done" || matches!(manner, Manner::Eager) {
                break;
            }
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Accepted {
    id: String,
}

#[derive(Deserialize)]
struct Looked {
    status: String,
}

/// A connection that stays.
struct Line {
    address: String,
    sender: SendRequest<Full<Bytes>>,
}

impl Line {
    async fn open(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // Ends with the sender; a connection that breaks is an error of the request on it.
        tokio::spawn(connection);
        Ok(Self { address: address.to_owned(), sender })
    }

    /// One request, whose time is noted when it was answered well.
    async fn exchange(
        &mut self,
        method: Method,
        path: &str,
        body: &str,
        times: &mut Times,
    ) -> anyhow::Result<Bytes> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.address)
            .header("x-service-key", KEY)
            .header("content-type", "application/json")
            .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))?;
        let begun = Instant::now();
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        let answer = response.into_body().collect().await?.to_bytes();
        anyhow::ensure!(status == 200, "{path}: {status}");
        times.0.push(begun.elapsed());
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_sorted_times() {
        let times = Times([5, 1, 4, 2, 3].map(Duration::from_secs).to_vec());
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|share| times.quantile(share).as_secs()), [1, 3, 5, 5]);
        assert_eq!(Times::default().quantile(0.5), Duration::ZERO);
    }
}
