//! The real steps: glue between the path and the stages.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::blocking::blocking;
use super::failure::{Failure, Stop};
use super::model_digest::ModelDigests;
use super::progress::Step;
use super::run::{Run, from_json};
use super::segment_log::SegmentCheckpoints;
use super::steps::{Heard, Media, Steps};
use crate::addons::{self, Assembled, Library};
use crate::blob::Blobs;
use crate::engine::{ChannelInput, Engine, Pcm};
use crate::model::code::Code;
use crate::model::id::BlobArea;
use crate::model::job::AudioSource;
use crate::model::segments::{SAMPLE_RATE_HZ, Segments};
use crate::stage::decode::{self, Audio, AudioInfo, Channel, DecodeLimits};
use crate::stage::fetch::{self, FetchPolicy, Fetched};
use crate::stage::segment::{self, SegmentPlan};
use crate::stage::transcribe::{self, TranscribePlan};
use crate::store::FileFacts;

/// The stages and what the operator allows them.
pub struct Stages {
    /// Audio and checkpoints.
    pub blobs: Blobs,
    /// Whisper and voice activity detection.
    pub engine: Engine,
    /// The add-ons.
    pub library: Arc<Library>,
    /// What a fetch may do.
    pub fetch_policy: FetchPolicy,
    /// What is refused before it costs too much.
    pub decode_limits: DecodeLimits,
    /// Identities of the model files.
    pub model_digests: ModelDigests,
}

impl Steps for Stages {
    async fn fetch(&self, run: &Run) -> Result<Media, Stop> {
        if let Some(media) = stored_media(run) {
            return Ok(media);
        }
        let AudioSource::Url(url) = &run.job.spec.audio else {
            return Err(Failure::plain(Code::AudioGone, "the file has no blob").into());
        };
        let (fetched, blob_key) = match run.scratch.create_media().map_err(storage)? {
            Some(file) => (self.fetch_into(run, url, &mut tokio::fs::File::from_std(file)).await?, None),
            None => {
                let mut unfinished = self.blobs.begin(BlobArea::Audio).await?;
                let fetched = self.fetch_into(run, url, unfinished.file()).await?;
                (fetched, Some(unfinished.publish().await?))
            }
        };
        let facts = FileFacts {
            filename: fetched.filename,
            size_bytes: Some(fetched.size_bytes),
            sha256: Some(fetched.sha256.clone()),
            blob_key: blob_key.clone(),
            ..FileFacts::default()
        };
        run.note_file(facts).await?;
        Ok(Media { blob_key, sha256: fetched.sha256 })
    }

    async fn decode(&self, run: &Run, media: &Media) -> Result<AudioInfo, Stop> {
        let file = self.open_media(run, media).await?;
        let (scratch, limits) = (run.scratch.clone(), self.decode_limits.clone());
        let info = blocking(&run.cancel, move |cancel| {
            scratch.create_empty().map_err(decode::DecodeError::Store)?;
            let audio = decode::decode(file, scratch.channels(), &limits, cancel)?;
            scratch.flush().map_err(decode::DecodeError::Store)?;
            Ok::<_, decode::DecodeError>(audio.info)
        })
        .await?;
        let facts = FileFacts {
            audio_duration_s: Some(info.duration_s),
            number_of_channels: Some(u32::from(info.source_channels)),
            ..FileFacts::default()
        };
        run.note_file(facts).await?;
        Ok(info)
    }

    async fn segment(&self, run: &Run, info: &AudioInfo) -> Result<Segments, Stop> {
        let plan = segment_plan(run);
        let (scratch, info, progress) = (run.scratch.clone(), info.clone(), run.progress.clone());
        blocking(&run.cancel, move |cancel| {
            let audio = Audio::open(scratch.channels(), info).map_err(segment::SegmentError::Read)?;
            segment::segment(&inputs(&audio), plan, cancel, &|part| progress.advance(part))
        })
        .await
    }

    async fn transcribe(&self, run: &Run, info: &AudioInfo, segments: &Segments) -> Result<Heard, Stop> {
        let began = Instant::now();
        let (plan, engine) = (transcribe_plan(run), self.engine.clone());
        let log = SegmentCheckpoints::new(run.checkpoints.clone(), run.trail());
        let (scratch, progress) = (run.scratch.clone(), run.progress.clone());
        let (info, segments) = (info.clone(), segments.clone());
        let transcribed = blocking(&run.cancel, move |cancel| {
            let audio = Audio::open(scratch.channels(), info).map_err(transcribe::TranscribeError::Read)?;
            let on_progress = |part| progress.advance(part);
            transcribe::transcribe(&inputs(&audio), &segments, &plan, &engine, &log, cancel, &on_progress)
        })
        .await?;
        Ok(Heard { transcribed, transcription_time_s: began.elapsed().as_secs_f64() })
    }

