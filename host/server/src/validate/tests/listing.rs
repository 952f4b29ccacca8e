//! Query strings of lists: each bound at it, below it and above it.

use serde_json::json;

use crate::model::job::{Kind, Status};
use crate::model::metadata::{MetadataPair, pairs};
use crate::validate::{ListQuery, Rejection, list_query};

fn read(query: &str) -> ListQuery {
    list_query(query, None).unwrap_or_else(|rejection| panic!("{query}: {rejection:?}"))
}

fn refused(query: &str) -> Vec<String> {
    match list_query(query, None) {
        Err(Rejection::Invalid(entries)) => entries,
        other => panic!("{query}: {other:?}"),
    }
}

#[test]
fn pages_have_their_bounds() {
    let page = |query: &str| {
        let page = read(query).page;
        (page.offset, page.limit)
    };
    assert_eq!(page(""), (0, 20));
    assert_eq!(page("offset=0&limit=1"), (0, 1));
    assert_eq!(page("offset=1&limit=99"), (1, 99));
    assert_eq!(page("limit=100"), (0, 100));
    // Who asks for more gets the most, and links that say so.
    assert_eq!(page("limit=101"), (0, 100));
    assert_eq!(page("limit=99999999999999999999"), (0, 100));
    assert_eq!(page("offset=9007199254740991").0, 9_007_199_254_740_991);
    assert_eq!(page("offset=99999999999999999999").0, 9_007_199_254_740_991);
    assert_eq!(page("offset=1&offset=2").0, 2);
    for bad in ["0", "-1", "", "x", "1.5", "1e3", "+1", " 1"] {
        assert_eq!(refused(&format!("limit={bad}")), ["limit must be an integer that is not less than 1"]);
    }
    for bad in ["-1", "", "x", "0.5"] {
        assert_eq!(refused(&format!("offset={bad}")), ["offset must be an integer that is not less than 0"]);
    }
}

#[test]
fn dates_bound_the_creation_and_are_exclusive() {
    // `date -u -d 2026-01-31 +%s`
    const DAY_MS: i64 = 1_769_817_600_000;
    let range = |query: &str| {
        let filter = read(query).filter;
        (filter.from_ms, filter.before_ms)
    };
    assert_eq!(range(""), (i64::MIN, i64::MAX));
    assert_eq!(range("date=2026-01-31"), (DAY_MS, DAY_MS + 86_400_000));
    assert_eq!(range("date=2026-01-31T13:00:00Z"), (DAY_MS, DAY_MS + 86_400_000));
    assert_eq!(range("after_date=2026-01-31"), (DAY_MS + 1, i64::MAX));
    assert_eq!(range("before_date=2026-01-31"), (i64::MIN, DAY_MS));
    assert_eq!(range("after_date=2026-01-31T00:00:00.0005Z").0, DAY_MS + 1);
    assert_eq!(range("before_date=2026-01-31T00:00:00.0005Z").1, DAY_MS + 1);
    assert_eq!(range("after_date=2026-01-31T01:00:00%2B01:00").0, DAY_MS + 1);
    assert_eq!(range("date=2026-01-31&after_date=2026-01-31T12:00:00Z").0, DAY_MS + 43_200_001);
    for name in ["date", "before_date", "after_date"] {
        for bad in ["", "today", "2026-02-30", "31/01/2026"] {
            assert_eq!(
                refused(&format!("{name}={bad}")),
                [format!("{name} must be a date such as 2026-01-31 or 2026-01-31T10:00:00Z")]
            );
        }
    }
}

#[test]
fn states_come_repeated_with_commas_or_with_brackets() {
    for query in ["status=done&status=error", "status=done,error", "status[]=done&status%5B%5D=error"] {
        assert_eq!(read(query).filter.statuses, [Status::Done, Status::Error], "{query}");
    }
    let all = read("status=queued,processing,done,error,done").filter.statuses;
    assert_eq!(all, [Status::Queued, Status::Processing, Status::Done, Status::Error]);
    for bad in ["status=Done", "status=", "status=done,"] {
        assert_eq!(refused(bad), ["status must be one of queued, processing, done, error"]);
    }
}

