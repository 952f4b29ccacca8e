//! Looking for old data never reads a whole table.

use std::sync::atomic::Ordering;

use super::*;

#[tokio::test]
async fn old_data_is_found_by_indexes() {
    let f = fixture().await;
    let mut db = f.store.reader().await.expect("a connection");
    let steps = sqlite::explain_retention(&mut db).await.expect("explains");
    for index in [
        "audio_by_age",
        "results_by_end",
        "jobs_by_end",
        "jobs_to_forget",
        "files_without_bytes",
        "deliveries_by_account",
        "erasures_by_account",
    ] {
        assert!(steps.iter().any(|step| step.contains(index)), "{index} is not used: {steps:#?}");
    }
    // Accounts are few, and the index holds only what is to be forgotten.
    let is_small = |step: &str| step.starts_with("SCAN accounts") || step.contains("jobs_to_forget");
    let whole: Vec<&String> = steps.iter().filter(|s| s.starts_with("SCAN") && !is_small(s)).collect();
    assert!(whole.is_empty(), "{whole:#?}");
}

#[tokio::test]
async fn what_is_erased_while_the_log_is_emptied_is_left_to_the_next_time() {
    let f = fixture().await;
    let id = add_job(&f.store, 0).await;
    let lease = claim_job(&f.store, "a", 0).await.lease;
    let ending = Ending {
        outcome: Outcome::Error { error_code: 422 },
        completed_ms: 1,
        post_session_metadata: Map::new(),
        deliveries: Vec::new(),
    };
    assert!(f.store.finish(&lease, ending).await.expect("finishes"));
    let account = account();
    let (erased, emptied) = tokio::join!(f.store.erase_job(&account, id), f.store.empty_log());
    assert!(matches!(erased, Ok(Erasure::Erased { .. })) && emptied.is_ok());
    assert!(f.store.erased.load(Ordering::Relaxed));
    f.store.empty_log().await.expect("empties");
    assert!(!f.store.erased.load(Ordering::Relaxed));
    assert_eq!(std::fs::metadata(f.path.with_extension("db-wal")).expect("a log").len(), 0);
}

#[tokio::test]
async fn what_is_erased_for_somebody_who_went_away_is_left_to_the_next_time_as_well() {
    let f = fixture().await;
    f.store.empty_log().await.expect("empties");
    let (account, id) = (account(), JobId::new());
    let mut erasing = Box::pin(f.store.erase_job(&account, id));
    assert!(futures_util::poll!(&mut erasing).is_pending());
    drop(erasing);
    f.store.erased.store(false, Ordering::Relaxed);
    f.store.probe(1).await.expect("writes after it");
    assert!(f.store.erased.load(Ordering::Relaxed));
}
