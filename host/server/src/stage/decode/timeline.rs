//! Keeps decoded audio on the container's clock: where each packet goes, and what is missing.
//!
//! Pure arithmetic in seconds; knows no samples and no files.

/// Smaller gaps are jitter of rounded timestamps: nothing is inserted. Two packets of 20 ms.
const GAP_TOLERANCE_S: f64 = 0.04;

/// The same behind damage, where a gap is expected: timestamps are rounded to milliseconds.
const DAMAGE_TOLERANCE_S: f64 = 0.002;

/// Audio that runs ahead of its timestamps by less than this is drift, and the next real gap
/// makes up for it; by more, the clock was set back.
const JUMP_BACK_S: f64 = 1.0;

/// What to do with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Place {
    /// Silence to write before it.
    pub(super) gap_s: f64,
    /// How much of its start lies before the beginning and is dropped.
    pub(super) skip_s: f64,
    /// The clock jumped in a way that cannot be a gap; the audio was joined instead.
    pub(super) is_jump: bool,
}

/// The end of what was placed, and how the container's clock maps to it.
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    /// Where the last packet ended, silent parts before the beginning included.
    end_s: Option<f64>,
    /// What has been written.
    written_s: f64,
    /// Where the audible part begins.
    zero_s: f64,
    shift_s: f64,
    latest_s: f64,
    is_restarted: bool,
    is_damaged: bool,
}

impl Timeline {
    /// Audio before `zero_s` is dropped. A gap that would end after `latest_s` is taken for a
    /// broken timestamp.
    pub(super) fn new(zero_s: f64, latest_s: f64) -> Self {
        Self {
            end_s: None,
            written_s: 0.0,
            zero_s,
            shift_s: 0.0,
            latest_s,
            is_restarted: false,
            is_damaged: false,
        }
    }

    /// Seconds placed so far.
    pub(super) fn end_s(&self) -> f64 {
        self.written_s
    }

    /// The next timestamp belongs to another clock: its audio follows what came before.
    pub(super) fn restart(&mut self) {
        self.is_restarted = true;
    }

    /// Something before the next timestamp is lost: a short gap is no jitter.
    pub(super) fn damaged(&mut self) {
        self.is_damaged = true;
    }

    /// Places `length_s` of audio that the container puts at `start_s`; the first call fixes the
    /// origin at `origin_s`. Without a timestamp the audio follows what came before.
    pub(super) fn place(&mut self, start_s: Option<f64>, length_s: f64, origin_s: f64) -> Place {
        let mut place = Place::default();
        let start_s = match (start_s, self.end_s) {
            (Some(stamp_s), None) => {
                self.shift_s = -origin_s;
                self.follow(stamp_s, f64::NEG_INFINITY, &mut place)
            }
            (Some(stamp_s), Some(end_s)) => self.follow(stamp_s, end_s, &mut place),
            (None, end_s) => end_s.unwrap_or(self.zero_s),
        };
        place.skip_s = (self.zero_s - start_s).clamp(0.0, length_s);
        if place.skip_s < length_s {
            place.gap_s = (start_s + place.skip_s - self.written_s).max(0.0);
            self.written_s = start_s + length_s;
        }
        self.end_s = Some(start_s + length_s);
        place
    }

