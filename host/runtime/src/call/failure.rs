//! Turns whatever ended a call into the error that a client sees: one place that knows
//! what the traps and errors of the engine mean.

use std::time::Duration;

use wasmtime::{Error, Trap};
use wasmtime_wasi::{I32Exit, ResourceTableError};

use super::limiter::Refused;
use super::report::exception;
use super::state::State;
use crate::data::job::AddonError;
use crate::defaults::{Limits, MEMORY_SLOT_BYTES};

/// Longest message of an add-on's own error that is passed on.
const MESSAGE_BYTES: usize = 2 << 10;

/// Part of the engine's message when a call moves more bytes than allowed; the error has
/// no type of its own. The hostile pack notices when the wording changes.
const TOO_MUCH_DATA: &str = "too much data is being copied";

/// Part of the engine's message when too many resource handles are open.
const TOO_MANY_HANDLES: &str = "store handle limit exceeded";

/// The wall-clock limit passed.
pub fn timeout(limit: Duration) -> AddonError {
    let message = format!("stopped after {} ms, the time limit of this add-on", limit.as_millis());
    failure(504, exception::TIMEOUT, message)
}

/// The job was cancelled.
pub fn cancelled() -> AddonError {
    failure(503, exception::CANCELLED, "the job was cancelled".to_owned())
}

/// The output breaks a rule.
pub fn invalid_output(what: String) -> AddonError {
    failure(500, exception::INVALID_OUTPUT, format!("the add-on returned something invalid: {what}"))
}

/// The output is larger than a limit.
pub fn output_too_large(limit_bytes: usize) -> AddonError {
    let message = format!("the add-on returned more than its limit of {limit_bytes} bytes");
    failure(500, exception::OUTPUT_TOO_LARGE, message)
}

/// The instance ended with an error of the engine.
pub fn trap(error: &Error, state: &State, limits: &Limits, shows_text: bool) -> AddonError {
    if let Some(refused) = state.limiter.refused() {
        return refusal(refused, limits);
    }
    if let Some(panic) = &state.panic {
        let location = panic.location.as_deref().filter(|_| shows_text).unwrap_or("an unknown place");
        let message = withheld_unless(shows_text, &panic.message);
        return failure(500, exception::PANIC, format!("the add-on panicked at {location}: {message}"));
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        let message = format!("the add-on ended itself with exit code {}", exit.0);
        return failure(500, exception::TRAP, message);
    }
    if matches!(error.downcast_ref::<ResourceTableError>(), Some(ResourceTableError::Full)) {
        return too_many_handles(limits);
    }
    match error.downcast_ref::<Trap>() {
        // Rust keeps its own stack in linear memory, where it runs out first.
        Some(Trap::StackOverflow | Trap::MemoryOutOfBounds) => {
            let message = "the add-on ran out of stack, or accessed memory that it does not have";
            failure(500, exception::STACK_OVERFLOW, message.to_owned())
        }
        Some(trap) => failure(500, exception::TRAP, format!("the add-on stopped: {trap}")),
        None => by_message(error, limits),
    }
}

/// Makes an error that the add-on returned fit for a client. An add-on does not speak for the
/// host: one that says `Cancelled` would end its job as if nobody wanted it.
pub fn returned(mut error: AddonError, shows_text: bool) -> AddonError {
    if !(400..=599).contains(&error.status_code) {
        error.status_code = 500;
    }
    let is_of_the_host = exception::label(&error.exception) == error.exception;
    if !shows_text || is_of_the_host || !is_identifier(&error.exception) {
        error.exception = exception::ADDON_ERROR.to_owned();
    }
    error.message = withheld_unless(shows_text, &error.message);
    error
}

fn refusal(refused: Refused, limits: &Limits) -> AddonError {
    match refused {
        Refused::Memory => {
            let limit = limits.memory_bytes.min(MEMORY_SLOT_BYTES);
            let message = format!("the add-on needs more than its memory limit of {limit} bytes");
            failure(500, exception::MEMORY_LIMIT, message)
        }
        Refused::Table => {
            let limit = limits.table_elements;
            let message = format!("the add-on needs more than its limit of {limit} table elements");
            failure(500, exception::TABLE_LIMIT, message)
        }
    }
}

fn by_message(error: &Error, limits: &Limits) -> AddonError {
    let root = error.root_cause().to_string();
    if root.contains(TOO_MUCH_DATA) {
        output_too_large(limits.output_bytes)
    } else if root.contains(TOO_MANY_HANDLES) {
        too_many_handles(limits)
    } else {
        failure(500, exception::TRAP, "the add-on broke a rule of the component model".to_owned())
    }
}

fn too_many_handles(limits: &Limits) -> AddonError {
    let message = format!("the add-on keeps more than {} resources open", limits.handles);
    failure(500, exception::HANDLE_LIMIT, message)
}

fn failure(status_code: u16, exception: &str, message: String) -> AddonError {
    AddonError { status_code, exception: exception.to_owned(), message }
}

fn withheld_unless(shows_text: bool, text: &str) -> String {
    if shows_text {
        text[..text.floor_char_boundary(MESSAGE_BYTES)].to_owned()
    } else {
        format!("{} bytes of text, withheld because this job redacts", text.len())
    }
}

fn is_identifier(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status_code: u16, exception: &str) -> AddonError {
        failure(status_code, exception, "what was said".to_owned())
    }

    #[test]
    fn a_returned_error_keeps_what_is_sound() {
        assert_eq!(returned(error(422, "TooShort"), true), error(422, "TooShort"));
    }

    #[test]
    fn a_returned_error_is_made_sound() {
        let fixed = returned(error(200, "what was said"), true);
        assert_eq!((fixed.status_code, fixed.exception.as_str()), (500, "AddonError"));
        assert_eq!(returned(error(503, exception::CANCELLED), true).exception, "AddonError");
    }

    #[test]
    fn text_is_withheld_in_a_job_that_redacts() {
        let AddonError { status_code, exception, message } = returned(error(422, "AdaLovelace"), false);
        assert_eq!((status_code, exception.as_str()), (422, "AddonError"));
        assert!(!message.contains("said") && message.contains("13 bytes"), "{message}");
    }
}
