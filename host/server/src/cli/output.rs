//! Standard output of the commands.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints a line.
///
/// # Errors
/// When nobody reads any more, as behind `head`, or the disk is full; `println!` would panic.
pub fn line(content: impl Display) -> io::Result<()> {
    text(format_args!("{content}\n"))
}

/// Prints a text as it is.
///
/// # Errors
/// As [`line`].
pub fn text(whole: impl Display) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    write!(stdout, "{whole}")?;
    stdout.flush()
}
