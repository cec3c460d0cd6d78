//! How far a listener is.
//!
//! Owns the text of an event's id: the number in the history for one repository, `ID:N,…` for all.

use std::{collections::BTreeMap, fmt, str::FromStr};

use flagpost_model::RepoId;

/// How far a listener is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// In the one repository that it listens to.
    One(u64),
    /// In each.
    Each(BTreeMap<RepoId, u64>),
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(n) => write!(f, "{n}"),
            Self::Each(all) => {
                for (at, (id, n)) in all.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(f, "{comma}{id}:{n}")?;
                }
                Ok(())
            }
        }
    }
}

/// The text is no cursor.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no id of an event: a number, or ID:NUMBER,… for several repositories")]
pub(crate) struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let number = |text: &str| text.parse::<u64>().map_err(|_| NoCursor);
        if !text.contains(':') {
            return number(text).map(Self::One);
        }
        let each = text.split(',').map(|one| {
            let (id, n) = one.split_once(':').ok_or(NoCursor)?;
            Ok((id.parse().map_err(|_| NoCursor)?, number(n)?))
        });
        each.collect::<Result<_, NoCursor>>().map(Self::Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["0", "41", "a:1", "a:1,b-2:0"] {
            let cursor: Cursor = text.parse().unwrap();
            assert_eq!(cursor.to_string(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "", "-1", "x", "a:", "a:x", ":1", "a:1,", "a:1,2", "a/b:1", "1 ",
        ] {
            assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text}");
        }
    }
}
