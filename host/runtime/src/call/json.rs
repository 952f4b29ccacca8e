//! Looks at JSON text of an add-on without building it in memory: a short text can be
//! hundreds of megabytes as a tree of values.

use serde::de::IgnoredAny;

use crate::defaults::{JSON_DEPTH, JSON_OBJECTS};

/// Whether the text is JSON that can safely be parsed.
pub fn is_sound(text: &str) -> bool {
    let Shape { deepest, objects } = shape(text);
    deepest <= JSON_DEPTH && objects <= JSON_OBJECTS && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether the text is a JSON object that can safely be parsed.
pub fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && is_sound(text)
}

struct Shape {
    deepest: usize,
    objects: usize,
}

fn shape(text: &str) -> Shape {
    let (mut depth, mut deepest, mut objects) = (0_usize, 0_usize, 0_usize);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
                objects += usize::from(byte == b'{');
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Shape { deepest, objects }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_json_only() {
        assert!(is_sound(r#"{"a": [1, "]\"["]}"#));
        assert!(!is_sound("{"));
        assert!(!is_sound("{} {}"));
        assert!(is_object(" {}"));
        assert!(!is_object("[]"));
    }

    #[test]
    fn refuses_more_objects_than_memory_should_hold() {
        let many = |count: usize| format!("[{}0]", r#"{"":0},"#.repeat(count));
        assert!(is_sound(&many(JSON_OBJECTS)));
        assert!(!is_sound(&many(JSON_OBJECTS + 1)));
        assert!(is_sound(&format!("{:?}", many(JSON_OBJECTS + 1))));
    }

    #[test]
    fn refuses_deep_nesting() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(is_sound(&nested(JSON_DEPTH)));
        assert!(!is_sound(&nested(JSON_DEPTH + 1)));
        assert!(is_sound(&format!("{:?}", "[".repeat(1000))));
    }
}
