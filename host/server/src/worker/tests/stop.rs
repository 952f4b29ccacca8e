//! Shutdown, slots, lost leases and a database that does not answer.

use std::time::Duration;

use sqlx::Connection;

use super::script::{House, Script, Trouble, wait_for, wait_for_count, wait_for_place};
use crate::model::job::Status;
use crate::store::no_limit;
use crate::worker::Clock;

#[tokio::test]
async fn a_shutdown_waits_for_what_ends_in_time() {
    let mut house = House::open().await;
    house.settings.shutdown_grace = Duration::from_secs(10);
    let id = house.add_job().await;
    let script = Script::default();
    let worker = house.start(&script);
    wait_for_place(&script, "decode").await;
    worker.stop().await;
    assert_eq!(house.job(id).await.status, Status::Done);
}

#[tokio::test]
async fn a_shutdown_releases_what_does_not() {
    let house = House::open().await;
    let id = house.add_job().await;
    let script = Script::with("segment", &[Trouble::Hang]);
    let worker = house.start(&script);
    wait_for_place(&script, "segment").await;
    worker.stop().await;
    assert_eq!(house.job(id).await.status, Status::Processing, "never back");
    match house.store.claim("next", super::script::NOON_MS, 1_000, &no_limit()).await.expect("claims") {
        Some(claimed) => {
            assert_eq!((claimed.job.id, claimed.crashes, claimed.faults), (id, 0, 0));
            assert_eq!(claimed.checkpoints.len(), 2, "fetch and decode");
        }
        None => panic!("not released"),
    }
}

#[tokio::test]
async fn no_more_jobs_than_slots_and_a_suspect_alone() {
    let house = House::open().await;
    let script = Script::with("decode", &[Trouble::Hang; 2]);
    for _ in 0..3 {
        house.add_job().await;
    }
    let worker = house.start(&script);
    wait_for_count(&script, "fetch", 3).await;
    wait_for_count(&script, "decode", 2).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(script.count("decode"), 2, "two slots");
    worker.kill().await;
    house.clock.advance(house.settings.lease_time.as_millis() as i64 + 1);

    // The first of the suspects finds all slots free. Nobody joins it until it gets further, and
    // then the one that is no suspect, although the first goes on for ever.
    let after = Script::with("decode", &[Trouble::Gate]);
    after.troubles.lock().expect("lock").insert("segment".to_owned(), vec![Trouble::Hang]);
    let worker = house.start(&after);
    wait_for_place(&after, "decode").await;
    wait_for("the second claim of each", async || {
        let claimed = house.ask("SELECT COUNT(*) FROM jobs WHERE attempts = 2").await;
        (claimed == Some(3)).then_some(())
    })
    .await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(after.count("decode"), 1, "nobody beside it");
    after.gate.notify_one();
    wait_for_count(&after, "decode", 2).await;
    wait_for_place(&after, "add-ons").await;
    worker.kill().await;
}

#[tokio::test]
async fn a_fetch_that_hangs_holds_no_slot() {
    let house = House::open().await;
    let script = Script::with("fetch", &[Trouble::Hang; 3]);
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(house.add_job().await);
    }
    let worker = house.start(&script);
    wait_for_count(&script, "fetch", 3).await;
    let quick = house.add_job().await;
    house.result(quick).await;
    for id in ids {
        assert_eq!(house.job(id).await.status, Status::Processing);
    }
    worker.stop().await;
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_hosts() {
    let mut house = House::open().await;
    house.settings.shutdown_grace = Duration::from_secs(3600);
    house.add_job().await;
    let script = Script::with("fetch", &[Trouble::Hang]);
    let worker = house.start(&script);
    wait_for_place(&script, "fetch").await;
    tokio::time::timeout(Duration::from_secs(60), worker.stop()).await.expect("it is given back");
}