#[test]
fn kinds_matter_only_where_both_are_listed() {
    assert_eq!(read("kind=live").filter.kind, Some(Kind::Live));
    assert_eq!(read("kind=pre-recorded").filter.kind, Some(Kind::PreRecorded));
    assert_eq!(read("kind=live&kind=pre-recorded").filter.kind, None);
    assert_eq!(refused("kind=recorded"), ["kind must be one of pre-recorded, live"]);
    let of_collection = list_query("kind=live", Some(Kind::PreRecorded)).unwrap();
    assert_eq!(of_collection.filter.kind, Some(Kind::PreRecorded));
}

#[test]
fn metadata_comes_as_json_or_by_key() {
    let metadata = |query: &str| read(query).filter.metadata;
    let mut expected = pairs(json!({ "a b": "x&y", "n": 4711 }).as_object().unwrap());
    expected.sort();
    assert_eq!(metadata("custom_metadata[a%20b]=x%26y&custom_metadata%5Bn%5D=4711"), expected);
    assert_eq!(metadata("custom_metadata=%7B%22n%22:4711,%22a+b%22:%22x%26y%22%7D"), expected);
    assert_eq!(metadata("custom_metadata[a][b]=1"), [MetadataPair::of_text(["a", "b"], "1")]);
    assert_eq!(metadata("custom_metadata[a.b]=1"), [MetadataPair::of_text(["a.b"], "1")]);
    for bad in ["custom_metadata=", "custom_metadata=x", "custom_metadata=[1]", "custom_metadata={"] {
        assert_eq!(refused(bad), ["custom_metadata must be a JSON object"]);
    }
    let too_deep = format!("custom_metadata={}1{}", "{\"a\":".repeat(128), "}".repeat(128));
    assert_eq!(refused(&too_deep), ["custom_metadata must be nested in at most 120 levels"]);
    let of_length = |chars: usize| format!("custom_metadata[k]={}", "%C3%A9".repeat(chars - "[k]".len()));
    assert_eq!(read(&of_length(2000)).filter.metadata.len(), 1);
    assert_eq!(refused(&of_length(2001)), ["custom_metadata must not be longer than 2000 characters"]);
}

#[test]
fn objects_and_arrays_by_key_are_those_of_the_json_form() {
    let metadata = |query: &str| read(query).filter.metadata;
    for (by_key, json) in [
        ("[n]={\"a\":1,\"b\":{}}", "={\"n\":{\"a\":1,\"b\":{}}}"),
        ("[n]={}", "={\"n\":{}}"),
        ("[n]=[1, \"x\"]", "={\"n\":[1,\"x\"]}"),
    ] {
        let (by_key, json) = (format!("custom_metadata{by_key}"), format!("custom_metadata{json}"));
        assert_eq!(metadata(&by_key), metadata(&json), "{by_key}");
    }
    let mut deeper = metadata("custom_metadata={\"n\":{\"m\":{\"a\":1}}}");
    deeper.remove(0);
    assert_eq!(metadata("custom_metadata[n][m]={\"a\":1}"), deeper, "what surrounds it is implied");
    for text in ["{a}", "[sic]", "{", "\"x\"", ""] {
        let expected = [MetadataPair::of_text(["n"], text)];
        assert_eq!(metadata(&format!("custom_metadata[n]={text}")), expected, "{text}");
    }
    let too_deep = format!("custom_metadata[n]={}1{}", "{\"a\":".repeat(128), "}".repeat(128));
    assert_eq!(refused(&too_deep), ["custom_metadata must be nested in at most 120 levels"]);
}

#[test]
fn links_keep_the_filters_and_nothing_else() {
    let query = read("offset=40&status=done,error&x=1&custom_metadata[a%20b]=%26&limit=500&date=2026-01-31");
    let expected =
        "offset=60&limit=100&status=done%2Cerror&custom_metadata%5Ba+b%5D=%26&date=2026-01-31".to_owned();
    assert_eq!(query.at(60), expected);
    assert_eq!(read(&expected).filter, query.filter);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    assert_eq!(refused("limit=0&status=x&date=y").len(), 3);
    for bad in ["custom_metadata[a=1", "custom_metadata[a]]x=1", "custom_metadata.a=1"] {
        let sentence = "custom_metadata must have its keys in brackets: custom_metadata[key]=value";
        assert_eq!(refused(bad), [sentence], "{bad}");
    }
    assert_eq!(read("unknown=1&custom_metadatax=1").at(0), "offset=0&limit=20");
}
