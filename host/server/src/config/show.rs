//! The effective configuration as text that can be shown to anybody.

use std::fmt::Write;

use ipnet::IpNet;
use serde_json::{Map, Value, json};
use url::Url;

use super::plans;
use super::settings::{ApiKey, Config};
use crate::model::event::Event;
use crate::model::plan::Policy;
use crate::model::webhook::{Webhook, receiver_of};

/// Every setting with its effective value, as TOML lines with dotted keys. Keys and digests
/// of keys are hidden.
pub fn show(config: &Config) -> String {
    let mut text = String::new();
    lines(&mut text, "", &shown(config));
    text
}

fn shown(config: &Config) -> Value {
    let models: Value = config
        .models
        .iter()
        .map(|(name, model)| {
            let shown = json!({
                "file": model.file, "languages": model.languages, "code_switching": model.code_switching,
            });
            (name.clone(), shown)
        })
        .collect::<Map<_, _>>()
        .into();
    let mut addons = json!(config.addons.by_name);
    addons["log_text"] = json!(config.addons.log_text);
    addons["folders"] = json!(config.paths.addon_folders);
    addons["built_in_folders"] = json!(config.paths.built_in_addons);
    json!({
        "listen": config.listen,
        "data_dir": config.paths.data_dir,
        "database_url": format!("sqlite:{}", config.paths.database_file.display()),
        "models_dir": config.paths.models_dir,
        "compiled_addons_dir": config.paths.compiled_addons_dir,
        "model_source": config.model_source,
        "model_hub_url": config.model_hub_url.as_deref().map(without_secrets),
        "public_base_url": config.public_base_url,
        "trusted_proxies": config.trusted_proxies.as_ref().map(|all| all.iter().map(IpNet::to_string).collect::<Vec<_>>()),
        "allow_private_urls": config.allow_private_urls,
        "extra_ca_file": config.authorities.file(),
        "auth": {
            "header_aliases": config.auth.header_aliases,
            "keys": config.auth.keys.iter().map(key).collect::<Vec<_>>(),
            "TYMPAN_API_KEY": config.auth.bootstrap_key.as_ref().map(|_| "(hidden)"),
        },
        "cors": config.cors,
        "default_plan": config.plans.default_plan(),
        "plans": config.plans.by_name().iter().map(|(name, plan)| (name.clone(), plans::shown(plan)))
            .collect::<Map<_, _>>(),
        "accounts": config.plans.by_account().iter().map(|(name, plan)| (name.0.clone(), account(plan)))
            .collect::<Map<_, _>>(),
        "models": models,
        "model_aliases": config.model_aliases,
        "addons": addons,
        "limits": config.limits,
        "worker": config.worker,
        "speech": config.speech,
        "fetch": config.fetch,
        "deliveries": config.deliveries,
        "webhooks": config.webhooks.iter().map(webhook).collect::<Vec<_>>(),
        "log": config.log,
        "otlp": config.otlp,
    })
}

/// An address without what it says in front of its host, and without its query.
fn without_secrets(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return text.to_owned() };
    if url.password().is_some() || !url.username().is_empty() {
        // Both fail for addresses without a host only, which have nothing to hide.
        let _ = url.set_username("hidden");
        let _ = url.set_password(None);
    } else if url.query().is_none() {
        return text.to_owned();
    }
    if url.query().is_some() {
        url.set_query(Some("hidden"));
    }
    url.to_string()
}

fn key(key: &ApiKey) -> String {
    format!("{} (hidden{})", key.account, if key.is_admin { ", admin" } else { "" })
}

fn account(policy: &Policy) -> Value {
    json!({
        "plan": policy.plan,
        "retention": policy.retention,
        "zero_retention": policy.zero_retention,
    })
}

/// In one line. The path of such an address is often all that keeps strangers out.
fn webhook(webhook: &Webhook) -> String {
    let account = webhook.account_id.as_ref().map_or("every account", |account| &account.0);
    let events = webhook.events.as_ref().map_or_else(
        || "every event".to_owned(),
        |events| events.iter().copied().map(Event::name).collect::<Vec<_>>().join(" "),
    );
    let secret = if webhook.secret.is_some() { "with a secret" } else { "without a secret" };
    format!("{} (path hidden): {account}, {events}, {secret}", receiver_of(&webhook.url))
}

/// JSON and TOML write texts, numbers, booleans and lists of them alike.
fn lines(text: &mut String, prefix: &str, value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                lines(text, &key, member);
            }
        }
        Value::Null => {
            let _ = writeln!(text, "# {prefix} is not set");
        }
        _ => {
            let _ = writeln!(text, "{prefix} = {value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret::Secret;

    #[test]
    fn secrets_are_hidden_and_everything_else_is_shown() {
        let mut config = super::super::from_text("[accounts.shop]\nplan = \"paid\"").unwrap();
        config.auth.bootstrap_key = Some(Secret::new("very-secret"));
        config.auth.keys.push(super::super::settings::ApiKey {
            account: "shop".into(),
            sha256: [0xab; 32],
            is_admin: true,
        });
        assert!(!format!("{config:?}").contains("very-secret"));
        config.model_hub_url = Some("https://me:very-secret@hub.example/models?key=very-secret".to_owned());
        let text = show(&config);
        assert!(!text.contains("very-secret") && !text.contains("abab"), "{text}");
        for line in [
            "model_hub_url = \"https://hidden@hub.example/models?hidden\"",
            "listen = \"127.0.0.1:8080\"",
            "auth.keys = [\"shop (hidden, admin)\"]",
            "auth.TYMPAN_API_KEY = \"(hidden)\"",
            "models.stt-3.languages = [\"en\",\"fr\",\"de\",\"es\",\"it\"]",
            "# public_base_url is not set",
            "limits.upload_bytes = 2000000000",
            "default_plan = \"enterprise\"",
            "plans.free.concurrent_prerecorded = 3",
            "plans.enterprise.credits = \"unlimited\"",
            "plans.free.retention.audio_days = 365",
            "accounts.shop.plan = \"paid\"",
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line} in\n{text}");
        }
    }
}
