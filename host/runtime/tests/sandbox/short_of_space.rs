//! Where the address space is too short for the memory pool (small machines, containers
//! with a limit), add-ons still load and run.

#![cfg(unix)]

use std::process::Command;

use crate::raw::Raw;
use crate::support::{run, runtime};
use tympan_runtime::Policy;

/// KiB: enough for the process, far too little for a pool of hundreds of gigabytes.
const ADDRESS_SPACE_KIB: u64 = 12 << 20;

#[test]
fn add_ons_run_without_a_pool() {
    let this = std::env::current_exe().unwrap();
    let script = format!(
        "ulimit -v {ADDRESS_SPACE_KIB} && exec \"$0\" --exact --ignored short_of_space::without_space"
    );
    let output = Command::new("sh").arg("-c").arg(script).arg(this).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[tokio::test]
#[ignore = "run by add_ons_run_without_a_pool in a process with little address space"]
async fn without_space() {
    let more_than_there_is = 2 * ADDRESS_SPACE_KIB as usize * 1024;
    assert!(Vec::<u8>::new().try_reserve_exact(more_than_there_is).is_err(), "the limit has no effect");
    let addon = runtime().load_bytes(Raw::default().component(), &Policy::default()).await.unwrap();
    assert!(run(&addon, "{}").await.outcome.is_ok());
}
