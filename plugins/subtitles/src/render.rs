//! The whole way from a transcript to subtitle files.

use tympan_sdk::prelude::*;
use tympan_text::turns_by_voice;

use crate::config::{Config, Format, Style};
use crate::cue::Cue;
use crate::cut::{Limits, cut};
use crate::piece::pieces;
use crate::rows::rows;
use crate::schedule::{Timing, schedule};
use crate::write::{SPEAKER_MARK, Written, write};

/// One subtitle file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct File {
    /// Its format.
    pub format: Format,
    /// The whole file as text.
    pub subtitles: String,
}

/// Two frames of film, 24 in a second, rounded up.
const COMPLIANCE_GAP_MS: u64 = 84;
/// The reading speed of adults that broadcasters keep to.
const COMPLIANCE_COLUMNS_PER_S: u64 = 17;

/// Makes the files that a config asks for, in its order.
pub fn render(transcript: &Transcript, config: &Config) -> Vec<File> {
    let voices = turns_by_voice(transcript);
    let has_voices = voices.len() > 1;
    let limits = limits(config, if has_voices { SPEAKER_MARK.len() } else { 0 });
    let mut cues = Vec::new();
    for turns in &voices {
        let pieces = pieces(turns, limits.columns);
        cues.extend(cut(pieces, limits).into_iter().map(|pieces| Cue::new(turns.voice, pieces)));
    }
    schedule(&mut cues, timing(config, limits));
    let written = lay_out(&cues, limits);
    let file = |&format: &Format| File { format, subtitles: write(format, &written, has_voices) };
    config.formats.iter().map(file).collect()
}

fn limits(config: &Config, mark: usize) -> Limits {
    Limits {
        columns: config.maximum_characters_per_row.max(1) as usize,
        rows: config.maximum_rows_per_caption.max(1) as usize,
        mark,
        minimum_ms: milliseconds(config.minimum_duration),
        maximum_ms: milliseconds(config.maximum_duration).max(1),
        strict_ends: config.style == Style::Compliance,
    }
}

fn timing(config: &Config, limits: Limits) -> Timing {
    let (gap_ms, columns_per_s) = match config.style {
        Style::Default => (0, None),
        Style::Compliance => (COMPLIANCE_GAP_MS, Some(COMPLIANCE_COLUMNS_PER_S)),
    };
    Timing { minimum_ms: limits.minimum_ms, maximum_ms: limits.maximum_ms, gap_ms, columns_per_s }
}

fn milliseconds(duration_s: f64) -> u64 {
    (duration_s * 1000.0).round() as u64
}

fn lay_out(cues: &[Cue], limits: Limits) -> Vec<Written> {
    let mut written = Vec::with_capacity(cues.len());
    let mut previous = None;
    for cue in cues {
        let is_change = previous.replace(cue.voice) != Some(cue.voice);
        let rows = rows(&cue.pieces, limits.columns, limits.mark);
        let has_room =
            unicode_width::UnicodeWidthStr::width(rows[0].as_str()) + limits.mark <= limits.columns;
        let Cue { voice, start_ms, end_ms, .. } = *cue;
        written.push(Written { voice, is_change, start_ms, end_ms, rows, has_room });
    }
    written
}
