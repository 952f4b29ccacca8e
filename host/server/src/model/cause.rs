//! What a log says of an error: a type of ours tells in its own sentence what was tried, and
//! leaves to its source why that failed.

use std::error::Error;

/// The error and its causes in one line. A cause that the text before it tells already is not
/// told again.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let told = cause.to_string();
        if !text.ends_with(&told) {
            text = format!("{text}: {told}");
        }
        source = cause.source();
    }
    text
}
