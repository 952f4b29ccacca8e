//! A cue before it is written: pieces of one voice and a time.

use tympan_text::Voice;

use crate::piece::Piece;

/// What is on the screen at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cue {
    /// Whose words these are.
    pub voice: Voice,
    /// Never empty.
    pub pieces: Vec<Piece>,
    /// Milliseconds.
    pub start_ms: u64,
    /// Milliseconds.
    pub end_ms: u64,
}

impl Cue {
    /// A cue with the time of its words.
    pub fn new(voice: Voice, pieces: Vec<Piece>) -> Self {
        let start_ms = pieces.first().map_or(0, |piece| piece.start_ms);
        let end_ms = pieces.iter().map(|piece| piece.end_ms).max().unwrap_or(0);
        Self { voice, pieces, start_ms, end_ms }
    }

    /// Columns of the text in one row: what a viewer has to read.
    pub fn width(&self) -> u64 {
        let spaces = self.pieces.iter().skip(1).filter(|piece| piece.space_before).count();
        (self.pieces.iter().map(|piece| piece.width).sum::<usize>() + spaces) as u64
    }
}
