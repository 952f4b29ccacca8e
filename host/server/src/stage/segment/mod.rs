//! Finds the stretches of speech and cuts them into what the speech model hears at once.
//!
//! Works on one channel after the other and keeps only a few numbers per 32 ms, so that
//! the length of a file does not matter.

mod pack;
mod regions;
mod scan;

use std::io;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use crate::engine::ChannelInput;
use crate::model::segments::{Segments, Speech};

/// How to cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum SegmentPlan {
    /// Segments filled up to what the model hears at once, because the language is known.
    Filled,
    /// The same, but the first of each channel holds the first utterance alone, because that
    /// tells the language of the file.
    FirstApart,
    /// Cut at every pause, because the language may change there.
    PerUtterance,
}

/// Why no segments came out.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// The decoded audio could not be read back.
    #[error("decoded audio cannot be read")]
    Read(#[from] io::Error),
    /// The job was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Finds speech on every channel. `on_progress` gets 0.0 to 1.0.
pub fn segment(
    channels: &[ChannelInput<'_>],
    plan: SegmentPlan,
    cancel: &AtomicBool,
    on_progress: &(dyn Fn(f32) + Sync),
) -> Result<Segments, SegmentError> {
    let mut found = Segments::default();
    let total: u64 = channels.iter().map(|channel| channel.pcm.frames()).sum();
    let mut done = 0;
    for channel in channels {
        let report = |frames: u64| on_progress((done + frames) as f32 / total.max(1) as f32);
        let steps = scan::scan(channel.pcm, cancel, &report)?;
        let regions = regions::find(&steps, channel.pcm.frames());
        let number = channel.source_channel;
        found.segments.extend(pack::pack(&regions, &steps, channel.pcm.frames(), number, plan));
        found.speech.extend(regions.into_iter().map(|span| Speech { channel: number, span }));
        done += channel.pcm.frames();
    }
    found.speech.sort_by_key(|speech| (speech.channel, speech.span.start_frame));
    found
        .segments
        .sort_by_key(|segment| (segment.spans.first().map(|span| span.start_frame), segment.channel));
    Ok(found)
}

/// A span from seconds, for tests.
#[cfg(test)]
fn seconds(start_s: f64, end_s: f64) -> crate::model::segments::Span {
    let frame = |s: f64| (s * f64::from(crate::engine::SAMPLE_RATE_HZ)).round() as u64;
    crate::model::segments::Span { start_frame: frame(start_s), end_frame: frame(end_s) }
}
