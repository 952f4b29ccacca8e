//! Metadata of clients as pairs of a place and a value, by which lists are filtered.
//!
//! A job fits a filter when it has every pair of the filter. An object gives a pair for
//! itself and one for each member, so an object of the filter asks for a subset; an array is
//! one value. Scalars are compared by their text, since the query string of a list has no types;
//! texts that are JSON numbers by the number, to the last digit.

use serde_json::{Map, Value};

use super::number;

/// One value, or the fact that an object stands at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetadataPair {
    /// JSON Pointer of the place.
    pub path: String,
    /// `s` and the text of a scalar, numbers in one form; `a` and the JSON of an array, `o` for an object.
    pub value: String,
}

impl MetadataPair {
    /// The scalar with this text, at the place to which `keys` lead.
    pub fn of_text<'k>(keys: impl IntoIterator<Item = &'k str>, text: &str) -> Self {
        Self { path: path_of(keys), value: scalar(text) }
    }

    /// The pairs of a value at the place to which `keys` lead.
    pub fn of_value<'k>(keys: impl IntoIterator<Item = &'k str>, value: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        collect(path_of(keys), value, &mut found);
        found
    }
}

/// All pairs of an object; the object itself has none.
pub fn pairs(object: &Map<String, Value>) -> Vec<MetadataPair> {
    let mut found = Vec::new();
    for (key, member) in object {
        collect(below("", key), member, &mut found);
    }
    found
}

fn collect(path: String, value: &Value, found: &mut Vec<MetadataPair>) {
    let text = match value {
        Value::Object(_) => "o".to_owned(),
        Value::Array(_) => format!("a{value}"),
        Value::String(text) => scalar(text),
        other => scalar(&other.to_string()),
    };
    found.push(MetadataPair { path: path.clone(), value: text });
    if let Value::Object(inner) = value {
        for (key, member) in inner {
            collect(below(&path, key), member, found);
        }
    }
}

fn path_of<'k>(keys: impl IntoIterator<Item = &'k str>) -> String {
    keys.into_iter().fold(String::new(), |path, key| below(&path, key))
}

/// Python writes `True` where JSON has `true`.
fn scalar(text: &str) -> String {
    let is_truth = text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false");
    let plain = || if is_truth { text.to_ascii_lowercase() } else { text.to_owned() };
    format!("s{}", number::canonical(text).unwrap_or_else(plain))
}

/// RFC 6901, section 3.
fn below(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> Vec<(String, String)> {
        let pairs = pairs(value.as_object().unwrap());
        pairs.into_iter().map(|pair| (pair.path, pair.value)).collect()
    }

    fn fits(job: &Value, filter: Value) -> bool {
        let job = of(job.clone());
        of(filter).iter().all(|pair| job.contains(pair))
    }

    #[test]
    fn each_kind_of_value_has_its_pair() {
        let pairs = of(json!({
            "text": "x", "number": 1.5, "none": null, "list": [1, {"b": 2, "a": 1}],
            "in": {"a/b": {"~": "deep"}}, "empty": {},
        }));
        let expected = [
            ("/empty", "o"),
            ("/in", "o"),
            ("/in/a~1b", "o"),
            ("/in/a~1b/~0", "sdeep"),
            ("/list", r#"a[1,{"a":1,"b":2}]"#),
            ("/none", "snull"),
            ("/number", "s1.5"),
            ("/text", "sx"),
        ];
        assert_eq!(pairs, expected.map(|(path, value)| (path.to_owned(), value.to_owned())));
    }

    #[test]
    fn scalars_are_compared_as_text_objects_by_subset_and_arrays_as_a_whole() {
        let job = json!({ "n": 4711, "on": true, "tags": ["a", "b"], "who": { "id": "7", "team": {} } });
        for filter in [
            json!({}),
            json!({ "n": "4711" }),
            json!({ "on": "True" }),
            json!({ "tags": ["a", "b"] }),
            json!({ "who": { "id": 7 } }),
            json!({ "who": {} }),
            json!({ "who": { "team": {} }, "n": 4711 }),
        ] {
            assert!(fits(&job, filter.clone()), "{filter}");
        }
        for filter in [
            json!({ "n": 471 }),
            json!({ "tags": ["a"] }),
            json!({ "tags": "[\"a\",\"b\"]" }),
            json!({ "who": { "id": "7", "x": 1 } }),
            json!({ "who": "o" }),
            json!({ "n": {} }),
            json!({ "n": 4711, "on": false }),
        ] {
            assert!(!fits(&job, filter.clone()), "{filter}");
        }
    }

    #[test]
    fn numbers_are_compared_by_what_they_are_worth_to_the_last_digit() {
        for (kept, asked) in [
            ("1.0", ["1", "1e0", "\"1.00\"", "10E-1"]),
            ("1", ["1.0", "1E0", "\"0.1e1\"", "100e-2"]),
            ("-250", ["-2.5e2", "-250.0", "-25e+1", "\"-250\""]),
            ("0", ["-0", "0.0", "0e9", "\"-0.0\""]),
            ("0.00001", ["1e-5", "0.1e-4", "\"1E-05\"", "1.0e-5"]),
            ("1e300", ["10e299", "1E+300", "\"1e300\"", "0.1e301"]),
            (
                "9007199254740993",
                [
                    "9007199254740993",
                    "\"9007199254740993.0\"",
                    "\"9007199254740993\"",
                    "\"9007199254740993e0\"",
                ],
            ),
            (
                "18446744073709551615",
                [
                    "18446744073709551615",
                    "\"18446744073709551615\"",
                    "\"1.8446744073709551615e19\"",
                    "\"18446744073709551615.0\"",
                ],
            ),
        ] {
            let job = serde_json::from_str(&format!("{{\"n\":{kept}}}")).unwrap();
            for text in asked {
                let filter = serde_json::from_str(&format!("{{\"n\":{text}}}")).unwrap();
                assert!(fits(&job, filter), "{kept} is found by {text}");
            }
        }
        for (kept, asked) in [
            (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
            (json!(u64::MAX), json!(u64::MAX - 1)),
            (json!(i64::MIN), json!(i64::MIN + 1)),
            (json!("007"), json!(7)),
            (json!("+1"), json!(1)),
            (json!("1."), json!(1)),
            (json!(".5"), json!(0.5)),
            (json!("1e"), json!(1)),
            (json!("NaN"), json!(0)),
            (json!("1e99999999999999999999"), json!(1)),
            (json!("-"), json!(0)),
            (json!(""), json!(0)),
            (json!(10), json!(1)),
            (json!(1.5), json!(15)),
        ] {
            assert!(!fits(&json!({ "n": kept }), json!({ "n": asked })), "{kept} is not {asked}");
        }
    }

    #[test]
    fn a_text_of_a_query_is_the_scalar_at_its_place() {
        let pair = MetadataPair::of_text(["a/b", "c"], "FALSE");
        assert_eq!((pair.path.as_str(), pair.value.as_str()), ("/a~1b/c", "sfalse"));
    }
}
