//! Speech that the model passed over. After a change of speaker it may end its text, or begin
//! it late, as if nobody else had spoken.

use super::open::Part;
use super::timeline::Timeline;
use crate::engine::{Recognised, SAMPLE_RATE_HZ, Token};

/// This much speech without text is heard again. Less may be a wrong time of a token, and
/// hearing that again would repeat words.
const LEAST_S: f64 = 2.0;
/// A token tells of this much time before its end and no more: one that is longer spans a pause,
/// or what was passed over.
const TOKEN_S: f64 = 1.0;
/// Text for less than this, a token and some silence, says nothing of where it is; and a pass that
/// told no more is not followed by another one, which would hear the same.
const LEAST_TOLD_S: f64 = TOKEN_S + KEPT_S;
/// Silence that is kept before and after speech.
const KEPT_S: f64 = 0.2;

/// The stretch of a part with the most speech that has no text, if it is worth another pass.
pub fn missed(recognised: &Recognised, part: Part, timeline: &Timeline) -> Option<Part> {
    if recognised.tokens.is_empty() {
        return None;
    }
    let (start_s, end_s) = (seconds(part.start), seconds(part.end));
    let gaps = gaps(&recognised.tokens, start_s, end_s, &timeline.speech_s).into_iter();
    let spoken = gaps.filter_map(|gap| speech_in(gap, &timeline.speech_s));
    let (speech_s, from_s, to_s) = spoken.max_by(|a, b| a.0.total_cmp(&b.0))?;
    // A first or last token may look at the end of the part wherever the text is.
    let from_s = if from_s - start_s < LEAST_TOLD_S { start_s } else { from_s - KEPT_S };
    let to_s = if end_s - to_s < LEAST_TOLD_S { end_s } else { to_s + KEPT_S };
    let is_worth_it = speech_s >= LEAST_S && (end_s - start_s) - (to_s - from_s) >= LEAST_TOLD_S;
    is_worth_it.then(|| Part { start: samples(from_s), end: samples(to_s).min(part.end), ..part })
}

/// The text before and after a stretch that was passed over, each with the clock of its own part.
/// A part without text is left out.
pub fn around(mut recognised: Recognised, part: Part, missed: Part) -> Vec<(Part, Recognised)> {
    let middle_s = seconds(missed.start + missed.end) / 2.0 - seconds(part.start);
    let is_before = |token: &&Token| f64::from(token.end_s) < middle_s;
    let count = match (missed.start == part.start, missed.end == part.end) {
        (true, _) => 0,
        (_, true) => recognised.tokens.len(),
        _ => recognised.tokens.iter().take_while(is_before).count(),
    };
    let mut after = Recognised { tokens: recognised.tokens.split_off(count), ..recognised.clone() };
    for token in &mut after.tokens {
        token.end_s = (f64::from(token.end_s) - seconds(missed.end - part.start)).max(0.0) as f32;
    }
    let mut around =
        vec![(Part { end: missed.start, ..part }, recognised), (Part { start: missed.end, ..part }, after)];
    around.retain(|(_, recognised)| !recognised.tokens.is_empty());
    around
}

/// Where no token is, in seconds of the segment.
fn gaps(tokens: &[Token], start_s: f64, end_s: f64, speech_s: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut gaps = Vec::new();
    let mut at_s = start_s;
    for token in tokens {
        let token_end_s = start_s + f64::from(token.end_s);
        gaps.push((at_s, token_start(token_end_s, speech_s)));
        at_s = at_s.max(token_end_s);
    }
    gaps.push((at_s, end_s));
    gaps.retain(|(from_s, to_s)| from_s < to_s);
    gaps
}

/// The earliest start of a token: after the last pause within its time, if there is one.
fn token_start(token_end_s: f64, speech_s: &[(f64, f64)]) -> f64 {
    let earliest_s = token_end_s - TOKEN_S;
    let pauses = speech_s.windows(2).map(|pair| (pair[0].1, pair[1].0));
    let mut within = pauses.filter(|(from_s, to_s)| *from_s >= earliest_s && *to_s <= token_end_s);
    within.next_back().map_or(earliest_s, |(_, to_s)| to_s)
}

/// How much speech a stretch holds, and from where to where.
fn speech_in((from_s, to_s): (f64, f64), speech_s: &[(f64, f64)]) -> Option<(f64, f64, f64)> {
    let inside = speech_s.iter().map(|(start_s, end_s)| (start_s.max(from_s), end_s.min(to_s)));
    let inside: Vec<(f64, f64)> = inside.filter(|(start_s, end_s)| start_s < end_s).collect();
    let total_s = inside.iter().map(|(start_s, end_s)| end_s - start_s).sum();
    Some((total_s, inside.first()?.0, inside.last()?.1))
}

