//! Lists: order, pages, links, filters.

use serde_json::{Value, json};

use super::rows::elsewhere;
use super::{Harness, result_of};
use crate::api::job_view;
use crate::model::id::{AccountId, JobId};
use crate::model::job::Kind;
use crate::store::Outcome;

const ORIGIN: &str = "http://speech.example";
/// `date -u -d 2026-01-31 +%s`
const DAY_MS: i64 = 1_769_817_600_000;

fn ids(list: &Value) -> Vec<String> {
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

async fn listed(harness: &Harness, path: &str) -> Vec<String> {
    let answer = harness.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.json());
    assert_eq!(answer.header("content-type"), "application/json");
    ids(&answer.json())
}

#[tokio::test]
async fn an_empty_list_has_all_its_members() {
    let harness = Harness::new().await;
    for collection in ["pre-recorded", "live", "transcription"] {
        let list = harness.get(&format!("/v2/{collection}/")).await.json();
        let link = format!("{ORIGIN}/v2/{collection}?offset=0&limit=20");
        assert_eq!(list, json!({ "first": link, "current": link, "next": null, "items": [] }));
    }
}

#[tokio::test]
async fn links_lead_through_the_whole_list_newest_first() {
    let harness = Harness::new().await;
    let mut expected = Vec::new();
    for at_ms in 0..5 {
        // Some are equally old.
        expected.push((at_ms / 2, harness.add(Kind::PreRecorded, elsewhere(), at_ms / 2).await));
        harness.add(Kind::Live, elsewhere(), at_ms).await;
    }
    expected.sort();
    expected.reverse();
    let mut path = "/v2/pre-recorded?limit=2&status=queued".to_owned();
    let mut seen = Vec::new();
    for page in 0..3 {
        let list = harness.get(&path).await.json();
        assert_eq!(list["first"], format!("{ORIGIN}/v2/pre-recorded?offset=0&limit=2&status=queued"));
        let current = format!("{ORIGIN}/v2/pre-recorded?offset={}&limit=2&status=queued", page * 2);
        assert_eq!(list["current"], current);
        seen.extend(ids(&list));
        match list["next"].as_str() {
            Some(next) => path = next.strip_prefix(ORIGIN).unwrap().to_owned(),
            None => assert_eq!(page, 2),
        }
    }
    assert_eq!(seen, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
    assert!(listed(&harness, "/v2/pre-recorded?offset=5").await.is_empty());
    assert!(listed(&harness, "/v2/pre-recorded?offset=9007199254740991&limit=100").await.is_empty());
    // A page that ends exactly with the list has no next one.
    assert_eq!(harness.get("/v2/pre-recorded?limit=5").await.json()["next"], Value::Null);
    assert!(harness.get("/v2/pre-recorded?limit=4").await.json()["next"].is_string());
}

#[tokio::test]
async fn a_page_holds_at_most_a_hundred() {
    let harness = Harness::new().await;
    for at_ms in 0..101 {
        harness.add(Kind::PreRecorded, elsewhere(), at_ms).await;
    }
    assert_eq!(listed(&harness, "/v2/pre-recorded").await.len(), 20);
    assert_eq!(listed(&harness, "/v2/pre-recorded?limit=100").await.len(), 100);
    let list = harness.get("/v2/pre-recorded?limit=101").await.json();
    assert_eq!(ids(&list).len(), 100);
    assert_eq!(list["next"], format!("{ORIGIN}/v2/pre-recorded?offset=100&limit=100"));
}

#[tokio::test]
async fn items_are_whole_envelopes_in_their_order() {
    let harness = Harness::new().await;
    for number in 0..9 {
        let id = harness.create(json!({ "custom_metadata": { "n": number } })).await;
        harness.finish_with(&result_of(&format!("{id} é"))).await;
    }
    harness.create(json!({})).await;
    let list = harness.get("/v2/pre-recorded").await.json();
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 10);
    for item in items {
        let id = item["id"].as_str().unwrap();
        assert_eq!(*item, harness.get(&format!("/v2/pre-recorded/{id}")).await.json());
        assert_eq!(
            item["status"] == "done",
            item["result"]["transcription"]["full_transcript"] == format!("{id} é"),
            "{item}"
        );
    }
}

#[tokio::test]
async fn a_result_that_is_gone_does_not_hold_back_the_list() {
    let harness = Harness::new().await;
    let id = harness.create(json!({})).await;
    let key = harness.finish_with("{}").await;
    harness.api.blobs.delete(&key).await.unwrap();
    let list = harness.get("/v2/transcription").await.json();
    assert_eq!((ids(&list), &list["items"][0]["result"]), (vec![id], &Value::Null));
}

#[tokio::test]
async fn a_job_that_is_deleted_while_it_is_read_does_not_exist() {
    let harness = Harness::new().await;
    let id = harness.create(json!({})).await;
    harness.finish_with(&result_of("")).await;
    let account = AccountId("default".to_owned());
    let job = harness.api.store.get_job(&account, JobId::parse(&id).unwrap()).await.unwrap().unwrap();
    assert!(job_view::result(&harness.api, &job).await.unwrap().is_some());
    assert_eq!(harness.delete(&format!("/v2/pre-recorded/{id}")).await.status.as_u16(), 202);
    assert_eq!(job_view::result(&harness.api, &job).await.unwrap_err().status.as_u16(), 404);
}

