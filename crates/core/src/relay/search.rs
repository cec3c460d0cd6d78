//! Looking for a text in everything that was ever said.
//!
//! Owns the plain look: every line of the history, every message, live or archived. It believes no
//! index.

use std::path::{Path, PathBuf};

use flagpost_disk::{
    dialects::relay::{self as layout, Part},
    fsx,
};
use flagpost_model::{Seq, WorkerId, envelope::Direction};

use super::{Fleet, slots::names};
use crate::{
    error::{Error, Result},
    history::History,
};

/// A place where the text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line of the history, by its number.
    History(u64),
    /// A message.
    Message {
        /// Whose mail.
        worker: WorkerId,
        /// Which direction.
        direction: Direction,
        /// Its number.
        seq: Seq,
        /// The month of the archive; none where it is live.
        month: Option<String>,
    },
}

/// A place, and the line that the text is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Where.
    pub place: Place,
    /// The line.
    pub line: String,
}

/// Every place where the text is, in whatever case: messages first, then the history.
pub fn search(fleet: &Fleet<'_>, text: &str) -> Result<Vec<Hit>> {
    let wanted = text.trim().to_lowercase();
    if wanted.is_empty() {
        return Err(Error::Invalid {
            what: "text".to_owned(),
            reason: "say what to look for".to_owned(),
        });
    }
    let mut hits = Vec::new();
    for mail in fleet.mails()? {
        let mut months = mail.months()?;
        months.sort();
        let archived = months.into_iter().map(Some);
        for month in std::iter::once(None).chain(archived) {
            for direction in Direction::ALL {
                let dir = month.as_ref().map_or_else(
                    || mail.dir(*direction),
                    |month| mail.archive_of(month, *direction),
                );
                for (seq, path) in messages(fleet, *direction, &dir)? {
                    let Some(line) = found(fleet, &path, &wanted)? else {
                        continue;
                    };
                    let place = Place::Message {
                        worker: mail.worker.clone(),
                        direction: *direction,
                        seq,
                        month: month.clone(),
                    };
                    hits.push(Hit { place, line });
                }
            }
        }
    }
    for line in History::of(fleet.home, &fleet.repo).since(0)? {
        let text = line.to_json().to_string();
        if text.to_lowercase().contains(&wanted) {
            let place = Place::History(line.n);
            hits.push(Hit { place, line: text });
        }
    }
    Ok(hits)
}

fn messages(fleet: &Fleet<'_>, direction: Direction, dir: &Path) -> Result<Vec<(Seq, PathBuf)>> {
    let names = names(fleet.home.fs(), dir)?;
    let parsed = names
        .iter()
        .filter_map(|name| match layout::parse(direction, name)? {
            (seq, Part::Body | Part::Report) => Some((seq, dir.join(name))),
            _ => None,
        });
    let mut found: Vec<_> = parsed.collect();
    found.sort();
    Ok(found)
}

/// The first line with the text in it. A file that cannot be read holds nothing that is found.
fn found(fleet: &Fleet<'_>, path: &Path, wanted: &str) -> Result<Option<String>> {
    let text = match fsx::read_lossy(fleet.home.fs(), path) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) if error.is_no_such_file() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let line = text
        .lines()
        .find(|line| line.to_lowercase().contains(wanted));
    Ok(line.map(|line| line.trim().to_owned()))
}
