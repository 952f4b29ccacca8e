//! What crashes leave behind goes, what jobs need stays.

use std::time::{Duration, SystemTime};

use tokio_util::sync::CancellationToken;

use super::script::{House, Script, Trouble, wait_for_place};
use crate::blob::BlobError;
use crate::model::id::{BlobArea, JobId};
use crate::worker::Worker;
use crate::worker::sweep::sweep;

#[tokio::test]
async fn orphans_go_after_an_hour_and_the_rest_stays() {
    let house = House::open().await;
    let finished = house.add_job().await;
    let worker = house.start(&Script::default());
    let result = house.result(finished).await;
    worker.stop().await;
    let unfinished = house.add_job().await;
    let script = Script::with("add-ons", &[Trouble::Hang]);
    let worker = house.start(&script);
    wait_for_place(&script, "add-ons").await;
    worker.kill().await;
    let needed = house.leftovers();
    assert_eq!(needed.len(), 9, "eight checkpoints and the samples of {unfinished}: {needed:?}");

    let orphan = house.blobs.put(BlobArea::Result, b"nobody's".to_vec()).await.expect("stores");
    let forgotten = house.settings.scratch_dir.join(JobId::new().to_string());
    std::fs::create_dir(&forgotten).expect("creates");
    let of_finished = house.settings.scratch_dir.join(finished.to_string());
    std::fs::create_dir(&of_finished).expect("creates");

    let parts = house.parts(Script::default());
    sweep(&parts, SystemTime::now()).await.expect("sweeps");
    assert!(house.blobs.get(&orphan).await.is_ok(), "its row may still come");
    sweep(&parts, SystemTime::now() + Duration::from_secs(3_700)).await.expect("sweeps");
    assert!(matches!(house.blobs.get(&orphan).await, Err(BlobError::Missing(_))));
    assert!(!forgotten.exists() && !of_finished.exists());
    assert_eq!(house.leftovers(), needed);
    assert_eq!(house.result(finished).await, result);
}

#[tokio::test]
async fn a_worker_whose_sweep_ends_gives_up_so_that_somebody_notices() {
    let house = House::open().await;
    let worker = Worker::new(house.parts(Script::default())).expect("starts");
    let sweeping = tokio::spawn(async { panic!("a defect") });
    let working = worker.work(CancellationToken::new(), sweeping);
    tokio::time::timeout(Duration::from_secs(60), working).await.expect("ends");
}
