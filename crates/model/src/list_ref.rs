//! What a list is called: the name of one of ours, or where a coordination directory is.
//!
//! Owns the spelling `coord:PATH` of the latter. No name has a colon, so neither is ever taken for
//! the other, and no path of ours is built from a place.

use std::{fmt, path::Path, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::id::{InvalidId, ListId};

/// What the place of a coordination directory begins with.
const PLACE: &str = "coord:";

/// A list, as somebody names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ListRef {
    /// One of ours, by its name.
    Named(ListId),
    /// The table of a coordination directory.
    Coordination(CoordinationPlace),
}

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

    /// As written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Named(id) => id.as_str(),
            Self::Coordination(place) => &place.0,
        }
    }

    /// The name, where it is one of ours.
    pub fn name(&self) -> Option<&ListId> {
        match self {
            Self::Named(id) => Some(id),
            Self::Coordination(_) => None,
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
                ListRef::Named(_) => None,
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
}
