//! How far the add-ons of a job are together, from what each says of itself.

use std::sync::{Arc, Mutex, PoisonError};

use tympan_runtime::ProgressFn;

/// The parts that are done; each add-on counts the same.
pub struct JobProgress(Arc<Inner>);

struct Inner {
    parts: Mutex<Vec<f32>>,
    tell: ProgressFn,
}

impl JobProgress {
    /// For so many add-ons; `tell` gets 0.0 to 1.0 for all together, never less than before.
    pub fn new(addons: usize, tell: ProgressFn) -> Self {
        Self(Arc::new(Inner { parts: Mutex::new(vec![0.0; addons]), tell }))
    }

    /// Takes the reports of one add-on.
    pub fn of_addon(&self, at: usize) -> ProgressFn {
        let inner = self.0.clone();
        Arc::new(move |part| inner.advance(at, part))
    }

    /// One add-on has ended, however.
    pub fn ended(&self, at: usize) {
        self.0.advance(at, 1.0);
    }
}

impl Inner {
    fn advance(&self, at: usize, part: f32) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if part > parts[at] {
            parts[at] = part;
            (self.tell)(parts.iter().sum::<f32>() / parts.len() as f32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_shared_and_never_goes_back() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = told.clone();
        let progress = JobProgress::new(2, Arc::new(move |part| heard.lock().unwrap().push(part)));
        let second = progress.of_addon(1);
        second(0.5);
        second(0.2);
        progress.ended(0);
        second(1.0);
        assert_eq!(*told.lock().unwrap(), [0.25, 0.75, 1.0]);
    }
}
