//! The download itself: one request per redirect, then the body in pieces to disk.

use std::error::Error;
use std::time::{Duration, Instant, SystemTime};

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER,
};
use reqwest::{Client, Response, StatusCode};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::error::FetchError;
use super::filename::filename;
use super::policy::{FetchPolicy, Fetched};
use crate::net_guard::{self, BlockedAddress, CertificateFault, apart, check_url};

/// Longest Retry-After that is believed.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60 * 60);

/// What must arrive within the time that a host may be idle: at the usual 30 s less than 4.5
/// kbit/s, at which no recording could be listened to.
const LEAST_BYTES: u64 = 16 * 1024;

/// Fetches `url` into `into`, from its current position on, and flushes it. Stops as soon as
/// `cancel` fires. After an error the content of `into` is undefined.
///
/// # Errors
/// [`FetchError`]; its kind says whether another attempt can help.
pub async fn fetch(
    url: &str,
    policy: &FetchPolicy,
    into: &mut File,
    cancel: &CancellationToken,
) -> Result<Fetched, FetchError> {
    let into = into.try_clone().await.map_err(FetchError::Store)?;
    let whole = apart(download(url.to_owned(), policy.clone(), into));
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(FetchError::Cancelled),
        outcome = tokio::time::timeout(policy.total_timeout, whole) => {
            outcome.map_err(|_| FetchError::Timeout)?.map_err(FetchError::Thread)?
        }
    }
}

async fn download(url: String, policy: FetchPolicy, mut into: File) -> Result<Fetched, FetchError> {
    let client = client(&policy)?;
    let (response, target) = follow(&client, &url, &policy).await?;
    store(response, &target, &policy, &mut into).await
}

fn client(policy: &FetchPolicy) -> Result<Client, FetchError> {
    let client = net_guard::client(policy.allow_private, &policy.authorities, |builder| {
        builder
            .connect_timeout(policy.connect_timeout)
            .read_timeout(policy.idle_timeout)
            .pool_max_idle_per_host(0)
    });
    client.map_err(|_| FetchError::Client)
}

/// Asks for `url` and follows redirects; returns the final answer and the URL that gave it.
async fn follow(client: &Client, url: &str, policy: &FetchPolicy) -> Result<(Response, Url), FetchError> {
    let mut target = check_url(url, policy.allow_private)?;
    for _ in 0..=policy.max_redirects {
        let response = request(client, &target).await?;
        if !is_redirect(response.status()) {
            return check_answer(response).map(|response| (response, target));
        }
        target = redirect_target(&response, &target, policy.allow_private)?;
    }
    Err(FetchError::TooManyRedirects(policy.max_redirects))
}

async fn request(client: &Client, url: &Url) -> Result<Response, FetchError> {
    // User name and password of the URL become an authorization header for this target only.
    client
        .get(url.clone())
        .header(ACCEPT, HeaderValue::from_static("*/*"))
        .header(ACCEPT_ENCODING, HeaderValue::from_static("identity"))
        .send()
        .await
        .map_err(|cause| classify(&cause))
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn redirect_target(response: &Response, from: &Url, allow_private: bool) -> Result<Url, FetchError> {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let joined = location.and_then(|text| from.join(text).ok()).ok_or(FetchError::RedirectWithoutTarget)?;
    check_url(joined.as_str(), allow_private).map_err(FetchError::RedirectTarget)
}

fn check_answer(response: Response) -> Result<Response, FetchError> {
    let status = response.status().as_u16();
    match status {
        200 | 203 => {}
        408 | 425 | 429 | 500..=599 => {
            return Err(FetchError::Busy { status, retry_after: retry_after(response.headers()) });
        }
        _ => return Err(FetchError::Status(status)),
    }
    let encoding = response.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(FetchError::Encoded);
    }
    Ok(response)
}

/// Seconds or an HTTP date (RFC 9110, section 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let at = OffsetDateTime::parse(&text.replace("GMT", "+0000"), &Rfc2822).ok()?;
            SystemTime::from(at).duration_since(SystemTime::now()).unwrap_or_default()
        }
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

async fn store(
    mut response: Response,
    url: &Url,
    policy: &FetchPolicy,
    into: &mut File,
) -> Result<Fetched, FetchError> {
    let too_large = FetchError::TooLarge(policy.max_bytes);
    if response.content_length().is_some_and(|announced| announced > policy.max_bytes) {
        return Err(too_large);
    }
    let filename = filename(response.headers(), url);
    let mut digest = Sha256::new();
    let mut size_bytes = 0u64;
    let (mut began, mut before_bytes) = (Instant::now(), 0);
    while let Some(piece) = response.chunk().await.map_err(|cause| classify(&cause))? {
        size_bytes += piece.len() as u64;
        if size_bytes > policy.max_bytes {
            return Err(too_large);
        }
        // A host that sends a byte now and then is never idle, and would keep its job and its
        // connection for long.
        if began.elapsed() >= policy.idle_timeout {
            if size_bytes - before_bytes < LEAST_BYTES {
                return Err(FetchError::Timeout);
            }
            (began, before_bytes) = (Instant::now(), size_bytes);
        }
        digest.update(&piece);
        into.write_all(&piece).await.map_err(FetchError::Store)?;
    }
    into.flush().await.map_err(FetchError::Store)?;
    Ok(Fetched { size_bytes, sha256: hex::encode(digest.finalize()), filename })
}

/// Reduces an error of the HTTP client to what may be told.
fn classify(error: &reqwest::Error) -> FetchError {
    if let Some(fault) = CertificateFault::of(error) {
        return FetchError::Certificate(fault);
    }
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = source {
        if cause.is::<BlockedAddress>() {
            return FetchError::Blocked;
        }
        source = cause.source();
    }
    if error.is_timeout() {
        return FetchError::Timeout;
    }
    if error.is_dns() && names_no_host(error) { FetchError::NoSuchHost } else { FetchError::Connection }
}

/// The system's resolver tells "no such name" from "ask again later" only in its text.
fn names_no_host(error: &reqwest::Error) -> bool {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = source {
        let text = cause.to_string();
        if text.contains("not known") || text.contains("No address associated") {
            return true;
        }
        source = cause.source();
    }
    false
}
