//! What every store must do; SQLite runs it now, another database will run the same.

mod accounts;
mod deliveries;
mod leases;
mod lists;
mod retention;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, json};
use uuid::Uuid;

use super::*;
use crate::model::event::{Event, Target};
use crate::model::id::{AccountId, BlobArea, BlobKey, FileId, JobId};
use crate::model::job::{AudioSource, CallbackMethod, Kind, Status};

const LEASE_MS: i64 = 30_000;

struct Fixture {
    store: Store,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

async fn fixture() -> Fixture {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("tympan.db");
    Fixture { store: Store::open(&path).await.expect("opens"), path, _folder: folder }
}

fn account() -> AccountId {
    AccountId("one".to_owned())
}

fn new_job(created_ms: i64) -> NewJob {
    NewJob::example(AudioSource::Url("http://example.com/a.wav".to_owned()), created_ms)
}

async fn add_job(store: &Store, created_ms: i64) -> JobId {
    let job = new_job(created_ms);
    let id = job.id;
    store.create_job(job).await.expect("created");
    id
}

async fn claim_job(store: &Store, owner: &str, now_ms: i64) -> Claimed {
    store.claim(owner, now_ms, LEASE_MS, &no_limit()).await.expect("claims").expect("a job is due")
}

/// Changes rows as no version of ours does.
async fn execute(f: &Fixture, sql: &'static str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&f.path);
    let mut db = sqlx::ConnectOptions::connect(&options).await.expect("connects");
    sqlx::query(sql).execute(&mut db).await.expect("runs");
}

async fn get(store: &Store, id: JobId) -> Job {
    store.get_job(&account(), id).await.expect("reads").expect("exists")
}

fn done(result_key: &BlobKey) -> Ending {
    Ending {
        outcome: Outcome::Done { result_key: result_key.clone(), billed_s: 4.5 },
        completed_ms: 9_000,
        post_session_metadata: Map::new(),
        deliveries: Vec::new(),
    }
}

#[tokio::test]
async fn a_job_reads_back_as_it_was_written_and_only_for_its_account() {
    let f = fixture().await;
    let new = new_job(1_000);
    f.store.create_job(new.clone()).await.expect("created");
    let job = get(&f.store, new.id).await;
    assert_eq!((job.status, job.created_ms, job.completed_ms), (Status::Queued, 1_000, None));
    assert_eq!((&job.spec, &job.request_id, job.kind), (&new.spec, &new.request_id, new.kind));
    let file = job.file.expect("a file record from the start");
    assert_eq!(file.source.as_deref(), Some("http://example.com/a.wav"));
    assert_eq!(file.facts, FileFacts::default());
    let stranger = AccountId("two".to_owned());
    assert_eq!(f.store.get_job(&stranger, new.id).await.expect("reads"), None);
    assert_eq!(f.store.get_file(&stranger, file.id).await.expect("reads"), None);
    assert!(f.store.get_file(&account(), file.id).await.expect("reads").is_some());
    assert_eq!(f.store.get_job(&account(), JobId::new()).await.expect("reads"), None);
}

#[tokio::test]
async fn a_job_over_a_stored_file_shares_its_record() {
    let f = fixture().await;
    let file = FileRecord {
        id: FileId::new(),
        account_id: account(),
        source: None,
        created_ms: 5,
        facts: FileFacts {
            filename: Some("call.wav".to_owned()),
            audio_duration_s: Some(4.14),
            number_of_channels: Some(2),
            size_bytes: Some(365_702),
            sha256: Some("ab".to_owned()),
            blob_key: Some(BlobKey::new(BlobArea::Audio)),
        },
    };
    f.store.insert_file(file.clone()).await.expect("inserted");
    let job = NewJob::example(AudioSource::Stored(file.id), 10);
    f.store.create_job(job.clone()).await.expect("created");
    assert_eq!(get(&f.store, job.id).await.file, Some(file));
}

#[tokio::test]
async fn a_job_over_a_file_that_is_gone_or_foreign_has_none() {
    let f = fixture().await;
    let foreign = FileRecord {
        id: FileId::new(),
        account_id: AccountId("two".to_owned()),
        source: None,
        created_ms: 5,
        facts: FileFacts { filename: Some("theirs.wav".to_owned()), ..FileFacts::default() },
    };
    f.store.insert_file(foreign.clone()).await.expect("inserted");
    for id in [foreign.id, FileId::new()] {
        let job = NewJob::example(AudioSource::Stored(id), 11);
        f.store.create_job(job.clone()).await.expect("created");
        assert_eq!(get(&f.store, job.id).await.file, None);
    }
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_nothing_else() {
    let f = fixture().await;
    let before = add_job(&f.store, 0).await;
    limit_pages(&f.store).await;
    let mut refused = None;
    for _ in 0..1_000 {
        if let Err(error) = f.store.create_job(new_job(1)).await {
            refused = Some(error);
            break;
        }
    }
    assert!(matches!(refused, Some(StoreError::Full(_))), "{refused:?}");
    assert_eq!(get(&f.store, before).await.id, before, "reads go on");
    let after = add_job(&f.store, 2).await;
    assert_eq!(get(&f.store, after).await.id, after);
    f.store.probe(3).await.expect("there is space again");
}

/// Lets the database grow no further, until the writer takes a new connection.
async fn limit_pages(store: &Store) {
    let limiting = store.writer.write(|db: &mut sqlx::SqliteConnection| {
        Box::pin(async move { Ok(sqlx::query("PRAGMA max_page_count = 40").execute(db).await.map(drop)?) })
    });
    limiting.await.expect("limits");
}

#[tokio::test]
async fn what_is_promised_about_the_disk_is_switched_on() {
    let f = fixture().await;
    let reading = f.store.writer.write(|db: &mut sqlx::SqliteConnection| {
        Box::pin(async move {
            let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut *db).await?;
            let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(&mut *db).await?;
            let erases: i64 = sqlx::query_scalar("PRAGMA secure_delete").fetch_one(&mut *db).await?;
            let keys: i64 = sqlx::query_scalar("PRAGMA foreign_keys").fetch_one(&mut *db).await?;
            Ok((mode, synchronous, erases, keys))
        })
    });
    // 2 is FULL (https://www.sqlite.org/pragma.html#pragma_synchronous).
    assert_eq!(reading.await.expect("reads"), ("wal".to_owned(), 2, 1, 1));
}

#[tokio::test]
async fn a_change_that_fails_is_undone_alone() {
    let f = fixture().await;
    let twice = new_job(1);
    let others: Vec<_> = (2..20).map(new_job).collect();
    let ids: Vec<_> = others.iter().map(|job| job.id).collect();
    let mut all = vec![twice.clone(), twice.clone()];
    all.extend(others);
    // One batch, because they are all asked for before the first is awaited.
    let outcomes = futures_util::future::join_all(all.into_iter().map(|job| f.store.create_job(job))).await;
    let failed: Vec<_> = outcomes.iter().enumerate().filter(|(_, o)| o.is_err()).map(|(n, _)| n).collect();
    assert_eq!(failed, [1], "{outcomes:?}");
    for id in ids {
        get(&f.store, id).await;
    }
    let files = get(&f.store, twice.id).await.file;
    assert!(files.is_some());
}

#[tokio::test]
async fn a_change_that_panics_is_undone_alone() {
    let f = fixture().await;
    let (before, after) = (new_job(1), new_job(2));
    let ids = [before.id, after.id];
    let panicking = f.store.writer.write(|db: &mut sqlx::SqliteConnection| {
        Box::pin(async move {
            sqlx::query("DELETE FROM jobs").execute(db).await?;
            panic!("a defect")
        })
    });
    let outcomes =
        tokio::join!(f.store.create_job(before), async { panicking.await as Result<(), _> }, async {
            f.store.create_job(after).await
        });
    assert!(matches!(outcomes, (Ok(()), Err(StoreError::Panicked), Ok(()))), "{outcomes:?}");
    for id in ids {
        get(&f.store, id).await;
    }
}

#[tokio::test]
async fn a_change_whose_savepoint_fails_hears_why() {
    let f = fixture().await;
    let ending = f.store.writer.write(|db: &mut sqlx::SqliteConnection| {
        Box::pin(async move { Ok(sqlx::query("ROLLBACK").execute(db).await.map(drop)?) })
    });
    let (ended, next) = tokio::join!(ending, f.store.create_job(new_job(1)));
    assert!(matches!(ended, Err(StoreError::Database(_))), "{ended:?}");
    assert!(matches!(next, Err(StoreError::Database(_))), "{next:?}");
    add_job(&f.store, 2).await;
}

#[tokio::test]
async fn an_existing_database_opens_again_with_its_rows() {
    let f = fixture().await;
    let id = add_job(&f.store, 0).await;
    f.store.close().await;
    let again = Store::open(&f.path).await.expect("opens");
    assert_eq!(get(&again, id).await.id, id);
}

/// Not a test of right or wrong: prints how many jobs a second are created durably and
/// read back, by 64 clients. `cargo test --release -p tympan --lib measure -- --ignored
/// --nocapture`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn measure_jobs_created_and_read() {
    const CLIENTS: usize = 64;
    const JOBS_EACH: usize = 200;
    let f = fixture().await;
    let store = Arc::new(f.store);
    let began = std::time::Instant::now();
    let clients = (0..CLIENTS).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for created_ms in 0..JOBS_EACH {
                let id = add_job(&store, created_ms as i64).await;
                get(&store, id).await;
            }
        })
    });
    futures_util::future::join_all(clients).await.into_iter().for_each(|c| c.expect("ends"));
    let took_s = began.elapsed().as_secs_f64();
    let rate = (CLIENTS * JOBS_EACH) as f64 / took_s;
    println!("{} jobs created and read in {took_s:.2} s: {rate:.0} a second", CLIENTS * JOBS_EACH);
}
