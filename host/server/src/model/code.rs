//! What failed, as the outside sees it: HTTP status, stable name, and who can mend it.
//!
//! Each module's error names its code; this table is the only place where a code gets its
//! numbers. A failed job shows the status as `error_code` and the name in
//! `post_session_metadata.error.name`.

use std::io;

use rustix::io::Errno;

/// Who can do something about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The request or its audio: trying again changes nothing.
    Input,
    /// Us: tried once more, in case it was chance.
    Us,
    /// The world around us, such as the host of the audio or our disk: tried again until two hours
    /// after the request.
    Outside,
}

/// Everything that can end a job or refuse a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The URL is malformed, or leads where we may not go.
    AudioUrlRefused,
    /// The host or the file behind the URL does not exist.
    AudioUrlNotFound,
    /// The host refuses to serve the file.
    AudioUrlUnreadable,
    /// The host of the URL has trouble or cannot be reached.
    AudioHostDown,
    /// The host of the URL is too slow.
    AudioHostSlow,
    /// More bytes, seconds or channels than allowed.
    AudioTooLarge,
    /// Not audio or video.
    NotAudio,
    /// Audio or video that gives no sound: damaged, without audio, codec not supported.
    AudioUndecodable,
    /// The stored audio is no longer there.
    AudioGone,
    /// The model does not do what is asked.
    ModelRules,
    /// No speech model can be used.
    ModelUnavailable,
    /// Inference failed.
    InferenceFailed,
    /// An add-on that redacts did not do its work.
    RedactionFailed,
    /// No space left on a disk of ours.
    StorageFull,
    /// The database is locked by another process.
    DatabaseLocked,
    /// The system gives this process no more files or threads.
    Overloaded,
    /// The job ended its process three times.
    StoppedUnexpectedly,
    /// The service is about to stop.
    ShuttingDown,
    /// A defect of ours.
    Internal,
}

/// EAGAIN of a thread, EMFILE and ENFILE.
const SCARCE: [i32; 3] =
    [Errno::AGAIN.raw_os_error(), Errno::MFILE.raw_os_error(), Errno::NFILE.raw_os_error()];

impl Code {
    /// Every code.
    pub const ALL: [Self; 19] = [
        Self::AudioUrlRefused,
        Self::AudioUrlNotFound,
        Self::AudioUrlUnreadable,
        Self::AudioHostDown,
        Self::AudioHostSlow,
        Self::AudioTooLarge,
        Self::NotAudio,
        Self::AudioUndecodable,
        Self::AudioGone,
        Self::ModelRules,
        Self::ModelUnavailable,
        Self::InferenceFailed,
        Self::RedactionFailed,
        Self::StorageFull,
        Self::DatabaseLocked,
        Self::Overloaded,
        Self::StoppedUnexpectedly,
        Self::ShuttingDown,
        Self::Internal,
    ];

    /// Whether a disk of ours is full, by quota or limit too, whether this process may not open
    /// another file or start another thread, or something else failed.
    pub fn of_disk(cause: &io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        match cause.kind() {
            StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem => Self::StorageFull,
            _ if cause.raw_os_error().is_some_and(|number| SCARCE.contains(&number)) => Self::Overloaded,
            _ => Self::Internal,
        }
    }

    /// HTTP status of a refused request, `error_code` of a failed job: 400 to 599.
    pub fn status(self) -> u16 {
        self.row().0
    }

    /// Stable name for machines.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Who can do something about it.
    pub fn blame(self) -> Blame {
        self.row().2
    }

    fn row(self) -> (u16, &'static str, Blame) {
        use Blame::{Input, Outside, Us};
        match self {
            Self::AudioUrlRefused => (400, "audio_url_refused", Input),
            Self::AudioUrlNotFound => (404, "audio_url_not_found", Input),
            Self::AudioUrlUnreadable => (400, "audio_url_unreadable", Input),
            Self::AudioHostDown => (502, "audio_host_down", Outside),
            Self::AudioHostSlow => (504, "audio_host_slow", Outside),
            Self::AudioTooLarge => (413, "audio_too_large", Input),
            Self::NotAudio => (400, "not_audio", Input),
            Self::AudioUndecodable => (422, "audio_undecodable", Input),
            Self::AudioGone => (404, "audio_gone", Input),
            Self::ModelRules => (422, "model_rules", Input),
            Self::ModelUnavailable => (503, "model_unavailable", Us),
            Self::InferenceFailed => (500, "inference_failed", Us),
            // Again would mean again with the same add-on and the same words.
            Self::RedactionFailed => (500, "redaction_failed", Input),
            Self::StorageFull => (503, "storage_full", Outside),
            Self::DatabaseLocked => (503, "database_locked", Outside),
            Self::Overloaded => (503, "overloaded", Outside),
            Self::StoppedUnexpectedly => (500, "stopped_unexpectedly", Input),
            Self::ShuttingDown => (503, "shutting_down", Outside),
            Self::Internal => (500, "internal", Us),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn statuses_are_errors_and_names_are_unique() {
        let names: HashSet<_> = Code::ALL.into_iter().map(Code::name).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!((400..=599).contains(&code.status()), "{code:?}");
        }
    }

    #[test]
    fn a_lack_of_files_is_told_from_a_lack_of_space() {
        let of = |errno: Errno| Code::of_disk(&errno.into());
        assert_eq!(of(Errno::MFILE), Code::Overloaded);
        assert_eq!(of(Errno::NOSPC), Code::StorageFull);
        assert_eq!(of(Errno::IO), Code::Internal);
    }

    #[test]
    fn what_is_outside_is_never_the_clients_fault() {
        for code in Code::ALL.into_iter().filter(|code| code.blame() == Blame::Outside) {
            assert!(code.status() >= 500, "{code:?}");
        }
    }
}
