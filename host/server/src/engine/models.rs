//! Model files by name; each file is loaded once, at its first use.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::whisper::Context;
use super::{EngineError, SpeechModelSettings};

/// Names, settings and what is loaded of them.
pub struct Models {
    settings: BTreeMap<String, SpeechModelSettings>,
    loaded: Mutex<BTreeMap<PathBuf, Arc<Context>>>,
}

impl Models {
    pub fn new(settings: BTreeMap<String, SpeechModelSettings>) -> Self {
        Self { settings, loaded: Mutex::default() }
    }

    pub fn settings(&self, name: &str) -> Result<&SpeechModelSettings, EngineError> {
        self.settings.get(name).ok_or_else(|| EngineError::UnknownModel { name: name.to_owned() })
    }

    /// The model of a name. Waits while another job loads; a failed load is tried again the
    /// next time, because the operator may have put the file right.
    pub fn get(&self, name: &str) -> Result<Arc<Context>, EngineError> {
        let file = &self.settings(name)?.file;
        let mut loaded = self.loaded.lock().expect("loading does not panic");
        if let Some(context) = loaded.get(file) {
            return Ok(Arc::clone(context));
        }
        let context = Arc::new(Context::load(file)?);
        loaded.insert(file.clone(), Arc::clone(&context));
        Ok(context)
    }
}
