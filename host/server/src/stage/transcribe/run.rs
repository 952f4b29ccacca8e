//! Sends segments to the speech model and makes results of what comes back.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use super::invented::is_invented;
use super::piece::characters;
use super::refine::Loudness;
use super::timeline::Timeline;
use super::words::words;
use super::{Flag, SegmentLog, SegmentResult, TranscribeError};
use crate::engine::{
    ChannelInput, Effort, EngineError, LanguageChoice, Piece, Recognised, Recogniser, SAMPLE_RATE_HZ,
};
use crate::model::segments::{Segment, Segments};

/// How often a waiting job looks whether it is cancelled.
const LOOK: Duration = Duration::from_millis(100);
/// Segments in the queue for each thread: enough that none waits for the reading of samples.
const QUEUED_A_THREAD: usize = 2;
/// Not halved any further when the text runs out of room: 4 s.
const LEAST_HALVED: usize = 4 * SAMPLE_RATE_HZ as usize;

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

/// A segment or a part of it: samples of the segment's own clock.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Part {
    index: usize,
    start: usize,
    end: usize,
}

/// A segment of which parts are still out.
struct Open {
    index: usize,
    parts_out: usize,
    heard: Vec<(Part, Recognised)>,
}

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
                open.push(Open { index: *index, parts_out: 1, heard: Vec::new() });
                pieces.push(Piece { key, samples, choice: choice.clone(), effort });
            }
            self.recogniser.submit(pieces, &answer);
            let (part, recognised) = self.wait(&answers)?;
            let place =
                open.iter().position(|open| open.index == part.index).expect("only open segments are out");
            if recognised.is_cut && part.end - part.start > LEAST_HALVED {
                self.halve(part, &recognised, effort, &answer)?;
                open[place].parts_out += 1;
                continue;
            }
            open[place].parts_out -= 1;
            open[place].heard.push((part, recognised));
            if open[place].parts_out == 0 {
                let done = open.swap_remove(place);
                on_result(done.index, self.result(done)?)?;
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

    /// Sends both halves of a part whose text ran out of room, cut at a pause.
    fn halve(
        &self,
        part: Part,
        recognised: &Recognised,
        effort: Effort,
        answer: &mpsc::Sender<(Part, Result<Recognised, EngineError>)>,
    ) -> Result<(), TranscribeError> {
        let segment = &self.segments.segments[part.index];
        let timeline = Timeline::new(segment, self.segments);
        let samples = self.read(segment)?;
        let middle = timeline.pause_near(part.start, part.end);
        let half = |start: usize, end: usize| Piece {
            key: Part { start, end, ..part },
            samples: samples[start..end].to_vec(),
            choice: LanguageChoice::Known(recognised.language),
            effort,
        };
        self.recogniser.submit(vec![half(part.start, middle), half(middle, part.end)], answer);
        Ok(())
    }

    fn read(&self, segment: &Segment) -> Result<Vec<f32>, TranscribeError> {
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

    fn result(&self, mut done: Open) -> Result<SegmentResult, TranscribeError> {
        done.heard.sort_by_key(|(part, _)| part.start);
        let segment = &self.segments.segments[done.index];
        let timeline = Timeline::new(segment, self.segments);
        let first = &done.heard.first().expect("a segment has a part").1;
        let mut result =
            SegmentResult { words: Vec::new(), language: first.language, odds: odds(first), flag: None };
        let mut all = Vec::new();
        for (part, recognised) in &done.heard {
            let offset_s = part.start as f64 / f64::from(SAMPLE_RATE_HZ);
            let onset_s = timeline.onset_after(offset_s);
            let heard = characters(&recognised.tokens, onset_s, offset_s);
            let text: String = heard.iter().map(|character| character.character).collect();
            if is_invented(recognised, &text) {
                result.flag = Some(Flag::Dropped);
                continue;
            }
            if result.flag.is_none() {
                let is_again = recognised.attempts > 1;
                let again = is_again.then_some(Flag::DecodedAgain);
                result.flag = if recognised.is_doubtful { Some(Flag::Doubtful) } else { again };
            }
            all.extend(heard);
        }
        let loudness = if self.accurate_word_times { Some(Loudness::of(&self.read(segment)?)) } else { None };
        result.words = words(&all, result.language, &timeline, loudness.as_ref());
        Ok(result)
    }
}

/// To four digits, so that they are the same after a checkpoint is read back.
fn odds(recognised: &Recognised) -> Vec<(crate::model::language::Language, f32)> {
    let round = |share: f32| (share * 10_000.0).round() / 10_000.0;
    recognised
        .odds
        .iter()
        .map(|(language, share)| (*language, round(*share)))
        .filter(|(_, share)| *share > 0.0)
        .collect()
}
