//! Looking for old data never reads a whole table.

use super::*;

#[tokio::test]
async fn old_data_is_found_by_indexes() {
    let f = fixture().await;
    let mut db = f.store.reader().await.expect("a connection");
    let steps = sqlite::explain_retention(&mut db).await.expect("explains");
    for index in ["audio_by_age", "results_by_end", "jobs_by_end", "jobs_to_forget"] {
        assert!(steps.iter().any(|step| step.contains(index)), "{index} is not used: {steps:#?}");
    }
    let whole: Vec<&String> =
        steps.iter().filter(|s| s.starts_with("SCAN") && !s.contains("INDEX")).collect();
    assert!(whole.is_empty(), "{whole:#?}");
}
