//! What others do to the files of tasks by hand, put on record.
//!
//! Owns the look at the lists of a repository: what is there is compared with what was known, as of a
//! number of the history. Each change of ours has a line, so all that is told since is taken back from
//! the files that differ; what then differs still was changed by a foreign writer, and is recorded
//! once, as observed. What was there when the first watch began is nobody's news; a later one goes on
//! from what was known to the last.

mod memory;
mod trace;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    path::PathBuf,
};

use flagpost_disk::{dialects::claude_tasks::id_of, fsx::Stat};
use flagpost_model::{ListId, RepoId, TaskId, decision::Via, task::StateName};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    error::Result,
    history::{Entry, History, Line, NewLines, Tail, detail::CONTENT},
    home::Home,
    list::List,
    mirror, roots,
};
use trace::{FileOrigin, Suspect};

/// What is known of the tasks of a repository.
#[derive(Debug, Default)]
pub struct TaskWatch {
    tail: Tail,
    /// All that the history tells up to this number is in what is known.
    since: u64,
    lists: Lists,
    /// When it was written down last.
    kept: Option<Timestamp>,
}

type Lists = BTreeMap<ListId, BTreeMap<TaskId, KnownFile>>;

/// A task's file as it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KnownFile {
    /// None where the file may have changed again without another one.
    stamp: Option<FileStamp>,
    state: StateName,
    /// Its fingerprint.
    content: String,
    /// All that the history tells of it up to this number is in it.
    since: u64,
}

/// Length, inode, last change of the content, last change: what differs whenever a file does.
type FileStamp = (u64, u64, i64, i64);

/// The files of one list, as a look found them.
struct ListScan<'h> {
    list: List<'h>,
    /// Those that are there, whether they can be read or not.
    present: BTreeSet<TaskId>,
}

type Suspects = BTreeMap<(ListId, TaskId), Suspect>;

impl TaskWatch {
    /// Goes on from what was known to the last watch. Without one, what is there counts as known.
    pub fn begin(home: &Home, repo: &RepoId) -> Result<Self> {
        match memory::recall(home, repo)? {
            Some(watch) => Ok(watch),
            None => Self::anew(home, repo),
        }
    }

    fn anew(home: &Home, repo: &RepoId) -> Result<Self> {
        let history = History::of(home, repo);
        let mut watch = Self {
            tail: Tail::at_end(&history)?,
            ..Self::default()
        };
        watch.tail.read_on(&history)?;
        watch.since = watch.read_up_to();
        let suspects = watch.suspects(home, repo)?;
        watch.take_in(suspects);
        watch.keep(home, repo);
        Ok(watch)
    }

    /// Records what came by other hands since. Answers with how much that was.
    pub fn look(&mut self, home: &Home, repo: &RepoId) -> Result<usize> {
        home.transact(|| self.record(home, repo))
    }

    fn record(&mut self, home: &Home, repo: &RepoId) -> Result<usize> {
        let history = History::of(home, repo);
        if matches!(self.tail.read_on(&history)?, NewLines::Rewritten) {
            *self = Self::anew(home, repo)?;
            return Ok(0);
        }
        let mut suspects = self.suspects(home, repo)?;
        look_back(&history, &mut suspects)?;
        let is_news = !suspects.is_empty() || self.read_up_to() != self.since;
        let foreign = suspects.iter().filter_map(|((list, task), suspect)| {
            let mut entry = suspect.entry()?;
            (entry.list, entry.task) = (Some(list.clone()), Some(task.clone()));
            // Whoever takes the file away later takes nothing that was seen in it.
            let file = List::open(home, list).and_then(|it| it.task(task));
            match file.ok().filter(|it| suspect.is_now(it)) {
                Some(file) => Some(entry.detail(CONTENT, file.raw().clone())),
                None => Some(entry),
            }
        });
        let entries: Vec<Entry> = foreign.collect();
        let count = entries.len();
        if count > 0 {
            let actor = Via::External.as_str().parse()?;
            let paths = paths_of(home, &entries)?;
            history.record_found(&actor, home.now(), (entries, &paths))?;
            mirror::refresh(home, paths);
        }
        self.take_in(suspects);
        if is_news {
            self.keep(home, repo);
        }
        Ok(count)
    }

    /// The files that are not as they were known, each with what the history says of that. The order
    /// makes it right: what the history has told by now appeared in files that are read after; and
    /// whatever else these show of ours has a line by the time that the history is read back.
    fn suspects(&mut self, home: &Home, repo: &RepoId) -> Result<Suspects> {
        let told = self.read_up_to();
        let (mut suspects, mut found) = (Suspects::new(), BTreeMap::new());
        for (id, list) in lists(home, repo)? {
            let known = self.lists.entry(id.clone()).or_default();
            let mut present = BTreeSet::new();
            let looked_at = home.now();
            for (file, stat) in list.scan_files()? {
                let Some(task) = file.to_str().and_then(id_of) else {
                    continue;
                };
                let before = known.get(&task);
                let is_same = before.is_some_and(|it| it.stamp == Some(stamp(stat)));
                let read = (!is_same).then(|| list.read(&file, stat));
                // Who writes a file in its place empties it for a moment.
                if matches!(read, Some(Err(_)))
                    && stat.is_settled(looked_at)
                    && list.is_emptied(&task)
                {
                    continue;
                }
                if let Some(Ok(Some(read))) = read {
                    let now = KnownFile {
                        stamp: stat.is_settled(looked_at).then(|| stamp(stat)),
                        state: read.task.state.name(),
                        content: read.fingerprint(),
                        since: told,
                    };
                    let suspect = Suspect::changed(before, now, read.task.rev);
                    suspects.insert((id.clone(), task.clone()), suspect);
                }
                present.insert(task);
            }
            for (task, before) in known.iter().filter(|(task, _)| !present.contains(task)) {
                let suspect = Suspect::gone(Some(before));
                suspects.insert((id.clone(), task.clone()), suspect);
            }
            found.insert(id, ListScan { list, present });
        }
        self.lists.retain(|id, _| found.contains_key(id));
        if !suspects.is_empty() || told != self.since {
            self.ask(&History::of(home, repo), &found, &mut suspects)?;
        }
        Ok(suspects)
    }

