//! The end of a history, as somebody wants to read it.
//!
//! Owns which lines are wanted. It reads backwards, so that the end of a long history costs no more
//! than that of a short one.

use std::{ops::ControlFlow, path::PathBuf};

use flagpost_model::{ListRef, TaskId, WorkerId};

use super::{Entry, History, Line};
use crate::error::Result;

/// What is asked for; empty, it is everything.
#[derive(Debug, Default)]
pub struct HistoryFilter {
    /// Only after the line of this number.
    pub since: u64,
    /// Only what is about this list, or this task of it.
    pub about: Option<AboutList>,
    /// Only what this one did, or what is in its mail.
    pub worker: Option<WorkerId>,
    /// Only kinds of these names or families; all where there is none.
    pub kinds: Vec<String>,
}

/// Lines about a list, or about one task of it.
#[derive(Debug)]
pub struct AboutList {
    pub(crate) list: ListRef,
    pub(crate) dir: PathBuf,
    pub(crate) task: Option<TaskId>,
}

impl HistoryFilter {
    /// Whether this line is.
    pub fn wants(&self, line: &Line) -> bool {
        let entry = &line.entry;
        line.n > self.since
            && self.is_about(entry)
            && self.worker.as_ref().is_none_or(|it| is_of(entry, it))
            && (self.kinds.is_empty() || self.kinds.iter().any(|it| entry.kind.is(it)))
    }

    fn is_about(&self, entry: &Entry) -> bool {
        self.about.as_ref().is_none_or(|it| {
            let is_of = |task: &TaskId| entry.task.as_ref() == Some(task);
            entry.is_about(&it.list, &it.dir) && it.task.as_ref().is_none_or(is_of)
        })
    }
}

/// Whether it is this one's doing, under its own name or another, or in its mail.
fn is_of(entry: &Entry, worker: &WorkerId) -> bool {
    let by = entry.detail.get("by").and_then(|it| it.as_str());
    let named = [entry.actor.as_ref(), entry.worker.as_ref()];
    named.contains(&Some(worker)) || by == Some(worker.as_str())
}

/// The end of a history.
#[derive(Debug, Default)]
pub struct Latest {
    /// Oldest first.
    pub lines: Vec<Line>,
    /// Whether more that is wanted lies before them.
    pub is_cut: bool,
    /// The number of the history's last line, wanted or not; 0 where there is none.
    pub end: u64,
}

impl History<'_> {
    /// The last `most` lines that are wanted.
    pub fn latest(&self, wanted: &HistoryFilter, most: usize) -> Result<Latest> {
        let mut latest = Latest::default();
        self.backward(u64::MAX, &mut |line| {
            latest.end = latest.end.max(line.n);
            if line.n <= wanted.since {
                return ControlFlow::Break(());
            }
            if !wanted.wants(line) {
                return ControlFlow::Continue(());
            }
            if latest.lines.len() == most {
                latest.is_cut = true;
                return ControlFlow::Break(());
            }
            latest.lines.push(line.clone());
            ControlFlow::Continue(())
        })?;
        latest.lines.reverse();
        Ok(latest)
    }
}
