//! Cuts what a voice says into cues: the cheapest way by a cost for each cue and its end.

use crate::piece::{End, Piece};
use crate::rows::RowCount;

/// A silence inside a cue longer than this would show words long before they are spoken.
const LONGEST_PAUSE_MS: u64 = 1000;
/// Pieces of one cue; only reached with very long rows.
const MOST_PIECES: usize = 300;
/// Every cue costs this: fewer, fuller cues are calmer.
const PER_CUE: u64 = 100;
/// A sentence that ends inside a cue: a little more than another cue costs, so that only
/// sentences too short to read alone share one.
const PER_INNER_SENTENCE: u64 = 110;
/// A cue without any time to read; in proportion for those shorter than the minimum.
const NO_TIME: u64 = 300;

/// A cue that fills all its rows, by the square of how full it is: of two ways to part a long
/// sentence the more even one costs less.
const FULL: u64 = 60;

/// The limits of a cue.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Columns of a row.
    pub columns: usize,
    /// Rows of a cue.
    pub rows: usize,
    /// Columns of the first row that a mark of the speaker takes.
    pub mark: usize,
    /// Milliseconds.
    pub minimum_ms: u64,
    /// Milliseconds.
    pub maximum_ms: u64,
    /// Whether a cue should end with a phrase at almost any cost.
    pub strict_ends: bool,
}

/// Cuts the pieces of one voice into those of its cues.
pub fn cut(pieces: Vec<Piece>, limits: Limits) -> Vec<Vec<Piece>> {
    let mut ends = Vec::new();
    let mut from = 0;
    for to in 1..=pieces.len() {
        if to == pieces.len() || has_long_pause(&pieces[to - 1], &pieces[to]) {
            ends.extend(cheapest(&pieces[from..to], limits).into_iter().map(|end| from + end));
            from = to;
        }
    }
    let mut rest = pieces;
    let mut cues = Vec::with_capacity(ends.len());
    ends.pop();
    for end in ends.into_iter().rev() {
        cues.push(rest.split_off(end));
    }
    if !rest.is_empty() {
        cues.push(rest);
    }
    cues.reverse();
    cues
}

fn has_long_pause(before: &Piece, after: &Piece) -> bool {
    after.start_ms.saturating_sub(before.end_ms) > LONGEST_PAUSE_MS
}

/// Where the cues of a run of pieces end, by dynamic programming over their ends.
fn cheapest(run: &[Piece], limits: Limits) -> Vec<usize> {
    let mut costs = vec![u64::MAX; run.len() + 1];
    let mut begins = vec![0; run.len() + 1];
    costs[0] = 0;
    for begin in 0..run.len() {
        let mut rows = RowCount::new(limits.columns, limits.mark);
        let mut inner_sentences = 0;
        let mut width = 0;
        let most = run.len().min(begin + MOST_PIECES);
        for end in begin + 1..=most {
            let piece = &run[end - 1];
            let span_ms = piece.end_ms.saturating_sub(run[begin].start_ms);
            let fits = rows.add(piece) <= limits.rows && span_ms <= limits.maximum_ms;
            if !fits && end > begin + 1 {
                break;
            }
            width += piece.width;
            let cost = costs[begin]
                + inner_sentences * PER_INNER_SENTENCE
                + fullness_cost(width, limits)
                + end_cost(run, begin, end, limits);
            if cost < costs[end] {
                (costs[end], begins[end]) = (cost, begin);
            }
            inner_sentences += u64::from(piece.end == End::Sentence);
        }
    }
    let mut ends = Vec::new();
    let mut at = run.len();
    while at > 0 {
        ends.push(at);
        at = begins[at];
    }
    ends.reverse();
    ends
}

fn fullness_cost(width: usize, limits: Limits) -> u64 {
    let capacity = limits.columns.saturating_mul(limits.rows) as u128;
    let share = FULL as u128 * (width as u128).pow(2) / capacity.pow(2);
    share.min(u128::from(FULL)) as u64
}

/// What it costs to end a cue here, by the text and by the time that is left to read it.
fn end_cost(run: &[Piece], begin: usize, end: usize, limits: Limits) -> u64 {
    let is_last = end == run.len();
    let by_text = match run[end - 1].end {
        _ if is_last => 0,
        End::Sentence => 0,
        End::Phrase => 50,
        End::Word if limits.strict_ends => 300,
        End::Word => 120,
        End::Abbreviation => 400,
    };
    // The last cue of a run may stay into the pause after it.
    let time_ms =
        if is_last { limits.minimum_ms } else { run[end].start_ms.saturating_sub(run[begin].start_ms) };
    let missing_ms = limits.minimum_ms.saturating_sub(time_ms);
    PER_CUE + by_text + NO_TIME * missing_ms / limits.minimum_ms.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { columns: 42, rows: 2, mark: 0, minimum_ms: 1000, maximum_ms: 7000, strict_ends: false }
    }

    /// Words of 300 ms, `_` before a word stands for two seconds of silence.
    fn texts(text: &str, limits: Limits) -> Vec<String> {
        let mut at = 0;
        let mut pieces = Vec::new();
        for word in text.split(' ') {
            let start_ms = at + if word.starts_with('_') { 2000 } else { 0 };
            let word = word.trim_start_matches('_');
            at = start_ms + 300;
            let end = match word.chars().last() {
                Some('.') => End::Sentence,
                Some(',') => End::Phrase,
                _ => End::Word,
            };
            pieces.push(Piece {
                text: word.to_owned(),
                width: word.len(),
                space_before: true,
                start_ms,
                end_ms: at,
                end,
            });
        }
        let join = |cue: &Vec<Piece>| cue.iter().map(|p| p.text.as_str()).collect::<Vec<_>>().join(" ");
        cut(pieces, limits).iter().map(join).collect()
    }

    #[test]
    fn cues_end_with_sentences_and_phrases() {
        let text = "This is the first sentence of the talk. And here comes a second one, which is much longer than \
                    the first, and so needs more than one cue.";
        let expected = [
            "This is the first sentence of the talk.",
            "And here comes a second one, which is much longer than the first,",
            "and so needs more than one cue.",
        ];
        assert_eq!(texts(text, limits()), expected);
    }

    #[test]
    fn short_sentences_share_a_cue_and_pauses_part_them() {
        assert_eq!(texts("Yes. No. Maybe.", limits()), ["Yes. No. Maybe."]);
        assert_eq!(texts("Yes. _No.", limits()), ["Yes.", "No."]);
    }

    #[test]
    fn limits_of_time_and_space_hold() {
        let short = Limits { maximum_ms: 1000, ..limits() };
        assert_eq!(texts("a b c d e f g", short), ["a b c", "d e f", "g"]);
        let narrow = Limits { columns: 5, rows: 1, ..limits() };
        assert_eq!(texts("ab cd efghijkl mn", narrow), ["ab cd", "efghijkl", "mn"]);
        assert_eq!(cut(Vec::new(), limits()), Vec::<Vec<Piece>>::new());
    }
}
