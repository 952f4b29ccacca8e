//! Makes two spellings comparable: letter case, composed and decomposed characters, typographic
//! apostrophes and hyphens, runs of spaces. Pure text in, text out.

use unicode_normalization::UnicodeNormalization;

/// How a language maps capital letters to small ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Casing {
    /// I and i are one letter.
    Usual,
    /// I belongs to ı, İ to i.
    Turkic,
}

impl Casing {
    /// The casing of a language code.
    pub fn of(language: Option<&str>) -> Self {
        match language {
            Some("tr" | "az") => Self::Turkic,
            _ => Self::Usual,
        }
    }
}

/// Appends the comparable form of a text: equal for two texts that differ only in case (full
/// Unicode folding: ß equals ss), in normal form, in the kind of apostrophe or hyphen, or in the
/// width of a space.
pub fn fold_into(out: &mut String, text: &str, casing: Casing) {
    let is_plain = |b: u8| b.is_ascii_graphic() || b == b' ';
    if casing == Casing::Usual && text.bytes().all(is_plain) && !text.contains("  ") {
        out.extend(text.chars().map(|c| c.to_ascii_lowercase()));
        return;
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.nfc() {
        match c {
            _ if c.is_whitespace() => {
                if !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            '’' | '‘' | 'ʼ' | '＇' | '´' => folded.push('\''),
            '‐' | '‑' => folded.push('-'),
            'I' if casing == Casing::Turkic => folded.push('ı'),
            'İ' if casing == Casing::Turkic => folded.push('i'),
            // Its capital is I, which would make it an i.
            'ı' => folded.push(c),
            // Upwards and down again unites what only lowering keeps apart: ß and SS, ς and σ.
            _ => folded.extend(c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)),
        }
    }
    out.extend(folded.nfd());
}

/// [`fold_into`] a new text.
pub fn fold(text: &str, casing: Casing) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(&mut out, text, casing);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str, casing: Casing) -> bool {
        fold(a, casing) == fold(b, casing)
    }

    #[test]
    fn a_run_of_spaces_of_any_kind_is_one() {
        for text in ["a  b", "a\t b", "a \tb", "a\r\nb", "a\u{a0} b", "a\u{3000}b"] {
            assert_eq!(fold(text, Casing::Usual), "a b", "{text:?}");
        }
    }

    #[test]
    fn case_is_ignored_in_all_of_unicode() {
        for (a, b) in [
            ("George", "gEORGE"),
            ("STRASSE", "straße"),
            ("STRAẞE", "strasse"),
            ("ΟΔΥΣΣΕΥΣ", "Οδυσσευς"),
            ("ПРИВЕТ", "привет"),
            ("ﬁn", "FIN"),
            ("Ǆ", "ǆ"),
        ] {
            assert!(same(a, b, Casing::Usual), "{a} {b}");
        }
        assert!(!same("Georg", "George", Casing::Usual));
    }

    #[test]
    fn composed_and_decomposed_are_equal_but_accents_count() {
        assert!(same("café", "CAFE\u{301}", Casing::Usual));
        assert!(same("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}", Casing::Usual));
        assert!(!same("cafe", "café", Casing::Usual));
    }

    #[test]
    fn the_dotless_i_follows_the_language() {
        assert!(same("IŞIK", "ışık", Casing::Turkic) && !same("IŞIK", "işik", Casing::Turkic));
        assert!(same("İzmir", "izmir", Casing::Turkic) && same("I\u{307}zmir", "izmir", Casing::Turkic));
        assert!(same("ISIK", "isik", Casing::Usual) && !same("ışık", "işik", Casing::Usual));
    }

    #[test]
    fn apostrophes_hyphens_and_spaces_come_in_one_kind() {
        assert!(same("O’Brien", "o'brien", Casing::Usual));
        assert!(same("e‑mail", "E-Mail", Casing::Usual));
        assert!(same("New \u{a0} York", "new york", Casing::Usual) && same("a  b", "a b", Casing::Usual));
    }
}
