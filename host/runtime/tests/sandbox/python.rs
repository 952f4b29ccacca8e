//! A Python component with all of WASI in it tries to leave the sandbox. Whatever Python
//! makes of the refusals, nothing gets through, and an honest one beside it is fine.

use std::path::Path;
use std::time::Duration;

use crate::raw::Raw;
use crate::support::{built, context, error, run, transcript};
use serde_json::Value;
use tokio::sync::Mutex;
use tympan_runtime::{Addon, Call, CallReport, Limits, Policy, Runtime, RuntimeSettings, exception};

/// Compiled once for all runs: a Python component takes a quarter of a minute.
fn runtime() -> Runtime {
    let cache_dir = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled-addons"));
    Runtime::new(RuntimeSettings { cache_dir, ..RuntimeSettings::default() }).unwrap()
}

/// One after the other, so that all but the first find it compiled.
static LOADS: Mutex<()> = Mutex::const_new(());

async fn python(runtime: &Runtime, limits: Limits) -> Addon {
    let _turn = LOADS.lock().await;
    let path = built("examples/hostile_python.wasm", "make examples");
    runtime.load(&path, &Policy { limits, ..Policy::default() }).await.unwrap()
}

async fn try_to(addon: &Addon, deed: &str) -> CallReport {
    run(addon, &format!(r#"{{"do": "{deed}"}}"#)).await
}

/// What the deed brought home, if Python thinks that it succeeded.
fn loot(report: &CallReport) -> Option<Value> {
    let result = report.outcome.as_ref().ok()?.result.as_ref()?;
    Some(serde_json::from_str::<Value>(result).unwrap()["got"].take())
}

#[tokio::test]
async fn it_imports_wasi_and_is_loaded_all_the_same() {
    let addon = python(&runtime(), Limits::default()).await;
    assert_eq!(addon.descriptor().name, "hostile_python");
    for interface in ["wasi:filesystem/preopens@0.2", "wasi:sockets/tcp@0.2", "wasi:cli/environment@0.2"] {
        assert!(addon.imports().iter().any(|import| import.starts_with(interface)), "{interface}");
    }
}

#[tokio::test]
async fn files_and_network_are_not_there() {
    let addon = python(&runtime(), Limits::default()).await;
    for deed in ["open_file", "write_file", "list_root", "resolve", "listen"] {
        let report = try_to(&addon, deed).await;
        assert!((500..=599).contains(&error(&report).status_code), "{deed}: {:?}", report.outcome);
    }
    assert!(!Path::new("/tmp/tympan-hostile").exists());
}

#[tokio::test]
async fn a_listener_of_the_host_hears_nothing() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let addon = python(&runtime(), Limits::default()).await;
    let report = run(&addon, &format!(r#"{{"do": "connect", "port": {port}}}"#)).await;
    assert!((500..=599).contains(&error(&report).status_code), "{:?}", report.outcome);
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn the_environment_is_empty() {
    let addon = python(&runtime(), Limits::default()).await;
    let variables = loot(&try_to(&addon, "read_environment").await).unwrap();
    assert_eq!(variables, serde_json::json!({}));
}

#[tokio::test]
async fn time_and_memory_end_it() {
    let limits = Limits { timeout: Duration::from_millis(1500), ..Limits::default() };
    let addon = python(&runtime(), limits).await;
    for deed in ["sleep_an_hour", "loop"] {
        assert_eq!(error(&try_to(&addon, deed).await).exception, exception::TIMEOUT, "{deed}");
    }
    assert_eq!(error(&try_to(&addon, "eat_memory").await).exception, exception::MEMORY_LIMIT);
}

#[tokio::test]
async fn printed_lines_reach_the_counters() {
    let addon = python(&runtime(), Limits::default()).await;
    let report = try_to(&addon, "print_a_megabyte").await;
    assert_eq!(loot(&report), Some(Value::from("printed")));
    assert_eq!((report.log_lines, report.log_bytes), (16_384, 1 << 20));
    assert_eq!(report.log_bytes - report.dropped_bytes, 64 << 10);
    assert_eq!(addon.counters().log_lines, 16_384);
}

#[tokio::test]
async fn clock_and_dice_repeat_with_the_job() {
    let addon = python(&runtime(), Limits::default()).await;
    let input = transcript();
    let look = async || {
        let mut call = Call::new(context(r#"{"do": "clock"}"#), &input);
        call.accepted_at_unix_ms = 1_700_000_000_500;
        loot(&addon.process(call).await).unwrap()
    };
    let first = look().await;
    assert_eq!(first[0].as_f64(), Some(1_700_000_000.5));
    assert_eq!(look().await, first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_honest_add_on_beside_it_is_fine() {
    let runtime = runtime();
    let limits = Limits { timeout: Duration::from_secs(1), ..Limits::default() };
    let addon = python(&runtime, limits).await;
    let attackers: Vec<_> = ["loop", "sleep_an_hour", "eat_memory", "loop"]
        .map(|deed| {
            let addon = addon.clone();
            tokio::spawn(async move { try_to(&addon, deed).await.outcome.is_err() })
        })
        .into();
    let honest = runtime.load_bytes(Raw::default().component(), &Policy::default()).await.unwrap();
    for _ in 0..100 {
        assert!(run(&honest, "{}").await.outcome.is_ok());
    }
    for attacker in attackers {
        assert!(attacker.await.unwrap());
    }
}
