//! The loop: packets in, channel files out.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use symphonia::core::packet::Packet;

use super::DecodeLimits;
use super::audio::{Audio, AudioInfo};
use super::damage::Damage;
use super::error::DecodeError;
use super::files::ChannelFiles;
use super::sink::Sink;
use super::source::{self, Clock, Next, Selected, Source};
use super::timeline::{Place, Timeline};
use super::window::Window;
use crate::model::segments::SAMPLE_RATE_HZ;

/// How far the sum of the lengths of packets may be off, seconds: a recording that is just as
/// long as allowed is not refused.
const INEXACT_S: f64 = 0.001;

/// Longest damage before the first packet that is filled with silence, seconds: a recording of a
/// broadcast may begin anywhere on its clock.
const LONGEST_LOST_S: f64 = 60.0;

/// Decodes the first audio track of `media` that can be decoded into `files`. Blocks; `cancel` is
/// looked at with every packet and whenever the file is read.
///
/// # Errors
/// [`DecodeError`]; what is damaged but decodable in part is no error, see [`AudioInfo::damage`].
pub fn decode(
    media: File,
    files: &ChannelFiles,
    limits: &DecodeLimits,
    cancel: &Arc<AtomicBool>,
) -> Result<Audio, DecodeError> {
    let file = Window::whole(media).map_err(DecodeError::Read)?.until(cancel);
    let decoded = decode_window(&file, files, limits, cancel);
    // A reader takes what it could not read for the end of the file, or for damage.
    if cancel.load(Ordering::Relaxed) { Err(DecodeError::Cancelled) } else { decoded }
}

fn decode_window(
    file: &Window,
    files: &ChannelFiles,
    limits: &DecodeLimits,
    cancel: &AtomicBool,
) -> Result<Audio, DecodeError> {
    let (source, selected) = source::open(file)?;
    let mut run = Run::new(selected, Sink::new(files), limits);
    run.all(source, cancel)?;
    let info = run.finish()?;
    Audio::open(files, info).map_err(DecodeError::Store)
}

/// The state of one decode.
struct Run<'a> {
    selected: Selected,
    sink: Sink<'a>,
    timeline: Timeline,
    damage: Damage,
    limits: &'a DecodeLimits,
    planes: Vec<Vec<f32>>,
    is_first: bool,
    /// Something before the next packet is lost.
    is_damaged: bool,
    /// Length of the last packet that was decoded.
    usual_s: f64,
    stamp_shift_s: f64,
}

impl<'a> Run<'a> {
    fn new(selected: Selected, sink: Sink<'a>, limits: &'a DecodeLimits) -> Self {
        let mut damage = Damage::default();
        damage.note(selected.made.note);
        Self {
            sink,
            timeline: Timeline::new(selected.offset_s, limits.max_duration_s),
            selected,
            damage,
            limits,
            planes: Vec::new(),
            is_first: true,
            is_damaged: false,
            usual_s: 0.0,
            stamp_shift_s: 0.0,
        }
    }

