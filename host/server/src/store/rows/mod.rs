//! From database rows to model types.

mod columns;
mod deliveries;
mod files;
mod jobs;
mod leases;
mod retention;
mod webhooks;

pub(in crate::store) use columns::{Place, kind_from, kind_text, method_text, status_text};
pub(in crate::store) use deliveries::{DeliveryRow, DueRow};
pub(in crate::store) use files::FileRow;
pub(in crate::store) use jobs::JobRow;
pub(in crate::store) use leases::{CheckpointRow, ClaimRow};
pub(in crate::store) use retention::ErasureRow;
pub(in crate::store) use webhooks::{HearingRow, WebhookRow};
