//! Which URLs a request may name.

use ::url::{Host, ParseError, Url};

use super::is_public;

/// Why a URL is refused; the text is meant for the client and repeats nothing of the URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not an absolute URL.
    #[error("must be an absolute http or https URL")]
    Malformed,
    /// A port that no machine has.
    #[error("must have a port from 0 to 65535")]
    Port,
    /// Longer than any address that leads somewhere.
    #[error("must not be longer than {MAX_LENGTH} bytes", MAX_LENGTH = MAX_LENGTH)]
    TooLong,
    /// Another scheme.
    #[error("must use http or https")]
    Scheme,
    /// A reserved name that no resolver knows.
    #[error("must name a host that exists")]
    NoSuchHost,
    /// A literal address or a name of this machine, while only public ones are allowed.
    #[error("must point to a public address: private, loopback and link-local ones are not fetched")]
    NotPublic,
}

/// Longest URL that is looked at, bytes.
const MAX_LENGTH: usize = 8 * 1024;

/// Reads `text` and checks scheme and host. Names are not resolved here: the client made by
/// [`super::client`] checks each address at the moment it connects.
pub fn check_url(text: &str, allow_private: bool) -> Result<Url, UrlError> {
    if text.len() > MAX_LENGTH {
        return Err(UrlError::TooLong);
    }
    let url = Url::parse(text.trim()).map_err(|error| match error {
        ParseError::InvalidPort => UrlError::Port,
        _ => UrlError::Malformed,
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlError::Scheme);
    }
    // The parser turns every spelling of an IPv4 address (0x7f.1, 2130706433) into `Ipv4`.
    let is_open = match url.host() {
        None => return Err(UrlError::Malformed),
        Some(Host::Ipv4(address)) => is_public(address.into()),
        Some(Host::Ipv6(address)) => is_public(address.into()),
        Some(Host::Domain(name)) => match last_label(name) {
            "" => return Err(UrlError::Malformed),
            "invalid" => return Err(UrlError::NoSuchHost),
            label => label != "localhost",
        },
    };
    if is_open || allow_private { Ok(url) } else { Err(UrlError::NotPublic) }
}

fn last_label(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name).rsplit('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_closed_addresses_are_refused() {
        for text in [
            "http://127.0.0.1/a",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost:8080/",
            "http://user:pass@10.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://①②⑦.0.0.1/",
            "http://0/",
            "http:\\\\127.0.0.1\\a",
            " http://127.0.0.1/ ",
        ] {
            assert_eq!(check_url(text, false), Err(UrlError::NotPublic), "{text}");
            assert!(check_url(text, true).is_ok(), "{text}");
        }
    }

    #[test]
    fn only_http_and_https_pass() {
        for text in ["file:///etc/passwd", "ftp://a.example/x", "gopher://a.example", "data:audio/wav,x"] {
            assert_eq!(check_url(text, true), Err(UrlError::Scheme), "{text}");
        }
        for text in ["", "audio.wav", "//a.example/x", "http://", "http:///", "http://a b/", "http://."] {
            assert_eq!(check_url(text, true), Err(UrlError::Malformed), "{text}");
        }
        assert_eq!(check_url("http://a.example:65536/x", true), Err(UrlError::Port));
        assert_eq!(check_url("http://nowhere.invalid/x", true), Err(UrlError::NoSuchHost));
        assert!(check_url("https://user:secret@cdn.example.com:8443/a.mp3?sig=1", false).is_ok());
        let of_length = |bytes: usize| format!("{:a<bytes$}", "http://a.example/");
        assert!(check_url(&of_length(MAX_LENGTH - 1), true).is_ok());
        assert!(check_url(&of_length(MAX_LENGTH), true).is_ok());
        assert_eq!(check_url(&of_length(MAX_LENGTH + 1), true), Err(UrlError::TooLong));
    }

    #[test]
    fn messages_do_not_repeat_the_url() {
        let refused = check_url("http://user:secret@10.0.0.1/?sig=abc", false).expect_err("private");
        let text = refused.to_string();
        assert!(!text.contains("secret") && !text.contains("10.0.0.1") && !text.contains("abc"));
    }
}
