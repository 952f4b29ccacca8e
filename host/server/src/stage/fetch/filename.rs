//! The name of a fetched file: taken from the server's answer or from the URL.

use reqwest::header::{CONTENT_DISPOSITION, HeaderMap};
use url::Url;

/// Longest name that is kept, in characters.
const MAX_CHARS: usize = 200;

/// The `Content-Disposition` name, else the last segment of the URL's path.
pub(super) fn filename(headers: &HeaderMap, url: &Url) -> Option<String> {
    let disposition = headers.get(CONTENT_DISPOSITION).map(|value| String::from_utf8_lossy(value.as_bytes()));
    disposition.and_then(|text| from_disposition(&text)).or_else(|| from_path(url))
}

/// Reads `filename*=UTF-8''…` before `filename=…` (RFC 6266, section 4.3).
fn from_disposition(text: &str) -> Option<String> {
    let (mut plain, mut encoded) = (None, None);
    for part in split_parameters(text) {
        let Some((key, value)) = part.split_once('=') else { continue };
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "filename*" => {
                encoded = value.splitn(3, '\'').nth(2).and_then(|name| clean(&percent_decode(name)));
            }
            "filename" => plain = clean(&unquote(value)),
            _ => {}
        }
    }
    encoded.or(plain)
}

fn from_path(url: &Url) -> Option<String> {
    let segment = url.path_segments()?.next_back()?;
    clean(&percent_decode(segment))
}

/// Splits at semicolons outside quotes.
fn split_parameters(text: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |c: char| {
        let at_end = c == ';' && !is_quoted;
        if c == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = c == '\\' && !is_escaped;
        at_end
    })
}

fn unquote(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => text.extend(chars.next()),
            _ => text.push(c),
        }
    }
    text
}

fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|pair| hex::decode(pair).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                decoded.extend(byte);
                at += 3;
            }
            (byte, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Keeps the part after the last separator, without control characters; `None` if nothing is
/// left that could be a name.
fn clean(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect();
    let kept = kept.trim();
    (!matches!(kept, "" | "." | "..")).then(|| kept.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(disposition: &str, url: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        if !disposition.is_empty() {
            headers.insert(CONTENT_DISPOSITION, disposition.parse().expect("header"));
        }
        filename(&headers, &Url::parse(url).expect("url"))
    }

    #[test]
    fn the_server_names_the_file() {
        let url = "http://a.example/x.bin";
        assert_eq!(of("attachment; filename=call.wav", url).as_deref(), Some("call.wav"));
        assert_eq!(
            of(r#"attachment; filename="a;b \"c\".wav"; size=1"#, url).as_deref(),
            Some(r#"a;b "c".wav"#)
        );
        assert_eq!(
            of("attachment; filename=plain.wav; filename*=UTF-8''%C3%A9t%C3%A9.wav", url).as_deref(),
            Some("été.wav")
        );
        for malformed in ["x.wav", "UTF-8'x.wav", "UTF-8''..", ""] {
            let both = format!("attachment; filename*={malformed}; filename=plain.wav");
            assert_eq!(of(&both, url).as_deref(), Some("plain.wav"));
        }
        assert_eq!(of("inline", url).as_deref(), Some("x.bin"));
    }

    #[test]
    fn a_name_is_never_a_path() {
        let url = "http://a.example/";
        assert_eq!(of("attachment; filename=\"../../etc/passwd\"", url).as_deref(), Some("passwd"));
        assert_eq!(of("attachment; filename=\"C:\\\\dir\\\\call.wav\"", url).as_deref(), Some("call.wav"));
        assert_eq!(of("attachment; filename=\"..\"", url), None);
        assert_eq!(of("", "http://a.example/a/%2e%2e%2fsecret%00.mp3?sig=x").as_deref(), Some("secret.mp3"));
        assert_eq!(of("", "http://a.example/audio%20file%zz.mp3").as_deref(), Some("audio file%zz.mp3"));
        assert_eq!(of("", url), None);
    }

    #[test]
    fn long_names_are_cut() {
        let name = "é".repeat(400);
        assert_eq!(clean(&name).map(|kept| kept.chars().count()), Some(MAX_CHARS));
    }
}
