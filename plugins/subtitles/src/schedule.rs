//! Gives every cue its time on the screen: in order, never two at once, long enough to read where
//! there is room.
//!
//! A cue is shown when its first word is spoken. Where cues crowd (fast turns, two voices at
//! once), they share the time by what there is to read, and a later one waits a little.

use crate::cue::Cue;

/// Rules for times, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// A cue stays at least this long where the next one leaves room.
    pub minimum_ms: u64,
    /// No cue stays longer.
    pub maximum_ms: u64,
    /// Empty screen between two cues.
    pub gap_ms: u64,
    /// A cue stays until this many columns per second can be read, where there is room.
    pub columns_per_s: Option<u64>,
}

/// What a viewer reads, for sharing time between cues that crowd.
const READING_COLUMNS_PER_S: u64 = 17;
/// Below this a cue flickers, whatever the configured minimum.
const LEAST_READABLE_MS: u64 = 500;
/// More than this of the configured minimum is kept only where nobody has to wait for it: else the
/// cues of a long talk would fall ever farther behind it.
const MOST_KEPT_MS: u64 = 2000;
/// A cue's last resort when more is said at once than can be shown.
const FLOOR_MS: u64 = 100;
/// Cues looked at ahead; only a broken transcript has more that start in one instant.
const MOST_CROWDED: usize = 64;

/// Orders cues by start and sets their times. Those of one voice keep their order.
pub fn schedule(cues: &mut [Cue], timing: Timing) {
    cues.sort_by_key(|cue| cue.start_ms);
    let mut free_ms = 0;
    for at in 0..cues.len() {
        let start_ms = cues[at].start_ms.max(free_ms);
        let end_ms = end_ms(&cues[at..], start_ms, timing);
        cues[at].start_ms = start_ms;
        cues[at].end_ms = end_ms;
        free_ms = end_ms + timing.gap_ms;
    }
}

/// When the first of these cues ends, given its start.
fn end_ms(cues: &[Cue], start_ms: u64, timing: Timing) -> u64 {
    let cue = &cues[0];
    let wished_ms = cue.end_ms.max(start_ms + wanted_ms(cue, timing)).min(start_ms + timing.maximum_ms);
    let Some(next) = cues.get(1) else {
        return wished_ms.max(start_ms + 1);
    };
    let until_next_ms = next.start_ms.saturating_sub(timing.gap_ms);
    let readable_ms = timing.minimum_ms.clamp(LEAST_READABLE_MS, MOST_KEPT_MS).min(timing.maximum_ms);
    if next.start_ms >= start_ms + readable_ms + timing.gap_ms {
        return wished_ms.min(until_next_ms).max(start_ms + 1);
    }
    let share_end_ms = start_ms + share_ms(cues, start_ms, readable_ms, timing.gap_ms);
    wished_ms.min(until_next_ms.max(share_end_ms)).max(start_ms + 1)
}

fn wanted_ms(cue: &Cue, timing: Timing) -> u64 {
    let reading_ms = timing.columns_per_s.map_or(0, |speed| cue.width() * 1000 / speed);
    timing.minimum_ms.max(reading_ms)
}

