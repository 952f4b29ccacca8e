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
        let range = "(account_id=? AND path=? AND value=? AND created_ms>? AND created_ms<?)";
        let (index, range) = match filter.metadata.is_empty() {
            true => ("jobs_list", "(account_id=? AND created_ms>? AND created_ms<?)"),
            false => ("job_metadata_by_value", range),
        };
        assert_eq!(steps[0], format!("SEARCH l USING COVERING INDEX {index} {range}"));
        let looks = steps.iter().filter(|step| step.starts_with("SEARCH")).collect::<Vec<_>>();
        assert!(looks.iter().all(|step| step.contains("COVERING INDEX")), "{steps:?}");
        let exact = looks.iter().filter(|step| step.contains("created_ms=?"));
        // Each pair but the first, and the status beside metadata.
        assert_eq!(exact.count(), filter.metadata.len(), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
        assert!(!steps.iter().any(|step| step.starts_with("SCAN")), "{steps:?}");
    }
}

#[tokio::test]
async fn metadata_kind_status_and_time_must_all_fit_in_whatever_order() {
    let f = fixture().await;
    let mut ids = Vec::new();
    for at in 0..8 {
        let mut job = new_job(at / 2);
        let metadata = json!({ "env": "test", "team": at % 2, "only": if at == 5 { "5" } else { "no" } });
        job.spec.custom_metadata = metadata.as_object().cloned();
        job.kind = if at == 3 { Kind::Live } else { Kind::PreRecorded };
        ids.push((job.created_ms, job.id));
        f.store.create_job(job).await.expect("created");
    }
    let claimed = claim_job(&f.store, "w", 100).await;
    let filter = |metadata: serde_json::Value| JobFilter {
        metadata: pairs(metadata.as_object().expect("an object")),
        ..JobFilter::default()
    };
    let newest_first = |mut wanted: Vec<(i64, JobId)>| {
        wanted.sort_by_key(|(created_ms, id)| (*created_ms, id.to_string()));
        wanted.into_iter().rev().map(|(_, id)| id).collect::<Vec<_>>()
    };
    let all = filter(json!({ "env": "test" }));
    let processing = JobFilter { statuses: vec![Status::Processing], ..all.clone() };
    let recorded = JobFilter { kind: Some(Kind::PreRecorded), from_ms: 1, before_ms: 3, ..all.clone() };
    for (filter, wanted) in [
        (all, ids.clone()),
        (filter(json!({ "team": 1, "env": "test" })), vec![ids[1], ids[3], ids[5], ids[7]]),
        (filter(json!({ "env": "test", "only": "5", "team": 1 })), vec![ids[5]]),
        (filter(json!({ "only": "5", "team": 0 })), vec![]),
        (recorded, vec![ids[2], ids[4], ids[5]]),
        (processing, vec![(claimed.job.created_ms, claimed.job.id)]),
    ] {
        let page = f.store.list_jobs(&account(), &filter, PAGE).await.expect("lists");
        assert_eq!(page.ids, newest_first(wanted), "{filter:?}");
    }
}

#[tokio::test]
async fn a_filter_of_many_pairs_is_looked_up_and_not_joined() {
    let f = fixture().await;
    let many: serde_json::Map<_, _> = (0..200).map(|n| (format!("k{n}"), json!(n))).collect();
    let mut job = new_job(1);
    job.spec.custom_metadata = Some(many.clone());
    let id = job.id;
    f.store.create_job(job).await.expect("created");
    let filter = JobFilter { metadata: pairs(&many), ..JobFilter::default() };
    assert_eq!(f.store.list_jobs(&account(), &filter, PAGE).await.expect("lists").ids, [id]);
    let mut db = f.store.reader().await.expect("a connection");
    let steps = sqlite::explain_job_ids(&mut db, &account(), &filter).await.expect("explains");
    let looked_up = steps.iter().filter(|step| step.starts_with("CORRELATED SCALAR SUBQUERY"));
    assert_eq!(looked_up.count(), 199, "{steps:?}");
}

/// Copies the first job 10,000 times, each done and with the pair `/env` = `test`.
async fn copy_first_job(store: &Store) {
    let copying = store.writer.write(|db: &mut sqlx::SqliteConnection| {
        Box::pin(async move {
            let copies = "
                WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n + 1 < 10000)
                INSERT INTO jobs (id, account_id, kind, status, request_id, spec, created_ms, completed_ms,
                                  post_session_metadata, attempts, crashes, faults)
                SELECT printf('00000000-0000-4000-8000-%012d', n), account_id, kind, 'done', request_id, spec,
                       1000 + n, 2000, '{}', 1, 0, 0
                FROM n, (SELECT * FROM jobs LIMIT 1);
                INSERT INTO job_metadata (job_id, account_id, kind, created_ms, path, value)
                SELECT id, account_id, kind, created_ms, '/env', 'stest' FROM jobs WHERE created_ms >= 1000";
            Ok(sqlx::query(copies).execute(db).await.map(drop)?)
        })
    });
    copying.await.expect("copies");
}

#[tokio::test]
async fn a_rare_status_beside_frequent_metadata_is_found_among_the_jobs() {
    let f = fixture().await;
    let mut job = new_job(1);
    job.spec.custom_metadata = json!({ "env": "test" }).as_object().cloned();
    let id = job.id;
    f.store.create_job(job).await.expect("created");
    copy_first_job(&f.store).await;
    let metadata = pairs(json!({ "env": "test" }).as_object().expect("an object"));
    let all = JobFilter { metadata, ..JobFilter::default() };
    let queued = JobFilter { statuses: vec![Status::Queued], ..all.clone() };
    let mut db = f.store.reader().await.expect("a connection");
    for (filter, index) in [(&queued, "jobs_list"), (&all, "job_metadata_by_value")] {
        let steps = sqlite::explain_job_ids(&mut db, &account(), filter).await.expect("explains");
        assert!(steps[0].starts_with(&format!("SEARCH l USING COVERING INDEX {index} (")), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
    }
    let page = f.store.list_jobs(&account(), &queued, PAGE).await.expect("lists");
    assert_eq!(page.ids, [id]);
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
        ("metadata of all and of one", metadata(json!({ "env": "production", "number": 77 })), PAGE),
        (
            "metadata of all and of 1,000, offset 900",
            metadata(json!({ "env": "production", "in": { "team": 7 } })),
            Page { offset: 900, ..PAGE },
        ),
        (
            "metadata of all and a status without a job",
            JobFilter { statuses: vec![Status::Done], ..metadata(json!({ "env": "production" })) },
            PAGE,
        ),
    ] {
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..21 {
            let began = Instant::now();
            found = f.store.list_jobs(&account(), &filter, page).await.expect("lists").ids.len();
            times.push(began.elapsed());
        }
        times.sort();
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        println!("{name}: {found} jobs, median {:.1} ms, most {:.1} ms", ms(times[10]), ms(times[20]));
    }
}
