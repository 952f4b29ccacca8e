//! Steps that do what a test tells them, and a house to run them in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, json};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::addons::Assembled;
use crate::blob::{BlobError, Blobs};
use crate::model::code::Code;
use crate::model::id::{AccountId, BlobArea, BlobKey, JobId};
use crate::model::job::{AudioSource, Callback, CallbackMethod, Status};
use crate::model::result::Transcription;
use crate::model::segments::Segments;
use crate::model::transcript::{Transcript, Utterance, Word};
use crate::stage::decode::AudioInfo;
use crate::stage::transcribe::Transcribed;
use crate::store::{Job, NewJob, Store, no_limit};
use crate::worker::*;

/// Segments of every scripted recording.
const SEGMENTS: usize = 4;
/// When every test begins, milliseconds since 1970.
pub const NOON_MS: i64 = 1_800_000_000_000;

/// What goes wrong at a place of the path (`decode`, `transcribe/2`).
#[derive(Clone, Copy, Debug)]
pub enum Trouble {
    /// Ends only when it is told to: the moment for a kill.
    Hang,
    /// Fails with this code.
    Fail(Code),
    /// Our disk is full.
    DiskFull,
    /// A defect.
    Panic,
    /// Goes well once the test opens the gate.
    Gate,
}

/// Scripted steps; clones share what happened.
#[derive(Clone, Default)]
pub struct Script {
    /// Troubles still to come, by place.
    pub troubles: Arc<Mutex<HashMap<String, Vec<Trouble>>>>,
    /// Places that were worked on, in order.
    pub log: Arc<Mutex<Vec<String>>>,
    /// `notify_one` lets one place go on that waits, or will wait, for it.
    pub gate: Arc<Notify>,
    /// Stands for the identity of the model file.
    pub model: &'static str,
}

impl Script {
    pub fn with(place: &str, troubles: &[Trouble]) -> Self {
        let script = Self::default();
        script.troubles.lock().expect("lock").insert(place.to_owned(), troubles.to_vec());
        script
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lock().expect("lock").clone()
    }

    /// How often a place was worked on.
    pub fn count(&self, place: &str) -> usize {
        self.log().iter().filter(|seen| *seen == place).count()
    }

    async fn at(&self, run: &Run, place: &str) -> Result<(), Stop> {
        let trouble = {
            let mut troubles = self.troubles.lock().expect("lock");
            self.log.lock().expect("lock").push(place.to_owned());
            troubles.get_mut(place).filter(|list| !list.is_empty()).map(|list| list.remove(0))
        };
        match trouble {
            None => Ok(()),
            Some(Trouble::Hang) => {
                run.cancel.cancelled().await;
                Err(Stop::Cancelled)
            }
            Some(Trouble::Fail(code)) => Err(Failure::plain(code, "scripted").into()),
            Some(Trouble::DiskFull) => Err(BlobError::Full(std::io::ErrorKind::StorageFull.into()).into()),
            Some(Trouble::Panic) => panic!("scripted"),
            Some(Trouble::Gate) => {
                self.gate.notified().await;
                Ok(())
            }
        }
    }
}

impl Steps for Script {
    async fn fetch(&self, run: &Run) -> Result<Media, Stop> {
        self.at(run, "fetch").await?;
        let blob_key = BlobKey::new(BlobArea::Audio);
        Ok(Media { blob_key: Some(blob_key), sha256: "ab".to_owned() })
    }

    async fn decode(&self, run: &Run, media: &Media) -> Result<AudioInfo, Stop> {
        run.scratch.create_empty().expect("creates");
        self.at(run, "decode").await?;
        std::fs::write(run.scratch.path().join("samples"), &media.sha256).expect("writes");
        Ok(AudioInfo {
            duration_s: 12.1,
            source_channels: 2,
            distinct: vec![0, 1],
            container: "wav".to_owned(),
            codec: "pcm_s16le".to_owned(),
            damage: Vec::new(),
            frames: 193_600,
        })
    }

    async fn segment(&self, run: &Run, _audio: &AudioInfo) -> Result<Segments, Stop> {
        self.at(run, "segment").await?;
        Ok(Segments::default())
    }

    async fn transcribe(&self, run: &Run, _: &AudioInfo, _: &Segments) -> Result<Heard, Stop> {
        let mut transcribed = Transcribed::default();
        for number in 0..SEGMENTS {
            let place = format!("transcribe/{number}");
            let saved = run.checkpoints.load(&place, &run.trail()).await;
            let start = match saved.and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
                Some(start) => start,
                None => {
                    self.at(run, &place).await?;
                    let start = number as f64 / 3.0;
                    let bytes = serde_json::to_vec(&start).expect("a number");
                    run.checkpoints.save(&place, &run.trail(), bytes).await?;
                    run.progress.advance((number + 1) as f32 / SEGMENTS as f32);
                    start
                }
            };
            transcribed.transcript.utterances.push(utterance(start));
        }
        Ok(Heard { transcribed, transcription_time_s: 0.0 })
    }

    async fn enrich(&self, run: &Run, _: &AudioInfo, heard: &Heard) -> Result<Assembled, Stop> {
        self.at(run, "add-ons").await?;
        let Transcript { utterances, languages } = heard.transcribed.transcript.clone();
        let transcription = Transcription {
            full_transcript: String::new(),
            languages,
            utterances,
            sentences: None,
            subtitles: None,
        };
        Ok(Assembled { transcription, addons: Map::new() })
    }

    async fn settings(&self, _run: &Run, step: Step) -> Result<String, Stop> {
        Ok(if step == Step::Transcribe { self.model.to_owned() } else { String::new() })
    }

    fn still_holds(&self, run: &Run, step: Step, _value: &[u8]) -> bool {
        step != Step::Decode || run.scratch.path().join("samples").exists()
    }
}

