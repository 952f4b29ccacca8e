//! The query string of a list of jobs.

use serde_json::Value;
use time::OffsetDateTime;
use url::form_urlencoded;

use super::object::nesting;
use super::prerecorded::METADATA_CHARS;
use super::problems::{Problems, Rejection};
use crate::model::date;
use crate::model::job::Kind;
use crate::model::listing::{JobFilter, Page};
use crate::model::metadata::{self, MetadataPair};

/// Jobs of a page when the client does not say.
pub const USUAL_LIMIT: u32 = 20;
/// Most jobs of a page; who asks for more gets this many, and links that go on from there.
pub const MOST_LIMIT: u32 = 100;
/// The largest whole number that every JSON reader keeps.
const MOST_OFFSET: u64 = (1 << 53) - 1;
const METADATA: &str = "custom_metadata";
const DAY_MS: i64 = 24 * 3_600_000;
const NS_PER_MS: i128 = 1_000_000;

/// A query that was understood.
#[derive(Debug, Clone)]
pub struct ListQuery {
    /// Which jobs.
    pub filter: JobFilter,
    /// Which of them.
    pub page: Page,
    /// The filters as the client wrote them.
    filters: Vec<(String, String)>,
}

impl ListQuery {
    /// The query string of another part of the same list.
    pub fn at(&self, offset: u64) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("offset", &offset.to_string());
        query.append_pair("limit", &self.page.limit.to_string());
        query.extend_pairs(&self.filters);
        query.finish()
    }
}

/// Reads a query string. `kind` is the one of the collection; without one, clients may filter
/// by it. Parameters that are not known are ignored; of one that stands twice the last
/// counts, except where several values make sense.
///
/// # Errors
/// [`Rejection`] with everything that is wrong.
pub fn list_query(query: &str, kind: Option<Kind>) -> Result<ListQuery, Rejection> {
    let mut reader = Reader {
        read: ListQuery {
            filter: JobFilter { kind, ..JobFilter::default() },
            page: Page { offset: 0, limit: USUAL_LIMIT },
            filters: Vec::new(),
        },
        kinds: Vec::new(),
        metadata_chars: 0,
        problems: Problems::default(),
    };
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let is_filter = match name.as_ref() {
            "offset" | "limit" => {
                reader.page(&name, &value);
                false
            }
            "date" | "before_date" | "after_date" => reader.date(&name, &value),
            "status" | "status[]" => reader.statuses(&value),
            "kind" | "kind[]" if kind.is_none() => reader.kinds(&value),
            name => reader.metadata(name, &value),
        };
        if is_filter {
            reader.read.filters.push((name.into_owned(), value.into_owned()));
        }
    }
    reader.finish()
}

struct Reader {
    read: ListQuery,
    kinds: Vec<Kind>,
    metadata_chars: usize,
    problems: Problems,
}

impl Reader {
    fn page(&mut self, name: &str, value: &str) {
        let is_offset = name == "offset";
        match integer(value) {
            Some(offset) if is_offset => self.read.page.offset = offset.min(MOST_OFFSET),
            Some(limit @ 1..) => {
                self.read.page.limit = u32::try_from(limit).map_or(MOST_LIMIT, |limit| limit.min(MOST_LIMIT));
            }
            _ => {
                let least = u8::from(!is_offset);
                self.problems.invalid(format!("{name} must be an integer that is not less than {least}"));
            }
        }
    }

    fn date(&mut self, name: &str, value: &str) -> bool {
        let filter = &mut self.read.filter;
        let ns = |moment: OffsetDateTime| moment.unix_timestamp_nanos();
        let ms = |ns: i128| i64::try_from(ns.div_euclid(NS_PER_MS)).unwrap_or(i64::MAX);
        let read = match name {
            "date" => date::moment(value).map(|moment| {
                let from_ms = ms(ns(moment)).div_euclid(DAY_MS) * DAY_MS;
                (from_ms, from_ms + DAY_MS)
            }),
            // Exclusive, down to the fraction of a millisecond.
            "after_date" => date::moment(value).map(|moment| (ms(ns(moment)) + 1, i64::MAX)),
            _ => date::moment(value).map(|moment| (i64::MIN, ms(ns(moment) + NS_PER_MS - 1))),
        };
        match read {
            Some((from_ms, before_ms)) => {
                filter.from_ms = filter.from_ms.max(from_ms);
                filter.before_ms = filter.before_ms.min(before_ms);
            }
            None => self
                .problems
                .invalid(format!("{name} must be a date such as 2026-01-31 or 2026-01-31T10:00:00Z")),
        }
        true
    }

    fn statuses(&mut self, value: &str) -> bool {
        let statuses = &mut self.read.filter.statuses;
        for one in value.split(',') {
            match named(one) {
                Some(status) => {
                    if !statuses.contains(&status) {
                        statuses.push(status);
                    }
                }
                None => self.problems.invalid("status must be one of queued, processing, done, error"),
            }
        }
        true
    }

    fn kinds(&mut self, value: &str) -> bool {
        for one in value.split(',') {
            match named(one) {
                Some(kind) => self.kinds.push(kind),
                None => self.problems.invalid("kind must be one of pre-recorded, live"),
            }
        }
        true
    }

    /// `custom_metadata={"a":{"b":"x"}}`, `custom_metadata[a]={"b":"x"}` or `custom_metadata[a][b]=x`.
    fn metadata(&mut self, name: &str, value: &str) -> bool {
        let Some(keys) = name.strip_prefix(METADATA) else { return false };
        let filter = &mut self.read.filter.metadata;
        let json = serde_json::from_str(value).map_err(|error| nesting(&error));
        if let Err(Some(too_deep)) = json {
            self.problems.invalid(format!("{METADATA} must {too_deep}"));
        } else if keys.is_empty() {
            match json {
                Ok(Value::Object(object)) => filter.extend(metadata::pairs(&object)),
                _ => self.problems.invalid(format!("{METADATA} must be a JSON object")),
            }
        } else if let Some(keys) = keys.strip_prefix('[').and_then(|keys| keys.strip_suffix(']')) {
            let keys = keys.split("][");
            match json {
                Ok(value @ (Value::Object(_) | Value::Array(_))) => {
                    filter.extend(MetadataPair::of_value(keys, &value));
                }
                // A scalar has no type in a query string: the text is meant as it stands.
                _ => filter.push(MetadataPair::of_text(keys, value)),
            }
        } else if keys.starts_with(['[', '.']) {
            self.problems
                .invalid(format!("{METADATA} must have its keys in brackets: {METADATA}[key]=value"));
        } else {
            return false;
        }
        self.metadata_chars += keys.chars().count() + value.chars().count();
        true
    }

    fn finish(mut self) -> Result<ListQuery, Rejection> {
        if self.metadata_chars > METADATA_CHARS {
            self.problems.invalid(format!("{METADATA} must not be longer than {METADATA_CHARS} characters"));
        }
        self.problems.verdict()?;
        if let [first, rest @ ..] = &self.kinds[..]
            && rest.iter().all(|kind| kind == first)
        {
            self.read.filter.kind = Some(*first);
        }
        self.read.filter.metadata.sort();
        self.read.filter.metadata.dedup();
        Ok(self.read)
    }
}

/// Digits only; a number beyond all bounds is as good as the largest.
fn integer(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// The value of an enumeration that has this name on the wire.
fn named<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(text.into()).ok()
}