#[tokio::test]
async fn dates_are_exclusive_and_a_day_is_one_of_utc() {
    let harness = Harness::new().await;
    let mut at = Vec::new();
    for at_ms in [DAY_MS - 1, DAY_MS, DAY_MS + 86_399_999, DAY_MS + 86_400_000] {
        at.push(harness.add(Kind::Live, elsewhere(), at_ms).await);
    }
    for (query, places) in [
        ("date=2026-01-31", &[2, 1][..]),
        ("after_date=2026-01-31", &[3, 2]),
        ("before_date=2026-01-31", &[0]),
        ("after_date=2026-01-30T23:59:59.999Z&before_date=2026-02-01T00:00:00Z", &[2, 1]),
        ("after_date=2026-01-30T23:59:59.998Z&before_date=2026-02-01T00:00:00.001Z", &[3, 2, 1, 0]),
        ("date=2026-01-31&before_date=2026-01-31T12:00:00Z", &[1]),
        ("after_date=2027-01-01", &[]),
    ] {
        let expected: Vec<_> = places.iter().map(|place: &usize| at[*place].clone()).collect();
        assert_eq!(listed(&harness, &format!("/v2/live?{query}")).await, expected, "{query}");
    }
}

#[tokio::test]
async fn states_and_kinds_select() {
    let harness = Harness::new().await;
    let failed = harness.add(Kind::PreRecorded, elsewhere(), 1).await;
    harness.finish(Outcome::Error { error_code: 400 }).await;
    let queued = harness.add(Kind::PreRecorded, elsewhere(), 2).await;
    let live = harness.add(Kind::Live, elsewhere(), 3).await;
    for (query, expected) in [
        ("pre-recorded?status=error", vec![&failed]),
        ("pre-recorded?status=queued", vec![&queued]),
        ("pre-recorded?status=error&status=queued", vec![&queued, &failed]),
        ("pre-recorded?status[]=error,queued", vec![&queued, &failed]),
        ("pre-recorded?status=done", vec![]),
        ("pre-recorded?kind=live", vec![&queued, &failed]),
        ("transcription", vec![&live, &queued, &failed]),
        ("transcription?kind=live", vec![&live]),
        ("transcription?kind=pre-recorded&status=queued", vec![&queued]),
        ("transcription?kind=pre-recorded&kind=live", vec![&live, &queued, &failed]),
    ] {
        let expected: Vec<_> = expected.into_iter().cloned().collect();
        assert_eq!(listed(&harness, &format!("/v2/{query}")).await, expected, "{query}");
    }
}

#[tokio::test]
async fn metadata_selects_in_both_encodings() {
    let harness = Harness::new().await;
    let one = json!({ "user": "Ada & Co", "n": 4711, "on": true });
    let one = harness.create(json!({ "custom_metadata": one })).await;
    let two = json!({ "user": "Ada & Co", "tags": ["a"], "in": { "a": 1, "b": null }, "none": {} });
    let two = harness.create(json!({ "custom_metadata": two })).await;
    harness.create(json!({})).await;
    let as_json = |filter: Value| {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair("custom_metadata", &filter.to_string()).finish()
    };
    for (query, expected) in [
        ("custom_metadata[user]=Ada+%26+Co".to_owned(), vec![&one, &two]),
        ("custom_metadata%5Bn%5D=4711&custom_metadata[user]=Ada%20%26%20Co".into(), vec![&one]),
        ("custom_metadata[on]=True".into(), vec![&one]),
        ("custom_metadata[in][a]=1".into(), vec![&two]),
        ("custom_metadata[n]=471".into(), vec![]),
        ("custom_metadata[user]=Ada&custom_metadata[n]=4711".into(), vec![]),
        (as_json(json!({ "n": "4711" })), vec![&one]),
        (as_json(json!({ "in": { "b": null } })), vec![&two]),
        // Any object will do where the filter has an empty one.
        (as_json(json!({ "in": {} })), vec![&two]),
        (as_json(json!({ "tags": ["a"], "none": {} })), vec![&two]),
        (as_json(json!({ "tags": [] })), vec![]),
        (as_json(json!({ "user": "Ada & Co" })), vec![&one, &two]),
    ] {
        let mut found = listed(&harness, &format!("/v2/pre-recorded?{query}")).await;
        let mut expected: Vec<_> = expected.into_iter().cloned().collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{query}");
    }
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let harness = Harness::new().await;
    for (query, name) in [
        ("limit=0", "limit"),
        ("offset=-1", "offset"),
        ("date=x", "date"),
        ("before_date=x", "before_date"),
        ("after_date=x", "after_date"),
        ("status=finished", "status"),
        ("kind=dead", "kind"),
        ("custom_metadata=x", "custom_metadata"),
    ] {
        let envelope = harness.get(&format!("/v2/transcription?{query}")).await.envelope(400);
        let entry = envelope["validation_errors"][0].as_str().unwrap();
        assert!(entry.starts_with(&format!("{name} must ")), "{query}: {entry}");
    }
}
