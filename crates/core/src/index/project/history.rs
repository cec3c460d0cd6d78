//! The histories, from where the last refresh stopped reading.
//!
//! Owns their rows, each with its text, and the marks: which line published an envelope, which one says that
//! its recipient has it. A history that is another one than before is read from its beginning.

use std::collections::BTreeSet;

use flagpost_model::{RepoId, Seq, WorkerId, envelope::Direction};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::{IndexState, Projection, nanoseconds};
use crate::{
    error::Result,
    history::{self, Entry, History, Kind, Line},
};

/// What a line says of the envelope that it is about, and since when that holds.
fn marked(line: &Line) -> Vec<(Direction, &'static str, Timestamp)> {
    let at = line.at;
    if line.entry.kind == Kind::MessageImported {
        let acked = line.entry.detail.get("acked_at").and_then(Value::as_str);
        let acked = acked.and_then(|it| it.parse().ok());
        let marks = [Some(("published", at)), acked.map(|at| ("read", at))];
        let direction = direction(&line.entry);
        let marks = marks.into_iter().flatten();
        return marks
            .filter_map(|(what, at)| Some((direction?, what, at)))
            .collect();
    }
    let mark = mark(&line.entry);
    mark.map(|(direction, what)| (direction, what, at))
        .into_iter()
        .collect()
}

fn direction(entry: &Entry) -> Option<Direction> {
    entry.detail.get("direction")?.as_str()?.parse().ok()
}

fn mark(entry: &Entry) -> Option<(Direction, &'static str)> {
    match entry.kind {
        Kind::BriefProposed => Some((Direction::Inbox, "published")),
        Kind::Reported => Some((Direction::Outbox, "published")),
        Kind::BriefRead => Some((Direction::Inbox, "read")),
        Kind::ReportRead => Some((Direction::Outbox, "read")),
        // Whoever receives what needs no acknowledgement has it: nobody holds it under a lease.
        Kind::MessageReceived if !entry.detail.contains_key("count") => {
            Some((direction(entry)?, "read"))
        }
        _ => None,
    }
}

impl Projection<'_> {
    pub(super) fn history(&mut self, repo: &RepoId) -> Result<()> {
        let known = self
            .db
            .prepare_cached("SELECT offset, tail, latest FROM cursor WHERE repo = ?")?
            .query_row([repo.as_str()], |row| {
                let (offset, tail): (i64, Vec<u8>) = (row.get(0)?, row.get(1)?);
                let offset = u64::try_from(offset).unwrap_or_default();
                Ok((history::ReadPosition { offset, tail }, row.get(2)?))
            })
            .optional()?;
        let (place, latest) = known.unwrap_or((history::ReadPosition::default(), i64::MIN));
        if self.read_on(repo, &place, latest)? {
            return Ok(());
        }
        self.forget_history(repo)?;
        self.read_on(repo, &history::ReadPosition::default(), i64::MIN)
            .map(drop)
    }

    /// Whether the history still is the one that the place is in.
    fn read_on(
        &self,
        repo: &RepoId,
        place: &history::ReadPosition,
        mut latest: i64,
    ) -> Result<bool> {
        let mut touched = BTreeSet::new();
        let history = History::of(self.home, repo);
        let next = history.onward(place, &mut |line| {
            latest = latest.max(nanoseconds(line.at));
            self.line(repo, &line, latest, &mut touched)
        })?;
        let Some(next) = next else {
            return Ok(false);
        };
        // A new index has no envelopes of theirs yet.
        touched.retain(|_| self.state == IndexState::Earlier);
        for (worker, seq) in touched {
            self.db
                .prepare_cached(
                    "UPDATE envelope SET changed = 1 WHERE repo = ? AND worker = ? \
                     AND direction IN ('inbox', 'outbox') AND seq = ?",
                )?
                .execute(params![repo.as_str(), worker.as_str(), number(seq.get())])?;
        }
        if next != *place {
            self.db
                .prepare_cached(
                    "INSERT OR REPLACE INTO cursor(repo, offset, tail, latest) VALUES (?, ?, ?, ?)",
                )?
                .execute(params![
                    repo.as_str(),
                    number(next.offset),
                    next.tail,
                    latest
                ])?;
        }
        Ok(true)
    }

    fn line(
        &self,
        repo: &RepoId,
        line: &Line,
        latest: i64,
        touched: &mut BTreeSet<(WorkerId, Seq)>,
    ) -> Result<()> {
        let entry = &line.entry;
        let n = number(line.n);
        self.db
            .prepare_cached(
                "INSERT INTO history(repo, n, at, kind, actor, worker, seq, list, task, line) \
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                repo.as_str(),
                n,
                line.at.to_string(),
                entry.kind.as_str(),
                entry.actor.as_ref().map(WorkerId::as_str),
                entry.worker.as_ref().map(WorkerId::as_str),
                entry.seq.map(|seq| number(seq.get())),
                entry.list.as_ref().map(|list| list.as_str()),
                entry.task.as_ref().map(|task| task.as_str()),
                text_of(line),
            ])?;
        if let Some((worker, seq)) = entry.worker.as_ref().zip(entry.seq) {
            for (direction, what, at) in marked(line) {
                self.db
                    .prepare_cached(
                        "INSERT OR REPLACE INTO \
                         mark(repo, worker, direction, seq, what, n, at, latest) \
                         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    )?
                    .execute(params![
                        repo.as_str(),
                        worker.as_str(),
                        direction.as_str(),
                        number(seq.get()),
                        what,
                        n,
                        nanoseconds(at),
                        latest
                    ])?;
            }
            touched.insert((worker.clone(), seq));
        }
        if let Some(voided) = entry.voids() {
            self.db
                .prepare_cached("DELETE FROM mark WHERE repo = ? AND n = ?")?
                .execute(params![repo.as_str(), number(voided)])?;
        }
        Ok(())
    }

    fn forget_history(&self, repo: &RepoId) -> Result<()> {
        for sql in [
            "DELETE FROM history WHERE repo = ?",
            "DELETE FROM mark WHERE repo = ?",
            "DELETE FROM cursor WHERE repo = ?",
            "UPDATE envelope SET changed = 1 WHERE repo = ?",
        ] {
            self.db.execute(sql, [repo.as_str()])?;
        }
        Ok(())
    }

    /// Takes out the histories of repositories that are not there any more.
    pub(super) fn forget_repositories(&self, there: &[RepoId]) -> Result<()> {
        let mut query = self.db.prepare_cached("SELECT repo FROM cursor")?;
        let known = query.query_map([], |row| row.get::<_, String>(0))?;
        let known = known.collect::<rusqlite::Result<Vec<_>>>()?;
        for repo in known {
            if there.iter().all(|it| it.as_str() != repo)
                && let Ok(repo) = repo.parse()
            {
                self.forget_history(&repo)?;
            }
        }
        Ok(())
    }
}

/// What a line says, without what every line says: its number, its time, its repository.
fn text_of(line: &Line) -> String {
    let mut json = line.to_json();
    if let Value::Object(map) = &mut json {
        map.retain(|key, value| !matches!(key.as_str(), "n" | "at" | "repo") && !value.is_null());
    }
    json.to_string()
}

/// Numbers of ours have 53 bits.
fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