fn samples(at_s: f64) -> usize {
    (at_s * f64::from(SAMPLE_RATE_HZ)).round() as usize
}

fn seconds(samples: usize) -> f64 {
    samples as f64 / f64::from(SAMPLE_RATE_HZ)
}

#[cfg(test)]
mod tests {
    use super::super::timeline::tests::{segment, span};
    use super::*;
    use crate::model::language::Language;
    use crate::model::segments::{Segments, Speech};

    /// 20 s, with speech from 0.5 to 7 s and from 8 to 19 s.
    const WHOLE: Part = Part { index: 3, start: 0, end: 20 * SAMPLE_RATE_HZ as usize };

    fn timeline() -> Timeline {
        let speech =
            [(0.5, 7.0), (8.0, 19.0)].map(|(start, end)| Speech { channel: 0, span: span(start, end) });
        let segments = Segments { segments: vec![segment(0, &[(0.0, 20.0)])], speech: speech.to_vec() };
        Timeline::new(&segments.segments[0], &segments)
    }

    /// Text whose tokens end at these seconds.
    fn recognised(ends_s: &[f32]) -> Recognised {
        let token = |end_s: &f32| Token { bytes: b" a".to_vec(), end_s: *end_s, probability: 0.9 };
        Recognised {
            tokens: ends_s.iter().map(token).collect(),
            language: Language::parse("en").expect("a language"),
            odds: vec![],
            mean_log_probability: -0.2,
            no_speech_probability: 0.0,
            is_cut: false,
            attempts: 1,
            is_doubtful: false,
        }
    }

    fn every_second(from: u8, to: u8) -> Vec<f32> {
        (from..=to).map(f32::from).collect()
    }

    fn missed_s(ends_s: &[f32]) -> Option<(f64, f64)> {
        let part = missed(&recognised(ends_s), WHOLE, &timeline())?;
        assert_eq!(part.index, WHOLE.index);
        Some((seconds(part.start), seconds(part.end)))
    }

    #[test]
    fn speech_after_before_and_between_text_is_found() {
        assert_eq!(missed_s(&every_second(1, 7)), Some((7.8, 20.0)), "the text ended early");
        assert_eq!(missed_s(&every_second(9, 19)), Some((0.0, 7.2)), "it began late");
        let around = [every_second(1, 5), every_second(14, 19)].concat();
        assert_eq!(missed_s(&around), Some((4.8, 13.2)), "it left out the middle");
    }

    #[test]
    fn a_stray_token_at_an_end_hides_nothing() {
        let late = [vec![0.6], every_second(9, 19)].concat();
        assert_eq!(missed_s(&late), Some((0.0, 7.2)));
        let early = [every_second(1, 7), vec![20.0]].concat();
        assert_eq!(missed_s(&early), Some((7.8, 20.0)));
    }

    #[test]
    fn pauses_short_gaps_and_what_was_heard_in_vain_are_left() {
        assert_eq!(missed_s(&every_second(1, 19)), None);
        let pause = [every_second(1, 7), every_second(9, 19)].concat();
        assert_eq!(missed_s(&pause), None, "a token may begin in the pause");
        let short = [every_second(1, 11), every_second(13, 19)].concat();
        assert_eq!(missed_s(&short), None, "two seconds less a token");
        assert_eq!(missed_s(&[0.7]), None, "a second pass would hear the same");
        assert_eq!(missed_s(&[]), None);
    }

    #[test]
    fn text_on_both_sides_keeps_its_times() {
        let part = Part { start: SAMPLE_RATE_HZ as usize, ..WHOLE };
        let missed = Part { start: samples(5.0), end: samples(13.0), ..part };
        // Ends count from the start of the part, at 1 s.
        let around = around(recognised(&[2.0, 4.0, 12.5, 14.0]), part, missed);
        let ends: Vec<Vec<f32>> =
            around.iter().map(|(_, text)| text.tokens.iter().map(|token| token.end_s).collect()).collect();
        assert_eq!(ends, [vec![2.0, 4.0], vec![0.5, 2.0]]);
        assert_eq!((around[0].0.end, around[1].0.start), (missed.start, missed.end));
        let head = Part { start: part.start, ..missed };
        let after = super::around(recognised(&[0.1, 13.0]), part, head);
        assert_eq!(after.len(), 1, "all of the text follows");
    }
}
