//! Which marks end a sentence.
//!
//! The property itself comes from the Unicode tables of `unicode-segmentation`; only what
//! Unicode leaves to the languages is written here.

use unicode_segmentation::UnicodeSegmentation;

/// The sentence-ending marks of one language.
#[derive(Debug, Clone, Copy)]
pub struct Stops {
    /// Marks of this language that Unicode's default rules do not count as stops.
    extra: &'static [char],
}

impl Stops {
    /// The stops of a language code; the Unicode defaults for an unknown one.
    pub fn of(language: Option<&str>) -> Self {
        let extra: &[char] = match language {
            // The Greek question mark, as its own character and as the semicolon it looks like.
            Some("el") => &[';', '\u{37e}'],
            // The Armenian full stop is often typed as a colon.
            Some("hy") => &[':'],
            // The Tibetan shad closes a clause or a sentence; there is no other stop.
            Some("bo") => &['\u{f0d}', '\u{f0e}'],
            _ => &[],
        };
        Self { extra }
    }

    /// Whether the mark is a stop of this language beyond the Unicode defaults. An ellipsis is
    /// one in every language.
    pub fn is_extra(self, c: char) -> bool {
        c == '…' || self.extra.contains(&c)
    }

    /// Whether the mark ends a sentence.
    pub fn is_stop(self, c: char) -> bool {
        if c.is_ascii() {
            return matches!(c, '.' | '!' | '?') || self.is_extra(c);
        }
        self.is_extra(c) || (!c.is_alphanumeric() && is_unicode_stop(c))
    }

    /// Whether a word ends a sentence: a stop follows its last letter, with nothing but quotes,
    /// brackets and the like behind.
    pub fn end(self, word: &str) -> bool {
        let tail = trailing_punctuation(word.trim_end());
        match tail.rfind(|c| self.is_stop(c)) {
            Some(at) => {
                !tail[at..].contains([',', '،', '、', ';', ':', '-', '–', '—']) || self.ends_in_extra(tail)
            }
            None => false,
        }
    }

    fn ends_in_extra(self, tail: &str) -> bool {
        tail.chars().next_back().is_some_and(|c| self.is_extra(c))
    }
}

/// Asks the segmentation rules whether a sentence may end after the mark.
fn is_unicode_stop(c: char) -> bool {
    let mut buffer = [0; 4];
    let probe = ["a", c.encode_utf8(&mut buffer), " A"].concat();
    probe.split_sentence_bound_indices().count() > 1
}

/// What follows the last letter or digit of a word.
pub fn trailing_punctuation(word: &str) -> &str {
    match word.char_indices().rfind(|(_, c)| c.is_alphanumeric()) {
        Some((at, c)) => &word[at + c.len_utf8()..],
        None => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_of_all_scripts_are_known() {
        for c in ". ! ? … 。 ！ ？ ． ｡ ؟ ۔ । ॥ ։ ። ፧ ។ ៕ ။ ‼ ⁉".split(' ') {
            assert!(Stops::of(None).end(&format!("a{c}")), "{c}");
        }
        for c in ", ; : ، 、 ， - — ¿ · ¡ ' \u{94d}".split(' ') {
            assert!(!Stops::of(None).end(&format!("a{c}")), "{c}");
        }
    }

    #[test]
    fn quotes_and_brackets_may_follow_the_stop() {
        for word in ["end.", "end.\"", "end?”", "end!)", "fin. »", "好。」", "(sic.)]"] {
            assert!(Stops::of(None).end(word), "{word}");
        }
        for word in ["etc.,", "end", "3.5", "a.b", "\"", "“end”", "well...,"] {
            assert!(!Stops::of(None).end(word), "{word}");
        }
    }

    #[test]
    fn marks_that_only_some_languages_use_as_stops() {
        assert!(Stops::of(Some("el")).end("τι;") && !Stops::of(Some("en")).end("what;"));
        assert!(Stops::of(Some("hy")).end("գիրք:") && !Stops::of(Some("en")).end("book:"));
        assert!(Stops::of(Some("bo")).end("བོད།") && !Stops::of(Some("en")).end("བོད།"));
    }
}
