//! The last step of a request's validation: each add-on checks and completes its config.

use super::state::{AddonDesk, ConfigProblem, ConfigRefusal};
use crate::model::job::JobSpec;
use crate::validate::{Draft, MOST_PROBLEMS, Rejection};

/// Asks every add-on of the draft in turn.
///
/// # Errors
/// What the add-ons do not accept, with dotted paths: the first fifty mistakes.
pub async fn normalise(desk: &dyn AddonDesk, draft: Draft) -> Result<JobSpec, Rejection> {
    let mut configs = Vec::new();
    let mut entries = Vec::new();
    for (addon, key) in draft.addons() {
        match desk.normalise(addon).await {
            Ok(config) => configs.push(config),
            Err(ConfigRefusal::Problems(problems)) => {
                let path = key.unwrap_or(&addon.name);
                entries.extend(problems.iter().map(|problem| entry(path, problem)));
            }
            // It will fail in the job as well and say so in its wrapper; the transcript is
            // not held back for that.
            Err(ConfigRefusal::Failed) => {
                tracing::warn!(
                    addon = addon.name,
                    digest = addon.digest,
                    "the add-on could not check its config"
                );
                configs.push(addon.config.clone());
            }
        }
    }
    entries.truncate(MOST_PROBLEMS);
    if entries.is_empty() { Ok(draft.finish(configs)) } else { Err(Rejection::Invalid(entries)) }
}

/// A problem of an add-on in the words of the protocol.
fn entry(config_key: &str, problem: &ConfigProblem) -> String {
    let path =
        format!("{config_key}{}", problem.pointer.replace('/', ".").replace("~1", "/").replace("~0", "~"));
    let message = problem.message.trim();
    if message.starts_with("must ") || message.starts_with("is required") {
        format!("{path} {message}")
    } else {
        format!("{path} must be valid: {message}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_addons_are_put_into_the_words_of_the_protocol() {
        for (pointer, message, expected) in [
            ("/rows/0", "must not be 0", "x_config.rows.0 must not be 0"),
            ("", "is required", "x_config is required"),
            ("/a~1b", "too long", "x_config.a/b must be valid: too long"),
        ] {
            let problem = ConfigProblem { pointer: pointer.into(), message: message.into() };
            assert_eq!(entry("x_config", &problem), expected);
        }
    }
}
