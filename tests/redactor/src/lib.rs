//! An add-on that redacts, and fails to in the way that its config names: the tests of the
//! service check that nothing is delivered then.

use tympan_sdk::prelude::*;

/// What to mask, and how to go wrong.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Config {
    /// Words that are masked, as they are spoken, without punctuation.
    #[serde(default)]
    words: Vec<String>,
    /// What happens.
    #[serde(default)]
    act: Act,
}

/// Ways to end.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Act {
    /// The words are masked.
    #[default]
    Mask,
    /// An error that carries the text.
    Fail,
    /// A panic that carries the text.
    Panic,
    /// No end.
    Spin,
    /// A transcript that breaks the contract.
    Invalid,
}

/// The add-on.
pub struct Redactor;

impl Addon for Redactor {
    type Config = Config;
    type Output = ();
    const META: Meta = Meta::new("redactor", "0.1.0", Slot::Transcript, "Masks words, or fails to")
        .effects(&[Effect::Redacts]);

    fn process(config: Config, _job: &Job, doc: &mut Doc) -> Result<()> {
        match config.act {
            Act::Mask => {
                doc.map_words(|word| config.words.iter().any(|w| w == word).then(|| "[MASKED]".to_owned()));
                Ok(())
            }
            Act::Fail => Err(fail(422, "CannotMask", doc.transcript().full_text())),
            Act::Panic => panic!("{}", doc.transcript().full_text()),
            Act::Spin => loop {
                std::hint::black_box(());
            },
            Act::Invalid => {
                for utterance in doc.utterances_mut() {
                    utterance.end = f64::NAN;
                }
                Ok(())
            }
        }
    }
}

addon!(Redactor);
