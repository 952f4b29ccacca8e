//! `[deliveries]` and `[[webhooks]]`: what is sent to receivers, and how often.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::ConfigError;
use super::sections::within;
use crate::model::event::Event;
use crate::model::id::AccountId;
use crate::model::secret::Secret;
use crate::model::webhook::Webhook;
use crate::net_guard::check_url;

/// `[deliveries]`: callbacks and webhooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Deliveries {
    /// Signs callbacks; webhooks have secrets of their own.
    pub callback_secret: Option<Secret>,
    /// Longest time until a receiver has answered.
    pub timeout_s: u64,
    /// Pauses after the first, second, … failed attempt; after the last the message is given up.
    pub retry_s: Vec<u64>,
    /// Messages on their way at a time.
    pub in_flight: u32,
    /// Of those, messages of one account.
    pub in_flight_per_account: u32,
    /// Of those, messages to one receiver (host and port).
    pub in_flight_per_receiver: u32,
}

impl Default for Deliveries {
    fn default() -> Self {
        Self {
            callback_secret: None,
            timeout_s: 10,
            retry_s: vec![1, 5, 30, 120, 600],
            in_flight: 64,
            in_flight_per_account: 16,
            in_flight_per_receiver: 4,
        }
    }
}

impl Deliveries {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("deliveries.timeout_s", self.timeout_s, 1, 60)?;
        within("deliveries.in_flight", self.in_flight.into(), 1, 1024)?;
        within("deliveries.in_flight_per_account", self.in_flight_per_account.into(), 1, 1024)?;
        within("deliveries.in_flight_per_receiver", self.in_flight_per_receiver.into(), 1, 1024)?;
        if self.retry_s.len() > 20 {
            return Err(ConfigError::invalid("deliveries.retry_s", "must not hold more than 20 pauses"));
        }
        for pause_s in &self.retry_s {
            within("deliveries.retry_s", *pause_s, 0, 86_400)?;
        }
        match &self.callback_secret {
            Some(secret) if secret.expose().is_empty() => {
                Err(ConfigError::invalid("deliveries.callback_secret", "must not be empty"))
            }
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhookFile {
    pub url: String,
    pub secret: Option<Secret>,
    pub events: Option<Vec<String>>,
    pub account: Option<String>,
}

/// The webhooks of the file. Two for the same address and account would be one.
pub(super) fn webhooks(files: Vec<WebhookFile>, allow_private: bool) -> Result<Vec<Webhook>, ConfigError> {
    let mut webhooks: Vec<Webhook> = Vec::new();
    for (at, file) in files.into_iter().enumerate() {
        let webhook = webhook(at, file, allow_private)?;
        if webhooks.iter().any(|other| other.id == webhook.id) {
            let problem = "must not be that of an earlier webhook of the same account";
            return Err(ConfigError::invalid(format!("webhooks.{at}.url"), problem));
        }
        webhooks.push(webhook);
    }
    Ok(webhooks)
}

fn webhook(at: usize, file: WebhookFile, allow_private: bool) -> Result<Webhook, ConfigError> {
    let invalid =
        |member: &str, problem: &str| ConfigError::invalid(format!("webhooks.{at}.{member}"), problem);
    check_url(&file.url, allow_private).map_err(|error| invalid("url", &error.to_string()))?;
    if file.secret.as_ref().is_some_and(|secret| secret.expose().is_empty()) {
        return Err(invalid("secret", "must not be empty"));
    }
    if file.account.as_ref().is_some_and(|name| !AccountId::is_valid(name)) {
        let problem = format!("{}; without it the webhook hears of every account", AccountId::RULE);
        return Err(invalid("account", &problem));
    }
    if file.events.as_ref().is_some_and(Vec::is_empty) {
        return Err(invalid("events", "must not be empty; without it the webhook hears of everything"));
    }
    let parse = |name: &String| Event::parse(name).ok_or_else(|| invalid("events", &one_of_events(name)));
    let events =
        file.events.map(|names| names.iter().map(parse).collect::<Result<Vec<_>, _>>()).transpose()?;
    Ok(Webhook {
        id: id(&file.url, file.account.as_deref()),
        account_id: file.account.map(AccountId),
        url: file.url,
        secret: file.secret,
        events,
        is_configured: true,
        created_ms: 0,
    })
}

fn one_of_events(name: &str) -> String {
    let names: Vec<&str> = Event::ALL.into_iter().map(Event::name).collect();
    format!("must hold names of events ({}), {name:?} is none", names.join(", "))
}

/// The same over restarts, so that what is owed to a webhook still finds it.
fn id(url: &str, account: Option<&str>) -> uuid::Uuid {
    let digest = Sha256::new().chain_update(account.unwrap_or_default()).chain_update([0]).chain_update(url);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.finalize()[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::super::{from_text, show};
    use super::*;

    const WEBHOOK: &str = "[[webhooks]]\nurl = \"https://u:p@hooks.example/path\"\n";

    #[test]
    fn webhooks_have_ids_that_stay() {
        let other = "[[webhooks]]\nurl = \"https://hooks.example/b\"\naccount = \"shop\"\nsecret = \"s\"\n";
        let both = from_text(&format!("{other}{WEBHOOK}")).unwrap().webhooks;
        let alone = from_text(WEBHOOK).unwrap().webhooks;
        assert_eq!(both[1], alone[0]);
        assert_ne!(both[0].id, both[1].id);
        assert_eq!(both[0].account_id, Some(AccountId("shop".to_owned())));
        assert!(alone[0].account_id.is_none() && alone[0].events.is_none() && alone[0].is_configured);
    }

    #[test]
    fn wrong_settings_are_refused_by_name() {
        for (text, setting) in [
            ("[deliveries]\ntimeout_s = 0", "deliveries.timeout_s"),
            ("[deliveries]\nretry_s = [86401]", "deliveries.retry_s"),
            ("[deliveries]\ncallback_secret = \"\"", "deliveries.callback_secret"),
            ("[[webhooks]]\nurl = \"http://127.0.0.1/\"", "webhooks.0.url"),
            ("[[webhooks]]\nurl = \"https://a.example\"\nevents = [\"x\"]", "webhooks.0.events"),
            ("[[webhooks]]\nurl = \"https://a.example\"\nevents = []", "webhooks.0.events"),
            ("[[webhooks]]\nurl = \"https://a.example\"\nsecret = \"\"", "webhooks.0.secret"),
            ("[[webhooks]]\nurl = \"https://a.example\"\naccount = \"\"", "webhooks.0.account"),
            (&WEBHOOK.repeat(2), "webhooks.1.url"),
        ] {
            let error = from_text(text).unwrap_err();
            assert!(error.starts_with(&format!("{setting} must ")), "{error}");
        }
        assert!(from_text("allow_private_urls = true\n[[webhooks]]\nurl = \"http://127.0.0.1/\"").is_ok());
        assert!(from_text("[deliveries]\nretry_s = []").is_ok());
    }

    #[test]
    fn neither_secrets_nor_paths_are_shown() {
        let text = format!("[deliveries]\ncallback_secret = \"hush\"\n{WEBHOOK}secret = \"hush\"\n");
        let config = from_text(&text).unwrap();
        for shown in [show(&config), format!("{:?}", config.deliveries)] {
            assert!(
                !shown.contains("hush") && !shown.contains("path\"") && !shown.contains("u:p"),
                "{shown}"
            );
        }
        assert!(show(&config).contains("deliveries.callback_secret = \"(hidden)\""));
        assert!(
            show(&config)
                .contains("hooks.example:443 (path hidden): every account, every event, with a secret")
        );
    }
}
