//! Buffers of inference that wait for the next segment. A state costs a quarter of a
//! gigabyte, so there are only as many as segments ever ran at once.

use std::sync::{Arc, Mutex, MutexGuard};

use super::EngineError;
use super::whisper::{Context, State};

/// Idle states; the last used is the first to be used again.
#[derive(Default)]
pub struct States(Mutex<Vec<State>>);

impl States {
    /// A state for a model: an idle one, or a new one in place of another model's.
    pub fn take(&self, context: &Arc<Context>) -> Result<State, EngineError> {
        {
            let mut idle = self.lock();
            if let Some(at) = idle.iter().rposition(|state| Arc::ptr_eq(&state.context, context)) {
                return Ok(idle.remove(at));
            }
            idle.pop();
        }
        State::new(context)
    }

    /// Keeps a state for the next segment.
    pub fn put_back(&self, state: State) {
        self.lock().push(state);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<State>> {
        self.0.lock().expect("nothing panics under the lock")
    }
}
