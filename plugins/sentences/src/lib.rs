//! Built-in add-on `sentences`: the transcript cut into sentences, with times.
//!
//! Only the glue to the SDK; the work is in `sentence`, the rules are in `tympan-text`. The transcript stays as it is.

mod sentence;

use tympan_sdk::prelude::*;

pub use sentence::{Sentence, sentences};

/// `results` and the member beside it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The sentences as text, in order.
    results: Vec<String>,
    /// The same sentences with times, words and voice.
    items: Vec<Sentence>,
}

/// The add-on.
pub struct Sentences;

impl Addon for Sentences {
    type Config = NoConfig;
    type Output = Output;
    const META: Meta = Meta::new(
        "sentences",
        env!("CARGO_PKG_VERSION"),
        Slot::Analysis,
        "Cuts the transcript into sentences with times",
    )
    .effects(&[Effect::PerVariant])
    .result_members(&["items"]);

    fn process(_config: NoConfig, _job: &Job, doc: &mut Doc) -> Result<Output> {
        let items = sentences(doc.transcript());
        Ok(Output { results: items.iter().map(|item| item.sentence.clone()).collect(), items })
    }
}

addon!(Sentences);
