//! An address that hears of all jobs of an account.

use url::Url;
use uuid::Uuid;

use super::event::Event;
use super::id::AccountId;
use super::secret::Secret;

/// A registered receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its id.
    pub id: Uuid,
    /// Whose jobs it hears of; absent: everybody's.
    pub account_id: Option<AccountId>,
    /// http or https.
    pub url: String,
    /// Signs what is sent to it.
    pub secret: Option<Secret>,
    /// What it hears of; absent: everything.
    pub events: Option<Vec<Event>>,
    /// It stands in the configuration, and goes when it is taken out there.
    pub is_configured: bool,
    /// When it was registered, milliseconds since 1970.
    pub created_ms: i64,
}

impl Webhook {
    /// Whether it wants to be told of `event`.
    pub fn hears_of(&self, event: Event) -> bool {
        self.events.as_ref().is_none_or(|events| events.contains(&event))
    }
}

/// `host:port` of an address: what is slow or down together. Empty for text that is no URL.
pub fn receiver_of(url: &str) -> String {
    let parsed = Url::parse(url.trim()).ok();
    let parts = parsed.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?)));
    parts.map(|(host, port)| format!("{host}:{port}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_are_named_without_credentials_path_and_query() {
        for (url, receiver) in [
            ("https://user:secret@Hooks.Example/a?token=1", "hooks.example:443"),
            (" http://127.1:8080/ ", "127.0.0.1:8080"),
            ("http://[::1]/", "[::1]:80"),
            ("no url", ""),
        ] {
            assert_eq!(receiver_of(url), receiver);
        }
    }

    #[test]
    fn a_webhook_hears_of_what_it_chose_or_of_everything() {
        let mut webhook = Webhook {
            id: Uuid::nil(),
            account_id: None,
            url: String::new(),
            secret: Some(Secret::new("hush")),
            events: None,
            is_configured: false,
            created_ms: 0,
        };
        assert!(Event::ALL.iter().all(|event| webhook.hears_of(*event)));
        webhook.events = Some(vec![Event::TranscriptionError]);
        assert!(
            webhook.hears_of(Event::TranscriptionError) && !webhook.hears_of(Event::TranscriptionSuccess)
        );
        assert!(!format!("{webhook:?}").contains("hush"));
    }
}
