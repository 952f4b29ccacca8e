//! Names of files: as `Content-Disposition` headers state them, and as they are kept.

use percent_encoding::percent_decode_str;

/// Longest name that is kept, characters.
const MAX_CHARS: usize = 255;

/// The names in a header. Names of parameters may be written in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disposition {
    /// `name`, the field of a form.
    pub name: Option<String>,
    /// `filename*`, else `filename` (RFC 6266, section 4.3), as it is kept.
    pub filename: Option<String>,
}

impl Disposition {
    /// Reads a header. What cannot be understood is passed over.
    pub fn parse(header: &[u8]) -> Self {
        let header = String::from_utf8_lossy(header);
        let mut read = Self::default();
        let mut extended = None;
        for parameter in split(&header) {
            let Some((key, value)) = parameter.split_once('=') else { continue };
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "name" => read.name = Some(unquoted(value)),
                "filename" => read.filename = kept(&unquoted(value)),
                "filename*" => extended = decoded(value).as_deref().and_then(kept),
                _ => {}
            }
        }
        read.filename = extended.or(read.filename);
        read
    }
}

/// The parameters: between semicolons outside quotes.
fn split(header: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    header.split(move |c: char| {
        let at_end = c == ';' && !is_quoted;
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && is_quoted && !is_escaped;
        at_end
    })
}

/// A backslash is an escape before a quote only: browsers send those of a path as they are.
fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    inner.strip_suffix('"').unwrap_or(inner).replace("\\\"", "\"")
}

/// `UTF-8'language'percent-encoded` (RFC 8187, section 3.2); other character sets are not read.
fn decoded(value: &str) -> Option<String> {
    let mut parts = value.splitn(3, '\'');
    let (charset, _language, text) = (parts.next()?, parts.next()?, parts.next()?);
    let is_known = charset.eq_ignore_ascii_case("utf-8");
    is_known.then(|| percent_decode_str(text).decode_utf8().ok().map(Into::into))?
}

/// The part after the last separator, without control characters; `None` if nothing is left that
/// could be a name.
pub fn kept(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last.chars().filter(|c| !c.is_control()).take(MAX_CHARS).collect();
    let kept = kept.trim();
    (!matches!(kept, "" | "." | "..")).then(|| kept.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_folders_and_control_characters() {
        for (sent, expected) in [
            ("call.wav", Some("call.wav")),
            ("../../etc/passwd", Some("passwd")),
            ("C:\\a\\b.mp3", Some("b.mp3")),
            ("a\u{0}b\r\n.wav", Some("ab.wav")),
            ("..", None),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(kept(sent).as_deref(), expected, "{sent:?}");
        }
        assert_eq!(kept(&"é".repeat(400)).map(|name| name.chars().count()), Some(MAX_CHARS));
    }

    #[test]
    fn names_are_found_in_every_spelling() {
        for (header, name, filename) in [
            ("form-data; name=\"a\"; filename=\"b c.wav\"", Some("a"), Some("b c.wav")),
            ("Form-Data;FILENAME=b.wav ; Name = a", Some("a"), Some("b.wav")),
            ("form-data; filename*=UTF-8''%e2%82%ac.wav; name=a", Some("a"), Some("€.wav")),
            ("form-data; filename*=utf-8'de'b.wav; filename=c.wav", None, Some("b.wav")),
            ("form-data; filename*=UTF-8''%FF; filename=c.wav", None, Some("c.wav")),
            ("form-data; filename*=UTF-8''..; filename=c.wav", None, Some("c.wav")),
            ("form-data; filename*=b.wav", None, None),
            (
                "form-data; name=\"a;b=\\\"c\\\"\"; x; filename=\"C:\\d\\e.wav\"",
                Some("a;b=\"c\""),
                Some("e.wav"),
            ),
            ("form-data; name=\"open", Some("open"), None),
            ("form-data; surname=a; myfilename=b", None, None),
            ("", None, None),
        ] {
            let read = Disposition::parse(header.as_bytes());
            assert_eq!((read.name.as_deref(), read.filename.as_deref()), (name, filename), "{header}");
        }
    }
}
