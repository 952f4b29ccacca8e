//! One request to one receiver.

use std::time::Duration;

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{Body, Client, Method};

use super::body::{Message, Unreadable};
use super::failure::Failure;
use super::settings::Settings;
use super::sign::Signature;
use crate::model::code::Code;
use crate::model::job::CallbackMethod;
use crate::model::secret::Secret;
use crate::net_guard::{self, apart, check_url};
use crate::store::DeliveryClaim;

/// The client of all deliveries. Connections are not kept: the next message to a receiver is
/// usually far away, and an answer's body is not read.
pub(super) fn client(settings: &Settings) -> Result<Client, reqwest::Error> {
    net_guard::client(settings.allow_private, &settings.authorities, |builder| {
        builder.connect_timeout(settings.timeout).pool_max_idle_per_host(0)
    })
}

/// Sends a message and waits for the status of the answer; its body is left unread, so that
/// it may be as long or slow as it likes.
pub(super) async fn post(
    client: &Client,
    settings: &Settings,
    claim: &DeliveryClaim,
    message: Message,
    secret: Option<&Secret>,
    timestamp_s: i64,
) -> Result<(), Failure> {
    let delivery = &claim.delivery;
    let url = check_url(&delivery.url, settings.allow_private).map_err(Failure::Url)?;
    let method = match delivery.method {
        CallbackMethod::Post => Method::POST,
        CallbackMethod::Put => Method::PUT,
    };
    let unreadable = |error: Unreadable| Failure::ours(claim, "read the result", error.code(), &error);
    let timestamp = timestamp_s.to_string();
    let mut request = client
        .request(method, url)
        .header(CONTENT_TYPE, "application/json")
        .header(CONTENT_LENGTH, message.size_bytes())
        .header("x-service-event", delivery.event.name())
        .header("x-service-delivery", delivery.id.to_string())
        .header("x-service-timestamp", &timestamp);
    if let Some(secret) = secret {
        let signature = message.sign(Signature::begin(secret, &timestamp)).await;
        request = request.header("x-service-signature", signature.map_err(unreadable)?);
    }
    let pieces = message.pieces().await.map_err(unreadable)?;
    let limit: Duration = settings.time_for(message.size_bytes());
    // A limit of our own around the whole, because a receiver may also stop reading.
    let sending = request.body(Body::wrap_stream(pieces)).send();
    let sent = tokio::time::timeout(limit, apart(sending)).await.map_err(|_| Failure::Timeout)?;
    let answered =
        sent.map_err(|error| Failure::ours(claim, "start a thread", Code::of_disk(&error), &error))?;
    let answer = answered.map_err(|error| Failure::of_request(claim, &error))?;
    match answer.status().as_u16() {
        200..=299 => Ok(()),
        status @ 300..=399 => Err(Failure::Redirect(status)),
        status => Err(Failure::Status(status)),
    }
}
