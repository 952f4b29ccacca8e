//! Between the contract's records and the crate's own types; everything is moved.

use super::bindings::exports::tympan::addon::manifest;
use super::bindings::tympan::addon::types;

use crate::addon::Problem;
use crate::descriptor::Descriptor;
use crate::doc::Variant;
use crate::error::Error;
use crate::glue::Reply;
use crate::job::{AudioInfo, Job, Previous};
use crate::meta::Capability;
use crate::runtime::HostRuntime;
use crate::transcript::{Transcript, Utterance, Word};

/// The config's text and the job.
pub(super) fn job_from(context: types::JobContext) -> (String, Job) {
    let job = Job {
        id: context.job_id,
        mode: context.mode,
        variant: context.variant,
        audio: AudioInfo {
            duration_s: context.audio.duration,
            sample_rate_hz: context.audio.sample_rate,
            channels: context.audio.channels,
            frames: context.audio.frames,
        },
        previous: context.previous.into_iter().map(Previous::from).collect(),
        extra: serde_json::from_str(&context.extra).unwrap_or_default(),
        runtime: Box::new(HostRuntime),
    };
    (context.config, job)
}

impl From<types::PreviousOutput> for Previous {
    fn from(previous: types::PreviousOutput) -> Self {
        Self { name: previous.name, status: previous.status, result: previous.result }
    }
}

impl From<types::Transcript> for Transcript {
    fn from(transcript: types::Transcript) -> Self {
        Self {
            utterances: transcript.utterances.into_iter().map(Utterance::from).collect(),
            languages: transcript.languages,
            extra: transcript.extra,
        }
    }
}

impl From<types::Utterance> for Utterance {
    fn from(u: types::Utterance) -> Self {
        Self {
            id: u.id,
            start: u.start,
            end: u.end,
            confidence: u.confidence,
            channel: u.channel,
            speaker: u.speaker,
            language: u.language,
            extra: u.extra,
            words: u.words.into_iter().map(Word::from).collect(),
            text: u.text,
        }
    }
}

impl From<types::Word> for Word {
    fn from(w: types::Word) -> Self {
        Self { text: w.text, start: w.start, end: w.end, confidence: w.confidence }
    }
}

impl From<Transcript> for types::Transcript {
    fn from(transcript: Transcript) -> Self {
        Self {
            utterances: transcript.utterances.into_iter().map(types::Utterance::from).collect(),
            languages: transcript.languages,
            extra: transcript.extra,
        }
    }
}

impl From<Utterance> for types::Utterance {
    fn from(u: Utterance) -> Self {
        Self {
            id: u.id,
            start: u.start,
            end: u.end,
            confidence: u.confidence,
            channel: u.channel,
            speaker: u.speaker,
            language: u.language,
            extra: u.extra,
            words: u.words.into_iter().map(types::Word::from).collect(),
            text: u.text,
        }
    }
}

impl From<Word> for types::Word {
    fn from(w: Word) -> Self {
        Self { text: w.text, start: w.start, end: w.end, confidence: w.confidence }
    }
}

impl From<Reply> for types::AddonOutput {
    fn from(reply: Reply) -> Self {
        Self {
            transcript: reply.transcript.map(types::Transcript::from),
            result: reply.result,
            variants: reply.variants.into_iter().map(types::VariantOutput::from).collect(),
        }
    }
}

impl From<Variant> for types::VariantOutput {
    fn from(variant: Variant) -> Self {
        Self {
            id: variant.id,
            language: variant.language,
            outcome: variant.outcome.map(types::Transcript::from).map_err(types::AddonError::from),
        }
    }
}

impl From<Error> for types::AddonError {
    fn from(error: Error) -> Self {
        Self { status_code: error.status_code, exception: error.exception, message: error.message }
    }
}

impl From<Problem> for manifest::ConfigProblem {
    fn from(problem: Problem) -> Self {
        Self { pointer: problem.pointer, message: problem.message }
    }
}

impl From<&Capability> for manifest::CapabilityRequest {
    fn from(capability: &Capability) -> Self {
        Self {
            name: capability.name.to_owned(),
            required: capability.required,
            reason: capability.reason.to_owned(),
            scope: strings(capability.scope),
        }
    }
}

impl From<Descriptor> for manifest::Descriptor {
    fn from(descriptor: Descriptor) -> Self {
        let meta = descriptor.meta;
        Self {
            name: meta.name.to_owned(),
            version: meta.version.to_owned(),
            summary: meta.summary.to_owned(),
            request_flag: meta.request_flag.to_owned(),
            config_key: descriptor.config_key,
            config_schema: descriptor.config_schema,
            result_schema: descriptor.result_schema,
            slot: meta.slot.as_str().to_owned(),
            modes: meta.modes.iter().map(|m| m.as_str().to_owned()).collect(),
            effects: meta.effects.iter().map(|e| e.as_str().to_owned()).collect(),
            after: strings(meta.after),
            requires: strings(meta.requires),
            capabilities: meta.capabilities.iter().map(manifest::CapabilityRequest::from).collect(),
            extra: descriptor.extra,
        }
    }
}

fn strings(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}
