//! One text for all the ways in which JSON writes a number (RFC 8259, section 6). Decimal: a
//! float would lose digits.

/// A number is written without an exponent where so many digits before the point, or zeros
/// behind it, are enough.
const MOST_DIGITS: i64 = 20;

/// A number other than zero: `0.digits` times ten to the power of `point`.
struct Decimal<'t> {
    sign: &'t str,
    /// Neither the first nor the last is a zero.
    digits: String,
    point: i64,
}

/// The same text for numbers of the same value; `None` for what is no number.
pub fn canonical(text: &str) -> Option<String> {
    let Decimal { sign, digits, point } = parse(text)?;
    let count = digits.len() as i64;
    Some(match point {
        _ if digits.is_empty() => "0".to_owned(),
        _ if point.abs() > MOST_DIGITS => format!("{sign}{digits}e{}", point - count),
        ..=0 => format!("{sign}0.{}{digits}", "0".repeat(-point as usize)),
        _ if point >= count => format!("{sign}{digits}{}", "0".repeat((point - count) as usize)),
        _ => {
            let (whole, fraction) = digits.split_at(point as usize);
            format!("{sign}{whole}.{fraction}")
        }
    })
}

fn parse(text: &str) -> Option<Decimal<'_>> {
    let (sign, unsigned) = text.split_at(text.starts_with('-').into());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent_of(exponent)?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, is_digits(fraction).then_some(fraction)?),
        None => (mantissa, ""),
    };
    if !is_digits(whole) || whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let point = exponent + whole.len() as i64 - (all.len() - digits.len()) as i64;
    Some(Decimal { sign, digits: digits.trim_end_matches('0').to_owned(), point })
}

/// One of 32 bits, so that lengths can be added to it.
fn exponent_of(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let exponent: i32 = if is_digits(digits) { text.parse().ok()? } else { return None };
    Some(exponent.into())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_of_one_value_have_one_text() {
        for (texts, expected) in [
            (&["1", "1.0", "1e0", "10E-1", "0.01e+2"][..], "1"),
            (&["0", "-0", "0.00", "0e99"], "0"),
            (&["-2.50", "-25e-1"], "-2.5"),
            (&["0.00001", "1e-5", "1E-05"], "0.00001"),
            (&["1e19", "10000000000000000000.0"], "10000000000000000000"),
            (&["1e300", "1E+300", "0.1e301", "100e298"], "1e300"),
            (&["-1.5e-30", "-15e-31"], "-15e-31"),
            (&["9007199254740993", "9007199254740993.0", "9.007199254740993e15"], "9007199254740993"),
        ] {
            for text in texts {
                assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_number_of_json_has_none() {
        for text in [
            "",
            "-",
            "+1",
            "007",
            "1.",
            ".5",
            "1e",
            "1e+",
            "1e+-1",
            "1.5.0",
            " 1",
            "1 ",
            "NaN",
            "0x1",
            "1e9999999999",
            "é",
        ] {
            assert_eq!(canonical(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn the_text_is_a_number_of_the_same_value(float in any::<f64>().prop_filter("JSON", |x| x.is_finite())) {
            let (plain, scientific) = (format!("{float}"), format!("{float:e}"));
            let text = canonical(&plain).unwrap();
            prop_assert_eq!(canonical(&scientific), Some(text.clone()));
            prop_assert_eq!(canonical(&text), Some(text.clone()));
            prop_assert_eq!(text.parse::<f64>().unwrap(), float);
        }
    }
}
