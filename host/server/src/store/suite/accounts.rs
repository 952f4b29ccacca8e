//! Accounts: turns in the queue, limits, keys, what is billed.

use std::time::Instant;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;

use super::*;
use crate::store::admission::{Quota, Refusal};

const OPEN: Quota = Quota { all_waiting: u64::MAX, waiting: None, unfinished: None, billed_s: None };

fn job_of(account: &str, created_ms: i64) -> NewJob {
    NewJob { account_id: AccountId(account.to_owned()), ..new_job(created_ms) }
}

/// The account whose job is given out, or what happens instead.
async fn next_account(store: &Store, now_ms: i64, limit_of: &ConcurrencyLimit) -> String {
    let claimed = store.claim("a", now_ms, LEASE_MS, limit_of).await.expect("claims");
    claimed.map_or("(nothing)".to_owned(), |claimed| claimed.job.account_id.0)
}

#[tokio::test]
async fn accounts_take_turns_however_long_the_queue_of_one_is() {
    let f = fixture().await;
    for at in 0..4 {
        f.store.create_job(job_of("many", at)).await.expect("created");
    }
    for (account, at) in [("late", 10), ("later", 11)] {
        f.store.create_job(job_of(account, at)).await.expect("created");
    }
    let mut order = Vec::new();
    for _ in 0..7 {
        // The clock stands still.
        order.push(next_account(&f.store, 20, &no_limit()).await);
    }
    assert_eq!(order, ["late", "later", "many", "many", "many", "many", "(nothing)"]);
}

#[tokio::test]
async fn an_account_has_at_most_its_limit_in_work_and_others_pass_it() {
    let f = fixture().await;
    for at in 0..3 {
        f.store.create_job(job_of("small", at)).await.expect("created");
    }
    f.store.create_job(job_of("big", 5)).await.expect("created");
    let limit: ConcurrencyLimit = std::sync::Arc::new(|account| (account.0 == "small").then_some(1));
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(next_account(&f.store, 20, &limit).await);
    }
    order.sort();
    assert_eq!(order, ["(nothing)", "big", "small"]);
    // A lease that has run out is work no more: the same job is due again.
    let again = f.store.claim("b", 20 + LEASE_MS, LEASE_MS, &limit).await.expect("claims");
    assert!(again.is_some(), "the lease has run out");
}

async fn raw(f: &Fixture) -> SqliteConnection {
    SqliteConnection::connect(&format!("sqlite:{}", f.path.display())).await.expect("opens")
}

#[tokio::test]
async fn each_limit_lets_the_last_job_in_and_refuses_the_next() {
    let f = fixture().await;
    let admit = async |account: &str, quota: Quota| {
        f.store.admit_job(job_of(account, 0), quota, None).await.expect("answers").map(drop)
    };
    let waiting = Quota { waiting: Some(2), ..OPEN };
    assert_eq!(admit("a", waiting).await, Ok(()));
    assert_eq!(admit("a", waiting).await, Ok(()));
    assert_eq!(admit("a", waiting).await, Err(Refusal::AccountQueueFull));
    assert_eq!(admit("b", Quota { all_waiting: 3, ..waiting }).await, Ok(()));
    assert_eq!(admit("b", Quota { all_waiting: 3, ..waiting }).await, Err(Refusal::QueueFull));

    // A job in work does not wait, but it is unfinished.
    let claimed = claim_job(&f.store, "w", 10).await;
    assert_eq!(claimed.job.account_id.0, "a");
    assert_eq!(admit("a", Quota { unfinished: Some(2), ..OPEN }).await, Err(Refusal::AccountBusy));
    assert_eq!(admit("a", waiting).await, Ok(()));
    assert_eq!(admit("a", waiting).await, Err(Refusal::AccountQueueFull));
    assert_eq!(admit("a", Quota { unfinished: Some(4), ..OPEN }).await, Ok(()));
    assert_eq!(admit("a", Quota { unfinished: Some(4), ..OPEN }).await, Err(Refusal::AccountBusy));

    // It is billed 4.5 seconds when it ends.
    let credits = Quota { billed_s: Some(4.5), ..OPEN };
    assert_eq!(admit("a", credits).await, Ok(()));
    assert!(f.store.finish(&claimed.lease, done(&BlobKey::new(BlobArea::Result))).await.expect("ends"));
    assert_eq!(admit("a", credits).await, Err(Refusal::NoCredits));
    assert_eq!(admit("a", Quota { billed_s: Some(4.6), ..OPEN }).await, Ok(()));
    assert_eq!(admit("b", credits).await, Ok(()), "another account pays for itself");
}

#[tokio::test]
async fn jobs_that_come_together_do_not_pass_a_limit_together() {
    let f = fixture().await;
    let quota = Quota { unfinished: Some(5), ..OPEN };
    let all = (0..40).map(|at| f.store.admit_job(job_of("a", at), quota, None));
    let answers = futures_util::future::join_all(all).await;
    assert_eq!(answers.into_iter().filter(|answer| matches!(answer, Ok(Ok(_)))).count(), 5);
}

