//! Scripts that are written without spaces between words.

/// Whether the character belongs to a script (or its punctuation) that puts no spaces between
/// words: Chinese, Japanese, Thai, Lao, Burmese, Khmer. Korean writes spaces.
pub fn writes_no_spaces(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'     // Thai, Lao
        | '\u{1000}'..='\u{109F}'   // Myanmar
        | '\u{1780}'..='\u{17FF}'   // Khmer
        | '\u{19E0}'..='\u{19FF}'   // Khmer symbols
        | '\u{2E80}'..='\u{2FDF}'   // CJK radicals
        | '\u{2FF0}'..='\u{312F}'   // CJK punctuation, kana, Bopomofo
        | '\u{3190}'..='\u{4DBF}'   // kanbun to CJK extension A
        | '\u{4E00}'..='\u{9FFF}'   // CJK ideographs
        | '\u{A9E0}'..='\u{A9FF}'   // Myanmar extended B
        | '\u{AA60}'..='\u{AA7F}'   // Myanmar extended A
        | '\u{F900}'..='\u{FAFF}'   // CJK compatibility ideographs
        | '\u{FF00}'..='\u{FF9F}'   // full-width forms, half-width kana
        | '\u{20000}'..='\u{3FFFF}' // CJK extensions
    )
}

/// Whether two texts of one voice that follow each other are joined by a space.
pub fn needs_space(before: &str, after: &str) -> bool {
    let (Some(last), Some(first)) = (before.chars().next_back(), after.chars().next()) else {
        return false;
    };
    !(last.is_whitespace() || first.is_whitespace() || writes_no_spaces(last) || writes_no_spaces(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unspaced_scripts_are_joined_without_a_space() {
        for (before, after) in [("Hello", "world"), ("안녕", "하세요"), ("नमस्ते", "जी"), ("مرحبا", "بك")]
        {
            assert!(needs_space(before, after), "{before} {after}");
        }
        for (before, after) in [
            ("你好。", "我"),
            ("です", "ね"),
            ("ครับ", "ผม"),
            ("用 Python", "写"),
            ("", "a"),
            ("a ", "b"),
            ("a", " b"),
        ] {
            assert!(!needs_space(before, after), "{before}|{after}");
        }
    }
}
