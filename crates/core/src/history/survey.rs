//! How a history is: what of it cannot be read, how high its numbers go, what is unsettled.
//!
//! Owns looking without leaving anything behind, and going on after damage: one more line, whose
//! number is above all that were seen. What lies before that line was looked at, and is not
//! reported again. Nothing is ever rewritten.

use flagpost_disk::fsx::{self, Rank};
use flagpost_model::{RepoId, WorkerId, id::MAX_NUMBER};
use jiff::Timestamp;
use serde::Deserialize;

use super::{Entry, History, Kind, TAIL, Writer};
use crate::{
    change,
    error::{Error, Result},
};

/// What a look at a whole history found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// The number of its last readable line.
    pub(crate) last: u64,
    /// The greatest number in it.
    pub(crate) highest: u64,
    /// The latest time in it.
    pub(crate) newest: Option<Timestamp>,
    /// Which lines cannot be read, counted from 1; only those after the last resumption.
    pub(crate) unreadable: Vec<usize>,
    /// Which lines have a number that does not grow, as above.
    pub(crate) disordered: Vec<usize>,
}

/// As much of a line as a survey needs. A history is long.
#[derive(Deserialize)]
struct Head {
    n: u64,
    at: Timestamp,
    #[serde(rename = "repo")]
    _repo: RepoId,
    kind: Kind,
}

impl Survey {
    /// Whether something in it is damaged.
    pub(crate) fn is_damaged(&self) -> bool {
        !self.unreadable.is_empty() || !self.disordered.is_empty()
    }

    fn of(bytes: &[u8]) -> Self {
        let mut survey = Self::default();
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let Ok(head) = serde_json::from_slice::<Head>(line) else {
                survey.unreadable.push(at + 1);
                continue;
            };
            if head.n <= survey.highest {
                survey.disordered.push(at + 1);
            } else if head.kind == Kind::Resumed {
                survey.unreadable.clear();
                survey.disordered.clear();
            }
            survey.last = head.n;
            survey.highest = survey.highest.max(head.n);
            survey.newest = survey.newest.max(Some(head.at));
        }
        survey
    }
}

impl History<'_> {
    /// Looks at all of it.
    pub(crate) fn survey(&self) -> Result<Survey> {
        Ok(Survey::of(&self.bytes()?))
    }

    /// The numbers of the lines that tell of a change that never appeared. While somebody writes
    /// there are none to speak of.
    pub(crate) fn untrue(&self) -> Result<Vec<u64>> {
        let fs = self.home.fs();
        let lock = self.lock_path();
        let _held = match fsx::stat(fs, &lock)? {
            None => None,
            Some(_) => match fsx::try_hold(fs, &lock) {
                Ok(None) => return Ok(Vec::new()),
                Ok(held) => held,
                // Nobody writes where nobody may.
                Err(_) => None,
            },
        };
        let appeared = |entry: &Entry| change::appeared(self.home, None, entry);
        let voids = self.unsettled(self.tail(TAIL)?, &appeared)?;
        Ok(voids.iter().filter_map(Entry::voids).collect())
    }

    /// Goes on above every number that was seen, where that is called for: lines are damaged, or
    /// `tokens` are greater than the last number. Answers with the number it went on with.
    pub(crate) fn resume(
        &self,
        actor: &WorkerId,
        at: Timestamp,
        tokens: &dyn Fn() -> Result<u64>,
    ) -> Result<Option<u64>> {
        let fs = self.home.fs();
        self.home.make_dirs(&self.home.repository_dir(&self.repo))?;
        let wait = fsx::DEFAULT_WAIT;
        let lock = fsx::lock(fs, &self.lock_path(), Rank::History, wait, at)?;
        let survey = self.survey()?;
        let highest = survey.highest.max(tokens()?);
        if !survey.is_damaged() && highest <= survey.last {
            return Ok(None);
        }
        if highest >= MAX_NUMBER {
            return Err(Error::Invalid {
                what: self.path.display().to_string(),
                reason: format!("there is no number after {highest}"),
            });
        }
        let appeared = |entry: &Entry| change::appeared(self.home, None, entry);
        let voids = match self.tail(TAIL) {
            Ok(tail) => self.unsettled(tail, &appeared)?,
            // Nothing in it can be read, so it tells of nothing.
            Err(_) => Vec::new(),
        };
        let mut writer = Writer {
            history: self,
            _lock: lock,
            at,
            last: highest,
            voids,
        };
        let number = writer.next();
        let entry = Entry::new(Kind::Resumed)
            .detail("after", survey.last)
            .detail("unreadable", survey.unreadable.len())
            .detail("disordered", survey.disordered.len());
        writer.record(actor, vec![entry])?;
        Ok(Some(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: u64, kind: &str) -> String {
        format!(
            "{{\"n\":{n},\"at\":\"2026-05-13T14:25:00Z\",\"repo\":\"r\",\"kind\":\"{kind}\"}}\n"
        )
    }

    #[test]
    fn gaps_are_no_damage() {
        let survey = Survey::of((line(1, "x") + &line(7, "y")).as_bytes());
        assert!(!survey.is_damaged());
        assert_eq!((survey.last, survey.highest), (7, 7));
    }

    #[test]
    fn what_cannot_be_read_and_what_does_not_grow_is_named_until_it_is_resumed() {
        let text = line(3, "x") + "garbage\n\n" + &line(3, "x") + &line(2, "y");
        let survey = Survey::of(text.as_bytes());
        assert_eq!(survey.unreadable, [2]);
        assert_eq!(survey.disordered, [4, 5]);
        assert_eq!((survey.last, survey.highest), (2, 3));
        let resumed = text + &line(4, "history.resumed");
        assert!(!Survey::of(resumed.as_bytes()).is_damaged());
        assert!(Survey::of((resumed + "{\"n\":5").as_bytes()).is_damaged());
    }
}
