//! How a history is: what of it cannot be read, how high its numbers go, what is unsettled.
//!
//! Owns looking without leaving anything behind, and going on after damage: one more line, whose
//! number is above all that were seen. That line says how much was found, and so much is not
//! reported again; more than that was done since. Nothing is ever rewritten.

use std::collections::BTreeSet;

use flagpost_disk::{
    self as disk,
    fsx::{self, Rank},
};
use flagpost_model::{RepoId, WorkerId, envelope::Hash, id::MAX_NUMBER};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Entry, Fate, History, Kind, LIMIT, Line, TAIL, Writer,
    chain::{self, Chain},
    last_change,
};
use crate::error::{Error, Result};

/// The key under which a resumption tells what it saw.
const SEEN: &str = "seen";

/// How many bytes of a history somebody saw, and their hash.
fn seen(bytes: &[u8]) -> String {
    format!("{} {}", bytes.len(), Hash::of(bytes).as_str())
}

/// What a look at a whole history found.
#[derive(Debug, Default)]
pub(crate) struct HistoryScan {
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
    /// Which lines do not carry the hash of the line before, as above.
    pub(crate) unchained: Vec<usize>,
    /// The resumptions after lines that did not carry the hash of the line before, or after lost ones.
    pub(crate) acknowledged: Vec<Acknowledgement>,
    /// Where its numbers first leap.
    pub(crate) leap: Option<Leap>,
    /// The lists that its lines are about.
    pub(crate) lists: BTreeSet<String>,
}

/// Somebody went on in a history that had been altered, or of which a part was lost.
#[derive(Debug)]
pub(crate) struct Acknowledgement {
    /// Who did.
    pub(crate) by: Option<WorkerId>,
    /// When.
    pub(crate) at: Timestamp,
    /// Which lines do not carry the hash of the line before, counted from 1.
    pub(crate) lines: Vec<usize>,
    /// The first and the last number of what tasks tell of and it does not.
    pub(crate) lost: Option<(u64, u64)>,
}

/// Where the numbers of a history leap further than it can ever have got by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leap {
    /// At which line, counted from 1.
    pub(crate) line: usize,
    /// The greatest number before it.
    pub(crate) from: u64,
    /// Its number.
    pub(crate) to: u64,
}

/// More lines than a history can have: 8 GiB hold fewer of them.
pub(super) const LEAP: u64 = 1 << 32;

/// As much of a line as a survey needs. A history is long.
#[derive(Deserialize)]
struct ScannedLine {
    n: u64,
    at: Timestamp,
    #[serde(rename = "repo")]
    _repo: RepoId,
    kind: Kind,
    list: Option<Value>,
    prev: Option<Value>,
}

impl HistoryScan {
    /// Whether lines of it are damaged.
    pub(crate) fn is_damaged(&self) -> bool {
        !self.unreadable.is_empty() || !self.disordered.is_empty()
    }

    /// Whether there is nothing to be said about its lines.
    pub(crate) fn is_whole(&self) -> bool {
        !self.is_damaged() && self.unchained.is_empty()
    }

    /// The greatest number that it may have had before lines of it were lost. Nobody was ever given
    /// a greater one.
    pub(crate) fn reach(&self) -> u64 {
        self.highest.saturating_add(LEAP).min(MAX_NUMBER)
    }

