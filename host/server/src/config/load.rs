//! From file and environment to settings.

use std::io::Read;
use std::net::IpAddr;
use std::path::Path;

use ipnet::IpNet;

use super::deliveries::webhooks;
use super::environment::Environment;
use super::error::ConfigError;
use super::file::File;
use super::otlp::Otlp;
use super::paths::Paths;
use super::plans::plans;
use super::settings::{Addons, Config};
use super::tables::{addons, aliases, auth, models};
use crate::net_guard::Authorities;

/// Listens here unless told otherwise: only this machine can reach it.
const LISTEN: &str = "127.0.0.1:8080";

/// The file that is read when `TYMPAN_CONFIG` names none; it need not exist.
const FILE: &str = "tympan.toml";

/// Longest file that is read: a device or a recording named by mistake does not fill the memory.
const MOST_FILE_BYTES: u64 = 16_000_000;

/// Reads `tympan.toml` (or the file that `TYMPAN_CONFIG` names) and the environment.
///
/// # Errors
/// [`ConfigError`]: a sentence that names the setting and what to change.
pub fn load() -> Result<Config, ConfigError> {
    let environment = Environment::of_process();
    let file = match environment.path("TYMPAN_CONFIG") {
        Some(path) => read(&path)?,
        None if Path::new(FILE).exists() => read(Path::new(FILE))?,
        None => File::default(),
    };
    let executable = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    settle(file, &environment, executable.as_deref())
}

fn read(path: &Path) -> Result<File, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MOST_FILE_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST_FILE_BYTES {
        return Err(failed(std::io::Error::other("it has more than 16 MB")));
    }
    parse(&text).map_err(|message| ConfigError::Syntax { path: path.to_owned(), message })
}

/// What is wrong, with its line and setting. The line itself is not shown: it may hold a secret.
fn parse(text: &str) -> Result<File, String> {
    let located = |error: &toml::de::Error, setting: &str| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        format!("line {}: {setting}{}", before.matches('\n').count() + 1, error.message().trim_end())
    };
    let document = toml::Deserializer::parse(text).map_err(|error| located(&error, ""))?;
    serde_path_to_error::deserialize(document).map_err(|error| match error.path().to_string() {
        root if root == "." => located(error.inner(), ""),
        setting => located(error.inner(), &format!("{setting}: ")),
    })
}

fn settle(
    mut file: File,
    environment: &Environment,
    executable: Option<&Path>,
) -> Result<Config, ConfigError> {
    let rest = environment.override_file(&mut file)?;
    let paths = Paths::resolve(&file, rest.addon_folders, environment, executable)?;
    file.limits.check()?;
    file.worker.check()?;
    file.speech.check()?;
    file.fetch.check()?;
    file.deliveries.check()?;
    let models = models(file.models)?;
    Ok(Config {
        listen: listen(file.listen)?,
        paths,
        model_source: file.model_source,
        model_hub_url: file.model_hub_url.map(hub_url).transpose()?,
        public_base_url: file.public_base_url.map(|url| base_url(&url)).transpose()?,
        trusted_proxies: file.trusted_proxies.map(proxies).transpose()?,
        allow_private_urls: file.allow_private_urls,
        auth: auth(file.auth, rest.bootstrap_key)?,
        cors: file.cors.check()?,
        plans: plans(file.plans, file.accounts, file.default_plan)?,
        model_aliases: aliases(file.model_aliases, &models)?,
        models,
        addons: Addons { log_text: file.addons.log_text, by_name: addons(file.addons.by_name)? },
        limits: file.limits,
        worker: file.worker,
        speech: file.speech,
        fetch: file.fetch,
        deliveries: file.deliveries,
        webhooks: webhooks(file.webhooks, file.allow_private_urls)?,
        log: file.log,
        otlp: Otlp::new(file.otlp, rest.traces)?,
        authorities: file.extra_ca_file.as_deref().map(authorities).transpose()?.unwrap_or_default(),
    })
}

fn listen(address: Option<String>) -> Result<String, ConfigError> {
    let Some(address) = address else { return Ok(LISTEN.to_owned()) };
    let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
    match port.map(str::parse::<u16>) {
        Some(Ok(_)) => Ok(address),
        _ => Err(ConfigError::invalid("listen", "must have the form HOST:PORT")),
    }
}

fn base_url(text: &str) -> Result<String, ConfigError> {
    let refused = |problem| Err(ConfigError::invalid("public_base_url", problem));
    let Ok(url) = url::Url::parse(text) else {
        return refused("must be a URL such as https://speech.example");
    };
    if !matches!(url.scheme(), "http" | "https") {
        return refused("must begin with http:// or https://");
    }
    // Clients resolve absolute paths against the origin, so that a path prefix would be lost.
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return refused("must be an origin without a path");
    }
    Ok(url.origin().ascii_serialization())
}

