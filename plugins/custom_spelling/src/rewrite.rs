//! Puts spellings in place of runs of words and keeps times and punctuation.

use std::ops::Range;

use tympan_sdk::Word;

/// A stretch of an utterance's text and what to write there.
#[derive(Debug, PartialEq, Eq)]
pub struct Replacement<'a> {
    /// Bytes of the concatenated words.
    pub range: Range<usize>,
    /// The new text of the stretch.
    pub key: &'a str,
}

/// Applies replacements, which must be in order and apart from each other.
///
/// Words that a replacement covers become the words of the key: what stood around the stretch in
/// the first and last word stays. As many words as before keep their times; otherwise the new
/// ones share the old ones' time by their length and take their mean confidence.
pub fn rewrite(mut words: Vec<Word>, starts: &[usize], replacements: &[Replacement]) -> Vec<Word> {
    // From the back, so that offsets before the current stretch stay true: `words` keeps what is
    // still to be looked at, `finished` takes the rest in reverse.
    let mut finished = Vec::with_capacity(words.len());
    for replacement in replacements.iter().rev() {
        let Range { start, end } = replacement.range;
        let first = word_at(starts, start);
        let last = word_at(starts, end - 1);
        finished.extend(words.drain(last + 1..).rev());
        let run = words.split_off(first);
        let before = &run[0].text[..start - starts[first]];
        let after = &run[last - first].text[end - starts[last]..];
        let mut spelled = spell(&run, before, replacement.key, after);
        finished.extend(spelled.drain(1..).rev());
        words.append(&mut spelled);
    }
    words.extend(finished.into_iter().rev());
    words
}

/// The word that holds a byte of the text.
fn word_at(starts: &[usize], byte: usize) -> usize {
    starts.partition_point(|&start| start <= byte) - 1
}

/// The words of `before` + `key` + `after` in the time of a run of words.
fn spell(run: &[Word], before: &str, key: &str, after: &str) -> Vec<Word> {
    let mut texts: Vec<String> = key.split(' ').map(|part| format!(" {part}")).collect();
    texts[0] = format!("{before}{}", texts[0].trim_start());
    let last = texts.len() - 1;
    texts[last].push_str(after);
    if texts.len() == run.len() {
        return run.iter().zip(texts).map(|(word, text)| Word { text, ..word.clone() }).collect();
    }
    share_time(run, texts)
}

fn share_time(run: &[Word], texts: Vec<String>) -> Vec<Word> {
    let start = run[0].start;
    let end = run[run.len() - 1].end;
    let confidence = run.iter().map(|w| w.confidence).sum::<f64>() / run.len() as f64;
    let total: usize = texts.iter().map(|text| text.chars().count()).sum();
    let mut done = 0;
    let mut words = Vec::with_capacity(texts.len());
    for text in texts {
        let from = start + (end - start) * (done as f64 / total as f64);
        done += text.chars().count();
        let to = if done == total { end } else { start + (end - start) * (done as f64 / total as f64) };
        words.push(Word { text, start: from, end: to, confidence });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(texts: &[&str]) -> (Vec<Word>, Vec<usize>) {
        let mut starts = Vec::new();
        let mut words = Vec::new();
        let mut at = 0;
        for (n, text) in texts.iter().enumerate() {
            starts.push(at);
            at += text.len();
            let start = n as f64;
            let confidence = if n % 2 == 0 { 1.0 } else { 0.5 };
            words.push(Word { text: (*text).to_owned(), start, end: start + 0.5, confidence });
        }
        (words, starts)
    }

    fn result(texts: &[&str], replacements: &[(Range<usize>, &str)]) -> Vec<(String, f64, f64, f64)> {
        let (words, starts) = words(texts);
        let replacements: Vec<_> =
            replacements.iter().map(|(range, key)| Replacement { range: range.clone(), key }).collect();
        rewrite(words, &starts, &replacements)
            .into_iter()
            .map(|w| (w.text, w.start, w.end, w.confidence))
            .collect()
    }

    #[test]
    fn several_words_become_one() {
        let merged = result(&["In", " \"new", " york\",", " yes"], &[(4..12, "NY")]);
        let expected = [
            ("In".to_owned(), 0.0, 0.5, 1.0),
            (" \"NY\",".to_owned(), 1.0, 2.5, 0.75),
            (" yes".to_owned(), 3.0, 3.5, 0.5),
        ];
        assert_eq!(merged, expected);
    }

    #[test]
    fn one_word_becomes_several_in_its_time() {
        let split = result(&["a", " openai."], &[(2..8, "Open A I")]);
        let texts: Vec<&str> = split.iter().map(|w| w.0.as_str()).collect();
        assert_eq!(texts, ["a", " Open", " A", " I."]);
        assert_eq!((split[1].1, split[3].2), (1.0, 1.5));
        assert!(split.windows(2).skip(1).all(|pair| pair[0].2 == pair[1].1));
    }

    #[test]
    fn as_many_words_keep_their_times() {
        let same = result(&["john", " smyth"], &[(0..10, "Jon Smith")]);
        assert_eq!(same[0], ("Jon".to_owned(), 0.0, 0.5, 1.0));
        assert_eq!(same[1], (" Smith".to_owned(), 1.0, 1.5, 0.5));
    }

    #[test]
    fn two_stretches_may_share_a_word() {
        let both = result(&["x", " foo-bar", " baz!"], &[(2..5, "F o"), (6..13, "B")]);
        let texts: Vec<&str> = both.iter().map(|w| w.0.as_str()).collect();
        assert_eq!(texts, ["x", " F", " o-B!"]);
        assert!(both.windows(2).all(|pair| pair[0].2 <= pair[1].1));
    }
}