    /// What was found since it was resumed, under the names that a resumption has for it.
    fn found(&mut self) -> [(&'static str, &mut Vec<usize>); 3] {
        [
            ("unreadable", &mut self.unreadable),
            ("disordered", &mut self.disordered),
            ("unchained", &mut self.unchained),
        ]
    }

    /// The entry that goes on after all that was found in these bytes.
    pub(super) fn resumption(&mut self, bytes: &[u8]) -> Entry {
        let entry = Entry::new(Kind::Resumed)
            .detail("after", self.last)
            .detail(SEEN, seen(bytes));
        let found = self.found().into_iter();
        found.fold(entry, |entry, (key, lines)| entry.detail(key, lines.len()))
    }

    /// Forgets what a resumption says was seen. Where there is more than it says, or the lines before it are not
    /// those that it saw, somebody changed them afterwards.
    fn resume(&mut self, line: &[u8], bytes: &[u8]) {
        let Some(line) = Line::parse(line) else {
            return;
        };
        // One of an older program tells how many it saw, and not which.
        if let Some(told) = line.entry.detail.get(SEEN).and_then(|it| it.as_str()) {
            let length = told.split(' ').next().and_then(|it| it.parse().ok());
            let before = length.and_then(|it: usize| bytes.get(..it));
            if before.map(seen).as_deref() != Some(told) {
                return;
            }
        }
        let is_told = |(key, lines): &(&str, &mut Vec<usize>)| {
            lines.len() as u64 <= line.entry.number(key).unwrap_or_default()
        };
        if !self.found().iter().all(is_told) {
            return;
        }
        let lines = self.unchained.clone();
        // Under whatever name, it was this hand.
        let hand = line.entry.detail.get("by").and_then(|it| it.as_str());
        let hand = hand.and_then(|it| it.parse().ok());
        // The number of a line that cannot be read is told of as that line.
        let is_lost = self.unreadable.is_empty() && self.highest + 1 < line.n;
        let lost = is_lost.then(|| (self.highest + 1, line.n - 1));
        let acknowledged = (!lines.is_empty() || lost.is_some()).then_some(Acknowledgement {
            by: hand.or(line.entry.actor),
            at: line.at,
            lines,
            lost,
        });
        self.acknowledged.extend(acknowledged);
        for (_, lines) in self.found() {
            lines.clear();
        }
    }

    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut survey = Self::default();
        let mut chain = Chain::default();
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let Ok(head) = serde_json::from_slice::<ScannedLine>(line) else {
                survey.unreadable.push(at + 1);
                chain.pass(line);
                continue;
            };
            if !chain.holds(
                line,
                head.prev.as_ref().map(|it| it.as_str().unwrap_or_default()),
            ) {
                survey.unchained.push(at + 1);
            }
            if head.n - survey.highest.min(head.n) > LEAP && survey.leap.is_none() {
                let (line, from, to) = (at + 1, survey.highest, head.n);
                survey.leap = Some(Leap { line, from, to });
            }
            if head.n <= survey.highest {
                survey.disordered.push(at + 1);
            } else if head.kind == Kind::Resumed {
                survey.resume(line, bytes);
            }
            survey.last = head.n;
            survey.highest = survey.highest.max(head.n);
            survey.newest = survey.newest.max(Some(head.at));
            if let Some(Value::String(list)) = head.list {
                survey.lists.insert(list);
            }
        }
        survey
    }
}