    /// Reads the history back to where all of it is known, and asks each line about the suspects.
    fn ask(
        &self,
        history: &History<'_>,
        found: &BTreeMap<ListId, ListScan<'_>>,
        suspects: &mut Suspects,
    ) -> Result<()> {
        let (told, mut voided) = (self.read_up_to(), BTreeSet::new());
        history.backward(u64::MAX, &mut |line: &Line| {
            if line.n <= self.since {
                return ControlFlow::Break(());
            }
            voided.extend(line.entry.voids());
            let list = line.entry.list.as_ref();
            let Some((list, found)) = list.and_then(|it| Some((it, found.get(it)?))) else {
                return ControlFlow::Continue(());
            };
            for (task, told_of) in trace::file_events(&line.entry) {
                let key = (list.clone(), task);
                // Made and gone since.
                if !found.present.contains(&key.1) {
                    let gone = || Suspect::gone(None);
                    suspects.entry(key.clone()).or_insert_with(gone);
                }
                let Some(suspect) = suspects.get_mut(&key) else {
                    continue;
                };
                if line.n > told {
                    suspect.wait();
                } else if !voided.contains(&line.n) && line.n > suspect.since(self.since) {
                    suspect.apply(&told_of, &|| found.list.task(&key.1).ok());
                }
            }
            ControlFlow::Continue(())
        })
    }

    /// All that the history tells up to this number has appeared. What did so once may be gone since.
    fn read_up_to(&self) -> u64 {
        self.tail.read_up_to().max(self.since)
    }

    /// Knows from now on what was found, but for what was in the middle of a change.
    fn take_in(&mut self, suspects: Suspects) {
        let told = self.read_up_to();
        let waits = |it: &Suspect| it.finding() == FileOrigin::Waits;
        let (waiting, found): (Suspects, Suspects) =
            suspects.into_iter().partition(|(_, it)| waits(it));
        let is_waiting = |list: &ListId, task: &TaskId| {
            !waiting.is_empty() && waiting.contains_key(&(list.clone(), task.clone()))
        };
        if waiting.is_empty() {
            self.since = told;
        }
        for (list, files) in &mut self.lists {
            let sure = files.iter_mut().filter(|(it, _)| !is_waiting(list, it));
            sure.for_each(|(_, known)| known.since = told);
        }
        for ((list, task), suspect) in found {
            let files = self.lists.entry(list).or_default();
            match suspect.now {
                Some(now) => drop(files.insert(task, now)),
                None => drop(files.remove(&task)),
            }
        }
    }
}

/// The tasks that others changed since the last watch, and that nobody put on record yet; none where there
/// was no watch.
pub(crate) fn by_hand(home: &Home, repo: &RepoId) -> Result<Option<BTreeSet<(ListId, TaskId)>>> {
    let Some(mut watch) = memory::recall(home, repo)? else {
        return Ok(None);
    };
    let history = History::of(home, repo);
    watch.tail.read_on(&history)?;
    let mut suspects = watch.suspects(home, repo)?;
    look_back(&history, &mut suspects)?;
    let foreign = suspects.into_iter().filter(|(_, it)| it.entry().is_some());
    Ok(Some(foreign.map(|(key, _)| key).collect()))
}

/// Asks all of the history about those that look new and may be ours: nobody could read one when it
/// was looked at last, or its whole list was away. It is long, and others seldom put a file of ours
/// there.
fn look_back(history: &History<'_>, suspects: &mut Suspects) -> Result<()> {
    let unsure = suspects.iter().filter(|(_, it)| it.may_be_older());
    let mut unsure: BTreeSet<(ListId, TaskId)> = unsure.map(|(key, _)| key.clone()).collect();
    if unsure.is_empty() {
        return Ok(());
    }
    let mut voided = BTreeSet::new();
    history.backward(u64::MAX, &mut |line: &Line| {
        voided.extend(line.entry.voids());
        let list = line
            .entry
            .list
            .as_ref()
            .filter(|_| !voided.contains(&line.n));
        for (task, told) in trace::file_events(&line.entry) {
            let key = list.map(|it| (it.clone(), task));
            if let Some(key) = key.filter(|it| unsure.contains(it))
                && let Some(suspect) = suspects.get_mut(&key)
                && suspect.hear_older(&told)
            {
                unsure.remove(&key);
            }
        }
        match unsure.is_empty() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })
}

/// The files of the tasks that these entries tell of.
fn paths_of(home: &Home, entries: &[Entry]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in entries {
        if let (Some(list), Some(task)) = (&entry.list, &entry.task) {
            paths.push(List::open(home, list)?.task_path(task));
        }
    }
    Ok(paths)
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

fn stamp(stat: Stat) -> FileStamp {
    (stat.len, stat.inode, stat.modified, stat.changed)
}
