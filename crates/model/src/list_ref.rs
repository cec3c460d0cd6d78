//! What a list is called: the name of one of ours, another program's name for one of its own, or where a
//! coordination directory is.
//!
//! Owns the spelling `coord:PATH` of the last, and which names others may have: whatever a directory is
//! called that is none of ours. No name begins with `coord:`, so neither is ever taken for the other.
//! Invariant: a text is read as a foreign name only by whoever asks for one, and such a list is never
//! written.

use std::{fmt, path::Path, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    id::{InvalidId, ListId},
    names::names,
};

names! {
    /// How lists appear where another program looks for its own.
    MirrorForm {
        /// As a link to their directory.
        Link = "link",
        /// As a copy of it.
        Copy = "copy",
    }
}

/// What the place of a coordination directory begins with.
const PLACE: &str = "coord:";

/// A list, as somebody names it.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub enum ListRef {
    /// One of ours, by its name.
    Named(ListId),
    /// One of another program's, whose name no list of ours can have.
    Foreign(ForeignName),
    /// The table of a coordination directory.
    Coordination(CoordinationPlace),
}

/// The name of a directory of tasks that no list of ours can have: `日本`, `my list`, `_x`, `.x`, `a:b`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ForeignName(String);

/// So many bytes long may the name of a directory be.
const LONGEST: usize = 255;

/// Where a coordination directory is, spelled in full.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CoordinationPlace(String);

impl CoordinationPlace {
    /// The directory; empty where the nearest one is meant.
    pub fn path(&self) -> &Path {
        Path::new(self.0.get(PLACE.len()..).unwrap_or_default())
    }
}

impl ListRef {
    /// The coordination directory at this path; a path that is no text has no name.
    pub fn of_directory(path: &Path) -> Option<Self> {
        let text = path
            .to_str()
            .filter(|it| !it.contains(['\0', '\n', '\r']))?;
        Some(Self::Coordination(CoordinationPlace(format!(
            "{PLACE}{text}"
        ))))
    }

    /// Another program's list of this name; none where the name could be one of ours, or a place, or is no
    /// name of a directory.
    pub fn foreign(name: &str) -> Option<Self> {
        let is_name = !["", ".", ".."].contains(&name)
            && name.len() <= LONGEST
            && !name.starts_with(PLACE)
            && !name.contains(['/', '\0'])
            && name.parse::<ListId>().is_err();
        is_name.then(|| Self::Foreign(ForeignName(name.to_owned())))
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Named(id) => id.as_str(),
            Self::Foreign(name) => &name.0,
            Self::Coordination(place) => &place.0,
        }
    }

    /// The name, where it is one of ours.
    pub fn name(&self) -> Option<&ListId> {
        match self {
            Self::Named(id) => Some(id),
            Self::Foreign(_) | Self::Coordination(_) => None,
        }
    }
}

impl FromStr for ListRef {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let place = text.strip_prefix(PLACE).map(Path::new);
        match place.and_then(Self::of_directory) {
            Some(place) => Ok(place),
            None => text.parse().map(Self::Named),
        }
    }
}

impl TryFrom<String> for ListRef {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<ListRef> for String {
    fn from(list: ListRef) -> Self {
        list.as_str().to_owned()
    }
}

impl From<ListId> for ListRef {
    fn from(id: ListId) -> Self {
        Self::Named(id)
    }
}

impl From<&ListId> for ListRef {
    fn from(id: &ListId) -> Self {
        Self::Named(id.clone())
    }
}

impl PartialEq<ListId> for ListRef {
    fn eq(&self, other: &ListId) -> bool {
        self.name() == Some(other)
    }
}

impl fmt::Display for ListRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_called_by_its_name_or_by_its_place() {
        for (text, path) in [
            ("web", None),
            ("coord", None),
            ("coord:", Some("")),
            (
                "coord:/srv/a b/.coordination",
                Some("/srv/a b/.coordination"),
            ),
            ("coord:../x", Some("../x")),
        ] {
            let list: ListRef = text.parse().unwrap();
            let place = match &list {
                ListRef::Named(_) | ListRef::Foreign(_) => None,
                ListRef::Coordination(place) => place.path().to_str(),
            };
            assert_eq!(place, path, "{text}");
            assert_eq!(list.to_string(), text);
            assert_eq!(list.name().is_some(), path.is_none());
        }
        for text in ["", "a:b", "coord:a\nb", "../x", "/x"] {
            assert!(text.parse::<ListRef>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn others_call_theirs_whatever_a_directory_may_be_called() {
        for name in [
            "_x",
            "my list",
            "日本",
            "-f",
            "a\u{301}",
            ".git",
            "...",
            "a:b",
            "a\nb",
            "\u{1b}[2J",
            &"x".repeat(65),
        ] {
            let list = ListRef::foreign(name).unwrap();
            assert_eq!((list.as_str(), list.name()), (name, None));
            assert!(name.parse::<ListRef>().is_err(), "{name:?}");
        }
        let long = "x".repeat(256);
        for name in [
            "", "web", ".", "..", "a/b", "/", "coord:", "coord:x", "\0", &long,
        ] {
            assert_eq!(ListRef::foreign(name), None, "{name:?}");
        }
    }
}