/// The first cue's part of the time that it shares with those that start before it can be read.
///
/// They share what is left until the first of them is over, but as much as all of them need to be
/// readable if their speech lasts that long. Where that leaves the first one too little and all
/// of them can have enough before the next one starts, it has enough and the others wait; not when
/// it comes late itself, or waiting would add up.
fn share_ms(cues: &[Cue], start_ms: u64, readable_ms: u64, gap_ms: u64) -> u64 {
    let horizon_ms = start_ms + readable_ms + gap_ms;
    let count = cues.iter().take(MOST_CROWDED).take_while(|cue| cue.start_ms < horizon_ms).count().max(1);
    let (crowd, later) = cues.split_at(count);
    let first_end_ms = crowd.iter().map(|cue| cue.end_ms).min().unwrap_or(start_ms);
    let last_end_ms = crowd.iter().map(|cue| cue.end_ms).max().unwrap_or(start_ms);
    let all_readable_ms = start_ms + count as u64 * (readable_ms + gap_ms);
    let all_shown_ms = start_ms + count as u64 * (FLOOR_MS + gap_ms);
    let until_ms = first_end_ms.max(all_readable_ms).min(last_end_ms.max(all_shown_ms));
    let need_ms = |cue: &Cue| (cue.width() * 1000 / READING_COLUMNS_PER_S).max(LEAST_READABLE_MS);
    let total_ms: u64 = crowd.iter().map(need_ms).sum();
    let share_ms = ((until_ms - start_ms) * need_ms(&cues[0]) / total_ms).saturating_sub(gap_ms);
    let is_late = start_ms > cues[0].start_ms + readable_ms;
    let has_room = !is_late && later.first().is_none_or(|next| all_readable_ms <= next.start_ms);
    share_ms.max(if has_room { readable_ms } else { FLOOR_MS / 4 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::{End, Piece};
    use tympan_text::Voice;

    fn cue(channel: u16, start_ms: u64, end_ms: u64, width: usize) -> Cue {
        let piece = Piece {
            text: "x".repeat(width),
            width,
            space_before: false,
            start_ms,
            end_ms,
            end: End::Sentence,
        };
        Cue::new(Voice { channel, speaker: None }, vec![piece])
    }

    const DEFAULT: Timing = Timing { minimum_ms: 1000, maximum_ms: 7000, gap_ms: 0, columns_per_s: None };
    const COMPLIANCE: Timing =
        Timing { minimum_ms: 833, maximum_ms: 7000, gap_ms: 84, columns_per_s: Some(17) };

    fn times(mut cues: Vec<Cue>, timing: Timing) -> Vec<(u16, u64, u64)> {
        schedule(&mut cues, timing);
        cues.iter().map(|c| (c.voice.channel, c.start_ms, c.end_ms)).collect()
    }

    #[test]
    fn short_cues_stay_for_the_minimum_and_long_ones_end_at_the_maximum() {
        let found = times(vec![cue(0, 500, 700, 5), cue(0, 5000, 30_000, 20)], DEFAULT);
        assert_eq!(found, [(0, 500, 1500), (0, 5000, 12_000)]);
    }

    #[test]
    fn a_cue_ends_before_the_next_with_the_gap() {
        let cues = || vec![cue(0, 0, 2000, 34), cue(0, 2000, 4000, 68)];
        assert_eq!(times(cues(), DEFAULT), [(0, 0, 2000), (0, 2000, 4000)]);
        // The second one stays until it can be read.
        assert_eq!(times(cues(), COMPLIANCE), [(0, 0, 1916), (0, 2000, 6000)]);
    }

    #[test]
    fn two_voices_at_once_share_the_time() {
        assert_eq!(
            times(vec![cue(0, 0, 4000, 40), cue(1, 0, 4000, 40)], DEFAULT),
            [(0, 0, 2000), (1, 2000, 4000)]
        );
        let interjection = times(vec![cue(0, 0, 5000, 60), cue(1, 3000, 3300, 5)], DEFAULT);
        assert_eq!(interjection, [(0, 0, 3000), (1, 3000, 4000)]);
    }

    #[test]
    fn a_fast_answer_waits_a_little() {
        let found = times(vec![cue(0, 0, 300, 5), cue(1, 300, 2000, 20)], DEFAULT);
        assert_eq!(found, [(0, 0, 1000), (1, 1000, 2000)]);
    }

    #[test]
    fn a_word_without_length_is_shown_without_a_minimum() {
        let none = Timing { minimum_ms: 0, ..DEFAULT };
        let found = times(vec![cue(0, 1000, 1000, 5), cue(0, 4000, 4000, 5)], none);
        assert_eq!(found, [(0, 1000, 1001), (0, 4000, 4001)]);
    }

    #[test]
    fn everybody_at_once_for_a_minute_stays_near_the_speech() {
        let cues = (0..480).map(|n| cue(n as u16 % 8, n / 8 * 1000, n / 8 * 1000 + 1000, 15)).collect();
        let found = times(cues, DEFAULT);
        assert!(found.iter().all(|(_, start, end)| start < end));
        assert!(found.windows(2).all(|pair| pair[0].2 <= pair[1].1));
        let late = found.iter().enumerate().map(|(n, time)| time.1 - n as u64 / 8 * 1000);
        assert!(late.clone().all(|late_ms| late_ms < 2500), "{:?}", late.max());
    }

    #[test]
    fn a_long_minimum_does_not_make_a_long_talk_late() {
        let timing = Timing { minimum_ms: 30_000, maximum_ms: 30_000, ..DEFAULT };
        let starts = |at: u64| at * 2700;
        let mut cues: Vec<Cue> =
            (0..300).map(|at| cue(at as u16 % 2, starts(at), starts(at) + 2500, 40)).collect();
        schedule(&mut cues, timing);
        for (cue, at) in cues.iter().zip(0..) {
            assert!(cue.start_ms <= starts(at) + 3000, "{at}: {} s late", (cue.start_ms - starts(at)) / 1000);
        }
        assert_eq!(cues[299].end_ms, cues[299].start_ms + 30_000, "nobody waits for the end of the last");
    }
}
