//! The body of a request that adds to a job's `post_session_metadata`.

use serde_json::{Map, Value};

use super::fields::Fields;
use super::problems::{Problems, Rejection};

/// Most that a client may attach to a job, as JSON.
pub const ATTACHED_BYTES: usize = 100_000;

/// The members to add. Both names are in use among clients; the newer one wins.
///
/// # Errors
/// [`Rejection`] with what is wrong.
pub fn attached_metadata(body: &Map<String, Value>) -> Result<Map<String, Value>, Rejection> {
    let body = Fields::root(body);
    let mut problems = Problems::default();
    let older = body.object("post_request_metadata", &mut problems);
    let newer = body.object("post_session_metadata", &mut problems);
    problems.verdict()?;
    let mut members = older.cloned().unwrap_or_default();
    members.extend(newer.cloned().unwrap_or_default());
    if older.is_none() && newer.is_none() {
        return Err(Rejection::Invalid(vec!["post_session_metadata is required".to_owned()]));
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: Value) -> Result<Value, Vec<String>> {
        match attached_metadata(body.as_object().unwrap()) {
            Ok(members) => Ok(members.into()),
            Err(Rejection::Invalid(entries)) => Err(entries),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn either_name_will_do_and_one_is_required() {
        let members = json!({ "a": 1 });
        assert_eq!(read(json!({ "post_session_metadata": members })), Ok(members.clone()));
        assert_eq!(read(json!({ "post_request_metadata": members })), Ok(members));
        let both =
            json!({ "post_session_metadata": { "a": 1 }, "post_request_metadata": { "a": 2, "b": 3 } });
        assert_eq!(read(both), Ok(json!({ "a": 1, "b": 3 })));
        assert_eq!(read(json!({ "post_session_metadata": {} })), Ok(json!({})));
        for body in [json!({}), json!({ "post_session_metadata": null }), json!({ "a": 1 })] {
            assert_eq!(read(body), Err(vec!["post_session_metadata is required".to_owned()]));
        }
        assert_eq!(
            read(json!({ "post_session_metadata": [] })),
            Err(vec!["post_session_metadata must be an object".to_owned()])
        );
    }
}
