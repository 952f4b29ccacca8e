//! What an add-on with WASI tries: waiting, printing, leaving, looking around.

use crate::exports::tympan::addon::transform::{AddonError, AddonOutput};
use crate::wasi::cli::{environment, exit as wasi_exit, stdout};
use crate::wasi::clocks::{monotonic_clock, wall_clock};
use crate::wasi::random::random;
use crate::{runtime, with_result};

type Outcome = Result<AddonOutput, AddonError>;

pub fn sleep(seconds: u64) -> Outcome {
    monotonic_clock::subscribe_duration(seconds * 1_000_000_000).block();
    Ok(with_result(None))
}

/// Opens timers without end.
pub fn hoard_timers() -> ! {
    let mut timers = Vec::new();
    loop {
        timers.push(monotonic_clock::subscribe_duration(1_000_000_000));
    }
}

pub fn print() -> Outcome {
    write("first line\nsecond ");
    write("line\nopen end");
    Ok(with_result(None))
}

/// About twelve megabytes.
pub fn print_flood() -> Outcome {
    let line = format!("{}\n", "the secret word is swordfish ".repeat(4));
    for _ in 0..100_000 {
        write(&line);
    }
    Ok(with_result(None))
}

pub fn exit() -> Outcome {
    wasi_exit::exit(Ok(()));
    Ok(with_result(None))
}

/// Everything that could tell one run from another.
pub fn look_around() -> Outcome {
    let variables = environment::get_environment().len();
    let arguments = environment::get_arguments().len();
    let now = wall_clock::now();
    let ticks = monotonic_clock::now();
    let (seconds, millis) = (now.seconds, runtime::unix_millis());
    let dice = [random::get_random_u64(), random::get_random_u64()];
    Ok(with_result(Some(format!(
        r#"{{"variables": {variables}, "arguments": {arguments}, "seconds": {seconds}, "millis": {millis}, "ticks": {ticks}, "dice": ["{}", "{}"]}}"#,
        dice[0], dice[1]
    ))))
}

fn write(text: &str) {
    let stream = stdout::get_stdout();
    let room = stream.check_write().expect("standard output is open");
    assert!(room >= text.len() as u64);
    stream.write(text.as_bytes()).expect("standard output takes everything");
}
