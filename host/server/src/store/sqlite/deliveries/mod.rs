//! Messages that are owed to the outside.

mod attempts;
mod due;
mod insert;
mod read;

pub(super) use attempts::end_delivery_claims;
pub(in crate::store) use attempts::{claim_delivery, end_attempt, replay_delivery};
#[cfg(test)]
pub(in crate::store) use due::explain_due_deliveries;
pub(in crate::store) use due::select_due_deliveries;
pub(super) use insert::insert_delivery;
#[cfg(test)]
pub(in crate::store) use read::{explain_deliveries_of, select_deliveries_of_job};
pub(in crate::store) use read::{list_deliveries, select_delivery};
