//! The error that an add-on ends with; its three members reach the API client as they are.

use std::fmt;

/// What a fallible function of an add-on returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an add-on gives no result.
///
/// Any [`std::error::Error`] becomes one with `?`: status 500, the type's name as `exception`,
/// the messages of the whole chain of causes. Write [`fail`] where the client can do something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// HTTP-like: 4xx blames the request, 5xx the add-on.
    pub status_code: u16,
    /// Stable, machine readable: `TooShort`.
    pub exception: String,
    /// What is wrong, and what to change.
    pub message: String,
}

/// An error for the API client: `return Err(fail(422, "TooShort", "needs 10 s of speech"))`.
pub fn fail(status_code: u16, exception: &str, message: impl fmt::Display) -> Error {
    Error { status_code, exception: exception.to_owned(), message: message.to_string() }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status_code, self.exception, self.message)
    }
}

// `Error` is no `std::error::Error` itself: that would collide with this conversion.
impl<E: std::error::Error + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            message.push_str(": ");
            message.push_str(&inner.to_string());
            cause = inner.source();
        }
        Self { status_code: 500, exception: short_type_name::<E>().to_owned(), message }
    }
}

/// `core::num::error::ParseIntError` → `ParseIntError`; generic arguments are dropped.
fn short_type_name<T>() -> &'static str {
    let full = std::any::type_name::<T>();
    let path = full.split('<').next().unwrap_or(full);
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::num::ParseIntError);
    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bad count")
        }
    }
    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    fn parse(text: &str) -> Result<i32> {
        Ok(text.parse::<i32>()?)
    }

    #[test]
    fn any_error_becomes_a_500_with_its_type_name() {
        let error = parse("x").unwrap_err();
        assert_eq!((error.status_code, error.exception.as_str()), (500, "ParseIntError"));
        assert_eq!(error.message, "invalid digit found in string");
    }

    #[test]
    fn the_causes_are_in_the_message() {
        let error = Error::from(Outer("x".parse::<i32>().unwrap_err()));
        assert_eq!(error.exception, "Outer");
        assert_eq!(error.message, "bad count: invalid digit found in string");
    }

    #[test]
    fn fail_keeps_what_it_is_given() {
        let error = fail(422, "TooShort", format!("{} s", 3));
        assert_eq!(error.to_string(), "422 TooShort: 3 s");
    }
}
