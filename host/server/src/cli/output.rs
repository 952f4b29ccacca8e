//! Standard output and standard error of the commands.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

/// Prints a line.
///
/// # Errors
/// When nobody reads any more, as behind `head`, or the disk is full; `println!` would panic.
pub fn line(content: impl Display) -> io::Result<()> {
    text(format_args!("{content}\n"))
}

/// Prints a line on standard error. Whoever closed it does not want to read it; `eprintln!` would
/// panic.
pub fn note(content: impl Display) {
    let _ = writeln!(io::stderr(), "{content}");
}

/// The name of a file in one line, whatever it holds.
pub fn path(path: &Path) -> String {
    let name = path.display().to_string();
    if name.chars().any(char::is_control) { name.escape_debug().collect() } else { name }
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
