//! Lists at the size of a large installation.

use std::time::{Duration, Instant};

use super::*;
use crate::model::listing::{JobFilter, Page};
use crate::model::metadata::pairs;

const PAGE: Page = Page { offset: 0, limit: 20 };

#[tokio::test]
async fn a_list_is_read_from_indexes_alone_and_in_their_order() {
    let f = fixture().await;
    let metadata = pairs(json!({ "a": 1, "b": { "c": 2 } }).as_object().expect("an object"));
    let every = JobFilter {
        kind: Some(Kind::Live),
        statuses: vec![Status::Done, Status::Error],
        from_ms: 5,
        before_ms: 9,
        metadata,
    };
    let mut db = f.store.reader().await.expect("a connection");
    for filter in [JobFilter::default(), JobFilter { metadata: Vec::new(), ..every.clone() }, every] {
        let steps = sqlite::explain_job_ids(&mut db, &account(), &filter).await.expect("explains");
        assert!(steps[0].contains("USING COVERING INDEX jobs_list (account_id=?"), "{steps:?}");
        let pairs = steps.iter().filter(|step| step.contains("INDEX job_metadata_by_value (")).count();
        assert_eq!(pairs, filter.metadata.len(), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER")), "{steps:?}");
        assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{steps:?}");
    }
}

/// Not a test of right or wrong: prints how long lists take among 100,000 jobs. `cargo test
/// --release -p tympan --lib measure_lists -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn measure_lists() {
    const JOBS: i64 = 100_000;
    let f = fixture().await;
    for begin in (0..JOBS).step_by(1000) {
        let jobs = (begin..begin + 1000).map(|at| {
            let mut job = new_job(at);
            let metadata = json!({ "env": "production", "number": at, "in": { "team": at % 100 } });
            job.spec.custom_metadata = metadata.as_object().cloned();
            // As long as the echo of a usual request.
            job.spec.request_params = Map::from_iter([("echo".to_owned(), "x".repeat(1500).into())]);
            f.store.create_job(job)
        });
        futures_util::future::try_join_all(jobs).await.expect("created");
    }
    let metadata = |value: serde_json::Value| JobFilter {
        metadata: pairs(value.as_object().expect("an object")),
        ..JobFilter::default()
    };
    let none = JobFilter::default;
    let days = JobFilter { from_ms: 40_000, before_ms: 60_000, ..none() };
    for (name, filter, page) in [
        ("newest 20", none(), PAGE),
        ("newest 100", none(), Page { limit: 100, ..PAGE }),
        ("20 at offset 50,000", none(), Page { offset: 50_000, ..PAGE }),
        ("20 at offset 99,980", none(), Page { offset: 99_980, ..PAGE }),
        ("between two dates, offset 10,000", days, Page { offset: 10_000, ..PAGE }),
        ("status without a job", JobFilter { statuses: vec![Status::Done], ..none() }, PAGE),
        ("metadata of one job", metadata(json!({ "number": 77 })), PAGE),
        (
            "metadata of 1,000 jobs, offset 900",
            metadata(json!({ "in": { "team": 7 } })),
            Page { offset: 900, ..PAGE },
        ),
        ("metadata of all jobs", metadata(json!({ "env": "production" })), PAGE),
        (
            "metadata of all, offset 99,980",
            metadata(json!({ "env": "production" })),
            Page { offset: 99_980, ..PAGE },
        ),
    ] {
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..21 {
            let began = Instant::now();
            found = f.store.list_jobs(&account(), &filter, page).await.expect("lists").jobs.len();
            times.push(began.elapsed());
        }
        times.sort();
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        println!("{name}: {found} jobs, median {:.1} ms, most {:.1} ms", ms(times[10]), ms(times[20]));
    }
}
