//! Parameters of a query.

use std::ops::RangeInclusive;

use axum::extract::Query;

use super::error::ApiError;

/// Items in an answer to the operator, without and with `limit`.
pub(super) const USUAL: u32 = 20;
pub(super) const MOST: u32 = 100;

/// The parameters as they stand in the query.
pub(super) type Parameters = Query<Vec<(String, String)>>;

/// Of a parameter that stands twice the last counts.
pub(super) fn last<'a>(parameters: &'a [(String, String)], name: &str) -> Option<&'a str> {
    parameters.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// `offset` and `limit` of a list for the operator.
pub(super) fn page(parameters: &[(String, String)]) -> Result<(u32, u32), ApiError> {
    Ok((number(parameters, "offset", 0, 0..=u32::MAX)?, number(parameters, "limit", USUAL, 1..=MOST)?))
}

fn number(
    parameters: &[(String, String)],
    name: &str,
    usual: u32,
    range: RangeInclusive<u32>,
) -> Result<u32, ApiError> {
    let Some(text) = last(parameters, name) else { return Ok(usual) };
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        ApiError::invalid_one(format!("{name} must be a number from {least} to {most}"))
    })
}
