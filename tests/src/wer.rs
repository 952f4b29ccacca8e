//! Word error rate: edits between what was said and what was heard, per word said.

/// The rate after lower-casing and dropping punctuation. Languages without spaces are
/// compared character by character.
pub fn word_error_rate(reference: &str, heard: &str, unspaced: bool) -> f64 {
    let (said, heard) = (tokens(reference, unspaced), tokens(heard, unspaced));
    edits(&said, &heard) as f64 / said.len().max(1) as f64
}

fn tokens(text: &str, unspaced: bool) -> Vec<String> {
    let kept: String = text
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || c.is_whitespace() || *c == '\'' || *c == '-')
        .map(|c| if c == '-' { ' ' } else { c })
        .collect();
    match unspaced {
        true => kept.chars().filter(|c| !c.is_whitespace()).map(String::from).collect(),
        false => kept.split_whitespace().map(str::to_owned).collect(),
    }
}

/// Levenshtein distance, one row at a time.
fn edits(a: &[String], b: &[String]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits_per_word_said() {
        assert_eq!(word_error_rate("a b c d", "A, b. C d!", false), 0.0);
        assert_eq!(word_error_rate("a b c d", "a x c", false), 0.5);
        assert_eq!(word_error_rate("a b", "a b c d", false), 1.0);
        assert_eq!(word_error_rate("客観的", "客観", true), 1.0 / 3.0);
        assert_eq!(word_error_rate("", "a", false), 1.0);
    }
}
