//! Parameters of a query.

use axum::extract::Query;

/// The parameters as they stand in the query.
pub(super) type Parameters = Query<Vec<(String, String)>>;

/// Of a parameter that stands twice the last counts; an empty one is none.
pub(super) fn last<'a>(parameters: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = parameters.iter().rev().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
}
