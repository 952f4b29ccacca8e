//! The names that the interface specification gives to add-ons and request fields.
//!
//! This is one of the two places where the host knows add-ons by name: a client may ask
//! for any of these whether or not a component serves it, and no custom add-on may take
//! a name that is spoken for.

/// Request flags that an add-on of the same name serves.
pub const ADDON_FLAGS: [&str; 19] = [
    "audio_enhancer",
    "audio_to_llm",
    "chapterization",
    "custom_spelling",
    "custom_vocabulary",
    "diarization",
    "diarization_enhanced",
    "display_mode",
    "moderation",
    "name_consistency",
    "named_entity_recognition",
    "pii_redaction",
    "punctuation_enhanced",
    "sentences",
    "sentiment_analysis",
    "structured_data_extraction",
    "subtitles",
    "summarization",
    "translation",
];

/// Config objects of those add-ons.
pub const ADDON_CONFIG_KEYS: [&str; 10] = [
    "audio_to_llm_config",
    "custom_spelling_config",
    "custom_vocabulary_config",
    "diarization_config",
    "pii_redaction_config",
    "structured_data_extraction_config",
    "subtitles_config",
    "summarization_config",
    "translation_config",
    "chapterization_config",
];

/// Fields of a request or a result that belong to the host itself, one a line. The authors' tool
/// refuses them as well.
const HOST_FIELDS: &str = include_str!("../../../../wit/reserved-names.txt");

/// Whether a name stands in the specification, as a flag, a config object or a field.
pub fn is_reserved(name: &str) -> bool {
    ADDON_FLAGS.contains(&name)
        || ADDON_CONFIG_KEYS.contains(&name)
        || HOST_FIELDS.lines().any(|field| field == name)
}

/// Whether the add-on `name` may use `field` of the specification as its flag or config:
/// the field is free, or it is the add-on's own.
pub fn may_use(name: &str, field: &str) -> bool {
    let own_flag = field == name && ADDON_FLAGS.contains(&field);
    let own_config = field.strip_suffix("_config") == Some(name) && ADDON_FLAGS.contains(&name);
    own_flag || own_config || !is_reserved(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_addon_may_use_its_own_fields_only() {
        assert!(may_use("sentences", "sentences"));
        assert!(may_use("subtitles", "subtitles_config"));
        assert!(may_use("call_report", "call_report"));
        assert!(!may_use("call_report", "sentences"));
        assert!(!may_use("call_report", "subtitles_config"));
        assert!(!may_use("metadata", "metadata"));
        assert!(!may_use("language", "language_config"));
    }
}
