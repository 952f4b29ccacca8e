//! From tokens, which may be parts of characters, to characters with times.

use crate::engine::Token;

/// A character and the part of its token's time that it fills.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Character {
    pub character: char,
    /// Seconds of the segment.
    pub start_s: f64,
    /// Seconds of the segment.
    pub end_s: f64,
    /// Of its token.
    pub probability: f32,
}

/// Joins tokens to whole characters. A token ends where the next one begins; the first one
/// begins at `start_s`. Bytes that are no text are left out.
pub fn characters(tokens: &[Token], start_s: f64, offset_s: f64) -> Vec<Character> {
    let mut characters = Vec::new();
    let mut bytes = Vec::new();
    let (mut from_s, mut probability) = (start_s, 1.0_f32);
    for token in tokens {
        bytes.extend_from_slice(&token.bytes);
        probability = probability.min(token.probability);
        if is_cut_off(&bytes) {
            continue;
        }
        let until_s = (offset_s + f64::from(token.end_s)).max(from_s);
        spread(&bytes, from_s, until_s, probability, &mut characters);
        bytes.clear();
        (from_s, probability) = (until_s, 1.0);
    }
    characters
}

/// Whether more bytes could complete the last character.
fn is_cut_off(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.error_len().is_none())
}

fn spread(bytes: &[u8], from_s: f64, until_s: f64, probability: f32, characters: &mut Vec<Character>) {
    let text: String = bytes.utf8_chunks().map(|chunk| chunk.valid()).collect();
    let spaces = text.chars().take_while(|character| character.is_whitespace()).count();
    let count = (text.chars().count() - spaces).max(1) as f64;
    for (at, character) in text.chars().enumerate() {
        // A leading space takes no time.
        let place = |at: usize| from_s + (until_s - from_s) * at.saturating_sub(spaces) as f64 / count;
        characters.push(Character { character, start_s: place(at), end_s: place(at + 1), probability });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(bytes: &[u8], end_s: f32) -> Token {
        Token { bytes: bytes.to_vec(), end_s, probability: 0.5 }
    }

    #[test]
    fn halves_of_a_character_are_joined() {
        let han = "漢".as_bytes();
        let tokens = [token(&han[..2], 0.5), token(&han[2..], 1.0), token(b"\xff", 1.5), token(b"a", 2.0)];
        let characters = characters(&tokens, 0.0, 0.0);
        let places: Vec<_> = characters.iter().map(|c| (c.character, c.start_s, c.end_s)).collect();
        assert_eq!(places, [('漢', 0.0, 1.0), ('a', 1.5, 2.0)]);
    }

    #[test]
    fn time_is_shared_and_never_runs_backwards() {
        let characters = characters(&[token(b" ab", 1.0), token(b"c", 0.5)], 0.0, 10.0);
        let places: Vec<_> = characters.iter().map(|c| (c.character, c.start_s, c.end_s)).collect();
        assert_eq!(places, [(' ', 0.0, 0.0), ('a', 0.0, 5.5), ('b', 5.5, 11.0), ('c', 11.0, 11.0)]);
    }
}
