//! The languages of the speech model and the codes clients use for them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The 99 language codes of multilingual Whisper, in alphabetical order.
pub const CODES: [&str; 99] = [
    "af", "am", "ar", "as", "az", "ba", "be", "bg", "bn", "bo", "br", "bs", "ca", "cs", "cy", "da", "de",
    "el", "en", "es", "et", "eu", "fa", "fi", "fo", "fr", "gl", "gu", "ha", "haw", "he", "hi", "hr", "ht",
    "hu", "hy", "id", "is", "it", "ja", "jw", "ka", "kk", "km", "kn", "ko", "la", "lb", "ln", "lo", "lt",
    "lv", "mg", "mi", "mk", "ml", "mn", "mr", "ms", "mt", "my", "ne", "nl", "nn", "no", "oc", "pa", "pl",
    "ps", "pt", "ro", "ru", "sa", "sd", "si", "sk", "sl", "sn", "so", "sq", "sr", "su", "sv", "sw", "ta",
    "te", "tg", "th", "tk", "tl", "tr", "tt", "uk", "ur", "uz", "vi", "yi", "yo", "zh",
];

/// Other spellings that clients send.
const ALIASES: [(&str, &str); 4] = [("jv", "jw"), ("mymr", "my"), ("nb", "no"), ("iw", "he")];

/// A language the speech model knows: an index into [`CODES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Language(u8);

impl Language {
    /// Reads a code, an alias or a regional form (`en-US`), in any case.
    pub fn parse(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let base = lower.split(['-', '_']).next().unwrap_or_default();
        let code = ALIASES.iter().find(|(alias, _)| *alias == base).map_or(base, |(_, code)| code);
        CODES.binary_search(&code).ok().and_then(|at| u8::try_from(at).ok()).map(Self)
    }

    /// The canonical code.
    pub fn code(self) -> &'static str {
        CODES[usize::from(self.0)]
    }

    /// Whether the language is written without spaces between words, so that words are
    /// units of Unicode segmentation and carry no leading space.
    pub fn is_unspaced(self) -> bool {
        matches!(self.code(), "zh" | "ja" | "th" | "lo" | "my" | "km")
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.code().to_owned()
    }
}

impl TryFrom<String> for Language {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("unknown language code {text:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_parse_to_themselves() {
        assert!(CODES.is_sorted());
        for code in CODES {
            assert_eq!(Language::parse(code).map(Language::code), Some(code));
        }
    }

    #[test]
    fn aliases_and_regions_give_canonical_codes() {
        for (input, code) in
            [("jv", "jw"), ("mymr", "my"), ("nb", "no"), ("iw", "he"), ("en-US", "en"), ("PT_br", "pt")]
        {
            assert_eq!(Language::parse(input).map(Language::code), Some(code), "{input}");
        }
        assert_eq!(Language::parse("xx"), None);
        assert_eq!(Language::parse(""), None);
    }
}
