//! Numbers as JSON means them: `2.0` is the integer 2, and some clients write integers so.

use serde_json::{Number, Value};

/// The largest number up to which every whole one can be told from its neighbours.
const MOST: f64 = 9_007_199_254_740_992.0;

/// The integer that a number written with a fraction means; nothing for other numbers.
pub fn whole(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    // In range, as has been looked at.
    (float.abs() <= MOST).then_some(float as i64)
}

/// Writes whole numbers without a fraction, at every depth.
pub(super) fn write_whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = whole(number) {
                *number = Number::from(whole);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole),
        Value::Object(members) => members.values_mut().for_each(write_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_lose_their_fraction_and_others_stay() {
        let mut value = json!({ "a": 42.0, "b": [-1.0, 0.5, 7, { "c": -0.0 }], "d": 1e300, "e": "1.0" });
        write_whole(&mut value);
        let text = value.to_string();
        assert_eq!(text, r#"{"a":42,"b":[-1,0.5,7,{"c":0}],"d":1e+300,"e":"1.0"}"#);
    }
}