    fn all(&mut self, mut source: Source, cancel: &AtomicBool) -> Result<(), DecodeError> {
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(DecodeError::Cancelled);
            }
            match source.next().map_err(DecodeError::Read)? {
                Next::Packet(packet) => self.packet(&packet, source.others_start_s())?,
                Next::Damaged => self.damaged(),
                Next::Lost { length_s } => self.lost(length_s)?,
                Next::NewStream(selected) => self.new_stream(*selected),
                Next::End => return Ok(()),
                Next::Broken => {
                    self.damage.broken();
                    return Ok(());
                }
            }
        }
    }

    fn new_stream(&mut self, selected: Selected) {
        self.damage.note(selected.made.note);
        let lengths_s = self.selected.stated_s.zip(selected.stated_s);
        let stated_s = lengths_s.map(|(before_s, length_s)| before_s + length_s);
        self.selected = Selected { stated_s, ..selected };
        self.is_first = true;
        self.timeline.restart();
    }

    fn damaged(&mut self) {
        self.is_damaged = true;
        self.timeline.damaged();
        if self.damage.good_packets == 0 {
            self.damage.late();
        }
    }

    fn packet(&mut self, packet: &Packet, others_start_s: Option<f64>) -> Result<(), DecodeError> {
        let tick_s = self.selected.tick_s;
        let stamp_s = packet.pts.get() as f64 * tick_s;
        if self.is_first {
            // Timestamps of Opus include the pre-skip.
            self.stamp_shift_s = if stamp_s >= 0.0 { -self.selected.made.pre_skip_s } else { 0.0 };
        }
        let is_late = self.selected.is_late && stamp_s < LONGEST_LOST_S;
        let others_start_s = others_start_s.or(is_late.then_some(0.0));
        let origin_s = others_start_s.map_or(stamp_s, |start_s| start_s.min(stamp_s)).max(0.0);
        self.selected.begins_at(origin_s);
        let decoded = self.decode(packet);
        let length_s = match decoded {
            Some(sample_rate) => {
                self.usual_s = self.frames() as f64 / f64::from(sample_rate);
                self.usual_s
            }
            None => self.lost_s(packet),
        };
        if decoded.is_some() && length_s == 0.0 {
            return Ok(());
        }
        let is_damaged = std::mem::take(&mut self.is_damaged);
        let is_stamped = self.is_first || self.selected.container.clock == Clock::Container;
        // What a decoder has trimmed off the start does not shift the rest.
        let trimmed_s =
            if self.selected.is_mpeg_audio() { 0.0 } else { packet.trim_start.get() as f64 * tick_s };
        let offset_s = self.selected.offset_s;
        let start_s = is_stamped.then_some(offset_s + stamp_s + self.stamp_shift_s + trimmed_s);
        self.is_first = false;
        let place = self.place(start_s, length_s, origin_s)?;
        if place.gap_s > 0.0 {
            if self.damage.good_packets > 0 && (is_damaged || self.selected.has_no_pauses()) {
                self.damage.bad(place.gap_s);
            }
            self.sink.silence(place.gap_s)?;
        }
        match decoded {
            Some(sample_rate) => self.write(place.skip_s, sample_rate),
            None => self.sink.silence(length_s - place.skip_s),
        }
    }

    /// Writes silence for what is lost.
    fn lost(&mut self, length_s: f64) -> Result<(), DecodeError> {
        if length_s > 0.0 && self.damage.good_packets > 0 {
            self.damage.bad(length_s);
            let place = self.place(None, length_s, 0.0)?;
            self.sink.silence(length_s - place.skip_s)?;
        }
        Ok(())
    }

    /// Places audio, see [`Timeline::place`], within the limits.
    fn place(&mut self, start_s: Option<f64>, length_s: f64, origin_s: f64) -> Result<Place, DecodeError> {
        let place = self.timeline.place(start_s, length_s, origin_s);
        if place.is_jump {
            self.damage.jump();
        }
        let end_s = self.timeline.end_s() - INEXACT_S;
        if end_s > self.limits.max_duration_s {
            return Err(DecodeError::TooLong { limit_s: self.limits.max_duration_s });
        }
        if end_s * self.planes.len() as f64 > self.limits.max_channel_s {
            return Err(DecodeError::TooLongTogether { limit_s: self.limits.max_channel_s });
        }
        Ok(place)
    }

    fn write(&mut self, skip_s: f64, sample_rate: u32) -> Result<(), DecodeError> {
        let limit = self.limits.max_channels;
        if self.planes.len() > usize::from(limit) {
            return Err(DecodeError::TooManyChannels { channels: self.planes.len(), limit });
        }
        self.damage.good();
        let frames = self.frames();
        let skipped = ((skip_s * f64::from(sample_rate)).round() as usize).min(frames);
        self.sink.write(&mut self.planes, skipped, frames, sample_rate)
    }

    /// Decodes into `planes`; `None` when the packet is lost.
    fn decode(&mut self, packet: &Packet) -> Option<u32> {
        let decoded = self.selected.decode(packet, &mut self.planes);
        if decoded.is_err() {
            self.damage.bad(self.lost_s(packet));
        }
        decoded.ok()
    }

    /// Length of a packet that is lost; where the container does not say, that of those before it.
    fn lost_s(&self, packet: &Packet) -> f64 {
        if packet.dur.get() == 0 { self.usual_s } else { packet.dur.get() as f64 * self.selected.tick_s }
    }

    fn frames(&self) -> usize {
        self.planes.first().map_or(0, Vec::len)
    }

    fn finish(self) -> Result<AudioInfo, DecodeError> {
        let selected = self.selected;
        if self.damage.good_packets == 0 || self.damage.is_hopeless() {
            return Err(if self.damage.is_hopeless() {
                DecodeError::undecodable()
            } else {
                DecodeError::NoData
            });
        }
        let padded_s = selected.padded_end_s(self.timeline.end_s());
        let longest =
            selected.cut_s.or(padded_s).map(|stated_s| (stated_s * f64::from(SAMPLE_RATE_HZ)).round() as u64);
        let written = self.sink.finish(longest)?;
        if written.frames == 0 {
            return Err(DecodeError::NoData);
        }
        let duration_s = written.frames as f64 / f64::from(SAMPLE_RATE_HZ);
        Ok(AudioInfo {
            duration_s,
            source_channels: written.source_channels as u16,
            distinct: written.distinct.iter().map(|channel| *channel as u16).collect(),
            container: selected.container.name.to_owned(),
            codec: selected.made.name,
            damage: self.damage.describe(duration_s, selected.stated_s),
            frames: written.frames,
        })
    }
}
