//! From words to utterances: what one channel says between two pauses, in portions that
//! can be read at once.

use super::SegmentResult;
use super::timeline::thousandths;
use crate::model::language::Language;
use crate::model::segments::Segments;
use crate::model::transcript::{Transcript, Utterance, Word};

/// A pause of this length ends an utterance ...
const PAUSE_S: f64 = 0.8;
/// ... a shorter one does after the end of a sentence ...
const SENTENCE_PAUSE_S: f64 = 0.2;
/// ... and none is needed there once the utterance is this long.
const LONG_S: f64 = 6.0;
/// An utterance is never longer.
const LONGEST_S: f64 = 20.0;
/// Marks that end a sentence, of all scripts that the model writes.
const SENTENCE_ENDS: &str = ".?!…。？！｡।॥؟۔։።፧၊။៕";
/// Marks that may follow them.
const CLOSING: &str = "\"'”’»)]」』）";
/// Marks that part clauses.
const CLAUSE_ENDS: &str = ",;:،、，；：";

/// The transcript of all segments.
pub fn assemble(segments: &Segments, results: &[SegmentResult]) -> Transcript {
    let mut channels: Vec<u16> = segments.segments.iter().map(|segment| segment.channel).collect();
    channels.sort_unstable();
    channels.dedup();
    let mut utterances = Vec::new();
    for channel in channels {
        let of_channel =
            segments.segments.iter().zip(results).filter(|(segment, _)| segment.channel == channel);
        let words =
            of_channel.flat_map(|(_, result)| result.words.iter().map(|word| (word, result.language)));
        for (part, language) in parts(words) {
            utterances.push(utterance(part, language, channel));
        }
    }
    utterances.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.channel.cmp(&b.channel)));
    let languages = most_spoken_first(&utterances);
    Transcript { utterances, languages }
}

fn parts<'a>(words: impl Iterator<Item = (&'a Word, Language)>) -> Vec<(Vec<Word>, Language)> {
    let mut parts: Vec<(Vec<Word>, Language)> = Vec::new();
    for (word, language) in words {
        match parts.last_mut() {
            Some((part, of_part)) if *of_part == language && goes_on(part, word) => part.push(word.clone()),
            _ => parts.push((vec![word.clone()], language)),
        }
        while let Some((part, _)) = parts.last_mut()
            && let Some(cut) = cut(part)
        {
            let rest = part.split_off(cut);
            parts.push((rest, language));
        }
    }
    parts
}

/// Whether a word belongs to the utterance that is open.
fn goes_on(part: &[Word], next: &Word) -> bool {
    let (Some(first), Some(last)) = (part.first(), part.last()) else {
        return true;
    };
    let pause_s = next.start - last.end;
    let ends = ends_with(last, SENTENCE_ENDS);
    pause_s < PAUSE_S && !(ends && (pause_s >= SENTENCE_PAUSE_S || last.end - first.start >= LONG_S))
}

/// Where to cut an utterance that is too long: after a clause, else at the longest pause.
fn cut(part: &[Word]) -> Option<usize> {
    let (first, last) = (part.first()?, part.last()?);
    if last.end - first.start <= LONGEST_S || part.len() < 2 {
        return None;
    }
    // Not in the first third, so that no portion is tiny.
    let is_late = |at: &usize| part[*at].start - first.start >= LONGEST_S / 3.0;
    let pause = |at: &usize| part[*at].start - part[*at - 1].end;
    let clause = (1..part.len()).filter(is_late).filter(|at| ends_with(&part[*at - 1], CLAUSE_ENDS));
    clause
        .max_by(|a, b| pause(a).total_cmp(&pause(b)))
        .or_else(|| (1..part.len()).filter(is_late).max_by(|a, b| pause(a).total_cmp(&pause(b))))
        .or(Some(part.len() - 1))
}

fn ends_with(word: &Word, marks: &str) -> bool {
    let bare = word.word.trim_end().trim_end_matches(|character| CLOSING.contains(character));
    bare.ends_with(|character| marks.contains(character))
}

