//! What others do to the files of tasks by hand, put on record.
//!
//! Owns the comparison of two looks at the lists of a repository. A change of ours makes the task's
//! revision grow, and its removal has a line; what changed otherwise was changed by a foreign writer,
//! and is recorded once, as observed. What was there when the watch began is nobody's news.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
};

use flagpost_disk::{
    dialects::claude_tasks::{self, id_of},
    fsx::Stat,
};
use flagpost_model::{ListId, RepoId, TaskId, decision::Via, task::StateName};

use crate::{
    error::Result,
    history::{Entry, History, Kind, Line, News, Tail},
    home::Home,
    list::List,
    roots,
};

/// What is known of the tasks of a repository.
#[derive(Debug, Default)]
pub struct Watch {
    tail: Tail,
    lists: BTreeMap<ListId, Files>,
    /// What the history says was removed.
    removed: BTreeSet<(ListId, TaskId)>,
}

type Files = BTreeMap<OsString, Known>;

/// A task's file as it was.
#[derive(Debug, Clone)]
struct Known {
    stat: Stat,
    rev: u64,
    state: StateName,
    content: String,
}

impl Watch {
    /// Begins to watch: what is there counts as known.
    pub fn begin(home: &Home, repo: &RepoId) -> Result<Self> {
        let mut watch = Self {
            tail: Tail::at_end(&History::of(home, repo))?,
            ..Self::default()
        };
        for (id, list) in lists(home, repo)? {
            let files = files(&list, &Files::new())?;
            watch.lists.insert(id, files);
        }
        Ok(watch)
    }

    /// Records what came by other hands since. Answers with how much that was.
    pub fn look(&mut self, home: &Home, repo: &RepoId) -> Result<usize> {
        let history = History::of(home, repo);
        let mut entries = Vec::new();
        let lists = lists(home, repo)?;
        self.lists
            .retain(|id, _| lists.iter().any(|(list, _)| list == id));
        let mut looked = Vec::new();
        for (id, list) in lists {
            let before = self.lists.entry(id.clone()).or_default();
            let now = files(&list, before)?;
            let before = std::mem::replace(before, now);
            looked.push((id, before));
        }
        // Files first: our own lines are durable before their files change.
        self.read_on(&history)?;
        for (list, before) in looked {
            let now = self.lists.get(&list).into_iter().flatten();
            for (file, known) in now {
                let told = told(before.get(file), known);
                let task = file.to_str().and_then(id_of);
                entries.extend(told.zip(task).map(|(mut entry, task)| {
                    entry.list = Some(list.clone());
                    entry.task = Some(task);
                    entry
                }));
            }
            let is_there = |file: &OsString| {
                let now = self.lists.get(&list);
                now.is_some_and(|now| now.contains_key(file))
            };
            for (file, known) in before.iter().filter(|(file, _)| !is_there(file)) {
                let Some(task) = file.to_str().and_then(id_of) else {
                    continue;
                };
                if !self.removed.remove(&(list.clone(), task.clone())) {
                    let mut entry = foreign(Kind::TaskRemoved);
                    entry.from = Some(known.state);
                    entry.list = Some(list.clone());
                    entry.task = Some(task);
                    entries.push(entry);
                }
            }
        }
        self.removed.clear();
        let count = entries.len();
        if count > 0 {
            let actor = Via::External.as_str().parse()?;
            history.record(&actor, home.now(), entries)?;
        }
        Ok(count)
    }

    fn read_on(&mut self, history: &History<'_>) -> Result<()> {
        let lines = match self.tail.read_on(history)? {
            News::Lines(lines) => lines,
            News::Rewritten => history.since(0)?,
        };
        let removed = |line: &Line| {
            let is_removal = line.entry.kind == Kind::TaskRemoved;
            let of = line.entry.list.clone().zip(line.entry.task.clone());
            of.filter(|_| is_removal)
        };
        let held = self.tail.held().iter();
        self.removed
            .extend(lines.iter().chain(held).filter_map(removed));
        Ok(())
    }
}

/// The lists whose history this repository's is.
fn lists<'h>(home: &'h Home, repo: &RepoId) -> Result<Vec<(ListId, List<'h>)>> {
    let all = roots::lists(home)?.into_iter();
    // One that leads elsewhere or belongs to nobody has no history.
    let open = all.filter_map(|id| List::open(home, &id).ok().map(|list| (id, list)));
    Ok(open
        .filter(|(_, list)| list.repository().is_ok_and(|it| it == *repo))
        .collect())
}

/// The tasks' files; only those that changed are read. One that is no task now is as it was.
fn files(list: &List<'_>, before: &Files) -> Result<Files> {
    let mut files = Files::new();
    for (file, stat) in list.survey()? {
        let known = before.get(&file);
        let same = known.filter(|known| known.stat == stat);
        let read = match same {
            Some(known) => Some(known.clone()),
            None => match list.read(&file, stat) {
                Ok(Some(task)) => Some(Known {
                    stat,
                    rev: task.task.rev,
                    state: task.task.state.name(),
                    content: claude_tasks::fingerprint(task.raw()),
                }),
                Ok(None) => None,
                Err(_) => known.cloned(),
            },
        };
        files.extend(read.map(|known| (file, known)));
    }
    Ok(files)
}

/// What a foreign writer did between two looks at a file.
fn told(before: Option<&Known>, now: &Known) -> Option<Entry> {
    match before {
        None if now.rev == 0 => {
            let mut entry = foreign(Kind::TaskCreated);
            entry.to = Some(now.state);
            Some(entry)
        }
        Some(before) if now.rev <= before.rev && now.content != before.content => {
            let mut entry = foreign(Kind::TaskEdited);
            if before.state != now.state {
                entry.from = Some(before.state);
                entry.to = Some(now.state);
            }
            Some(entry)
        }
        None | Some(_) => None,
    }
}

fn foreign(kind: Kind) -> Entry {
    Entry::new(kind).detail("observed", true)
}
