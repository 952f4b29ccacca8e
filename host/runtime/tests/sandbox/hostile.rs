//! A component built by a real compiler that misbehaves as told. Each act ends as one
//! error with a name of its own, and says nothing of what it was told.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::{act, context, error, hostile, hostile_path, run, runtime, transcript};
use tympan_runtime::{Call, CallReport, ConfigError, Limits, Policy, Runtime, RuntimeSettings, exception};

fn short() -> Limits {
    Limits { timeout: Duration::from_millis(300), ..Limits::default() }
}

async fn after(name: &str, limits: Limits) -> CallReport {
    run(&hostile(&runtime(), limits).await, &act(name)).await
}

#[tokio::test]
async fn without_an_act_it_is_honest() {
    let addon = hostile(&runtime(), Limits::default()).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (input, seen_inside) = (transcript(), seen.clone());
    let mut call = Call::new(context("{}"), &input);
    call.on_progress = Some(Arc::new(move |fraction| seen_inside.lock().unwrap().push(fraction)));
    let report = addon.process(call).await;
    let output = report.outcome.unwrap();
    let changed = output.transcript.unwrap();
    assert_eq!(changed.utterances[0].text, "*hello there");
    assert_eq!(changed.utterances[1], transcript().utterances[1]);
    assert_eq!(output.result.as_deref(), Some(r#"{"words": 3}"#));
    assert_eq!((report.log_lines, report.log_bytes, report.dropped_bytes), (1, 7, 0));
    assert_eq!(report.log_text, None);
    assert_eq!(*seen.lock().unwrap(), [0.5]);
    assert!(report.peak_memory_bytes > 1 << 16 && report.exec_time > Duration::ZERO);
}

#[tokio::test]
async fn each_attack_on_the_machine_has_its_name() {
    let addon = hostile(&runtime(), Limits { timeout: Duration::from_secs(20), ..Limits::default() }).await;
    let expected = [
        ("memory_bomb", exception::MEMORY_LIMIT),
        ("recursion", exception::STACK_OVERFLOW),
        ("panic", exception::PANIC),
        ("unreachable", exception::TRAP),
        ("exit", exception::TRAP),
        ("hoard_timers", exception::HANDLE_LIMIT),
        ("huge_result", exception::OUTPUT_TOO_LARGE),
        ("large_result", exception::OUTPUT_TOO_LARGE),
    ];
    for (name, exception) in expected {
        let report = run(&addon, &act(name)).await;
        assert_eq!(error(&report).exception, exception, "{name}: {}", error(&report).message);
        assert!(report.peak_memory_bytes <= 128 << 20, "{name}");
    }
    assert!(run(&addon, "{}").await.outcome.is_ok(), "the next call must not notice");
    let counters = addon.counters();
    assert_eq!((counters.calls, counters.failures, counters.traps, counters.invalid_outputs), (9, 8, 6, 2));
}

#[tokio::test]
async fn time_runs_out_in_loops_and_in_host_calls() {
    let addon = hostile(&runtime(), short()).await;
    for name in ["spin", "spin_until_cancelled", "sleep_an_hour"] {
        let started = Instant::now();
        let report = run(&addon, &act(name)).await;
        assert_eq!(error(&report).exception, exception::TIMEOUT, "{name}");
        assert_eq!(error(&report).status_code, 504);
        assert!(started.elapsed() < Duration::from_secs(20), "{name} took {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn outputs_that_break_a_rule_are_invalid() {
    let addon = hostile(&runtime(), Limits::default()).await;
    let acts = [
        "broken_json",
        "nan_times",
        "reversed_times",
        "late_times",
        "wrong_channel",
        "wrong_text",
        "same_ids",
        "dropped_transcript",
        "word_flood",
        "variant_flood",
        "deep_result",
        "wide_result",
    ];
    for name in acts {
        let report = run(&addon, &act(name)).await;
        assert_eq!(error(&report).exception, exception::INVALID_OUTPUT, "{name}");
    }
    assert_eq!(addon.counters().invalid_outputs, acts.len() as u64);
}

#[tokio::test]
async fn a_good_variant_survives_a_failed_one() {
    let output = after("variants", Limits::default()).await.outcome.unwrap();
    let [good, failed, broken] = &output.variants[..] else { panic!("{:?}", output.variants) };
    assert_eq!(good.language, "fr");
    assert_eq!(good.outcome.as_ref().unwrap(), &transcript());
    let failed = failed.outcome.as_ref().unwrap_err();
    assert_eq!((failed.status_code, failed.exception.as_str()), (503, "NoModel"));
    assert_eq!(broken.outcome.as_ref().unwrap_err().exception, exception::INVALID_OUTPUT);
}

#[tokio::test]
async fn its_own_errors_come_through() {
    let report = after("own_error", Limits::default()).await;
    assert_eq!((error(&report).status_code, error(&report).exception.as_str()), (422, "TooShort"));
    assert!(error(&report).message.contains("swordfish"));
    let report = after("nonsense_error", Limits::default()).await;
    assert_eq!((error(&report).status_code, error(&report).exception.as_str()), (500, "AddonError"));
    assert!(error(&report).message.len() < 10_000);
}

#[tokio::test]
async fn a_panic_says_where_and_what_unless_the_job_redacts() {
    let addon = hostile(&runtime(), Limits::default()).await;
    let input = transcript();
    let report = addon.process(Call::new(context(&act("panic")), &input)).await;
    let location = report.panic_location.as_deref().unwrap();
    assert!(location.starts_with("src/machine.rs:"), "{location}");
    assert!(error(&report).message.contains("index is 1007"), "{}", error(&report).message);

    for (name, exception) in [("panic", exception::PANIC), ("own_error", exception::ADDON_ERROR)] {
        let mut call = Call::new(context(&act(name)), &input);
        call.shows_text = false;
        let report = addon.process(call).await;
        let message = &error(&report).message;
        assert!(!message.contains("1007") && !message.contains("swordfish"), "{message}");
        assert!(!message.contains("machine.rs"), "{message}");
        assert_eq!((error(&report).exception.as_str(), &report.panic_location), (exception, &None));
    }
}

#[tokio::test]
async fn floods_are_counted_and_dropped() {
    for name in ["log_flood", "print_flood"] {
        let report = after(name, Limits::default()).await;
        assert!(report.outcome.is_ok(), "{name}");
        assert_eq!(report.log_lines, 100_000, "{name}");
        assert!(report.log_bytes > 11_000_000);
        assert_eq!(report.log_bytes - report.dropped_bytes, 64 << 10, "{name}");
        assert_eq!(report.log_text, None);
    }
}

#[tokio::test]
async fn printed_lines_are_kept_only_on_request() {
    let runtime = Runtime::new(RuntimeSettings { log_text: true, ..RuntimeSettings::default() }).unwrap();
    let addon = runtime.load(&hostile_path(), &Policy::default()).await.unwrap();
    let report = run(&addon, &act("print")).await;
    let lines: Vec<String> = report.log_text.unwrap().into_iter().map(|line| line.text).collect();
    assert_eq!(lines, ["first line", "second line", "open end"]);
    assert_eq!(report.log_lines, 3);
}

#[tokio::test]
async fn the_world_outside_is_empty_and_repeats_with_the_job() {
    let addon = hostile(&runtime(), Limits::default()).await;
    let input = transcript();
    let look = async |job_id: &str| {
        let mut call = Call::new(context(&act("look_around")), &input);
        call.context.job_id = job_id.to_owned();
        call.accepted_at_unix_ms = 1_700_000_000_123;
        let result = addon.process(call).await.outcome.unwrap().result.unwrap();
        serde_json::from_str::<serde_json::Value>(&result).unwrap()
    };
    let first = look("a").await;
    assert_eq!((first["variables"].as_u64(), first["arguments"].as_u64()), (Some(0), Some(0)));
    assert_eq!(first["seconds"].as_u64(), Some(1_700_000_000));
    assert_eq!(first["millis"].as_u64(), Some(1_700_000_000_123));
    assert_ne!(first["dice"][0], first["dice"][1]);
    assert_eq!(look("a").await, first);
    assert_ne!(look("b").await["dice"], first["dice"]);
}

#[tokio::test]
async fn configs_are_checked_once() {
    let addon = hostile(&runtime(), Limits::default()).await;
    assert_eq!(addon.validate_config("{}").await.unwrap(), "{}");
    match addon.validate_config(&act("reject")).await {
        Err(ConfigError::Problems(problems)) => assert_eq!(problems[0].pointer, "/act"),
        other => panic!("{other:?}"),
    }
    match addon.validate_config(&act("reject_often")).await {
        Err(ConfigError::Problems(problems)) => {
            assert_eq!(problems.len(), 50);
            assert!(problems.iter().all(|problem| problem.message.len() <= 500));
        }
        other => panic!("{other:?}"),
    }
    for (name, exception) in [
        ("garble", exception::INVALID_OUTPUT),
        ("spin_in_validation", exception::TIMEOUT),
        ("panic_in_validation", exception::PANIC),
        ("reject_without_end", exception::OUTPUT_TOO_LARGE),
    ] {
        match addon.validate_config(&act(name)).await {
            Err(ConfigError::Failed(error)) => assert_eq!(error.exception, exception),
            other => panic!("{other:?}"),
        }
    }
    match addon.validate_config(&"x".repeat(2 << 20)).await {
        Err(ConfigError::Problems(problems)) => assert!(problems[0].message.contains("longer")),
        other => panic!("{other:?}"),
    }
}

/// Attackers fill the machine while an honest job runs; it finishes with the right result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_honest_job_beside_attackers_does_not_notice() {
    let runtime = runtime();
    let hostile_addon = hostile(&runtime, short()).await;
    let honest = hostile(&runtime, Limits::default()).await;
    let attacks = ["spin", "sleep_an_hour", "memory_bomb", "recursion", "panic", "huge_result", "log_flood"];
    let attackers: Vec<_> = attacks
        .iter()
        .cycle()
        .take(3 * attacks.len())
        .map(|name| {
            // A flood is no crime, and may take its time.
            let addon = if *name == "log_flood" { &honest } else { &hostile_addon };
            let (addon, config) = (addon.clone(), act(name));
            tokio::spawn(async move { run(&addon, &config).await.outcome.is_err() })
        })
        .collect();
    let report = run(&honest, &act("slow")).await;
    assert_eq!(report.outcome.unwrap().result.as_deref(), Some(r#"{"words": 3}"#));
    let mut failed = 0;
    for attacker in attackers {
        failed += usize::from(attacker.await.unwrap());
    }
    assert_eq!(failed, 3 * (attacks.len() - 1), "all but the log floods end in an error");
}
