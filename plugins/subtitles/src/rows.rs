//! Lays the pieces of a cue out in rows of about the same width.

use crate::piece::{End, Piece};

/// Counts the rows that pieces take when each row is filled up.
#[derive(Debug)]
pub struct RowCount {
    columns: usize,
    rows: usize,
    /// Columns used in the last row.
    used: usize,
}

impl RowCount {
    /// No rows yet; the first one begins with a mark of this width, unless its first word would
    /// not fit beside it.
    pub fn new(columns: usize, mark: usize) -> Self {
        Self { columns, rows: 0, used: mark }
    }

    /// Adds a piece and returns the number of rows.
    pub fn add(&mut self, piece: &Piece) -> usize {
        let space = usize::from(piece.space_before);
        if self.rows == 0 {
            self.rows = 1;
            let beside = self.used + piece.width;
            self.used = if beside > self.columns { piece.width } else { beside };
        } else if self.used + space + piece.width <= self.columns {
            self.used += space + piece.width;
        } else {
            self.rows += 1;
            self.used = piece.width;
        }
        self.rows
    }
}

/// The rows of a cue: as few as possible, as even as possible, ending with phrases where that
/// costs little. The first row leaves room for a mark of `mark` columns, if there can be room.
pub fn rows(pieces: &[Piece], columns: usize, mark: usize) -> Vec<String> {
    let mut count = RowCount::new(columns, mark);
    let mut needed = 0;
    for piece in pieces {
        needed = count.add(piece);
    }
    if needed <= 1 {
        return vec![text(pieces)];
    }
    let mark = if mark + pieces[0].width > columns { 0 } else { mark };
    let mut begin = 0;
    let mut rows = Vec::with_capacity(needed);
    for end in evenest(pieces, needed, columns, mark) {
        rows.push(text(&pieces[begin..end]));
        begin = end;
    }
    rows
}

/// Where each of `count` rows ends, by dynamic programming over rows and their ends.
fn evenest(pieces: &[Piece], count: usize, columns: usize, mark: usize) -> Vec<usize> {
    let width = pieces.len() + 1;
    let mut costs = vec![u128::MAX; (count + 1) * width];
    let mut begins = vec![0; (count + 1) * width];
    costs[0] = 0;
    for row in 1..=count {
        for begin in 0..pieces.len() {
            let before = costs[(row - 1) * width + begin];
            if before == u128::MAX {
                continue;
            }
            let mut used = if row == 1 { mark } else { 0 };
            for end in begin + 1..=pieces.len() {
                let piece = &pieces[end - 1];
                used += piece.width + usize::from(piece.space_before && end > begin + 1);
                if used > columns && end > begin + 1 {
                    break;
                }
                let cost = before + row_cost(used, piece, end == pieces.len(), columns);
                let place = row * width + end;
                if cost < costs[place] {
                    (costs[place], begins[place]) = (cost, begin);
                }
            }
        }
    }
    let mut ends = vec![0; count];
    let mut at = pieces.len();
    for row in (1..=count).rev() {
        ends[row - 1] = at;
        at = begins[row * width + at];
    }
    ends
}

/// Squares make even rows cheapest; a row that ends inside a phrase counts like one that is a
/// third of the limit wide, one that ends with an abbreviation like a full one.
fn row_cost(used: usize, last: &Piece, is_end: bool, columns: usize) -> u128 {
    let square = (used as u128).pow(2);
    let part = |divisor: u128| (columns as u128 / divisor).pow(2);
    match last.end {
        _ if is_end => square,
        End::Sentence | End::Phrase => square,
        End::Word => square + part(3),
        End::Abbreviation => square + part(1),
    }
}

fn text(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 && piece.space_before {
            text.push(' ');
        }
        text.push_str(&piece.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay_out(words: &str, columns: usize, mark: usize) -> Vec<String> {
        let pieces: Vec<Piece> = words
            .split(' ')
            .map(|text| Piece {
                text: text.to_owned(),
                width: text.len(),
                space_before: true,
                start_ms: 0,
                end_ms: 0,
                end: match text.chars().last() {
                    Some(',') => End::Phrase,
                    Some('.') => End::Abbreviation,
                    _ => End::Word,
                },
            })
            .collect();
        rows(&pieces, columns, mark)
    }

    #[test]
    fn rows_are_even_and_as_few_as_possible() {
        assert_eq!(lay_out("one two three four five six", 42, 0), ["one two three four five six"]);
        assert_eq!(lay_out("one two three four five six", 20, 0), ["one two three", "four five six"]);
        assert_eq!(lay_out("a bb ccc dddd eeeee", 8, 0).len(), 3);
    }

    #[test]
    fn a_comma_draws_the_break() {
        assert_eq!(
            lay_out("well then, we should go home now", 24, 0),
            ["well then,", "we should go home now"]
        );
    }

    #[test]
    fn a_title_stays_with_its_name() {
        assert_eq!(
            lay_out("well now, this is Dr. Lee from Oslo", 24, 0),
            ["well now, this is", "Dr. Lee from Oslo"]
        );
    }

    #[test]
    fn a_long_word_stands_alone() {
        assert_eq!(lay_out("to incomprehensibilities now", 10, 0), ["to", "incomprehensibilities", "now"]);
    }

    #[test]
    fn the_first_row_leaves_room_for_a_mark() {
        assert_eq!(lay_out("aaaa bbbb cc", 9, 2), ["aaaa", "bbbb cc"]);
        assert_eq!(lay_out("aaaaaaaaa b", 9, 2), ["aaaaaaaaa", "b"]);
    }
}
