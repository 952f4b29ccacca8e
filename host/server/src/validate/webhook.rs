//! The registration of a webhook.

use serde_json::{Map, Value};

use super::fields::Fields;
use super::problems::{Problems, Rejection};
use crate::model::event::Event;
use crate::model::id::AccountId;
use crate::model::secret::Secret;
use crate::net_guard::check_url;

/// Longest secret, characters.
pub(super) const MOST_CHARS: usize = 256;

/// A webhook as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookWish {
    /// http or https.
    pub url: String,
    /// Signs what is sent.
    pub secret: Option<Secret>,
    /// Absent: everything.
    pub events: Option<Vec<Event>>,
    /// Absent: every account.
    pub account_id: Option<AccountId>,
}

/// Reads the body of a registration.
///
/// # Errors
/// [`Rejection`] with every field that must change.
pub fn webhook(body: &Map<String, Value>, allow_private: bool) -> Result<WebhookWish, Rejection> {
    let mut problems = Problems::default();
    let fields = Fields::root(body);
    if fields.get("url").is_none() {
        problems.invalid("url is required");
    }
    let url = fields.text("url", &mut problems).unwrap_or_default().trim();
    if fields.get("url").is_some_and(Value::is_string)
        && let Err(error) = check_url(url, allow_private)
    {
        problems.invalid(format!("url {error}"));
    }
    let secret = secret(&fields, &mut problems);
    let account_id = fields.text("account", &mut problems).map(|name| AccountId(name.to_owned()));
    if account_id.as_ref().is_some_and(|account| !AccountId::is_valid(&account.0)) {
        problems.invalid(format!("account {}", AccountId::RULE));
    }
    let events = events(&fields, &mut problems);
    problems.verdict()?;
    Ok(WebhookWish { url: url.to_owned(), secret, events, account_id })
}

fn secret(fields: &Fields<'_>, problems: &mut Problems) -> Option<Secret> {
    let text = fields.text("secret", problems)?;
    if !(1..=MOST_CHARS).contains(&text.chars().count()) {
        problems.invalid(format!("secret must have 1 to {MOST_CHARS} characters"));
    }
    Some(Secret::new(text))
}

fn events(fields: &Fields<'_>, problems: &mut Problems) -> Option<Vec<Event>> {
    let names = fields.list("events", problems)?;
    if names.is_empty() {
        problems.invalid("events must not be empty; without it the webhook hears of everything");
    }
    let mut events = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match name.as_str().and_then(Event::parse) {
            Some(event) => events.push(event),
            None => {
                let known: Vec<&str> = Event::ALL.into_iter().map(Event::name).collect();
                problems.invalid(format!("events.{at} must be one of {}", known.join(", ")));
            }
        }
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: Value) -> Result<WebhookWish, Vec<String>> {
        let body = body.as_object().expect("an object");
        webhook(body, false).map_err(|rejection| match rejection {
            Rejection::Invalid(entries) | Rejection::Contradictory(entries) => entries,
        })
    }

    #[test]
    fn a_registration_needs_only_an_address() {
        let url = "https://hooks.example/a";
        let wish = read(json!({"url": url, "secret": null})).expect("is valid");
        assert_eq!(wish, WebhookWish { url: url.into(), secret: None, events: None, account_id: None });
        let wish = read(json!({"url": url, "secret": "s", "events": ["live.end_session"], "account": "a"}));
        let wish = wish.expect("is valid");
        assert_eq!(wish.events, Some(vec![Event::LiveEndSession]));
        assert_eq!(wish.account_id, Some(AccountId("a".into())));
        assert_eq!(wish.secret.map(|secret| secret.expose().to_owned()).as_deref(), Some("s"));
    }

    #[test]
    fn every_wrong_field_is_named() {
        for (body, start) in [
            (json!({}), "url is required"),
            (json!({"url": 1}), "url must be a string"),
            (json!({"url": "ftp://a.example"}), "url must use"),
            (json!({"url": "http://10.0.0.1/"}), "url must point to a public"),
            (json!({"url": "http://a.example", "secret": ""}), "secret must have"),
            (json!({"url": "http://a.example", "secret": "s".repeat(257)}), "secret must have"),
            (json!({"url": "http://a.example", "account": ""}), "account must have"),
            (
                json!({"url": "http://a.example", "account": "é".repeat(AccountId::MOST_CHARS + 1)}),
                "account must have",
            ),
            (json!({"url": "http://a.example", "account": " a"}), "account must have"),
            (json!({"url": "http://a.example", "account": "a\nb"}), "account must have"),
            (json!({"url": "http://a.example", "events": []}), "events must not be empty"),
            (json!({"url": "http://a.example", "events": "x"}), "events must be an array"),
            (
                json!({"url": "http://a.example", "events": ["live.end_session", "x"]}),
                "events.1 must be one of",
            ),
        ] {
            let entries = read(body).expect_err(start);
            assert!(entries.len() == 1 && entries[0].starts_with(start), "{entries:?}");
        }
        for (member, most) in [("secret", 256), ("account", 64)] {
            for length in [1, most - 1, most] {
                let body = json!({"url": "http://a.example", member: "é".repeat(length)});
                assert!(read(body).is_ok(), "{member} of {length} characters");
            }
        }
    }
}
