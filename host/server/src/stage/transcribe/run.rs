//! Sends segments to the speech model, and again the parts of them of which it did not tell.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use super::open::{Open, Part};
use super::timeline::Timeline;
use super::{SegmentLog, SegmentResult, TranscribeError};
use crate::engine::{ChannelInput, Effort, EngineError, LanguageChoice, Piece, Recognised, Recogniser};
use crate::model::language::Language;
use crate::model::segments::{Segment, Segments};

/// How often a waiting job looks whether it is cancelled.
const LOOK: Duration = Duration::from_millis(100);
/// Segments in the queue for each thread: enough that none waits for the reading of samples.
const QUEUED_A_THREAD: usize = 2;

/// All that a run needs to know.
pub struct Run<'a> {
    pub channels: &'a [ChannelInput<'a>],
    pub segments: &'a Segments,
    pub recogniser: Recogniser,
    pub accurate_word_times: bool,
    pub threads: usize,
    pub log: &'a dyn SegmentLog,
    pub cancel: &'a AtomicBool,
    pub on_progress: &'a (dyn Fn(f32) + Sync),
}

/// Where what was heard of a part is sent.
type Answer = mpsc::Sender<(Part, Result<Recognised, EngineError>)>;

impl Run<'_> {
    /// Transcribes the given segments, several at a time. `on_result` gets each as it
    /// comes, in no order.
    pub fn transcribe(
        &self,
        work: &[(usize, LanguageChoice)],
        effort: Effort,
        mut on_result: impl FnMut(usize, SegmentResult) -> Result<(), TranscribeError>,
    ) -> Result<(), TranscribeError> {
        let (answer, answers) = mpsc::channel();
        let mut waiting: VecDeque<&(usize, LanguageChoice)> = work.iter().collect();
        let mut open: Vec<Open> = Vec::new();
        while !waiting.is_empty() || !open.is_empty() {
            let mut pieces = Vec::new();
            while open.len() < self.threads * QUEUED_A_THREAD
                && let Some((index, choice)) = waiting.pop_front()
            {
                let samples = self.read(&self.segments.segments[*index])?;
                let key = Part { index: *index, start: 0, end: samples.len() };
                open.push(Open::new(*index));
                pieces.push(Piece { key, samples, choice: choice.clone(), effort });
            }
            self.recogniser.submit(pieces, &answer);
            let (part, recognised) = self.wait(&answers)?;
            let place =
                open.iter().position(|open| open.index == part.index).expect("only open segments are out");
            let language = recognised.language;
            let further = open[place].take(part, recognised, effort, &self.timeline(part.index));
            self.send(&further, language, effort, &answer)?;
            if open[place].parts_out == 0 {
                let done = open.swap_remove(place);
                on_result(done.index, done.result(self)?)?;
            }
        }
        Ok(())
    }

    fn wait(
        &self,
        answers: &mpsc::Receiver<(Part, Result<Recognised, EngineError>)>,
    ) -> Result<(Part, Recognised), TranscribeError> {
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(TranscribeError::Cancelled);
            }
            match answers.recv_timeout(LOOK) {
                Ok((part, recognised)) => return Ok((part, recognised?)),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(EngineError::Stopped.into()),
            }
        }
    }

    /// Sends parts of one segment that are to be heard in a language of their own.
    fn send(
        &self,
        parts: &[Part],
        language: Language,
        effort: Effort,
        answer: &Answer,
    ) -> Result<(), TranscribeError> {
        let Some(first) = parts.first() else { return Ok(()) };
        let samples = self.read(&self.segments.segments[first.index])?;
        let piece = |part: &Part| Piece {
            key: *part,
            samples: samples[part.start..part.end].to_vec(),
            choice: LanguageChoice::Known(language),
            effort,
        };
        self.recogniser.submit(parts.iter().map(piece).collect(), answer);
        Ok(())
    }

    pub fn timeline(&self, index: usize) -> Timeline {
        Timeline::new(&self.segments.segments[index], self.segments)
    }

    pub fn read(&self, segment: &Segment) -> Result<Vec<f32>, TranscribeError> {
        let channel = self.channels.iter().find(|channel| channel.source_channel == segment.channel);
        let channel = channel.expect("segments are of the channels they were found on");
        let mut samples = Vec::new();
        for span in &segment.spans {
            let start = samples.len();
            samples.resize(start + usize::try_from(span.frames()).unwrap_or_default(), 0.0);
            channel.pcm.read(span.start_frame, &mut samples[start..]).map_err(TranscribeError::Read)?;
        }
        Ok(samples)
    }
}
