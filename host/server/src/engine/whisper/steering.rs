//! What happens before whisper.cpp chooses each token: the language is settled, and texts
//! that repeat themselves are ended or led elsewhere.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};

use whisper_rs::whisper_rs_sys as sys;

use super::guard::ends_in_loop;
use super::language::Detection;

/// With [`Repeats::Forbidden`] this many tokens never come twice in the same order.
const PHRASE: usize = 4;

/// What to do with a text that repeats itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// A loop ends the text; the judgement that follows finds it there.
    End,
    /// The most probable token that repeats no phrase is taken.
    Forbidden,
}

/// Passed to the callback; must stay where it is while inference runs.
pub struct Steering {
    pub detection: Detection,
    pub repeats: Repeats,
    /// The token that ends a text, and the number of all tokens.
    pub end: sys::whisper_token,
    pub count: usize,
}

impl Steering {
    /// Puts the callback and its data into the parameters of a run.
    pub fn install(&mut self, parameters: &mut sys::whisper_full_params) {
        // One pointer for both, because a reference to the code would end with the first `&mut`
        // that the callback makes of the whole.
        let steering = std::ptr::from_mut(self);
        // SAFETY: the pointer was a reference just now; no reference is made here.
        parameters.language = unsafe { &raw const (*steering).detection.code }.cast();
        parameters.logits_filter_callback = Some(before_token);
        parameters.logits_filter_callback_user_data = steering.cast();
    }
}

/// whisper.cpp calls this before it chooses a token. A panic in here ends the process.
unsafe extern "C" fn before_token(
    _context: *mut sys::whisper_context,
    state: *mut sys::whisper_state,
    tokens: *const sys::whisper_token_data,
    n_tokens: c_int,
    scores: *mut f32,
    data: *mut c_void,
) {
    // SAFETY: `data` is what `install` put there, and nobody else uses it during the run.
    let steering = unsafe { &mut *data.cast::<Steering>() };
    // SAFETY: whisper.cpp passes one score a token of its vocabulary.
    let scores = unsafe { std::slice::from_raw_parts_mut(scores, steering.count) };
    if n_tokens == 0 {
        // SAFETY: the state is the one of this run, between two of its own decodings.
        unsafe { steering.detection.choose(state, scores) };
        return;
    }
    // SAFETY: whisper.cpp passes the tokens that it has chosen so far.
    let tokens = unsafe { std::slice::from_raw_parts(tokens, usize::try_from(n_tokens).unwrap_or_default()) };
    let text: Vec<sys::whisper_token> = tokens.iter().map(|token| token.id).collect();
    match steering.repeats {
        Repeats::End if ends_in_loop(&text) => leave_only(steering.end, scores),
        Repeats::End => {}
        Repeats::Forbidden => rule_out(&repeating(&text), scores),
    }
}

fn leave_only(token: sys::whisper_token, scores: &mut [f32]) {
    let token = usize::try_from(token).unwrap_or_default();
    for (at, score) in scores.iter_mut().enumerate() {
        if at != token {
            *score = f32::NEG_INFINITY;
        }
    }
}

fn rule_out(tokens: &[sys::whisper_token], scores: &mut [f32]) {
    for token in tokens {
        if let Some(score) = usize::try_from(*token).ok().and_then(|at| scores.get_mut(at)) {
            *score = f32::NEG_INFINITY;
        }
    }
}

/// Tokens that would complete a phrase for the second time.
fn repeating(text: &[sys::whisper_token]) -> Vec<sys::whisper_token> {
    let Some(last) = text.len().checked_sub(PHRASE - 1).map(|at| &text[at..]) else {
        return Vec::new();
    };
    text.windows(PHRASE).filter(|phrase| phrase.starts_with(last)).map(|phrase| phrase[PHRASE - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_repeat_a_phrase_is_ruled_out() {
        assert!(repeating(&[1, 2]).is_empty());
        assert_eq!(repeating(&[1, 2, 3, 4, 9, 1, 2, 3]), [4]);
        assert_eq!(repeating(&[7, 7, 7, 7]), [7]);
        assert!(repeating(&[1, 2, 3, 4, 1, 2]).is_empty());
        let mut scores = [0.0; 5];
        rule_out(&[4], &mut scores);
        assert_eq!(scores, [0.0, 0.0, 0.0, 0.0, f32::NEG_INFINITY]);
    }

    #[test]
    fn an_ended_text_has_one_way_to_go() {
        let mut scores = [3.0, 2.0, 1.0];
        leave_only(2, &mut scores);
        assert_eq!(scores, [f32::NEG_INFINITY, f32::NEG_INFINITY, 1.0]);
    }
}
