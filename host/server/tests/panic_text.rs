//! What a panic says stays out of the log. The hook belongs to a whole process, so each case
//! runs in one of its own: this binary again, with the ignored test that panics.

use std::process::Command;

use tympan::config::{Log, Otlp};
use tympan::net_guard::Authorities;
use tympan::telemetry;

const PRIVATE: &str = "the patient said";

fn stderr_of(case: &str) -> String {
    let this = std::env::current_exe().expect("a test has a binary");
    let arguments = ["--exact", case, "--ignored", "--nocapture"];
    let output = Command::new(this).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).expect("logs are text")
}

fn panic_somewhere() {
    let words = PRIVATE.to_owned();
    assert!(std::thread::spawn(move || panic!("cannot use {words}")).join().is_err());
    assert!(std::thread::spawn(|| std::panic::panic_any(7)).join().is_err());
}

#[test]
#[ignore = "run by the test below"]
fn with_a_log() {
    telemetry::hide_panic_texts();
    telemetry::init(&Log::default(), &Otlp::default(), &Authorities::default()).unwrap();
    panic_somewhere();
}

#[test]
#[ignore = "run by the test below"]
fn without_a_log() {
    telemetry::hide_panic_texts();
    panic_somewhere();
}

#[test]
fn a_panic_is_reported_by_its_place_and_the_length_of_its_text() {
    let length = format!("cannot use {PRIVATE}").len();
    for (case, told) in [("with_a_log", "text_bytes="), ("without_a_log", "panicked at ")] {
        let stderr = stderr_of(case);
        assert!(!stderr.contains("patient"), "{stderr}");
        assert_eq!(stderr.matches("panic_text.rs").count(), 2, "{stderr}");
        assert!(stderr.contains(told) && stderr.contains(&length.to_string()), "{stderr}");
    }
}