    fn follow(&mut self, stamp_s: f64, end_s: f64, place: &mut Place) -> f64 {
        if std::mem::take(&mut self.is_restarted) {
            self.shift_s = end_s.max(0.0) - stamp_s.max(0.0);
        }
        let is_damaged = std::mem::take(&mut self.is_damaged);
        let start_s = stamp_s + self.shift_s;
        let ahead_s = start_s - end_s;
        if start_s > self.latest_s || ahead_s < -JUMP_BACK_S {
            place.is_jump = true;
            let joined_s = end_s.max(self.zero_s);
            self.shift_s = joined_s - stamp_s;
            return joined_s;
        }
        let tolerance_s = if is_damaged { DAMAGE_TOLERANCE_S } else { GAP_TOLERANCE_S };
        if ahead_s > tolerance_s { start_s } else { end_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline() -> Timeline {
        Timeline::new(0.0, 3600.0)
    }

    #[test]
    fn packets_in_a_row_need_nothing() {
        let mut line = timeline();
        for index in 0..100 {
            // Timestamps rounded to milliseconds, as in Matroska.
            let stamp = (f64::from(index) * 0.0213 * 1000.0).round() / 1000.0;
            assert_eq!(line.place(Some(stamp), 0.0213, 0.0), Place::default());
        }
        assert!((line.end_s() - 2.13).abs() < 1e-9);
    }

    #[test]
    fn a_gap_becomes_silence_and_a_late_start_too() {
        let mut line = timeline();
        assert_eq!(line.place(Some(1.5), 1.0, 0.0).gap_s, 1.5);
        assert_eq!(line.place(Some(5.0), 1.0, 0.0).gap_s, 2.5);
        assert_eq!(line.end_s(), 6.0);
    }

    #[test]
    fn what_lies_before_zero_is_dropped() {
        let mut line = timeline();
        assert_eq!(line.place(Some(-0.5), 0.2, 0.0), Place { skip_s: 0.2, ..Place::default() });
        let second = line.place(Some(-0.3), 0.4, 0.0);
        assert!((second.skip_s - 0.3).abs() < 1e-9 && second.gap_s == 0.0);
        assert!((line.end_s() - 0.1).abs() < 1e-9);
        let samples_only = line.place(None, 1.0, 0.0);
        assert_eq!((samples_only.skip_s, samples_only.gap_s), (0.0, 0.0));
    }

    #[test]
    fn a_pause_before_the_audible_part_is_kept() {
        let mut line = Timeline::new(2.0, 3600.0);
        assert_eq!(line.place(Some(1.9), 0.1, 0.0).gap_s, 0.0);
        let first = line.place(Some(1.99), 0.1, 0.0);
        assert!((first.skip_s - 0.0).abs() < 1e-9 && (first.gap_s - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_short_gap_counts_behind_damage() {
        let mut line = timeline();
        line.place(Some(0.0), 1.0, 0.0);
        line.damaged();
        assert!((line.place(Some(1.02), 1.0, 0.0).gap_s - 0.02).abs() < 1e-9);
        assert_eq!(line.place(Some(2.04), 1.0, 0.0).gap_s, 0.0);
    }

    #[test]
    fn another_stream_follows_the_first() {
        let mut line = timeline();
        line.place(Some(0.0), 5.0, 0.0);
        line.restart();
        assert_eq!(line.place(Some(0.0), 5.0, 0.0), Place::default());
        assert_eq!(line.place(Some(7.0), 1.0, 0.0).gap_s, 2.0);
    }

    #[test]
    fn the_origin_is_the_start_of_the_recording() {
        let mut line = timeline();
        assert_eq!(line.place(Some(10_000.5), 1.0, 10_000.0).gap_s, 0.5);
        assert_eq!(line.place(Some(10_001.5), 1.0, 0.0), Place::default());
    }

    #[test]
    fn a_jump_back_joins_and_later_gaps_still_count() {
        let mut line = timeline();
        line.place(Some(0.0), 100.0, 0.0);
        let back = line.place(Some(20.0), 1.0, 0.0);
        assert!(back.is_jump && back.gap_s == 0.0 && back.skip_s == 0.0);
        assert_eq!(line.place(Some(31.0), 1.0, 0.0).gap_s, 10.0);
        assert_eq!(line.end_s(), 112.0);
    }

    #[test]
    fn drift_is_made_up_at_the_next_gap() {
        let mut line = timeline();
        line.place(Some(0.0), 10.3, 0.0);
        assert_eq!(line.place(Some(10.0), 1.0, 0.0), Place::default());
        let gap = line.place(Some(13.0), 1.0, 0.0).gap_s;
        assert!((gap - 1.7).abs() < 1e-9);
    }

    #[test]
    fn an_absurd_timestamp_is_no_gap() {
        let mut line = timeline();
        line.place(Some(0.0), 1.0, 0.0);
        let far = line.place(Some(1e9), 1.0, 0.0);
        assert!(far.is_jump && far.gap_s == 0.0);
        assert_eq!(line.end_s(), 2.0);
    }
}
