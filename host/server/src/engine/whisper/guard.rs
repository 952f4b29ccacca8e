//! When a text is not to be believed: loops, and guesses the model itself thinks unlikely.

use super::attempt::{Heard, Token};

/// Below this mean of logarithms a text is a guess (the limit of the reference
/// implementation of Whisper).
const LEAST_MEAN_LOG_PROBABILITY: f32 = -1.0;
/// A phrase is a loop from this many times in a row on ...
const LOOP_TIMES: usize = 4;
/// ... if the repeats make up this many tokens, because people do say "no no no no".
const LOOP_TOKENS: usize = 12;
/// The longest phrase that is looked for.
const LONGEST_PHRASE: usize = 40;

/// Whether another attempt may do better.
pub fn is_doubtful(heard: &Heard) -> bool {
    !heard.is_finished || heard.mean_log_probability < LEAST_MEAN_LOG_PROBABILITY || has_loop(&heard.tokens)
}

/// Whether a phrase repeats until it cannot be speech.
pub fn has_loop(tokens: &[Token]) -> bool {
    (1..=LONGEST_PHRASE.min(tokens.len() / 2)).any(|phrase| {
        let mut equal = 0;
        (phrase..tokens.len()).any(|at| {
            equal = if tokens[at].bytes == tokens[at - phrase].bytes { equal + 1 } else { 0 };
            equal + phrase >= (phrase * LOOP_TIMES).max(LOOP_TOKENS)
        })
    })
}

/// The better of two attempts: one without a loop, one that came to its end, the likelier.
pub fn better(a: Heard, b: Heard) -> Heard {
    let rank = |heard: &Heard| (!has_loop(&heard.tokens), heard.is_finished);
    match rank(&a).cmp(&rank(&b)) {
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Equal if b.mean_log_probability > a.mean_log_probability => b,
        std::cmp::Ordering::Equal => a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let token = |word: &str| Token { bytes: word.as_bytes().to_vec(), end_s: 0.0, probability: 1.0 };
        text.split(' ').map(token).collect()
    }

    #[test]
    fn loops_are_found_whatever_their_length() {
        assert!(has_loop(&tokens("so we go and we go and we go and we go and we go")));
        assert!(has_loop(&tokens(&"la ".repeat(30))));
        let phrase = "thank you very much for all that you have done for us ";
        assert!(has_loop(&tokens(&phrase.repeat(4))));
    }

    #[test]
    fn emphasis_is_not_a_loop() {
        assert!(!has_loop(&tokens("no no no no that is not what I said")));
        assert!(!has_loop(&tokens("row row row your boat gently down the stream")));
        assert!(!has_loop(&tokens("one two three one two three one two three and out")));
    }
}
