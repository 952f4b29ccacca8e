//! A Python component with its whole system interface in place: nothing behind it answers.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, example, trial_of};

fn attempt(deed: &str, more: &[&str]) -> Run {
    attempt_with(&json!({"do": deed}), more)
}

fn attempt_with(config: &Value, more: &[&str]) -> Run {
    let silence = json!({"languages": [], "utterances": []});
    let config = config.to_string();
    let mut args = vec!["--config", config.as_str()];
    args.extend(more);
    trial_of(&example("hostile_python.wasm"), &silence, &args)
}

/// The wrapper's `exception` of a call that failed.
#[track_caller]
fn exception(run: Run) -> String {
    assert_eq!(run.code, Some(1), "{}\n{}", run.stdout, run.stderr);
    let out: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(out["wrapper"]["success"], false);
    out["wrapper"]["error"]["exception"].as_str().unwrap().to_owned()
}

/// The result of a call that succeeded.
#[track_caller]
fn got(run: Run) -> Value {
    let out: Value = serde_json::from_str(&run.succeeded()).unwrap();
    out["wrapper"]["results"]["got"].clone()
}

#[test]
fn there_are_no_files() {
    assert!(Path::new("/etc/passwd").exists(), "the file that it must not see is there");
    for deed in ["open_file", "write_file", "list_root"] {
        assert_eq!(exception(attempt(deed, &[])), "FileNotFoundError", "{deed}");
    }
    assert!(!Path::new("/tmp/tympan-hostile").exists());
}

#[test]
fn there_is_no_environment() {
    assert!(std::env::vars().next().is_some());
    assert_eq!(got(attempt("read_environment", &[])), json!({}));
}

#[test]
fn there_is_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    assert_eq!(exception(attempt_with(&json!({"do": "connect", "port": port}), &[])), "PermissionError");
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody knocked");
    assert_eq!(exception(attempt("listen", &[])), "PermissionError");
    assert_eq!(exception(attempt("resolve", &[])), "gaierror");
}

#[test]
fn an_hour_of_sleep_and_an_endless_loop_end_at_the_limit() {
    for deed in ["sleep_an_hour", "loop"] {
        assert_eq!(exception(attempt(deed, &["--timeout", "1"])), "Timeout", "{deed}");
    }
}

#[test]
fn memory_ends_at_the_limit() {
    assert_eq!(exception(attempt("eat_memory", &[])), "MemoryLimit");
}

#[test]
fn the_end_of_the_program_is_an_error_as_any_other() {
    assert_eq!(exception(attempt("end_the_program", &[])), "SystemExit");
}

#[test]
fn a_check_that_fails_refuses_the_config_and_says_why() {
    let run = attempt_with(&json!({"do": "clock", "port": 81, "named": true}), &[]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    let sentence = "hostile_python_config must be one that check_config can check: KeyError: 81";
    assert!(run.stderr.contains(sentence), "{}", run.stderr);
}

#[test]
fn a_flood_of_lines_is_cut_and_counted() {
    let run = attempt("print_a_megabyte", &[]);
    let out: Value = serde_json::from_str(&run.succeeded()).unwrap();
    let kept = out["log"].as_array().unwrap();
    let kept_bytes: usize = kept.iter().map(|line| line["text"].as_str().unwrap().len() + 1).sum();
    assert!(kept_bytes <= 64 << 10, "{kept_bytes}");
    assert_eq!(kept.len(), 1024, "64 KiB are 1,024 lines of 64 bytes");
    assert_eq!(out["dropped_log_bytes"], (1 << 20) - (64 << 10));
}

#[test]
fn chance_is_the_same_in_every_run_of_a_job() {
    let first = got(attempt("clock", &[]));
    let second = got(attempt("clock", &[]));
    assert_eq!(first[1], second[1], "random numbers come from the job and the component");
}
