//! Text that nobody said. Whisper learned from subtitles and writes what stands under
//! silence, music and noise there.

use crate::engine::Recognised;

/// Both must hold for a text to be left out: nobody speaks, by the model ...
const NO_SPEECH: f32 = 0.6;
/// ... and the text is a guess (mean of the logarithms of its tokens' probabilities).
const GUESS: f32 = -0.8;
/// A phrase of the list is left out on this much less suspicion.
const NO_SPEECH_FOR_PHRASE: f32 = 0.3;
/// A guess that further attempts did not better needs no more than this.
const NO_SPEECH_FOR_DOUBT: f32 = 0.3;

/// What subtitles say where nobody speaks, in lower case without marks.
const PHRASES: [&str; 34] = [
    "you",
    "bye",
    "bye bye",
    "so",
    "oh",
    "okay",
    "thank you",
    "thanks",
    "thank you very much",
    "thank you for watching",
    "thanks for watching",
    "thank you so much for watching",
    "please subscribe",
    "like and subscribe",
    "see you next time",
    "the end",
    "music",
    "applause",
    "subtitles by the amara org community",
    "sous titres réalisés par la communauté d amara org",
    "sous titrage st 501",
    "merci",
    "merci d avoir regardé cette vidéo",
    "untertitel der amara org community",
    "vielen dank",
    "vielen dank fürs zuschauen",
    "untertitelung des zdf 2020",
    "gracias",
    "gracias por ver el video",
    "subtítulos realizados por la comunidad de amara org",
    "sottotitoli creati dalla comunità amara org",
    "obrigado",
    "продолжение следует",
    "ご視聴ありがとうございました",
];

/// Whether a text is to be left out.
pub fn is_invented(recognised: &Recognised, text: &str) -> bool {
    let (no_speech, likelihood) = (recognised.no_speech_probability, recognised.mean_log_probability);
    no_speech > NO_SPEECH && likelihood < GUESS
        || recognised.is_doubtful && no_speech > NO_SPEECH_FOR_DOUBT && likelihood < GUESS
        || no_speech > NO_SPEECH_FOR_PHRASE && PHRASES.contains(&plain(text).as_str())
}

/// Lower case, marks as spaces, single spaces.
fn plain(text: &str) -> String {
    let lower: String = text
        .to_lowercase()
        .chars()
        .map(|character| if character.is_alphanumeric() { character } else { ' ' })
        .collect();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::language::Language;

    fn recognised(no_speech_probability: f32, mean_log_probability: f32) -> Recognised {
        Recognised {
            tokens: vec![],
            language: Language::parse("en").expect("a language"),
            odds: vec![],
            mean_log_probability,
            no_speech_probability,
            is_cut: false,
            attempts: 1,
            is_doubtful: false,
        }
    }

    #[test]
    fn thanks_are_believed_when_somebody_speaks() {
        assert!(is_invented(&recognised(0.5, -0.4), " Thank you for watching!"));
        assert!(!is_invented(&recognised(0.1, -0.4), " Thank you for watching!"));
    }

    #[test]
    fn a_guess_over_noise_is_left_out_and_a_guess_over_speech_kept() {
        assert!(is_invented(&recognised(0.7, -0.9), " The big red one"));
        assert!(!is_invented(&recognised(0.2, -0.9), " The big red one"));
    }
}
