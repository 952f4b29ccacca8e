//! Remembers what an add-on said about configs, so that the same request does not start
//! an instance twice.

use std::collections::VecDeque;

use sha2::{Digest, Sha256};

use crate::data::descriptor::ConfigProblem;
use crate::defaults::{VALIDATE_CACHE_CONFIG_BYTES, VALIDATE_CACHE_ENTRIES};

/// The completed config, or what is wrong with it.
pub type Answer = Result<String, Vec<ConfigProblem>>;

/// The last answers, newest first.
#[derive(Debug, Default)]
pub struct Validated(VecDeque<([u8; 32], Answer)>);

impl Validated {
    /// The answer for exactly this text.
    pub fn get(&self, config: &str) -> Option<Answer> {
        let key = key(config);
        self.0.iter().find(|(known, _)| *known == key).map(|(_, answer)| answer.clone())
    }

    /// Keeps an answer, unless it is unusually large.
    pub fn keep(&mut self, config: &str, answer: &Answer) {
        let answer_bytes = match answer {
            Ok(completed) => completed.len(),
            Err(problems) => problems.iter().map(|each| each.pointer.len() + each.message.len()).sum(),
        };
        if answer_bytes.max(config.len()) > VALIDATE_CACHE_CONFIG_BYTES {
            return;
        }
        self.0.truncate(VALIDATE_CACHE_ENTRIES - 1);
        self.0.push_front((key(config), answer.clone()));
    }
}

fn key(config: &str) -> [u8; 32] {
    Sha256::digest(config).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_the_newest_answers() {
        let mut validated = Validated::default();
        for number in 0..=VALIDATE_CACHE_ENTRIES {
            validated.keep(&number.to_string(), &Ok(format!("{{\"n\":{number}}}")));
        }
        assert_eq!(validated.get("0"), None);
        assert_eq!(validated.get("256"), Some(Ok("{\"n\":256}".to_owned())));
        assert_eq!(validated.0.len(), VALIDATE_CACHE_ENTRIES);
    }

    #[test]
    fn large_answers_are_not_kept() {
        let mut validated = Validated::default();
        let large = "x".repeat(VALIDATE_CACHE_CONFIG_BYTES + 1);
        validated.keep("{}", &Ok(large.clone()));
        validated.keep(&large, &Ok("{}".to_owned()));
        validated.keep("{}", &Err(vec![ConfigProblem { pointer: String::new(), message: large }]));
        assert!(validated.0.is_empty());
    }
}
