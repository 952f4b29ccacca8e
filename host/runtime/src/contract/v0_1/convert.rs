//! Between the generated types of version 0.1 and the host's own. Copies only; judges
//! nothing.

use super::bindings::exports::tympan::addon::manifest as wit_manifest;
use super::bindings::tympan::addon::types as wit;
use crate::data::descriptor::{CapabilityRequest, ConfigProblem, RawDescriptor};
use crate::data::job::{AddonError, AddonOutput, JobContext, VariantOutput};
use crate::data::transcript::{Transcript, Utterance, Word};

impl From<wit_manifest::Descriptor> for RawDescriptor {
    fn from(descriptor: wit_manifest::Descriptor) -> RawDescriptor {
        let capability = |request: wit_manifest::CapabilityRequest| CapabilityRequest {
            name: request.name,
            required: request.required,
            reason: request.reason,
            scope: request.scope,
        };
        RawDescriptor {
            name: descriptor.name,
            version: descriptor.version,
            summary: descriptor.summary,
            request_flag: descriptor.request_flag,
            config_key: descriptor.config_key,
            config_schema: descriptor.config_schema,
            result_schema: descriptor.result_schema,
            slot: descriptor.slot,
            modes: descriptor.modes,
            effects: descriptor.effects,
            after: descriptor.after,
            requires: descriptor.requires,
            capabilities: descriptor.capabilities.into_iter().map(capability).collect(),
            extra: descriptor.extra,
        }
    }
}

impl From<wit_manifest::ConfigProblem> for ConfigProblem {
    fn from(problem: wit_manifest::ConfigProblem) -> ConfigProblem {
        ConfigProblem { pointer: problem.pointer, message: problem.message }
    }
}

impl From<JobContext> for wit::JobContext {
    fn from(context: JobContext) -> wit::JobContext {
        let previous = context.previous.into_iter().map(|output| wit::PreviousOutput {
            name: output.name,
            status: output.status,
            result: output.result,
        });
        wit::JobContext {
            job_id: context.job_id,
            mode: context.mode,
            variant: context.variant,
            config: context.config,
            audio: wit::AudioInfo {
                duration: context.audio.duration,
                sample_rate: context.audio.sample_rate,
                channels: context.audio.channels,
                frames: context.audio.frames,
            },
            previous: previous.collect(),
            extra: context.extra,
        }
    }
}

impl From<&Transcript> for wit::Transcript {
    fn from(transcript: &Transcript) -> wit::Transcript {
        wit::Transcript {
            utterances: transcript.utterances.iter().map(Into::into).collect(),
            languages: transcript.languages.clone(),
            extra: transcript.extra.clone(),
        }
    }
}

impl From<&Utterance> for wit::Utterance {
    fn from(utterance: &Utterance) -> wit::Utterance {
        let words = utterance.words.iter().map(|word| wit::Word {
            text: word.text.clone(),
            start: word.start,
            end: word.end,
            confidence: word.confidence,
        });
        wit::Utterance {
            id: utterance.id,
            start: utterance.start,
            end: utterance.end,
            confidence: utterance.confidence,
            channel: utterance.channel,
            speaker: utterance.speaker,
            language: utterance.language.clone(),
            text: utterance.text.clone(),
            words: words.collect(),
            extra: utterance.extra.clone(),
        }
    }
}

impl From<wit::Transcript> for Transcript {
    fn from(transcript: wit::Transcript) -> Transcript {
        Transcript {
            utterances: transcript.utterances.into_iter().map(Into::into).collect(),
            languages: transcript.languages,
            extra: transcript.extra,
        }
    }
}

impl From<wit::Utterance> for Utterance {
    fn from(utterance: wit::Utterance) -> Utterance {
        let words = utterance.words.into_iter().map(|word| Word {
            text: word.text,
            start: word.start,
            end: word.end,
            confidence: word.confidence,
        });
        Utterance {
            id: utterance.id,
            start: utterance.start,
            end: utterance.end,
            confidence: utterance.confidence,
            channel: utterance.channel,
            speaker: utterance.speaker,
            language: utterance.language,
            text: utterance.text,
            words: words.collect(),
            extra: utterance.extra,
        }
    }
}

impl From<wit::AddonOutput> for AddonOutput {
    fn from(output: wit::AddonOutput) -> AddonOutput {
        let variant = |variant: wit::VariantOutput| VariantOutput {
            id: variant.id,
            language: variant.language,
            outcome: variant.outcome.map(Into::into).map_err(Into::into),
        };
        AddonOutput {
            transcript: output.transcript.map(Into::into),
            result: output.result,
            variants: output.variants.into_iter().map(variant).collect(),
        }
    }
}

impl From<wit::AddonError> for AddonError {
    fn from(error: wit::AddonError) -> AddonError {
        AddonError { status_code: error.status_code, exception: error.exception, message: error.message }
    }
}
