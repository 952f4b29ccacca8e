//! The part of a file that a client asks for (RFC 9110, section 14).

use std::ops::Range;

use axum::http::{HeaderMap, Method, header};

/// What is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Everything.
    Whole,
    /// These bytes, at least one.
    Bytes(Range<u64>),
    /// The part that was asked for lies outside the file.
    Nowhere,
}

/// Reads the headers of a request for a file of `size_bytes`. A range that is not understood,
/// or several of them, get the whole file, as the RFC allows; so does a range that holds only
/// `If-Range` a file that is not this one.
pub(super) fn part(method: &Method, headers: &HeaderMap, size_bytes: u64, etag: Option<&str>) -> Part {
    let value = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    let Some(asked) = value.and_then(read).filter(|_| method == Method::GET) else { return Part::Whole };
    let is_of_this_file = headers
        .get(header::IF_RANGE)
        .is_none_or(|condition| etag.is_some_and(|etag| condition.as_bytes() == etag.as_bytes()));
    if !is_of_this_file {
        return Part::Whole;
    }
    let range = match asked {
        Asked::From(first, last) => {
            first..last.map_or(size_bytes, |last| size_bytes.min(last.saturating_add(1)))
        }
        Asked::Last(length) => size_bytes.saturating_sub(length)..size_bytes,
    };
    if range.is_empty() { Part::Nowhere } else { Part::Bytes(range) }
}

enum Asked {
    /// First byte and, included, last byte.
    From(u64, Option<u64>),
    /// So many bytes at the end.
    Last(u64),
}

fn read(value: &str) -> Option<Asked> {
    let (unit, range) = value.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    match (first, last) {
        ("", last) => Some(Asked::Last(number(last)?)),
        (first, "") => Some(Asked::From(number(first)?, None)),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(Asked::From(first, Some(last)))
        }
    }
}

/// Digits only; a number beyond all files is as good as the largest.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETAG: &str = "\"abc\"";

    fn asked(range: &str, size_bytes: u64) -> Part {
        let headers = HeaderMap::from_iter([(header::RANGE, range.parse().unwrap())]);
        part(&Method::GET, &headers, size_bytes, Some(ETAG))
    }

    #[test]
    fn parts_are_cut_to_the_file() {
        for (range, bytes) in [
            ("bytes=0-0", 0..1),
            ("bytes=0-", 0..10),
            ("bytes=2-5", 2..6),
            ("bytes=9-9", 9..10),
            ("bytes=5-99999999999999999999", 5..10),
            ("bytes=-1", 9..10),
            ("bytes=-10", 0..10),
            ("bytes=-11", 0..10),
            ("Bytes= 2-3", 2..4),
        ] {
            assert_eq!(asked(range, 10), Part::Bytes(bytes), "{range}");
        }
    }

    #[test]
    fn what_lies_outside_is_nowhere() {
        for range in ["bytes=10-", "bytes=10-20", "bytes=99999999999999999999-", "bytes=-0"] {
            assert_eq!(asked(range, 10), Part::Nowhere, "{range}");
        }
        for range in ["bytes=0-", "bytes=0-0", "bytes=-5"] {
            assert_eq!(asked(range, 0), Part::Nowhere, "{range}");
        }
    }

    #[test]
    fn what_is_not_understood_gets_the_whole_file() {
        for range in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=5-2",
            "bytes=a-b",
            "bytes=0-1,3-4",
            "bytes=+1-2",
            "lines=0-1",
        ] {
            assert_eq!(asked(range, 10), Part::Whole, "{range}");
        }
        assert_eq!(part(&Method::GET, &HeaderMap::new(), 10, None), Part::Whole);
    }

    #[test]
    fn a_range_is_for_get_and_for_the_file_that_the_client_knows() {
        let mut headers = HeaderMap::from_iter([(header::RANGE, "bytes=0-0".parse().unwrap())]);
        assert_eq!(part(&Method::HEAD, &headers, 10, Some(ETAG)), Part::Whole);
        headers.insert(header::IF_RANGE, ETAG.parse().unwrap());
        assert_eq!(part(&Method::GET, &headers, 10, Some(ETAG)), Part::Bytes(0..1));
        assert_eq!(part(&Method::GET, &headers, 10, None), Part::Whole);
        headers.insert(header::IF_RANGE, "\"other\"".parse().unwrap());
        assert_eq!(part(&Method::GET, &headers, 10, Some(ETAG)), Part::Whole);
    }
}
