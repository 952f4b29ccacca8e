//! The name of a fetched file: taken from the server's answer or from the URL.

use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_DISPOSITION, HeaderMap, HeaderValue};
use url::Url;

use crate::model::filename::{Disposition, kept};

/// The `Content-Disposition` name, else the last segment of the URL's path.
pub(super) fn filename(headers: &HeaderMap, url: &Url) -> Option<String> {
    let header = headers.get(CONTENT_DISPOSITION).map(HeaderValue::as_bytes);
    header.and_then(|header| Disposition::parse(header).filename).or_else(|| from_path(url))
}

fn from_path(url: &Url) -> Option<String> {
    let segment = url.path_segments()?.next_back()?;
    kept(&percent_decode_str(segment).decode_utf8_lossy())
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
}
