//! A job as a test wants it, and what an add-on made of it.

use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::fake::{Fake, LogLine};
use crate::addon::Addon;
use crate::doc::Variant;
use crate::error::{Result, fail};
use crate::glue;
use crate::job::{AudioInfo, Job, Previous};
use crate::recorded::Recorded;
use crate::transcript::Transcript;

/// A job for a test; everything has a default.
pub struct Scenario {
    config: Value,
    transcript: Transcript,
    audio: Option<AudioInfo>,
    mode: String,
    variant: Option<String>,
    previous: Vec<Previous>,
    extra: Map<String, Value>,
    fake: Fake,
}

impl Default for Scenario {
    fn default() -> Self {
        Self::new()
    }
}

impl Scenario {
    /// Config `{}`, no speech, a recorded job accepted at 1970-01-01.
    pub fn new() -> Self {
        Self {
            config: json!({}),
            transcript: Transcript::default(),
            audio: None,
            mode: "pre-recorded".to_owned(),
            variant: None,
            previous: Vec::new(),
            extra: Map::new(),
            fake: Fake::default(),
        }
    }

    /// What the API returned for a real job: transcript, audio figures, earlier results, the
    /// client's metadata. The time is set with [`Self::unix_millis`].
    pub fn recorded(mut self, recorded: Recorded) -> Self {
        self.transcript = recorded.transcript;
        self.audio = Some(recorded.audio);
        self.previous = recorded.previous;
        self.extra = recorded.extra;
        self
    }

    /// The config object of the request.
    pub fn config(mut self, config: Value) -> Self {
        self.config = config;
        self
    }

    /// What was said.
    pub fn transcript(mut self, transcript: Transcript) -> Self {
        self.transcript = transcript;
        self
    }

    /// Length of the audio in seconds; the end of the last utterance by default.
    pub fn duration_s(mut self, duration_s: f64) -> Self {
        let audio = self.audio_or_default();
        self.audio = Some(AudioInfo { duration_s, frames: (duration_s * 16_000.0) as u64, ..audio });
        self
    }

    /// Number of audio tracks; 1 by default.
    pub fn channels(mut self, channels: u16) -> Self {
        self.audio = Some(AudioInfo { channels, ..self.audio_or_default() });
        self
    }

    /// `pre-recorded` or `post-processing`.
    pub fn mode(mut self, mode: &str) -> Self {
        self.mode = mode.to_owned();
        self
    }

    /// Runs on a variant of the transcript instead of the original.
    pub fn variant(mut self, id: &str) -> Self {
        self.variant = Some(id.to_owned());
        self
    }

    /// The result of an earlier add-on.
    pub fn previous(mut self, name: &str, result: &Value) -> Self {
        let result = Some(result.to_string());
        self.previous.push(Previous { name: name.to_owned(), status: "done".to_owned(), result });
        self
    }

    /// A member of the job's `extra`.
    pub fn extra(mut self, key: &str, value: Value) -> Self {
        self.extra.insert(key.to_owned(), value);
        self
    }

    /// `cancelled` answers yes after this many questions.
    pub fn cancelled_after(mut self, questions: u32) -> Self {
        self.fake.cancelled_after = Some(questions);
        self
    }

    /// The time of the job's acceptance, milliseconds since 1970.
    pub fn unix_millis(mut self, unix_millis: u64) -> Self {
        self.fake.unix_millis = unix_millis;
        self
    }

    /// Checks the config as the host does, then runs the add-on.
    ///
    /// # Errors
    /// What the add-on failed with; a config that it refuses is a 400 `InvalidConfig`.
    pub fn run<A: Addon>(self) -> Result<Outcome> {
        let audio = self.audio_or_default();
        let config = glue::validate_config::<A>(&self.config.to_string()).map_err(|problems| {
            let sentences: Vec<String> =
                problems.iter().map(|p| format!("{} {}", p.pointer, p.message)).collect();
            fail(400, "InvalidConfig", sentences.join("; "))
        })?;
        let fake = Rc::new(self.fake);
        let job = Job {
            id: "00000000-0000-4000-8000-000000000000".to_owned(),
            mode: self.mode,
            variant: self.variant,
            audio,
            previous: self.previous,
            extra: self.extra,
            runtime: Box::new(Rc::clone(&fake)),
        };
        let input = self.transcript.clone();
        let reply = glue::process::<A>(&config, &job, self.transcript)?;
        Ok(Outcome {
            input,
            transcript: reply.transcript,
            result_text: reply.result,
            variants: reply.variants,
            log: fake.log.take(),
            progress: fake.progress.take(),
        })
    }

    fn audio_or_default(&self) -> AudioInfo {
        let end_s = self.transcript.utterances.iter().map(|u| u.end).fold(0.0, f64::max);
        let frames = (end_s * 16_000.0) as u64;
        self.audio.unwrap_or(AudioInfo { duration_s: end_s, sample_rate_hz: 16_000, channels: 1, frames })
    }
}

/// What an add-on made of a [`Scenario`].
#[derive(Debug)]
pub struct Outcome {
    input: Transcript,
    /// None when the add-on left the transcript alone.
    pub transcript: Option<Transcript>,
    /// JSON text; none for `Output = ()`.
    pub result_text: Option<String>,
    /// Further transcripts.
    pub variants: Vec<Variant>,
    /// What it logged.
    pub log: Vec<LogLine>,
    /// The progress that it reported, with its notes.
    pub progress: Vec<(f32, String)>,
}

impl Outcome {
    /// The texts of the utterances after the run, changed or not.
    pub fn texts(&self) -> Vec<&str> {
        let transcript = self.transcript.as_ref().unwrap_or(&self.input);
        transcript.utterances.iter().map(|u| u.text()).collect()
    }

    /// The result as JSON; null for `Output = ()`.
    ///
    /// # Panics
    /// Never for an add-on's own output, which is written as JSON.
    pub fn result(&self) -> Value {
        self.parse()
    }

    /// The result as a type of the test's choice.
    ///
    /// # Panics
    /// When the result does not have the shape of `T`: for tests that is a failure.
    pub fn parse<T: DeserializeOwned>(&self) -> T {
        let text = self.result_text.as_deref().unwrap_or("null");
        serde_json::from_str(text).expect("the result has the shape that the test asks for")
    }
}
