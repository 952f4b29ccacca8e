//! Tells text from audio, and what kind of text it is.

/// Pairs of bytes that must look like text where no mark tells the encoding.
const UNMARKED_PAIRS: usize = 2;

/// What it is, if it is text in UTF-8.
pub(super) fn in_utf8(head: &[u8]) -> Option<&'static str> {
    let body = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    // A character may be cut at the end of what was read.
    let valid = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(cut) if cut.error_len().is_none() => std::str::from_utf8(&body[..cut.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    kind(valid)
}

/// What it is, if it is text in UTF-16: with a mark of its byte order, or with Latin letters first.
pub(super) fn in_wide_characters(head: &[u8]) -> Option<&'static str> {
    let (body, unit): (_, fn([u8; 2]) -> u16) = match head {
        [0xff, 0xfe, body @ ..] => (body, u16::from_le_bytes),
        [0xfe, 0xff, body @ ..] => (body, u16::from_be_bytes),
        _ if starts_in_latin(head, u16::from_le_bytes) => (head, u16::from_le_bytes),
        _ if starts_in_latin(head, u16::from_be_bytes) => (head, u16::from_be_bytes),
        _ => return None,
    };
    let mut units: Vec<u16> = body.as_chunks::<2>().0.iter().map(|pair| unit(*pair)).collect();
    // Half a character may stand at the end of what was read.
    units.pop_if(|last| (0xd800..0xdc00).contains(last));
    kind(&String::from_utf16(&units).ok()?)
}

fn starts_in_latin(head: &[u8], unit: fn([u8; 2]) -> u16) -> bool {
    let first = head.as_chunks::<2>().0.get(..UNMARKED_PAIRS);
    let is_latin = |pair: &[u8; 2]| {
        u8::try_from(unit(*pair)).is_ok_and(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
    };
    first.is_some_and(|pairs| pairs.iter().all(is_latin))
}

fn kind(text: &str) -> Option<&'static str> {
    if text.is_empty() || text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return None;
    }
    let start = text.trim_start().chars().take(16).collect::<String>().to_ascii_lowercase();
    Some(match () {
        () if start.starts_with("<!doctype") || start.starts_with("<html") => "an HTML page",
        () if start.starts_with("<?xml") || start.starts_with('<') => "an XML or HTML document",
        () if start.starts_with('{') || start.starts_with('[') => "a JSON document",
        () if start.starts_with("#extm3u") => "a playlist",
        () => "plain text",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn both_byte_orders_are_read_with_and_without_a_mark() {
        for (text, what) in
            [("Hi wörld 𝄞", "plain text"), ("<html>", "an HTML page"), ("{\"a\": 1}", "a JSON document")]
        {
            assert_eq!(in_utf8(text.as_bytes()), Some(what));
            let (little, big) = (wide(text, u16::to_le_bytes), wide(text, u16::to_be_bytes));
            for bytes in [[b"\xff\xfe", &little[..]].concat(), [b"\xfe\xff", &big[..]].concat(), little, big]
            {
                assert_eq!(in_wide_characters(&bytes), Some(what), "{bytes:?}");
                assert_eq!(in_wide_characters(&bytes[..bytes.len() - 1]), Some(what), "{bytes:?}");
            }
        }
        assert_eq!(in_wide_characters(&wide("東京", u16::to_le_bytes)), None);
    }

    #[test]
    fn a_character_may_be_cut_and_other_bytes_are_no_text() {
        let cut = [b"\xff\xfe", &wide("a𝄞", u16::to_le_bytes)[..4]].concat();
        assert_eq!(in_wide_characters(&cut), Some("plain text"));
        for bytes in [&b"\xff\xfe"[..], b"\xff\xfe\0\0", b"\xff\xfe\0\xdc\0\0", b"", b"a", b"a\0\x01\0"] {
            assert_eq!(in_wide_characters(bytes), None, "{bytes:?}");
        }
    }
}
