//! What the end of a job owes to the callback that its request named.

use uuid::Uuid;

use crate::model::event::{Event, Target};
use crate::model::job::JobSpec;
use crate::store::Delivery;

/// The message to the callback, if there is one.
pub fn for_ending(spec: &JobSpec, event: Event) -> Vec<Delivery> {
    let callback = spec.callback.iter();
    callback
        .map(|callback| Delivery {
            id: Uuid::new_v4(),
            event,
            target: Target::Callback,
            url: callback.url.clone(),
            method: callback.method,
            webhook_id: None,
        })
        .collect()
}