#[tokio::test]
async fn neither_a_late_heartbeat_nor_an_end_while_fetching_makes_a_suspect() {
    let house = House::open().await;
    let id = house.add_job().await;
    let script = Script::with("fetch", &[Trouble::Hang; 4]);
    for kills in 1..=4 {
        let worker = house.start(&script);
        wait_for_count(&script, "fetch", kills).await;
        worker.kill().await;
    }
    // Whoever computes may lose its lease to a database that does not answer.
    house.clock.advance(house.settings.lease_time.as_millis() as i64);
    for _ in 0..4 {
        let now_ms = house.clock.now_ms();
        let claimed = house.store.claim("alive", now_ms, 1_000, &no_limit()).await.expect("claims");
        let claimed = claimed.expect("the job is due");
        assert_eq!((claimed.job.id, claimed.crashes), (id, 0));
        assert!(house.store.enter_slot(&claimed.lease).await.expect("enters"));
        house.clock.advance(1_000);
    }
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_stops_and_writes_nothing() {
    let mut house = House::open().await;
    house.settings.lease_time = Duration::from_secs(1);
    let id = house.add_job().await;
    let script = Script::with("segment", &[Trouble::Hang]);
    let worker = house.start(&script);
    wait_for_place(&script, "segment").await;
    let later_ms = super::script::NOON_MS + 3_600_000;
    let Some(thief) = house.store.claim("thief", later_ms, 3_600_000, &no_limit()).await.expect("claims")
    else {
        panic!("the lease had run out")
    };
    assert_eq!(thief.job.id, id);
    // The heart beats once a second, notices, and the slot is free again.
    let next = house.add_job().await;
    house.add_job().await;
    house.result(next).await;
    wait_for("the stop", async || (script.log().len() > 3 + 7).then_some(())).await;
    assert_eq!(house.job(id).await.status, Status::Processing);
    assert!(house.store.heartbeat(&thief.lease, later_ms, Default::default()).await.expect("beats"));
    worker.stop().await;
}

#[tokio::test]
async fn the_work_of_a_dead_process_is_taken_over_at_once() {
    let house = House::open().await;
    let id = house.add_job().await;
    let claim =
        house.store.claim("dead", super::script::NOON_MS, 3_600_000, &no_limit()).await.expect("claims");
    assert!(claim.is_some());
    // As a kill leaves it: a file that nobody holds locked.
    std::fs::create_dir_all(&house.settings.instances_dir).expect("creates");
    std::fs::write(house.settings.instances_dir.join("dead"), b"").expect("writes");
    let worker = house.start(&Script::default());
    house.result(id).await;
    assert_eq!(house.job(id).await.post_session_metadata["attempts"], 2);
    worker.stop().await;
}

#[tokio::test]
async fn a_locked_database_is_survived() {
    let house = House::open().await;
    let script = Script::with("segment", &[Trouble::Gate]);
    let worker = house.start(&script);
    let path = house.folder.path().join("tympan.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let mut other = sqlx::SqliteConnection::connect_with(&options).await.expect("connects");
    let id = house.add_job().await;
    wait_for_place(&script, "segment").await;
    let lock = other.begin_with("BEGIN IMMEDIATE").await.expect("locks");
    script.gate.notify_one();
    // Longer than the busy time-out: the writes of the worker fail.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(house.job(id).await.completed_ms.is_none(), "reads go on");
    lock.rollback().await.expect("unlocks");
    wait_for("the end", async || {
        house.clock.advance(500);
        (house.job(id).await.status == Status::Done).then_some(())
    })
    .await;
    worker.stop().await;
}

#[tokio::test]
async fn an_ending_that_the_database_refuses_holds_no_slot_and_the_job_ends() {
    let mut house = House::open().await;
    house.settings.slots = 1;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(house.folder.path().join("tympan.db"));
    let mut other = sqlx::SqliteConnection::connect_with(&options).await.expect("connects");
    let refusing = "CREATE TRIGGER refuse BEFORE UPDATE ON jobs WHEN NEW.status = 'done' AND OLD.rowid = 1
                    BEGIN SELECT RAISE(ABORT, 'refused'); END";
    sqlx::query(refusing).execute(&mut other).await.expect("runs");
    let refused = house.add_job().await;
    // So that the other one has its turn and its slot first.
    house.clock.advance(1);
    let next = house.add_job().await;
    let worker = house.start(&Script::default());
    house.result(next).await;
    assert_eq!(house.wait_final(refused).await.error_code, Some(500));
    worker.stop().await;
}

/// Not a test of right or wrong: prints what the worker and its store cost per job when the
/// steps cost nothing. `cargo test --release -p tympan --lib measure -- --ignored
/// --nocapture`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn measure_overhead_of_a_job() {
    const JOBS: usize = 50;
    let house = House::open().await;
    let worker = house.start(&Script::default());
    let mut took_ms = Vec::new();
    for _ in 0..JOBS {
        let began = std::time::Instant::now();
        let id = house.add_job().await;
        while house.job(id).await.completed_ms.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        took_ms.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    took_ms.sort_by(f64::total_cmp);
    println!("a job of 4 segments: median {:.1} ms, worst {:.1} ms", took_ms[JOBS / 2], took_ms[JOBS - 1]);
    worker.stop().await;
}
