//! Writes timed cues as SRT and VTT. No decision about times or rows here.

use std::fmt::Write;

use tympan_text::Voice;

use crate::config::Format;

/// A cue ready to be written.
#[derive(Debug)]
pub struct Written {
    /// Whose words these are.
    pub voice: Voice,
    /// Whether another voice spoke in the cue before.
    pub is_change: bool,
    /// Milliseconds.
    pub start_ms: u64,
    /// Milliseconds, after the start.
    pub end_ms: u64,
    /// Lines of text, none of them empty.
    pub rows: Vec<String>,
    /// Whether the first row has room for a mark.
    pub has_room: bool,
}

/// Stands before the words of another speaker in SRT.
pub const SPEAKER_MARK: &str = "- ";

/// The file as text. `has_voices` says whether there is more than one to tell apart.
pub fn write(format: Format, cues: &[Written], has_voices: bool) -> String {
    match format {
        Format::Srt => srt(cues, has_voices),
        Format::Vtt => vtt(cues, has_voices),
    }
}

fn srt(cues: &[Written], has_voices: bool) -> String {
    let mut file = String::new();
    for (index, cue) in cues.iter().enumerate() {
        if index > 0 {
            file.push('\n');
        }
        push(
            &mut file,
            format_args!("{}\n{} --> {}\n", index + 1, Time(cue.start_ms, ','), Time(cue.end_ms, ',')),
        );
        if has_voices && cue.is_change && cue.has_room {
            file.push_str(SPEAKER_MARK);
        }
        for row in &cue.rows {
            // SRT cannot quote, and readers look for this arrow to find the times.
            file.push_str(&row.replace("-->", "→"));
            file.push('\n');
        }
    }
    file
}

fn vtt(cues: &[Written], has_voices: bool) -> String {
    let mut file = String::from("WEBVTT\n");
    for cue in cues {
        push(&mut file, format_args!("\n{} --> {}\n", Time(cue.start_ms, '.'), Time(cue.end_ms, '.')));
        if has_voices {
            push(&mut file, format_args!("<v {}>", Name(cue.voice)));
        }
        for row in &cue.rows {
            file.push_str(&row.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
            file.push('\n');
        }
    }
    file
}

fn push(file: &mut String, text: std::fmt::Arguments) {
    file.write_fmt(text).expect("writing to a string does not fail");
}

/// `01:02:03,004`; the hours grow beyond two digits.
struct Time(u64, char);

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(ms, point) = self;
        let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(f, "{hours:02}:{minutes:02}:{seconds:02}{point}{:03}", ms % 1000)
    }
}

/// A voice by the numbers that it has in the transcript.
struct Name(Voice);

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Voice { channel, speaker } = self.0;
        match speaker {
            Some(speaker) => write!(f, "Speaker {speaker}"),
            None => write!(f, "Channel {channel}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue(channel: u16, start_ms: u64, end_ms: u64, rows: &[&str]) -> Written {
        let rows = rows.iter().map(|&row| row.to_owned()).collect();
        let voice = Voice { channel, speaker: None };
        Written { voice, is_change: true, start_ms, end_ms, rows, has_room: true }
    }

    #[test]
    fn srt_and_vtt_look_like_their_formats() {
        let cues = [cue(0, 210, 4711, &["Text", "more"]), cue(0, 360_000_000, 363_599_999, &["End"])];
        let srt = "1\n00:00:00,210 --> 00:00:04,711\nText\nmore\n\n2\n100:00:00,000 --> 100:59:59,999\nEnd\n";
        assert_eq!(write(Format::Srt, &cues, false), srt);
        let vtt =
            "WEBVTT\n\n00:00:00.210 --> 00:00:04.711\nText\nmore\n\n100:00:00.000 --> 100:59:59.999\nEnd\n";
        assert_eq!(write(Format::Vtt, &cues, false), vtt);
        assert_eq!(
            (write(Format::Srt, &[], false), write(Format::Vtt, &[], true)),
            (String::new(), "WEBVTT\n".into())
        );
    }

    #[test]
    fn what_could_be_taken_for_syntax_is_not_written() {
        let cues = [cue(0, 0, 1000, &["<b>a & b --> c</b>"])];
        assert!(write(Format::Vtt, &cues, false).ends_with("\n&lt;b&gt;a &amp; b --&gt; c&lt;/b&gt;\n"));
        assert!(write(Format::Srt, &cues, false).ends_with("\n<b>a & b → c</b>\n"));
    }

    #[test]
    fn voices_are_told_apart() {
        let mut cues =
            [cue(0, 0, 1000, &["Hi"]), cue(0, 1000, 2000, &["again"]), cue(1, 2000, 3000, &["Ho"])];
        cues[1].is_change = false;
        cues[2].has_room = false;
        cues[2].voice.speaker = Some(3);
        let srt = write(Format::Srt, &cues, true);
        assert!(srt.contains("\n- Hi\n") && srt.contains("\nagain\n") && srt.contains("\nHo\n"), "{srt}");
        let vtt = write(Format::Vtt, &cues, true);
        assert!(vtt.contains("<v Channel 0>Hi\n") && vtt.contains("<v Speaker 3>Ho\n"), "{vtt}");
    }
}