impl History<'_> {
    /// Looks at all of it.
    pub(crate) fn scan(&self) -> Result<HistoryScan> {
        Ok(HistoryScan::of(&self.bytes()?))
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
        if self.is_shared()? {
            return Ok(Vec::new());
        }
        let voids = self.unsettled(self.end(TAIL, last_change)?.lines, Fate::CutShort)?;
        Ok(voids.iter().filter_map(Entry::voids).collect())
    }

    /// Goes on above every number that was seen, where that is called for: lines are damaged, or
    /// `tokens` up to what it may have given are greater than the last number. Answers with the
    /// number it went on with.
    pub(crate) fn resume(
        &self,
        actor: &WorkerId,
        at: Timestamp,
        tokens: &dyn Fn(u64) -> Result<u64>,
    ) -> Result<Option<u64>> {
        let fs = self.home.fs();
        self.home.make_dirs(&self.home.repository_dir(&self.repo))?;
        let wait = fsx::DEFAULT_WAIT;
        let lock = fsx::lock(fs, &self.lock_path(), Rank::History, wait, at)?;
        let cut = self.set_end_aside()?;
        let bytes = self.bytes()?;
        let mut survey = HistoryScan::of(&bytes);
        let highest = survey.highest.max(tokens(survey.reach())?);
        if survey.is_whole() && highest <= survey.last && cut.is_none() {
            return Ok(None);
        }
        self.must_be_own()?;
        if highest >= MAX_NUMBER {
            return Err(Error::Invalid {
                what: self.path.display().to_string(),
                reason: format!("there is no number after {highest}"),
            });
        }
        let voids = match self.end(TAIL, last_change) {
            Ok(end) => self.unsettled(end.lines, Fate::CutShort)?,
            // Nothing in it can be read, so it tells of nothing.
            Err(_) => Vec::new(),
        };
        let mut writer = Writer {
            history: self,
            order: None,
            _lock: lock,
            at,
            last: highest,
            prev: chain::last(&bytes).map(chain::print),
            voids,
        };
        let number = writer.next();
        let entry = survey.resumption(&bytes);
        let entry = match cut {
            None => entry,
            Some(cut) => entry.detail("cut_from", cut),
        };
        writer.record(actor, vec![entry])?;
        Ok(Some(number))
    }

    /// Takes away what ends it and is no line, and keeps what of that says anything. From which byte on.
    fn set_end_aside(&self) -> Result<Option<u64>> {
        let (fs, path) = (self.home.fs(), &self.path);
        let Some(from) = self.damaged_from()? else {
            return Ok(None);
        };
        self.must_be_own()?;
        let end = fs.read(path, from, LIMIT);
        let end = end.map_err(disk::Error::io("read", path))?;
        // What a crash left of a file's size is nothing but zeros.
        if end.iter().any(|byte| *byte != 0) {
            fsx::store(fs, path, &end, "it followed the last line, and was none")?;
        }
        fs.cut(path, from)
            .map_err(disk::Error::io("cut off", path))?;
        Ok(Some(from))
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
        let survey = HistoryScan::of((line(1, "x") + &line(7, "y")).as_bytes());
        assert!(!survey.is_damaged());
        assert_eq!((survey.last, survey.highest), (7, 7));
    }

    #[test]
    fn what_cannot_be_read_and_what_does_not_grow_is_named_until_it_is_resumed() {
        let text = line(3, "x") + "garbage\n\n" + &line(3, "x") + &line(2, "y");
        let survey = HistoryScan::of(text.as_bytes());
        assert_eq!(survey.unreadable, [2]);
        assert_eq!(survey.disordered, [4, 5]);
        assert_eq!((survey.last, survey.highest), (2, 3));
        let said = text.clone() + &line(4, "history.resumed");
        let detail = r#""detail":{"unreadable":1,"disordered":2},"kind":"history.resumed""#;
        let resumed = said.replace(r#""kind":"history.resumed""#, detail);
        assert!(!HistoryScan::of(resumed.as_bytes()).is_damaged());
        assert!(HistoryScan::of((resumed.clone() + "{\"n\":5").as_bytes()).is_damaged());
        // More than it says: somebody changed what lies before it.
        assert!(HistoryScan::of(said.as_bytes()).is_damaged());
        let later = "garbage\n".to_owned() + &resumed;
        assert_eq!(HistoryScan::of(later.as_bytes()).unreadable, [1, 3]);
    }

    #[test]
    fn from_which_line_on_the_chain_is_broken_is_known() {
        let chained = |lines: &[String]| {
            let mut text = String::new();
            for line in lines {
                let line: Value = serde_json::from_str(line).unwrap();
                let prev = chain::last(text.as_bytes()).map(chain::print);
                text +=
                    &(Line::parse(line.to_string().as_bytes()).unwrap()).chained(prev.as_deref());
                text += "\n";
            }
            text
        };
        let text = chained(&[line(1, "a"), line(2, "b"), line(3, "c"), line(4, "d")]);
        assert!(HistoryScan::of(text.as_bytes()).unchained.is_empty());
        let changed = text.replace("\"b\"", "\"x\"");
        assert_eq!(HistoryScan::of(changed.as_bytes()).unchained, [3]);
        let without = |n: usize| {
            let lines = text.lines().enumerate().filter(|(at, _)| *at != n);
            lines
                .map(|(_, line)| format!("{line}\n"))
                .collect::<String>()
        };
        assert_eq!(HistoryScan::of(without(0).as_bytes()).unchained, [1]);
        assert_eq!(HistoryScan::of(without(2).as_bytes()).unchained, [3]);
        // The end of it is missed by nobody here: the tokens of tasks may miss it.
        assert!(HistoryScan::of(without(3).as_bytes()).unchained.is_empty());
    }
}
