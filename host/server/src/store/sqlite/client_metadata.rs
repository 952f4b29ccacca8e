//! The column `client_metadata`, which only clients change.

use serde_json::{Map, Value};
use sqlx::{SqliteConnection, query, query_scalar};

use super::{Answer, to_json};
use crate::model::id::{AccountId, JobId};
use crate::store::client_metadata::Attached;
use crate::store::rows::Place;

const SELECT: &str = "SELECT client_metadata FROM jobs WHERE id = $1 AND account_id = $2";
const UPDATE: &str = "UPDATE jobs SET client_metadata = $2 WHERE id = $1";

pub(in crate::store) async fn attach_metadata(
    db: &mut SqliteConnection,
    account: &AccountId,
    id: JobId,
    members: Map<String, Value>,
    limit_bytes: usize,
) -> Answer<Attached> {
    let id = id.to_string();
    let earlier: Option<String> =
        query_scalar(SELECT).bind(&id).bind(&account.0).fetch_optional(&mut *db).await?;
    let Some(earlier) = earlier else { return Ok(Attached::Missing) };
    let place = Place { table: "jobs", id: &id };
    let mut all: Map<String, Value> = place.json("client_metadata", &earlier)?;
    all.extend(members);
    let text = to_json(&all);
    if text.len() > limit_bytes {
        return Ok(Attached::TooLarge);
    }
    query(UPDATE).bind(&id).bind(text).execute(db).await?;
    Ok(Attached::Kept)
}
