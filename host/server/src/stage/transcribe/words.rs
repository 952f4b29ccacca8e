//! From characters to words with times of the file.
//!
//! Word times are where the model looked while it wrote, so they are put right with what
//! the voice activity detector knows: a word lies inside one stretch of speech.

use unicode_segmentation::UnicodeSegmentation;

use super::piece::Character;
use super::refine::Loudness;
use super::timeline::{Timeline, thousandths};
use crate::model::language::Language;
use crate::model::transcript::Word;

/// The shortest word.
const LEAST_S: f64 = 0.02;
/// A word reaches well into a stretch of speech with this part of what the most filled one
/// has of it.
const WELL_INTO: f64 = 0.4;
/// How far the model's times may lie inside the ends of a stretch of speech.
const LOOSE_S: f64 = 0.5;

/// A word in seconds of the segment.
#[derive(Debug, Clone, PartialEq)]
struct Draft {
    text: String,
    start_s: f64,
    end_s: f64,
    confidence: f64,
}

/// The words of a segment. With its loudness their borders are refined.
pub fn words(
    characters: &[Character],
    language: Language,
    timeline: &Timeline,
    loudness: Option<&Loudness>,
) -> Vec<Word> {
    let mut drafts = Vec::new();
    // Marks at the very start belong to the word after them; marks alone are no words.
    let mut opening = String::new();
    for part in split(characters, language) {
        add(part, &mut opening, &mut drafts);
    }
    for draft in &mut drafts {
        stay_in_speech(draft, &timeline.speech_s);
    }
    fill_speech(&mut drafts, &timeline.speech_s);
    put_in_order(&mut drafts, timeline.length_s);
    if let Some(loudness) = loudness {
        refine(&mut drafts, loudness);
    }
    if !language.is_unspaced()
        && let Some(first) = drafts.first_mut()
        && !first.text.starts_with(' ')
    {
        first.text.insert(0, ' ');
    }
    drafts.into_iter().map(|draft| to_file(draft, timeline)).collect()
}