fn utterance(start: f64) -> Utterance {
    let word = Word { word: "one".to_owned(), start, end: start + 0.1, confidence: 0.7 };
    Utterance {
        start,
        end: start + 0.1,
        confidence: 0.7,
        channel: 0,
        speaker: None,
        text: word.word.clone(),
        words: vec![word],
        language: "en".to_owned(),
    }
}

/// A data folder, its store and its time.
pub struct House {
    pub store: Arc<Store>,
    pub blobs: Blobs,
    pub clock: Arc<ManualClock>,
    pub settings: Settings,
    pub folder: tempfile::TempDir,
}

impl House {
    pub async fn open() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(&folder.path().join("tympan.db")).await.expect("opens");
        let blobs = Blobs::open(&folder.path().join("blobs")).expect("opens");
        let settings = Settings {
            poll_pause: Duration::from_millis(10),
            shutdown_grace: Duration::ZERO,
            ..Settings::in_folder(folder.path())
        };
        let clock = Arc::new(ManualClock::new(NOON_MS));
        Self { store: Arc::new(store), blobs, clock, settings, folder }
    }

    pub async fn add_job(&self) -> JobId {
        self.add_job_over(AudioSource::Url("http://example.com/a.wav".to_owned())).await
    }

    pub async fn add_job_over(&self, audio: AudioSource) -> JobId {
        let mut job = NewJob::example(audio, self.clock.now_ms());
        job.spec.callback =
            Some(Callback { url: "http://example.com/hook".to_owned(), method: CallbackMethod::Post });
        let id = job.id;
        self.store.create_job(job).await.expect("created");
        id
    }

    pub fn start(&self, script: &Script) -> Running {
        self.start_with(script.clone())
    }

    pub fn start_with(&self, steps: impl Steps) -> Running {
        let worker = Worker::new(self.parts(steps)).expect("starts");
        let stop = CancellationToken::new();
        let instance = self.settings.instances_dir.join(worker.instance().name());
        Running { task: tokio::spawn(worker.run(stop.clone())), stop, instance }
    }

    pub fn parts<S: Steps>(&self, steps: S) -> Parts<S> {
        Parts {
            store: self.store.clone(),
            blobs: self.blobs.clone(),
            steps,
            clock: self.clock.clone(),
            limit_of: no_limit(),
            settings: self.settings.clone(),
        }
    }

    pub async fn job(&self, id: JobId) -> Job {
        let account = AccountId("one".to_owned());
        self.store.get_job(&account, id).await.expect("reads").expect("exists")
    }

    pub async fn wait_final(&self, id: JobId) -> Job {
        wait_for("the job to be final", async || {
            let job = self.job(id).await;
            matches!(job.status, Status::Done | Status::Error).then_some(job)
        })
        .await
    }

    /// The result with which the job ended.
    pub async fn result(&self, id: JobId) -> Vec<u8> {
        let job = self.wait_final(id).await;
        assert_eq!(job.status, Status::Done, "{:?}", job.post_session_metadata);
        self.blobs.get(&job.result_key.expect("a result")).await.expect("reads")
    }

    /// A number of the first row that the database answers with.
    pub async fn ask(&self, sql: &'static str) -> Option<i64> {
        let path = self.folder.path().join("tympan.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
        let mut db = sqlx::ConnectOptions::connect(&options).await.expect("connects");
        sqlx::query_scalar(sql).fetch_optional(&mut db).await.expect("reads")
    }

    /// When the only job, on which nobody works, is tried again.
    pub async fn next_try_ms(&self) -> Option<i64> {
        self.ask("SELECT due_ms FROM jobs WHERE lease_owner IS NULL AND due_ms IS NOT NULL").await
    }

    /// Files left in the folders that jobs use on their way.
    pub fn leftovers(&self) -> Vec<String> {
        let count = |path: &str| walk(&self.folder.path().join(path));
        [count("blobs/checkpoint"), count("scratch")].concat()
    }
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("lists").map(|entry| entry.expect("reads")) {
        match entry.path().is_dir() {
            true => files.extend(walk(&entry.path())),
            false => files.push(entry.path().display().to_string()),
        }
    }
    files
}

/// A worker at work.
pub struct Running {
    task: JoinHandle<()>,
    stop: CancellationToken,
    instance: std::path::PathBuf,
}

impl Running {
    /// Ends as a killed process would: nothing more is written.
    pub async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
        // The lock is gone, the file is not.
        std::fs::write(self.instance, b"").expect("writes");
    }

    pub async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("the worker ends in order");
    }
}

/// Asks again and again, for ten seconds.
pub async fn wait_for<T>(what: &str, ask: impl AsyncFn() -> Option<T>) -> T {
    for _ in 0..1_000 {
        if let Some(answer) = ask().await {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("waited too long for {what}")
}

pub async fn wait_for_place(script: &Script, place: &str) {
    wait_for_count(script, place, 1).await
}

pub async fn wait_for_count(script: &Script, place: &str, count: usize) {
    wait_for(place, async || (script.count(place) >= count).then_some(())).await
}

/// The debug data of a failed job, without what a test does not care about.
pub fn error_of(job: &Job) -> (Option<u16>, serde_json::Value) {
    (job.error_code, job.post_session_metadata.get("error").cloned().unwrap_or(json!(null)))
}
