//! Where a row may end, by the marks around the place.

use tympan_text::{opens_before, writes_no_spaces};

use crate::piece::Piece;

/// For every word whether a row may end before it, by the Unicode rules (UAX #14): not before
/// closing marks, not after opening ones. French puts spaces inside its quotes, which the rules
/// of this crate's version take for a chance to break.
pub fn allowed_breaks(words: &[Piece]) -> Vec<bool> {
    let mut text = String::new();
    let mut starts = Vec::with_capacity(words.len());
    for word in words {
        if word.space_before {
            text.push(' ');
        }
        starts.push(text.len());
        text.push_str(&word.text);
    }
    let mut opportunities = unicode_linebreak::linebreaks(&text).map(|(offset, _)| offset).peekable();
    let mut allowed = Vec::with_capacity(words.len());
    for (at, (word, &start)) in words.iter().zip(&starts).enumerate() {
        while opportunities.next_if(|&offset| offset < start).is_some() {}
        let by_rule = opportunities.peek() == Some(&start);
        let is_inside_quote = at > 0 && (opens_quote(&words[at - 1].text) || closes_quote(&word.text));
        let before = &text[..start];
        allowed.push(
            (by_rule && !is_inside_quote)
                || is_dictionary_break(before, &word.text)
                || is_quote_without_space(before, &text[start..]),
        );
    }
    allowed
}

/// The rules do not know whether a quotation mark opens or closes, unless a space tells; in scripts
/// without spaces its form does.
fn is_quote_without_space(before: &str, after: &str) -> bool {
    let last = before.chars().next_back();
    let mut after = after.chars();
    let (first, second) = (after.next(), after.next());
    let opens = first.is_some_and(|c| matches!(c, '“' | '‘') && opens_before(c, second));
    let is_free = last.is_some_and(|c| writes_no_spaces(c) && !opens_before(c, None));
    let closes = matches!(last, Some('”' | '’'));
    (opens && is_free) || (closes && first.is_some_and(|c| writes_no_spaces(c) && c.is_alphanumeric()))
}

fn opens_quote(word: &str) -> bool {
    word.ends_with(['«', '‹', '“', '„', '‚']) && !word.contains(char::is_alphanumeric)
}

fn closes_quote(word: &str) -> bool {
    word.starts_with(['»', '›', '”', '’']) && !word.contains(char::is_alphanumeric)
}

/// The rules leave Thai, Lao, Burmese and Khmer to a dictionary; the words are its answer.
fn is_dictionary_break(before: &str, word: &str) -> bool {
    let is_complex =
        |c: char| matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    let (Some(last), Some(first)) = (before.chars().next_back(), word.chars().next()) else {
        return false;
    };
    // Repetition and abbreviation marks belong to the word before them.
    is_complex(last)
        && is_complex(first)
        && !matches!(first, 'ๆ' | 'ฯ' | 'ໆ' | 'ຯ' | 'ៗ' | '။' | '၊' | '។' | '៕')
}