#[tokio::test]
async fn a_job_is_billed_once_and_only_by_the_holder_of_its_lease() {
    let f = fixture().await;
    add_job(&f.store, 0).await;
    let old = claim_job(&f.store, "a", 0).await;
    let new = claim_job(&f.store, "b", LEASE_MS).await;
    let ending = done(&BlobKey::new(BlobArea::Result));
    for lease in [&old.lease, &new.lease, &new.lease] {
        f.store.finish(lease, ending.clone()).await.expect("answers");
    }
    let usage = f.store.usage_of(&account(), &Days::default()).await.expect("reads");
    assert_eq!((usage.jobs, usage.billed_s, usage.ever_billed_s), (1, 4.5, 4.5));
    let days = f.store.usage_by_day(&account(), &Days::default()).await.expect("reads");
    assert_eq!((days.len(), days[0].day.as_str()), (1, "1970-01-01"));

    add_job(&f.store, 1).await;
    let failed = claim_job(&f.store, "b", LEASE_MS).await;
    let ending = Ending { outcome: Outcome::Error { error_code: 500 }, ..ending };
    assert!(f.store.finish(&failed.lease, ending).await.expect("ends"));
    let usage = f.store.usage_of(&account(), &Days::default()).await.expect("reads");
    assert_eq!(usage.jobs, 1, "a failure costs nothing");
}

#[tokio::test]
async fn an_account_is_known_from_its_first_upload_on() {
    let f = fixture().await;
    let facts = FileFacts::default();
    let file = FileRecord { id: FileId::new(), account_id: account(), source: None, created_ms: 5, facts };
    f.store.insert_file(file).await.expect("inserts");
    assert_eq!(f.store.accounts().await.expect("reads"), [account()]);
}

#[tokio::test]
async fn a_new_job_is_told_at_once() {
    let f = fixture().await;
    f.store.admit_job(job_of("a", 0), OPEN, None).await.expect("answers").expect("is taken");
    let told = tokio::time::timeout(std::time::Duration::from_secs(1), async {
        f.store.outbox_changed().notified().await;
    });
    told.await.expect("the sender is woken");
}

#[tokio::test]
async fn keys_read_back_and_are_revoked_once() {
    let f = fixture().await;
    let key = StoredKey {
        id: Uuid::new_v4(),
        account_id: account(),
        digest: [7; 32],
        label: "laptop".to_owned(),
        is_admin: true,
        created_ms: 5,
        revoked_ms: None,
    };
    f.store.create_key(key.clone(), Some("paid".to_owned())).await.expect("created");
    assert_eq!(f.store.keys().await.expect("reads"), std::slice::from_ref(&key));
    f.store.create_key(StoredKey { id: Uuid::new_v4(), ..key.clone() }, None).await.unwrap_err();
    let second = StoredKey { id: Uuid::new_v4(), digest: [8; 32], created_ms: 6, ..key.clone() };
    f.store.create_key(second, None).await.expect("created");
    let plans = f.store.assigned_plans().await.expect("reads");
    assert_eq!(plans.get(&account()).map(String::as_str), Some("paid"), "kept by a key without a plan");

    assert!(f.store.revoke_key(key.id, 9).await.expect("revokes"));
    assert!(!f.store.revoke_key(key.id, 10).await.expect("answers"), "only once");
    assert!(!f.store.revoke_key(Uuid::new_v4(), 10).await.expect("answers"));
    let revoked: Vec<_> = f.store.keys().await.expect("reads").iter().map(|key| key.revoked_ms).collect();
    assert_eq!(revoked, [Some(9), None]);
}

/// Claims while `accounts` wait with `each` jobs: prints milliseconds.
async fn measure(accounts: usize, each: usize) {
    let f = fixture().await;
    let mut db = raw(&f).await;
    f.store.create_job(job_of("account-0", 0)).await.expect("created");
    sqlx::query(
        "WITH RECURSIVE
             a (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM a WHERE n + 1 < $1),
             j (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM j WHERE n + 1 < $2)
         INSERT INTO jobs (id, account_id, kind, status, request_id, spec, created_ms,
                           post_session_metadata, attempts, crashes, faults, due_ms)
         SELECT printf('00000000-0000-4000-8000-%06d%06d', a.n, j.n), 'account-' || a.n, 'pre-recorded',
                'queued', 'G-0', (SELECT spec FROM jobs LIMIT 1), j.n, '{}', 0, 0, 0, j.n
         FROM a, j",
    )
    .bind(accounts as i64)
    .bind(each as i64)
    .execute(&mut db)
    .await
    .expect("writes");
    let now_ms = 1_000_000_000;
    let mut took_ms = Vec::new();
    for _ in 0..200 {
        let begun = Instant::now();
        next_account(&f.store, now_ms, &no_limit()).await;
        took_ms.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    took_ms.sort_by(f64::total_cmp);
    let quota = Quota { all_waiting: 10_000_000, waiting: Some(10_000_000), ..OPEN };
    let begun = Instant::now();
    assert!(f.store.admit_job(job_of("account-0", 0), quota, None).await.expect("answers").is_ok());
    let admit_ms = begun.elapsed().as_secs_f64() * 1e3;
    println!(
        "{accounts} accounts with {each} jobs each: a claim takes {:.2} ms (median), {:.2} ms (99 %); \
         a POST that counts them all {admit_ms:.2} ms",
        took_ms[100], took_ms[197]
    );
}

#[tokio::test]
#[ignore = "a measurement"]
async fn measure_claims() {
    for (accounts, each) in [(1, 1), (1, 100_000), (1_000, 1), (1_000, 100)] {
        measure(accounts, each).await;
    }
}
