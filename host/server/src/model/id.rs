//! Identifiers as types, so that a job's id is never taken for a file's.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new random (version 4) id.
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                Self(Uuid::new_v4())
            }

            /// Reads the hyphenated form; anything else is `None`.
            pub fn parse(text: &str) -> Option<Self> {
                (text.len() == 36).then(|| Uuid::try_parse(text).ok().map(Self)).flatten()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

uuid_id!(
    /// One accepted request.
    JobId
);
uuid_id!(
    /// A stored audio or video file.
    FileId
);

/// Owner of jobs, files and keys.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountId(pub String);

impl AccountId {
    /// Longest name.
    pub const MOST_CHARS: usize = 128;
    /// What [`AccountId::is_valid`] asks for, for whoever has to change a name.
    pub const RULE: &str = "must have 1 to 128 printable characters and no spaces at its ends";

    /// The same for a JSON Schema, beside the length.
    pub const PATTERN: &str =
        r"^[^\s\u0000-\u001f\u007f-\u009f]([^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f])?$";

    /// Whether a new account may have this name: 1 to 128 characters of printable text.
    pub fn is_valid(name: &str) -> bool {
        (1..=Self::MOST_CHARS).contains(&name.chars().count())
            && !name.chars().any(char::is_control)
            && name.trim() == name
    }
}

/// The id under which a client can ask about one HTTP request: `G-` and 8 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub String);

impl RequestId {
    /// A new random id.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let random = Uuid::new_v4().as_u128() as u32;
        Self(format!("G-{random:08x}"))
    }
}

/// Where bytes lie in the blob store: `area/xx/uuid`. Made by us, never from client input.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlobKey(String);

impl BlobKey {
    /// A new random key.
    pub fn new(area: BlobArea) -> Self {
        let id = Uuid::new_v4().simple().to_string();
        Self(format!("{}/{}/{id}", area.name(), &id[..2]))
    }

    /// Reads a key that was made by [`BlobKey::new`]; anything else is `None`, so that no
    /// text from elsewhere ever becomes a path.
    pub fn parse(text: &str) -> Option<Self> {
        let (area, rest) = text.split_once('/')?;
        let (folder, id) = rest.split_once('/')?;
        let is_hex = |s: &str| s.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let known = BlobArea::ALL.iter().any(|known| known.name() == area);
        (known && id.len() == 32 && is_hex(id) && folder == &id[..2]).then(|| Self(text.to_owned()))
    }

    /// The key as text, with `/` between its three parts.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a blob is for; the first part of its key, so that an operator can see what fills
/// the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlobArea {
    /// Uploaded and fetched files.
    Audio,
    /// What a job has reached so far.
    Checkpoint,
    /// Results of finished jobs.
    Result,
}

impl BlobArea {
    /// Every area.
    pub const ALL: [Self; 3] = [Self::Audio, Self::Checkpoint, Self::Result];

    /// The folder's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Audio => "audio",
            Self::Checkpoint => "checkpoint",
            Self::Result => "result",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blob_keys_parse_back_and_foreign_text_does_not() {
        for area in BlobArea::ALL {
            let key = BlobKey::new(area);
            assert_eq!(BlobKey::parse(key.as_str()), Some(key));
        }
        let id = "0123456789abcdef0123456789abcdef";
        assert!(BlobKey::parse(&format!("audio/01/{id}")).is_some());
        for text in [
            String::new(),
            "../../etc/passwd".to_owned(),
            format!("audio/02/{id}"),
            format!("other/01/{id}"),
            format!("audio/01/{}", id.to_uppercase()),
            format!("audio/01/{id}0"),
            format!("audio/01/../{id}"),
        ] {
            assert_eq!(BlobKey::parse(&text), None, "{text}");
        }
    }
}