fn utterance(mut words: Vec<Word>, language: Language, channel: u16) -> Utterance {
    if let Some(first) = words.first_mut() {
        first.word = first.word.trim_start().to_owned();
    }
    let confidence = words.iter().map(|word| word.confidence).sum::<f64>() / words.len().max(1) as f64;
    Utterance {
        start: words.first().map_or(0.0, |word| word.start),
        end: words.last().map_or(0.0, |word| word.end),
        confidence: thousandths(confidence),
        channel,
        speaker: None,
        text: words.iter().map(|word| word.word.as_str()).collect(),
        words,
        language: language.code().to_owned(),
    }
}

fn most_spoken_first(utterances: &[Utterance]) -> Vec<String> {
    let mut spoken: Vec<(&str, f64)> = Vec::new();
    for utterance in utterances {
        let length_s = utterance.end - utterance.start;
        match spoken.iter_mut().find(|(language, _)| *language == utterance.language) {
            Some((_, total_s)) => *total_s += length_s,
            None => spoken.push((&utterance.language, length_s)),
        }
    }
    // Stable: of equally spoken ones the first to be heard comes first.
    spoken.sort_by(|a, b| b.1.total_cmp(&a.1));
    spoken.into_iter().map(|(language, _)| language.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::timeline::tests::{segment, word};
    use super::*;

    fn assembled(channels: &[(u16, &str, Vec<Word>)]) -> Transcript {
        let segments = channels.iter().map(|(channel, ..)| segment(*channel, &[(0.0, 1.0)])).collect();
        let result = |(_, language, words): &(u16, &str, Vec<Word>)| SegmentResult {
            words: words.clone(),
            language: Language::parse(language).expect("a language"),
            odds: vec![],
            flag: None,
        };
        let results: Vec<_> = channels.iter().map(result).collect();
        assemble(&Segments { segments, speech: vec![] }, &results)
    }

    fn texts(transcript: &Transcript) -> Vec<&str> {
        transcript.utterances.iter().map(|utterance| utterance.text.as_str()).collect()
    }

    #[test]
    fn pauses_and_sentences_part_utterances() {
        let words = vec![
            word(" Yes.", 0.0, 0.4),
            word(" We", 0.7, 0.9),
            word(" go.", 1.0, 1.2),
            word(" Now", 1.3, 1.5),
            word(" then", 2.4, 2.6),
        ];
        assert_eq!(texts(&assembled(&[(0, "en", words)])), ["Yes.", "We go. Now", "then"]);
    }

    #[test]
    fn an_utterance_may_reach_over_a_segment_but_not_over_a_language() {
        let first = (0, "en", vec![word(" a", 0.0, 0.5)]);
        let second = (0, "en", vec![word(" b", 0.6, 0.9)]);
        let third = (0, "fr", vec![word(" c", 1.0, 5.0)]);
        let transcript = assembled(&[first, second, third]);
        assert_eq!(texts(&transcript), ["a b", "c"]);
        assert_eq!(transcript.languages, ["fr", "en"]);
    }

    #[test]
    fn channels_are_kept_apart_and_sorted_by_start() {
        let transcript = assembled(&[
            (1, "en", vec![word(" b", 0.0, 0.5), word(" d", 3.0, 3.5)]),
            (0, "en", vec![word(" a", 0.0, 0.5), word(" c", 2.0, 2.5)]),
        ]);
        assert_eq!(texts(&transcript), ["a", "b", "c", "d"]);
    }

    #[test]
    fn long_speech_is_cut_at_its_clauses() {
        let text = |at: usize| if at == 24 { " x," } else { " x" };
        let words = (0..80).map(|at| word(text(at), at as f64 * 0.5, at as f64 * 0.5 + 0.4)).collect();
        let transcript = assembled(&[(0, "en", words)]);
        assert!(transcript.utterances.iter().all(|utterance| utterance.end - utterance.start <= LONGEST_S));
        assert_eq!(transcript.utterances[0].words.len(), 25);
        assert_eq!(transcript.utterances.iter().map(|utterance| utterance.words.len()).sum::<usize>(), 80);
    }
}
