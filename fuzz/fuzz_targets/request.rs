//! Any bytes as the body of a request on a host without add-ons.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use tympan::validate::{Catalogue, HostRules, ModelRules, Rejection, object, prerecorded};

fuzz_target!(|bytes: &[u8]| {
    let model = ModelRules { name: "stt-1".to_owned(), languages: Vec::new(), code_switching: true };
    let rules =
        HostRules { models: vec![model], model_aliases: BTreeMap::new(), allow_private_urls: false };
    let draft = object(bytes).and_then(|body| prerecorded(&body, &rules, &Catalogue::default(), &[]));
    if let Err(Rejection::Invalid(entries) | Rejection::Contradictory(entries)) = draft {
        assert!(!entries.is_empty());
    }
});