    async fn enrich(&self, run: &Run, info: &AudioInfo, heard: &Heard) -> Result<Assembled, Stop> {
        let spec = &run.job.spec;
        let facts = addons::JobFacts {
            job_id: run.job.id.to_string(),
            accepted_at_ms: run.job.created_ms.unsigned_abs(),
            audio: addons::AudioInfo {
                duration: info.duration_s,
                sample_rate: SAMPLE_RATE_HZ,
                channels: info.source_channels,
                frames: info.frames,
            },
            planned: &spec.addons,
            missing: &spec.missing_addons,
            extra: json!({"custom_metadata": spec.custom_metadata, "languages": spec.language.languages}),
        };
        let (transcript, progress) = (heard.transcribed.transcript.clone(), run.progress.clone());
        let on_progress = Arc::new(move |part| progress.advance(part));
        Ok(addons::enrich(&self.library, &facts, transcript, &run.cancel, on_progress).await?)
    }

    async fn settings(&self, run: &Run, step: Step) -> Result<String, Stop> {
        let spec = &run.job.spec;
        let settings = match step {
            Step::Fetch => json!(spec.audio),
            Step::Decode => json!(null),
            Step::Segment => json!(segment_plan(run)),
            Step::Transcribe => {
                let file = self.engine.model(&spec.model).map_err(transcribe::TranscribeError::Engine)?;
                json!([transcribe_plan(run), self.model_digests.of(&file.file).await?])
            }
            Step::AddOns => json!([spec.addons, spec.missing_addons, spec.custom_metadata, spec.language]),
        };
        Ok(settings.to_string())
    }

    fn still_holds(&self, run: &Run, step: Step, value: &[u8]) -> bool {
        match step {
            Step::Decode => from_json::<AudioInfo>(value)
                .is_ok_and(|info| Audio::open(run.scratch.channels(), info).is_ok()),
            _ => true,
        }
    }
}

impl Stages {
    async fn fetch_into(&self, run: &Run, url: &str, file: &mut tokio::fs::File) -> Result<Fetched, Stop> {
        Ok(fetch::fetch(url, &self.fetch_policy, file, &run.cancel).await?)
    }

    async fn open_media(&self, run: &Run, media: &Media) -> Result<File, Stop> {
        if let Some(key) = &media.blob_key {
            return Ok(self.blobs.open_blob(key).await?);
        }
        let kept = run.scratch.media().map_err(storage)?;
        kept.ok_or_else(|| Failure::plain(Code::Internal, "the recording was not kept").into())
    }
}

/// A failure of our own disk.
fn storage(error: io::Error) -> Stop {
    decode::DecodeError::Store(error).into()
}

/// The audio, when it was uploaded or an earlier claim has fetched it.
fn stored_media(run: &Run) -> Option<Media> {
    let facts = &run.job.file.as_ref()?.facts;
    let (blob_key, sha256) = (facts.blob_key.clone()?, facts.sha256.clone()?);
    Some(Media { blob_key: Some(blob_key), sha256 })
}

fn segment_plan(run: &Run) -> SegmentPlan {
    let language = &run.job.spec.language;
    match (language.languages.len(), language.code_switching) {
        // With one language there is nothing to find and nothing to switch between.
        (1, _) => SegmentPlan::Filled,
        (_, true) => SegmentPlan::PerUtterance,
        (_, false) => SegmentPlan::FirstApart,
    }
}

fn transcribe_plan(run: &Run) -> TranscribePlan {
    let spec = &run.job.spec;
    TranscribePlan {
        model: spec.model.clone(),
        language: spec.language.clone(),
        accurate_word_times: spec.accurate_word_times,
    }
}

fn inputs(audio: &Audio) -> Vec<ChannelInput<'_>> {
    let input = |channel| ChannelInput { source_channel: Channel::index(channel), pcm: channel };
    audio.channels.iter().map(input).collect()
}

/// The engine reads decoded channels where they lie.
impl Pcm for Channel {
    fn frames(&self) -> u64 {
        Channel::frames(self)
    }

    fn read(&self, start_frame: u64, out: &mut [f32]) -> io::Result<()> {
        match Channel::read(self, start_frame, out)? == out.len() {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
