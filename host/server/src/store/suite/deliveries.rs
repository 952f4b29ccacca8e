//! The outbox: who is told, whose turn it is, and what becomes of an attempt.

use super::*;
use crate::model::event::DeliveryStatus;
use crate::model::secret::Secret;
use crate::model::webhook::Webhook;

const UNLIMITED: DueShares = DueShares { all: 1000, per_account: 1000, per_receiver: 1000 };

pub(super) fn webhook(account: Option<&str>, events: Option<Vec<Event>>) -> Webhook {
    Webhook {
        id: Uuid::new_v4(),
        account_id: account.map(|name| AccountId(name.to_owned())),
        url: "https://hooks.example/a".to_owned(),
        secret: Some(Secret::new("hush")),
        events,
        is_configured: false,
        created_ms: 1,
    }
}

fn callback(url: &str) -> Delivery {
    Delivery {
        id: Uuid::new_v4(),
        event: Event::TranscriptionSuccess,
        target: Target::Callback,
        url: url.to_owned(),
        method: CallbackMethod::Post,
        webhook_id: None,
    }
}

/// A finished job of an account with these callbacks, due at `at_ms`.
async fn finished(store: &Store, account: &str, at_ms: i64, urls: &[String]) -> JobId {
    let job = NewJob { account_id: AccountId(account.to_owned()), ..new_job(0) };
    let id = job.id;
    store.create_job(job).await.expect("created");
    let claimed = claim_job(store, "a", 0).await;
    let ending = Ending {
        outcome: Outcome::Error { error_code: 422 },
        completed_ms: at_ms,
        post_session_metadata: Map::new(),
        deliveries: urls.iter().map(|url| callback(url)).collect(),
    };
    assert!(store.finish(&claimed.lease, ending).await.expect("finishes"));
    id
}

async fn due(store: &Store, now_ms: i64) -> Vec<DueDelivery> {
    store.due_deliveries(now_ms, UNLIMITED).await.expect("reads")
}

async fn claim_only(store: &Store, owner: &str, now_ms: i64) -> DeliveryClaim {
    let due = due(store, now_ms).await;
    assert_eq!(due.len(), 1, "{due:?}");
    store.claim_delivery(&due[0], owner, now_ms + LEASE_MS).await.expect("claims").expect("is free")
}

#[tokio::test]
async fn a_message_that_cannot_be_read_is_given_up_and_the_next_is_due() {
    let f = fixture().await;
    let urls = ["http://example.com/1".to_owned(), "http://example.com/2".to_owned()];
    finished(&f.store, "one", 50, &urls).await;
    execute(&f, "UPDATE deliveries SET event = 'of.a.later.version' WHERE place = 0").await;
    let bad = due(&f.store, 50).await.remove(0);
    assert_eq!(f.store.claim_delivery(&bad, "a", 60).await.expect("answers"), None);
    assert_eq!(claim_only(&f.store, "a", 50).await.delivery.url, urls[1]);
}

#[tokio::test]
async fn a_webhook_that_cannot_be_read_fails_no_job() {
    let f = fixture().await;
    let (bad, good) = (webhook(Some("one"), Some(Vec::new())), webhook(Some("one"), None));
    for webhook in [&bad, &good] {
        f.store.insert_webhook(webhook.clone()).await.expect("inserts");
    }
    execute(&f, "UPDATE webhooks SET events = '[\"of.a.later.version\"]' WHERE events IS NOT NULL").await;
    let id = add_job(&f.store, 1).await;
    let told = f.store.deliveries_of(id).await.expect("reads");
    assert_eq!(told.iter().map(|delivery| delivery.webhook_id).collect::<Vec<_>>(), [Some(good.id)]);
}

#[tokio::test]
async fn the_messages_of_an_account_are_found_by_its_index() {
    let f = fixture().await;
    let mut db = f.store.reader().await.expect("a connection");
    let steps = sqlite::explain_deliveries_of(&mut db, &account()).await.expect("explains");
    assert!(steps[0].contains("deliveries_by_account (account_id=?)"), "{steps:#?}");
}

