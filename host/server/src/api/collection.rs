//! The three collections of jobs. They share their handlers and differ in what they hold.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::model::job::Kind;

/// The collection that the path of a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Collection {
    PreRecorded,
    Live,
    /// Deprecated; holds both kinds.
    Transcription,
}

impl Collection {
    /// Every collection.
    pub const ALL: [Self; 3] = [Self::PreRecorded, Self::Live, Self::Transcription];

    /// Its path, from the root.
    pub fn path(self) -> &'static str {
        match self {
            Self::PreRecorded => "/v2/pre-recorded",
            Self::Live => "/v2/live",
            Self::Transcription => "/v2/transcription",
        }
    }

    /// The only kind of job in it.
    pub fn kind(self) -> Option<Kind> {
        match self {
            Self::PreRecorded => Some(Kind::PreRecorded),
            Self::Live => Some(Kind::Live),
            Self::Transcription => None,
        }
    }

    /// Whether a job of this kind stands in it.
    pub fn holds(self, kind: Kind) -> bool {
        self.kind().is_none_or(|own| own == kind)
    }

    fn of_path(path: &str) -> Option<Self> {
        let is_within = |rest: &str| rest.is_empty() || rest.starts_with('/');
        Self::ALL.into_iter().find(|one| path.strip_prefix(one.path()).is_some_and(is_within))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Collection {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of_path(parts.uri.path()).expect("only routes below a collection ask for it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_collection() {
        for collection in Collection::ALL {
            for rest in ["", "/", "/x", "/x/file/"] {
                let path = format!("{}{rest}", collection.path());
                assert_eq!(Collection::of_path(&path), Some(collection), "{path}");
            }
        }
        for path in ["/v2/lives", "/v2", "/file/x", ""] {
            assert_eq!(Collection::of_path(path), None, "{path}");
        }
    }
}