fn hub_url(text: String) -> Result<String, ConfigError> {
    let is_web = |url: url::Url| matches!(url.scheme(), "http" | "https");
    match url::Url::parse(&text).is_ok_and(is_web) {
        true => Ok(text),
        false => {
            let problem = "must be a URL that begins with http:// or https://";
            Err(ConfigError::invalid("model_hub_url", problem))
        }
    }
}

fn authorities(path: &Path) -> Result<Authorities, ConfigError> {
    Authorities::read(path).map_err(|error| ConfigError::invalid("extra_ca_file", error.to_string()))
}

fn proxies(texts: Vec<String>) -> Result<Vec<IpNet>, ConfigError> {
    let network =
        |text: &String| text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
    let refused = |text: &String| {
        let problem = format!("must hold addresses or networks such as 10.0.0.0/8, {text:?} is none");
        ConfigError::invalid("trusted_proxies", problem)
    };
    texts.iter().map(|text| network(text).ok_or_else(|| refused(text))).collect()
}

/// The configuration that a file with this text gives in an otherwise empty environment.
#[cfg(test)]
pub(crate) fn from_text(text: &str) -> Result<Config, String> {
    let file = parse(text)?;
    settle(file, &Environment::of(&[("HOME", "/h")]), None).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_wrong_is_counted_and_not_shown() {
        for text in ["\n[deliveries]\ncallback_secret = \"hush", "\n\n[[webhooks]]\nsecrt = \"hush\""] {
            let error = from_text(text).unwrap_err();
            assert!(error.starts_with("line ") && !error.contains("hush"), "{error}");
        }
        assert!(from_text("a = 1").unwrap_err().starts_with("line 1: a: unknown field"));
    }

    #[test]
    fn an_empty_file_gives_the_defaults() {
        let config = from_text("").unwrap();
        assert_eq!(config.listen, "127.0.0.1:8080");
        assert_eq!(config.limits.upload_bytes, 2_000_000_000);
        assert_eq!(config.worker.retry_horizon_s, 7200);
        assert!(config.auth.keys.is_empty() && config.auth.bootstrap_key.is_none());
        assert!(!config.allow_private_urls);
        assert_eq!(config.models["stt-3"].languages, ["en", "fr", "de", "es", "it"]);
        assert!(!config.models["stt-3"].code_switching);
        assert_eq!(config.model_aliases["solaria-1"], "stt-1");
    }

    #[test]
    fn a_model_keeps_what_the_file_does_not_change() {
        let config =
            from_text("[models.stt-3]\nfile = \"x.bin\"\n[models.big]\nlanguages = [\"en-US\"]").unwrap();
        assert_eq!(config.models["stt-3"].file, Path::new("x.bin"));
        assert!(!config.models["stt-3"].code_switching);
        assert_eq!(config.models["big"].languages, ["en"]);
    }

    #[test]
    fn addons_have_settings_of_their_own_beside_those_of_all() {
        let config = from_text(
            "[addons]\nlog_text = true\nfolders = [\"/x\"]\n[addons.call_report]\nforce = true\ngrants = [\"raw-text\"]",
        )
        .unwrap();
        assert!(config.addons.log_text);
        assert_eq!(config.paths.addon_folders[1], Path::new("/x"));
        assert!(config.addons.by_name["call_report"].force);
        assert!(config.addons.by_name["call_report"].enabled);
    }

    #[test]
    fn unknown_keys_are_refused_by_name() {
        for (text, key) in [
            ("colour = 1", "colour"),
            ("[limits]\nupload = 1", "upload"),
            ("[auth]\nkey = \"x\"", "key"),
            ("[addons.ab]\nforced = true", "forced"),
            ("[models.stt-1]\npath = \"x\"", "path"),
        ] {
            let error = from_text(text).unwrap_err();
            assert!(error.contains(&format!("`{key}`")), "{error}");
        }
    }

    #[test]
    fn values_of_another_type_are_refused_with_line_and_setting() {
        for (text, start) in [
            ("[log]\nformat = \"xml\"", "line 2: log.format: unknown variant"),
            ("[fetch]\nmax_redirects = -1", "line 2: fetch.max_redirects: invalid value"),
            ("[plans.free]\nwhen_full = \"drop\"", "line 2: plans.free.when_full: unknown variant"),
            ("[accounts.clinic]\nzero_retention = true", "line 1: accounts.clinic: missing field `plan`"),
        ] {
            let error = from_text(text).unwrap_err();
            assert!(error.starts_with(start), "{text}: {error}");
        }
    }

    const SAME_KEY_TWICE: &str = "
        [[auth.keys]]
        account = \"first\"
        sha256 = \"abababababababababababababababababababababababababababababababab\"
        [[auth.keys]]
        account = \"second\"
        sha256 = \"ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB\"";

    #[test]
    fn values_that_cannot_be_used_are_refused_by_setting() {
        for (text, setting) in [
            ("listen = \"8080\"", "listen"),
            ("extra_ca_file = \"/nowhere.pem\"", "extra_ca_file"),
            ("public_base_url = \"https://a.example/x\"", "public_base_url"),
            ("public_base_url = \"ftp://a.example\"", "public_base_url"),
            ("trusted_proxies = [\"10.0.0.1\", \"10.0.0.0/33\"]", "trusted_proxies"),
            ("[limits]\nupload_bytes = 0", "limits.upload_bytes"),
            ("[worker]\nretry_horizon_s = 7201", "worker.retry_horizon_s"),
            ("[[auth.keys]]\naccount = \"a\"\nsha256 = \"12\"", "auth.keys.0.sha256"),
            (SAME_KEY_TWICE, "auth.keys.1.sha256"),
            ("[auth]\nheader_aliases = [\"a b\"]", "auth.header_aliases"),
            ("[auth]\nheader_aliases = [\"\"]", "auth.header_aliases"),
            ("[auth]\nheader_aliases = [\"Host\"]", "auth.header_aliases"),
            ("[model_aliases]\nx = \"nothing\"", "model_aliases.x"),
            ("[models.stt-1]\nlanguages = [\"xx\"]", "models.stt-1.languages"),
            ("model_hub_url = \"file:///x\"", "model_hub_url"),
            ("model_hub_url = \"hub.example\"", "model_hub_url"),
            ("[models.stt-1]\nfile = \"../../etc/passwd\"", "models.stt-1.file"),
            ("[models.stt-1]\nfile = \"\"", "models.stt-1.file"),
            ("[addons.\"Bad Name\"]", "addons.Bad Name"),
            ("[addons.ab]\ngrants = [\"raw-text\", \"everything\"]", "addons.ab.grants"),
            ("[addons.ab]\nsha256 = \"zz\"", "addons.ab.sha256"),
            ("[addons.ab]\nmemory_mb = 0", "addons.ab.memory_mb"),
            ("[addons.ab]\nmemory_mb = 513", "addons.ab.memory_mb"),
            ("[addons.ab]\noutput_mb = 513", "addons.ab.output_mb"),
            ("[addons.ab]\ntimeout_ms = 7200001", "addons.ab.timeout_ms"),
        ] {
            let error = from_text(text).unwrap_err();
            assert!(error.starts_with(&format!("{setting} must ")), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_are_taken_at_both_ends_of_their_range_and_not_beyond() {
        for (section, key, least, most) in [
            ("limits", "upload_bytes", 1, u64::MAX / 2),
            ("limits", "audio_duration_s", 1, 31_536_000),
            ("limits", "json_body_bytes", 1024, 67_108_864),
            ("limits", "queued_jobs", 1, u64::MAX / 2),
            ("limits", "connections", 1, 65_536),
            ("limits", "header_timeout_s", 1, 600),
            ("limits", "body_timeout_s", 1, 600),
            ("limits", "upload_timeout_s", 1, 86_400),
            ("worker", "slots", 1, 256),
            ("worker", "retry_horizon_s", 1, 7200),
            ("worker", "lease_s", 5, 3600),
            ("worker", "shutdown_grace_s", 0, 3600),
            ("speech", "threads", 0, 1024),
            ("fetch", "max_bytes", 1, u64::MAX / 2),
            ("fetch", "total_timeout_s", 1, 7200),
            ("fetch", "connect_timeout_s", 1, 600),
            ("fetch", "idle_timeout_s", 1, 600),
            ("fetch", "max_redirects", 0, 20),
            ("fetch", "in_flight", 1, 1024),
            ("fetch", "in_flight_per_account", 1, 1024),
            ("deliveries", "timeout_s", 1, 60),
            ("deliveries", "in_flight", 1, 1024),
            ("deliveries", "in_flight_per_account", 1, 1024),
            ("deliveries", "in_flight_per_receiver", 1, 1024),
            ("addons.ab", "timeout_ms", 1, 7_200_000),
            ("addons.ab", "memory_mb", 1, 512),
            ("addons.ab", "output_mb", 1, 512),
        ] {
            let with = |value: u64| from_text(&format!("[{section}]\n{key} = {value}"));
            for good in [least, least + 1, most - 1, most] {
                assert!(with(good).is_ok(), "{section}.{key} = {good}");
            }
            let beyond = [least.checked_sub(1), Some(most + 1).filter(|_| most < u64::MAX / 2)];
            for bad in beyond.into_iter().flatten() {
                let error = with(bad).unwrap_err();
                assert!(error.starts_with(&format!("{section}.{key} must not be ")), "{error}");
            }
        }
    }

    #[test]
    fn a_file_without_end_is_not_read_to_it() {
        let error = read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("/dev/zero"), "{error}");
    }

    #[test]
    fn a_base_url_loses_its_trailing_slash() {
        let config = from_text("public_base_url = \"https://Speech.example:443/\"").unwrap();
        assert_eq!(config.public_base_url.as_deref(), Some("https://speech.example"));
    }
}