#[tokio::test]
async fn what_is_due_is_found_by_the_index_of_lines() {
    let f = fixture().await;
    let mut db = f.store.reader().await.expect("a connection");
    let steps = sqlite::explain_due_deliveries(&mut db).await.expect("explains");
    // The statement calls the table `d` and `e`.
    let reads: Vec<_> = steps.iter().filter(|step| step.contains(" d ") || step.contains(" e ")).collect();
    assert!(!reads.is_empty(), "{steps:#?}");
    for read in reads {
        let is_short = read.contains("COVERING INDEX deliveries_lines (") || read.ends_with("(id=?)");
        assert!(is_short, "{read} in {steps:#?}");
    }
}

#[tokio::test]
async fn webhooks_are_told_in_the_transaction_of_the_change() {
    let f = fixture().await;
    let all = webhook(None, None);
    let own = webhook(Some("one"), Some(vec![Event::TranscriptionError]));
    let foreign = webhook(Some("two"), None);
    let deaf = webhook(Some("one"), Some(vec![Event::LiveEndSession]));
    for webhook in [&all, &own, &foreign, &deaf] {
        f.store.insert_webhook(webhook.clone()).await.expect("inserts");
    }
    let id = finished(&f.store, "one", 50, &[]).await;
    let told: Vec<_> =
        f.store.deliveries_of(id).await.expect("reads").iter().map(|d| (d.event, d.webhook_id)).collect();
    let mut expected =
        vec![(Event::TranscriptionError, Some(all.id)), (Event::TranscriptionError, Some(own.id))];
    expected.sort_by_key(|(_, id)| id.map(|id| id.to_string()));
    expected.insert(0, (Event::TranscriptionCreated, Some(all.id)));
    assert_eq!(told, expected);
}

#[tokio::test]
async fn webhooks_read_back_and_only_configured_ones_are_replaced() {
    let f = fixture().await;
    let kept = webhook(Some("one"), Some(vec![Event::TranscriptionError]));
    f.store.insert_webhook(kept.clone()).await.expect("inserts");
    let configured = |events| Webhook { is_configured: true, created_ms: 2, ..webhook(None, events) };
    let (first, second) = (configured(None), configured(Some(Vec::new())));
    f.store.replace_configured_webhooks(vec![first.clone()]).await.expect("replaces");
    f.store.replace_configured_webhooks(vec![second.clone()]).await.expect("replaces");
    assert_eq!(f.store.list_webhooks(None).await.expect("lists"), [kept.clone(), second.clone()]);
    assert_eq!(f.store.list_webhooks(Some(&account())).await.expect("lists"), std::slice::from_ref(&kept));
    assert_eq!(f.store.get_webhook(first.id).await.expect("reads"), None);
    assert!(!f.store.delete_webhook(second.id).await.expect("runs"), "it stands in the configuration");
    assert!(f.store.delete_webhook(kept.id).await.expect("runs"));
    assert!(!f.store.delete_webhook(kept.id).await.expect("runs"));
}

#[tokio::test]
async fn one_receiver_hears_of_a_job_in_order_and_others_do_not_wait() {
    let f = fixture().await;
    let (one, two) = (webhook(None, None), webhook(None, None));
    for webhook in [&one, &two] {
        f.store.insert_webhook(webhook.clone()).await.expect("inserts");
    }
    // All at the same millisecond.
    let id = finished(&f.store, "one", 0, &["https://c.example/".to_owned()]).await;
    let events = async || {
        let mut events = Vec::new();
        for due in due(&f.store, 0).await {
            let record = f.store.get_delivery(due.id).await.expect("reads").expect("exists");
            events.push((record.delivery.webhook_id, record.delivery.event));
        }
        events
    };
    let first = events().await;
    assert_eq!(first.len(), 3);
    assert!(first.contains(&(Some(one.id), Event::TranscriptionCreated)));
    assert!(first.contains(&(None, Event::TranscriptionSuccess)));

    let of_one = f.store.deliveries_of(id).await.expect("reads");
    let created = of_one.iter().find(|d| d.webhook_id == Some(one.id)).expect("is told").id;
    let seen = due(&f.store, 0).await.into_iter().find(|due| due.id == created).expect("is due");
    let claim = f.store.claim_delivery(&seen, "p", 10).await.expect("claims").expect("is free");
    assert!(!events().await.iter().any(|(webhook, _)| *webhook == Some(one.id)), "one at a time");
    assert!(f.store.end_attempt(&claim, Attempted::Delivered { at_ms: 1 }).await.expect("ends"));
    assert!(events().await.contains(&(Some(one.id), Event::TranscriptionError)));
}

