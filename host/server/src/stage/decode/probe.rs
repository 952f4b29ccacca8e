//! Looks at a file as far as it takes to tell what it holds and how long it is. Writes nothing.

use std::fs::File;

use symphonia::core::packet::Packet;

use super::Probe;
use super::error::DecodeError;
use super::source::{self, Clock, Next, Selected};
use super::window::Window;

/// Packets of which one must decode before the header is believed without it.
const MOST_TRIED: usize = 64;

/// Extensions that stand for the same container, the usual one first.
const EXTENSIONS: [&[&str]; 7] = [
    &["mp4", "m4a", "m4b", "m4v", "mov", "3gp"],
    &["ogg", "oga", "opus", "ogv", "spx"],
    &["mkv", "mka"],
    &["wav", "wave", "bwf"],
    &["mp3", "mp2", "mpga"],
    &["aiff", "aif", "aifc"],
    &["aac", "adts"],
];

/// Looks at `media` without decoding all of it. The content alone decides what the file is; the
/// extension of `name` is kept when it is another usual one for that.
///
/// # Errors
/// As [`decode`](super::decode), when the file has no audio or its beginning does not decode.
pub fn probe(media: File, name: Option<&str>) -> Result<Probe, DecodeError> {
    let file = Window::whole(media).map_err(DecodeError::Read)?;
    let (mut source, selected) = source::open(&file)?;
    let mut look = Look::new(selected);
    while look.wants_more() {
        match source.next().map_err(DecodeError::Read)? {
            Next::Packet(packet) => look.packet(&packet),
            Next::NewStream(selected) => look.new_stream(*selected),
            Next::Damaged => {}
            Next::Lost { length_s } => look.end_s += length_s,
            Next::End | Next::Broken => break,
        }
    }
    look.finish(name)
}

/// What has been seen so far.
struct Look {
    selected: Selected,
    /// Of the first packet that decodes.
    planes: Vec<Vec<f32>>,
    packets: usize,
    /// Where the packets of this stream end.
    end_s: f64,
    /// Length of the streams before it.
    ended_s: f64,
}

impl Look {
    fn new(selected: Selected) -> Self {
        Self { selected, planes: Vec::new(), packets: 0, end_s: 0.0, ended_s: 0.0 }
    }

    fn is_decoded(&self) -> bool {
        self.planes.first().is_some_and(|plane| !plane.is_empty())
    }

    /// Whether the length is not known yet, or whether the audio decodes.
    fn wants_more(&self) -> bool {
        let is_tried = self.is_decoded() || self.packets > MOST_TRIED;
        !is_tried || self.selected.promised_s().is_none() || self.selected.is_followed
    }

    fn packet(&mut self, packet: &Packet) {
        let tick_s = self.selected.tick_s;
        let (start_s, length_s) = (packet.pts.get() as f64 * tick_s, packet.dur.get() as f64 * tick_s);
        if self.packets == 0 {
            self.selected.begins_at(start_s);
            // Before zero lies the delay of an encoder, which is not heard.
            self.end_s = start_s.min(0.0);
        }
        self.packets += 1;
        self.end_s = match self.selected.container.clock {
            Clock::Container => self.end_s.max(start_s + length_s),
            Clock::Samples => self.end_s + length_s,
        };
        if !self.is_decoded()
            && self.packets <= MOST_TRIED
            && self.selected.decode(packet, &mut self.planes).is_err()
        {
            self.planes.clear();
        }
    }

    fn new_stream(&mut self, selected: Selected) {
        self.ended_s = self.length_s();
        (self.selected, self.end_s) = (selected, 0.0);
    }

    fn length_s(&self) -> f64 {
        let promised_s = match self.selected.is_exact {
            // All of it has been looked at.
            true => self.selected.padded_end_s(self.end_s),
            false => self.selected.promised_s(),
        };
        self.ended_s + promised_s.unwrap_or(self.end_s)
    }

    fn finish(self, name: Option<&str>) -> Result<Probe, DecodeError> {
        if !self.is_decoded() {
            let is_empty = self.packets == 0;
            return Err(if is_empty { DecodeError::NoData } else { DecodeError::undecodable() });
        }
        let container = self.selected.container;
        Ok(Probe {
            duration_s: self.length_s(),
            source_channels: self.planes.len() as u16,
            container: container.name.to_owned(),
            extension: extension(name, container.extension),
            codec: self.selected.made.name,
        })
    }
}

fn extension(name: Option<&str>, usual: &str) -> String {
    let given = name.and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_ascii_lowercase());
    let same = EXTENSIONS.iter().find(|group| group.contains(&usual));
    let kept = given.filter(|given| same.is_some_and(|group| group.contains(&given.as_str())));
    kept.unwrap_or_else(|| usual.to_owned())
}
