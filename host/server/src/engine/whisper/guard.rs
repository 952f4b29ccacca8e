//! When a text is not to be believed: loops, and guesses the model itself thinks unlikely.

use super::attempt::{Heard, Token};

/// Below this mean of logarithms a text is a guess (the limit of the reference
/// implementation of Whisper).
const LEAST_MEAN_LOG_PROBABILITY: f32 = -1.0;
/// A phrase is a loop from this many times in a row on ...
const LOOP_TIMES: usize = 4;
/// ... if the repeats make up this many tokens, because people do say "no no no no".
const LOOP_TOKENS: usize = 12;
/// From this many tokens on a sentence that comes twice is an echo.
const ECHO_TOKENS: usize = 6;
/// The longest phrase that is looked for.
const LONGEST_PHRASE: usize = 40;

/// Whether another attempt may do better.
pub fn is_doubtful(heard: &Heard) -> bool {
    !heard.is_finished || heard.mean_log_probability < LEAST_MEAN_LOG_PROBABILITY || has_loop(&heard.tokens)
}

/// Whether a whole sentence comes twice in a row. People do that seldom; the model does it
/// when the sound ends before it expects it to.
pub fn has_echo(tokens: &[Token]) -> bool {
    repetition(tokens, 2, 2 * ECHO_TOKENS).is_some_and(|run| run.phrase >= ECHO_TOKENS) || has_loop(tokens)
}

/// Whether a phrase repeats until it cannot be speech.
pub fn has_loop(tokens: &[Token]) -> bool {
    repetition(tokens, LOOP_TIMES, LOOP_TOKENS).is_some()
}

/// Leaves one of the repeats of every loop.
pub fn without_loops(mut tokens: Vec<Token>) -> Vec<Token> {
    while let Some(run) = repetition(&tokens, LOOP_TIMES, LOOP_TOKENS) {
        tokens.drain(run.start + run.phrase..run.end);
    }
    tokens
}

/// Whether the last tokens of a text that is being written repeat until they cannot be speech.
pub fn ends_in_loop(tokens: &[i32]) -> bool {
    (1..=LONGEST_PHRASE.min(tokens.len() / LOOP_TIMES)).any(|phrase| {
        let pairs = tokens.iter().rev().zip(tokens.iter().rev().skip(phrase));
        let repeated = pairs.take_while(|(token, before)| token == before).count();
        repeated + phrase >= (phrase * LOOP_TIMES).max(LOOP_TOKENS)
    })
}

/// A phrase and the tokens over which it repeats.
struct Run {
    phrase: usize,
    start: usize,
    end: usize,
}

/// The first run of a phrase that comes `times` in a row and fills `least` tokens, looking
/// for short phrases first.
fn repetition(tokens: &[Token], times: usize, least: usize) -> Option<Run> {
    (1..=LONGEST_PHRASE.min(tokens.len() / 2)).find_map(|phrase| {
        let is_repeat = |at: &usize| tokens[*at].bytes == tokens[at - phrase].bytes;
        let mut at = phrase;
        while at < tokens.len() {
            let end = (at..tokens.len()).find(|at| !is_repeat(at)).unwrap_or(tokens.len());
            let start = at - phrase;
            if end - start >= (phrase * times).max(least) {
                return Some(Run { phrase, start, end });
            }
            at = end + 1;
        }
        None
    })
}

/// The better of two attempts: one without a loop, one that came to its end, the likelier.
pub fn better(a: Heard, b: Heard) -> Heard {
    let rank = |heard: &Heard| (!has_loop(&heard.tokens), heard.is_finished, !has_echo(&heard.tokens));
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
    fn a_loop_is_seen_as_soon_as_it_is_one() {
        let text: Vec<i32> = [5, 6].into_iter().chain([1, 2, 3].into_iter().cycle().take(30)).collect();
        let seen = (0..text.len()).find(|length| ends_in_loop(&text[..*length]));
        assert_eq!(seen, Some(2 + LOOP_TOKENS));
        assert!(!ends_in_loop(&[4, 4, 4, 4, 5, 6, 7, 8, 9, 1, 2, 3]));
        assert!(!ends_in_loop(&[]));
    }

    #[test]
    fn one_of_the_repeats_stays() {
        let text = |tokens: Vec<Token>| -> String {
            let words: Vec<_> =
                tokens.iter().map(|token| String::from_utf8_lossy(&token.bytes).into_owned()).collect();
            words.join(" ")
        };
        let phrase = "we go and ".repeat(6);
        assert_eq!(text(without_loops(tokens(&format!("so {phrase}stop")))), "so we go and stop");
        assert_eq!(text(without_loops(tokens("no no no no and out"))), "no no no no and out");
    }

    #[test]
    fn a_sentence_said_twice_is_an_echo_and_a_short_one_is_not() {
        assert!(has_echo(&tokens("an old fox learns no trade . an old fox learns no trade .")));
        assert!(!has_echo(&tokens("come on . come on . we are late")));
    }

    #[test]
    fn emphasis_is_not_a_loop() {
        assert!(!has_loop(&tokens("no no no no that is not what I said")));
        assert!(!has_loop(&tokens("row row row your boat gently down the stream")));
        assert!(!has_loop(&tokens("one two three one two three one two three and out")));
    }
}