/// Parts that are a word each, or marks that belong to one. A space stands at the head of
/// its part.
fn split(characters: &[Character], language: Language) -> Vec<&[Character]> {
    let text: String = characters.iter().map(|character| character.character).collect();
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for unit in text.split_word_bounds() {
        let follows_space = at > 0 && characters[at - 1].character.is_whitespace();
        let is_space = unit.chars().all(char::is_whitespace);
        let is_start = if language.is_unspaced() { is_space || !follows_space } else { is_space };
        if is_start {
            starts.push(at);
        }
        at += unit.chars().count();
    }
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([characters.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &characters[*start..end])
        .filter(|part| !part.is_empty())
        .collect()
}

fn add(part: &[Character], opening: &mut String, drafts: &mut Vec<Draft>) {
    let mut text: String = part.iter().map(|character| character.character).collect();
    if text.starts_with(char::is_whitespace) {
        text = format!(" {}", text.trim_start());
    }
    if text.trim().is_empty() {
        return;
    }
    let letters: Vec<&Character> =
        part.iter().filter(|character| character.character.is_alphanumeric()).collect();
    let (Some(first), Some(last)) = (letters.first(), letters.last()) else {
        drafts.last_mut().map_or(opening, |word| &mut word.text).push_str(&text);
        return;
    };
    let confidence =
        letters.iter().map(|letter| f64::from(letter.probability)).sum::<f64>() / letters.len() as f64;
    let opening = std::mem::take(opening);
    let text = if opening.is_empty() { text } else { opening + text.trim_start() };
    drafts.push(Draft { text, start_s: first.start_s, end_s: last.end_s, confidence });
}

/// Moves a word into one stretch of speech: the last that it reaches well into, because a
/// word that begins in a pause or before it belongs after it.
fn stay_in_speech(draft: &mut Draft, speech_s: &[(f64, f64)]) {
    let overlap = |(start_s, end_s): &(f64, f64)| end_s.min(draft.end_s) - start_s.max(draft.start_s);
    // Without any overlap the largest is that of the nearest.
    let Some(most_s) = speech_s.iter().map(overlap).max_by(f64::total_cmp) else {
        return;
    };
    let enough_s = if most_s > 0.0 { WELL_INTO * most_s } else { most_s };
    let Some(&(start_s, end_s)) = speech_s.iter().rfind(|speech| overlap(speech) >= enough_s) else {
        return;
    };
    draft.start_s = draft.start_s.clamp(start_s, end_s);
    draft.end_s = draft.end_s.clamp(start_s, end_s);
}

/// Stretches the first and the last word of a stretch of speech to its ends, where little is missing.
fn fill_speech(drafts: &mut [Draft], speech_s: &[(f64, f64)]) {
    for (start_s, end_s) in speech_s {
        let is_inside = |draft: &Draft| draft.start_s >= *start_s && draft.end_s <= *end_s;
        if let Some(first) = drafts.iter_mut().find(|draft| is_inside(draft))
            && first.start_s - start_s <= LOOSE_S
        {
            first.start_s = *start_s;
        }
        if let Some(last) = drafts.iter_mut().rfind(|draft| is_inside(draft))
            && end_s - last.end_s <= LOOSE_S
        {
            last.end_s = *end_s;
        }
    }
}

/// Gives every word a length and a place after the one before it, inside the segment.
fn put_in_order(drafts: &mut [Draft], length_s: f64) {
    let count = drafts.len();
    let least_s = LEAST_S.min(length_s / (count + 1) as f64);
    let mut at_s = 0.0_f64;
    for (index, draft) in drafts.iter_mut().enumerate() {
        // Room for the words to come.
        let latest_s = length_s - least_s * (count - index) as f64;
        draft.start_s = draft.start_s.max(at_s).min(latest_s);
        let longest_s = latest_s + least_s;
        draft.end_s = draft.end_s.max(draft.start_s + least_s).min(longest_s);
        at_s = draft.end_s;
    }
}

/// Moves the borders between words to where the sound has them.
fn refine(drafts: &mut [Draft], loudness: &Loudness) {
    for at in 1..drafts.len() {
        let [first, second] = &mut drafts[at - 1..=at] else { continue };
        let (end_s, start_s) = loudness.border((first.start_s, first.end_s), (second.start_s, second.end_s));
        first.end_s = end_s;
        second.start_s = start_s;
    }
}

fn to_file(draft: Draft, timeline: &Timeline) -> Word {
    let start = thousandths(timeline.start_in_file(draft.start_s));
    // Rounding must neither lead beyond the file nor take a short word its length.
    let end = thousandths(timeline.end_in_file(draft.end_s)).min(down(timeline.end_in_file(f64::INFINITY)));
    let end = end.max(thousandths(start + 0.001));
    Word { word: draft.text, start, end, confidence: thousandths(draft.confidence.clamp(0.0, 1.0)) }
}

/// The thousandth that has begun.
fn down(seconds: f64) -> f64 {
    // What is a whole thousandth but for the arithmetic stays one.
    (seconds * 1000.0 + 1e-6).floor() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::super::piece::characters;
    use super::super::timeline::tests::{segment, span};
    use super::*;
    use crate::engine::Token;
    use crate::model::segments::{Segments, Speech};

    fn built(tokens: &[(&str, f32)], language: &str, speech: &[(f64, f64)]) -> Vec<(String, f64, f64)> {
        let speech =
            speech.iter().map(|(start, end)| Speech { channel: 0, span: span(*start, *end) }).collect();
        let segments = Segments { segments: vec![segment(0, &[(0.0, 10.0)])], speech };
        let timeline = Timeline::new(&segments.segments[0], &segments);
        let token = |(text, end_s): &(&str, f32)| Token {
            bytes: text.as_bytes().to_vec(),
            end_s: *end_s,
            probability: 0.5,
        };
        let tokens: Vec<Token> = tokens.iter().map(token).collect();
        let start_s = timeline.speech_s.first().map_or(0.0, |speech| speech.0);
        let language = Language::parse(language).expect("a language");
        let words = words(&characters(&tokens, start_s, 0.0), language, &timeline, None);
        words.into_iter().map(|word| (word.word, word.start, word.end)).collect()
    }

    fn texts(tokens: &[(&str, f32)], language: &str) -> Vec<String> {
        built(tokens, language, &[(0.0, 10.0)]).into_iter().map(|(text, ..)| text).collect()
    }

    #[test]
    fn spaced_words_keep_their_marks() {
        let tokens =
            [(" -", 0.1), (" Don", 0.5), ("'t", 0.8), (" stop", 1.5), (",", 2.0), (" vas", 3.0), (" ?", 3.5)];
        assert_eq!(texts(&tokens, "fr"), [" -Don't", " stop,", " vas ?"]);
    }

    #[test]
    fn the_first_word_of_a_spaced_language_gets_its_space() {
        assert_eq!(texts(&[("And", 0.5), (" so", 1.0)], "en"), [" And", " so"]);
    }

    #[test]
    fn unspaced_languages_are_split_by_unicode() {
        let words = texts(&[("我用", 0.5), (" iPhone", 1.0), ("打电话。", 2.0)], "zh");
        assert_eq!(words.concat(), "我用 iPhone打电话。");
        assert_eq!(words, ["我", "用", " iPhone", "打", "电", "话。"]);
    }

    #[test]
    fn a_word_starts_at_the_onset_of_its_speech_and_ends_with_it() {
        let tokens = [(" one", 1.4), (".", 3.0), (" two", 4.5), (" three", 9.0)];
        assert_eq!(
            built(&tokens, "en", &[(1.0, 2.0), (4.0, 6.0)]),
            [(" one.".to_owned(), 1.0, 1.4), (" two".to_owned(), 4.0, 4.5), (" three".to_owned(), 4.5, 6.0)]
        );
    }

    #[test]
    fn words_are_positive_and_ordered_whatever_the_model_says() {
        let tokens: Vec<(&str, f32)> =
            (0..40).map(|at| (" x", if at % 2 == 0 { 99.0 } else { 0.0 })).collect();
        let words = built(&tokens, "en", &[(1.0, 9.0)]);
        assert!(words.windows(2).all(|pair| pair[0].2 <= pair[1].1));
        assert!(words.iter().all(|(_, start, end)| start < end && *end <= 10.0));
    }
}