#[tokio::test]
async fn neither_a_receiver_nor_an_account_crowds_others_out() {
    let f = fixture().await;
    for n in 0..8 {
        finished(&f.store, "one", 1, &[format!("https://slow.example/{n}")]).await;
        finished(&f.store, "one", 2, &[format!("https://host{n}.example/")]).await;
    }
    finished(&f.store, "two", 3, &["https://slow.example/".to_owned()]).await;
    let shares = DueShares { per_account: 5, per_receiver: 2, ..UNLIMITED };
    let due = f.store.due_deliveries(9, shares).await.expect("reads");
    let of = |account: &str| due.iter().filter(|due| due.account_id.0 == account).collect::<Vec<_>>();
    assert_eq!((of("one").len(), of("two").len()), (5, 1));
    // The first in line of each receiver go before the second of any.
    assert_eq!(of("one").iter().filter(|due| due.receiver == "slow.example:443").count(), 1);
}

#[tokio::test]
async fn attempts_are_counted_with_the_claim_and_noted_by_its_owner_only() {
    let f = fixture().await;
    let id = finished(&f.store, "one", 5, &["https://c.example/".to_owned()]).await;
    assert!(due(&f.store, 4).await.is_empty());
    let seen = due(&f.store, 5).await.remove(0);
    let claim = f.store.claim_delivery(&seen, "p", 100).await.expect("claims").expect("is free");
    assert_eq!((claim.attempt, claim.job_id), (1, id));
    assert_eq!(f.store.claim_delivery(&seen, "q", 100).await.expect("runs"), None, "it was seen before");
    assert!(due(&f.store, 99).await.is_empty());

    // The lease runs out; another process takes over.
    let second = claim_only(&f.store, "q", 100).await;
    assert_eq!(second.attempt, 2);
    let failed = |next_try_ms| Attempted::Failed { error: "no".to_owned(), next_try_ms };
    assert!(!f.store.end_attempt(&claim, failed(None)).await.expect("runs"), "the claim is gone");
    assert!(f.store.end_attempt(&second, failed(Some(300))).await.expect("runs"));
    assert!(due(&f.store, 299).await.is_empty());

    // Broken off by us: does not count.
    let third = claim_only(&f.store, "q", 300).await;
    let released = Attempted::Released { error: Some("full".to_owned()), next_try_ms: 301 };
    assert!(f.store.end_attempt(&third, released).await.expect("runs"));
    let record = f.store.get_delivery(third.delivery.id).await.expect("reads").expect("exists");
    assert_eq!((record.attempts, record.last_error.as_deref()), (2, Some("full")));
    let again = claim_only(&f.store, "q", 301).await;
    assert_eq!((third.attempt, again.attempt), (3, 3));

    // A process that is no more.
    f.store.end_leases("q", 302).await.expect("ends");
    let last = claim_only(&f.store, "p", 302).await;
    assert!(!f.store.end_attempt(&again, failed(None)).await.expect("runs"));
    assert!(f.store.end_attempt(&last, failed(None)).await.expect("runs"));
    assert!(due(&f.store, i64::MAX).await.is_empty());
    let record = f.store.get_delivery(last.delivery.id).await.expect("reads").expect("exists");
    assert_eq!((record.status(), record.attempts), (DeliveryStatus::GivenUp, 4));
    assert_eq!(record.last_error.as_deref(), Some("no"));
}

