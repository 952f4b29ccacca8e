//! Attacks that no compiler would produce. Each ends as one error, in time.

use crate::raw::Raw;
use crate::support::{context, error, run, runtime, transcript};
use tympan_runtime::{Call, CallReport, ConfigError, Limits, Policy, Runtime, RuntimeSettings, exception};

async fn report(raw: Raw, limits: Limits) -> CallReport {
    let policy = Policy { limits, ..Policy::default() };
    let addon = runtime().load_bytes(raw.component(), &policy).await.expect("it loads");
    run(&addon, "{}").await
}

#[tokio::test]
async fn an_honest_component_leaves_the_transcript_alone() {
    let report = report(Raw::default(), Limits::default()).await;
    assert_eq!(report.outcome.unwrap(), Default::default());
}

#[tokio::test]
async fn a_table_that_grows() {
    let items = "(table $bomb 1 funcref)".to_owned();
    let process = "(loop $again
        (drop (table.grow $bomb (ref.null func) (i32.const 10000)))
        (br $again))
        unreachable";
    let raw = Raw { items, process: process.to_owned(), ..Raw::default() };
    let report = report(raw, Limits::default()).await;
    assert_eq!(error(&report).exception, exception::TABLE_LIMIT);
}

#[tokio::test]
async fn recursion_without_stack_data() {
    let items = "(func $dig (param i32) (result i32)
        (i32.add (i32.const 1) (call $dig (i32.add (local.get 0) (i32.const 1)))))";
    let process = "(call $dig (i32.const 0))".to_owned();
    let raw = Raw { items: items.to_owned(), process, ..Raw::default() };
    assert_eq!(error(&report(raw, Limits::default()).await).exception, exception::STACK_OVERFLOW);
}

#[tokio::test]
async fn an_address_outside_of_memory() {
    let process = "(i32.load (i32.const -8))".to_owned();
    let raw = Raw { process, ..Raw::default() };
    assert_eq!(error(&report(raw, Limits::default()).await).exception, exception::STACK_OVERFLOW);
}

/// 88 MB of utterance records that all point to the same thousand words: copied out, it
/// would be 50 GB.
#[tokio::test]
async fn a_million_utterances_that_share_their_words() {
    let process = "(local $at i32) (local $end i32)
        (drop (memory.grow (i32.const 1400)))
        ;; ok, with a transcript of a million utterances from 128 KiB on
        (i32.store8 (i32.const 8) (i32.const 0))
        (i32.store8 (i32.const 12) (i32.const 1))
        (i32.store (i32.const 16) (i32.const 131072))
        (i32.store (i32.const 20) (i32.const 1000000))
        (local.set $at (i32.const 131072))
        (local.set $end (i32.add (i32.const 131072) (i32.const 88000000)))
        (loop $again
            (i32.store (i32.add (local.get $at) (i32.const 64)) (i32.const 70000))
            (i32.store (i32.add (local.get $at) (i32.const 68)) (i32.const 1000))
            (local.set $at (i32.add (local.get $at) (i32.const 88)))
            (br_if $again (i32.lt_u (local.get $at) (local.get $end))))
        (i32.const 8)";
    let raw = Raw { process: process.to_owned(), ..Raw::default() };
    let report = report(raw, Limits::default()).await;
    assert_eq!(error(&report).exception, exception::OUTPUT_TOO_LARGE);
    assert!(report.peak_memory_bytes > 88_000_000, "{}", report.peak_memory_bytes);
}

#[tokio::test]
async fn a_pointer_outside_of_memory_in_the_answer() {
    let process = "(i32.store8 (i32.const 12) (i32.const 1))
        (i32.store (i32.const 16) (i32.const 2147483640))
        (i32.store (i32.const 20) (i32.const 1000))
        (i32.const 8)";
    let raw = Raw { process: process.to_owned(), ..Raw::default() };
    assert_eq!(error(&report(raw, Limits::default()).await).exception, exception::TRAP);
}

#[tokio::test]
async fn a_config_check_that_never_ends() {
    let validate = "(loop $again (br $again))".to_owned();
    let raw = Raw { validate, ..Raw::default() };
    let addon = runtime().load_bytes(raw.component(), &Policy::default()).await.unwrap();
    match addon.validate_config("{}").await {
        Err(ConfigError::Failed(error)) => assert_eq!(error.exception, exception::TIMEOUT),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once() {
    let process = "(loop $again (br $again)) unreachable".to_owned();
    let raw = Raw { process, ..Raw::default() };
    let addon = runtime().load_bytes(raw.component(), &Policy::default()).await.unwrap();
    let input = transcript();
    let call = Call::new(context("{}"), &input);
    let cancel = call.cancel.clone();
    let (report, ()) = tokio::join!(addon.process(call), async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        cancel.cancel();
    });
    assert_eq!(error(&report).exception, exception::CANCELLED);
    assert!(report.exec_time.as_secs() < 5, "{:?}", report.exec_time);
}

#[tokio::test]
async fn a_waiting_call_can_be_cancelled() {
    let one_place = RuntimeSettings { max_instances: 1, ..RuntimeSettings::default() };
    let runtime = Runtime::new(one_place).unwrap();
    let process = "(loop $again (br $again)) unreachable".to_owned();
    let endless = Raw { process, ..Raw::default() };
    let endless = runtime.load_bytes(endless.component(), &Policy::default()).await.unwrap();
    let honest = runtime.load_bytes(Raw::default().component(), &Policy::default()).await.unwrap();
    let input = transcript();
    let (first, second) = (Call::new(context("{}"), &input), Call::new(context("{}"), &input));
    let (end_first, cancel_second) = (first.cancel.clone(), second.cancel.clone());
    let (_, ()) = tokio::join!(endless.process(first), async {
        let mut waiting = Box::pin(honest.process(second));
        let wait = std::time::Duration::from_millis(200);
        assert!(tokio::time::timeout(wait, &mut waiting).await.is_err(), "there is no second place");
        cancel_second.cancel();
        assert_eq!(error(&waiting.await).exception, exception::CANCELLED);
        end_first.cancel();
    });
}

/// A place is taken for the call only, and given back whatever happens in it.
#[tokio::test]
async fn two_thousand_calls_leave_nothing_behind() {
    let raw = Raw { process: "unreachable".to_owned(), ..Raw::default() };
    let runtime = runtime();
    let honest = runtime.load_bytes(Raw::default().component(), &Policy::default()).await.unwrap();
    let broken = runtime.load_bytes(raw.component(), &Policy::default()).await.unwrap();
    let mut after_warm_up = 0;
    for round in 0..2_000 {
        assert!(run(&honest, "{}").await.outcome.is_ok());
        assert_eq!(error(&run(&broken, "{}").await).exception, exception::TRAP);
        if round == 200 {
            after_warm_up = resident_bytes();
        }
    }
    let grown = resident_bytes().saturating_sub(after_warm_up);
    assert!(grown < 16 << 20, "{grown} bytes more after 1,800 rounds");
    assert_eq!((honest.counters().calls, honest.counters().failures), (2_000, 0));
    assert_eq!((broken.counters().calls, broken.counters().traps), (2_000, 2_000));
}

/// From the kernel's status file; other systems only check that nothing fails.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