#[tokio::test]
async fn a_replay_begins_anew_unless_the_message_is_on_its_way() {
    let f = fixture().await;
    finished(&f.store, "one", 0, &["https://c.example/".to_owned()]).await;
    let claim = claim_only(&f.store, "p", 0).await;
    let replay = async |id, now_ms| f.store.replay_delivery(id, now_ms).await.expect("runs");
    assert_eq!(replay(claim.delivery.id, 10).await, Replay::IsBeingSent);
    assert_eq!(replay(Uuid::new_v4(), 10).await, Replay::Missing);
    assert!(f.store.end_attempt(&claim, Attempted::Delivered { at_ms: 11 }).await.expect("runs"));
    assert_eq!(replay(claim.delivery.id, 20).await, Replay::Due);
    let again = claim_only(&f.store, "p", 20).await;
    assert_eq!((again.attempt, again.delivery), (1, claim.delivery));
}

#[tokio::test]
async fn a_replayed_message_goes_before_the_later_ones_of_its_job() {
    let f = fixture().await;
    f.store.insert_webhook(webhook(None, None)).await.expect("inserts");
    let id = finished(&f.store, "one", 0, &[]).await;
    let told = f.store.deliveries_of(id).await.expect("reads");
    let deliver = async |now_ms| {
        let claim = claim_only(&f.store, "p", now_ms).await;
        let delivered = Attempted::Delivered { at_ms: now_ms };
        assert!(f.store.end_attempt(&claim, delivered).await.expect("runs"));
        claim.delivery.id
    };
    assert_eq!(deliver(1).await, told[0].id);
    assert_eq!(f.store.replay_delivery(told[0].id, 2).await.expect("runs"), Replay::Due);
    assert_eq!([deliver(2).await, deliver(3).await], [told[0].id, told[1].id]);
    assert!(due(&f.store, i64::MAX).await.is_empty());
}

#[tokio::test]
async fn lists_are_filtered_by_job_account_and_status() {
    let f = fixture().await;
    let url = |n: i64| vec![format!("https://host{n}.example/")];
    let first = finished(&f.store, "one", 1, &url(1)).await;
    finished(&f.store, "one", 2, &url(2)).await;
    finished(&f.store, "two", 3, &url(3)).await;
    let seen = due(&f.store, 1).await.remove(0);
    let claim = f.store.claim_delivery(&seen, "p", 50).await.expect("claims").expect("is free");
    assert!(f.store.end_attempt(&claim, Attempted::Delivered { at_ms: 4 }).await.expect("runs"));

    let all = DeliveryFilter { limit: 10, ..DeliveryFilter::default() };
    let list = async |filter: DeliveryFilter| {
        let records = f.store.list_deliveries(&filter).await.expect("lists");
        records.iter().map(|record| record.created_ms).collect::<Vec<_>>()
    };
    assert_eq!(list(all.clone()).await, [3, 2, 1]);
    assert_eq!(list(DeliveryFilter { offset: 1, limit: 1, ..all.clone() }).await, [2]);
    assert_eq!(list(DeliveryFilter { account_id: Some(account()), ..all.clone() }).await, [2, 1]);
    let with = |status| DeliveryFilter { status: Some(status), ..all.clone() };
    assert_eq!(list(with(DeliveryStatus::Pending)).await, [3, 2]);
    assert_eq!(list(with(DeliveryStatus::Delivered)).await, [1]);
    assert_eq!(list(with(DeliveryStatus::GivenUp)).await, [0_i64; 0]);
    let of_first = |status| DeliveryFilter { job_id: Some(first), ..with(status) };
    assert_eq!(list(of_first(DeliveryStatus::Delivered)).await, [1]);
    assert_eq!(list(of_first(DeliveryStatus::Pending)).await, [0_i64; 0]);
}
