//! Tasks whose files another program took away, or emptied.
//!
//! Owns telling them from those that were removed here: the history says that a task is there, and its file
//! is not, or has nothing in it. The history keeps what each file said when we wrote it first and what we
//! changed since, so a file comes back as we wrote it last; what others changed in it meanwhile is not known.
//! Invariant: what the history never told of was never acknowledged, and is nobody's loss.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::ControlFlow,
};

use flagpost_disk::{TaskFile, dialects::claude_tasks, fsx, task_file};
use flagpost_model::{
    ListId, RepoId, TaskId, WorkerId,
    plan::{self, Node},
    task::State,
};
use serde_json::Value;

use super::{List, rows::Raw};
use crate::{
    error::{Error, Result},
    history::{
        Entry, History, Kind, Line,
        detail::{CONTENT, CONTENTS, FINGERPRINT},
    },
    home::Home,
    skipped::Skipped,
};

/// The key of a line that tells of a file which was brought back.
pub(crate) const BROUGHT_BACK: &str = "brought_back";

/// How much of the end of a history is asked where an answer may not wait: some hundred changes.
const LATELY: u64 = 256 << 10;

/// What the newest lines say of a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastWord {
    /// It was removed here, or its change may not have appeared yet.
    Gone,
    /// It is there, or was taken away; whether we ever wrote it, older lines say.
    Others,
    /// The same of a task that we wrote.
    Ours,
}

impl<'h> List<'h> {
    /// An existing list. Where another program took it away as a whole, the error says so.
    pub fn existing(home: &'h Home, id: &ListId) -> Result<Self> {
        let opened = Self::open(home, id);
        let absent = match &opened {
            Ok(list) if list.belongs_to_nobody()? => list,
            Err(Error::NotFound { .. }) => &Self::of_home(home, &id.into()),
            Ok(_) | Err(_) => return opened,
        };
        for by in home.ids_in::<RepoId>(&home.repositories_root())? {
            // Where this cannot be told, as of a file in its place, there is no list all the same.
            let tasks = absent
                .away(&by, LATELY, &BTreeSet::new())
                .unwrap_or_default();
            if !tasks.is_empty() {
                let list = absent.id().clone();
                return Err(Error::ListVanished { list, tasks, by });
            }
        }
        opened
    }

    /// The list of this name, where it has no directory, or one that belongs to no repository: whoever took all
    /// files away took the name of that, too.
    pub(crate) fn absent(home: &'h Home, id: &ListId) -> Result<Option<Self>> {
        match Self::open(home, id) {
            Ok(list) => Ok(list.belongs_to_nobody()?.then_some(list)),
            Err(Error::NotFound { .. }) => Ok(Some(Self::of_home(home, &id.into()))),
            Err(error) => Err(error),
        }
    }

    /// Whether it lies in the home and no repository is named in it.
    fn belongs_to_nobody(&self) -> Result<bool> {
        let is_of_home = self.dir.parent() == Some(&*self.home.tasks_root());
        let is_bound = || fsx::stat(self.home.fs(), &self.path(claude_tasks::REPOSITORY));
        Ok(is_of_home && is_bound()?.is_none())
    }
}

impl List<'_> {
    /// As [`List::vanished`], lately, as the end of the history tells.
    pub fn vanished_lately(&self, skipped: &[Skipped]) -> Result<BTreeSet<TaskId>> {
        self.vanished_within(LATELY, skipped.iter().filter_map(Skipped::task))
    }

    /// The tasks that are ours and whose files were taken away, or emptied and so `skipped` by who read the list.
    pub fn vanished(&self, skipped: &[Skipped]) -> Result<BTreeSet<TaskId>> {
        self.vanished_within(u64::MAX, skipped.iter().filter_map(Skipped::task))
    }

    /// Those of which the last bytes of the history tell; of the suspects, whose files are there, the emptied ones.
    fn vanished_within(
        &self,
        bytes: u64,
        suspects: impl Iterator<Item = TaskId>,
    ) -> Result<BTreeSet<TaskId>> {
        // A list that no history tells of has lost nothing that one knows.
        let recorder = self.recorder().ok().flatten();
        match recorder.filter(|_| self.table().is_none()) {
            Some(repository) => {
                let emptied = suspects.filter(|task| self.is_emptied(task)).collect();
                self.away(&repository, bytes, &emptied)
            }
            None => Ok(BTreeSet::new()),
        }
    }

    /// The tasks that are ours, as the last bytes of this history tell, and that have no files but emptied ones.
    pub(crate) fn away(
        &self,
        repository: &RepoId,
        bytes: u64,
        emptied: &BTreeSet<TaskId>,
    ) -> Result<BTreeSet<TaskId>> {
        // Files before lines: what is made or removed meanwhile has its line by then.
        let mut there: BTreeSet<TaskId> = self.ids()?.into_iter().collect();
        there.retain(|task| !emptied.contains(task));
        let history = History::of(self.home, repository);
        let settled = history.settled().0;
        let (mut told, mut voided, mut last) = (BTreeMap::new(), BTreeSet::new(), None);
        history.backward(bytes, &mut |line| {
            let last = *last.get_or_insert(operation(line));
            voided.extend(line.entry.voids());
            if voided.contains(&line.n) || !self.concerns(&line.entry) {
                return ControlFlow::Continue(());
            }
            let appears = !line.entry.creates() || operation(line) != last || line.n <= settled;
            for (task, says) in says(&line.entry) {
                let says = if appears { says } else { LastWord::Gone };
                match told.get_mut(&task) {
                    Some(known @ LastWord::Others) if says == LastWord::Ours => {
                        *known = LastWord::Ours
                    }
                    Some(_) => {}
                    None if there.contains(&task) => {}
                    None => drop(told.insert(task, says)),
                }
            }
            ControlFlow::Continue(())
        })?;
        let mut vanished = BTreeSet::new();
        for (task, says) in told {
            let is_there = || fsx::stat(self.home.fs(), &self.task_path(&task));
            if says == LastWord::Ours && (emptied.contains(&task) || is_there()?.is_none()) {
                vanished.insert(task);
            }
        }
        Ok(vanished)
    }

    /// What the history last tells of these tasks' files; nothing of one that was written first before
    /// histories kept that.
    pub(crate) fn last_known(&self, tasks: &BTreeSet<TaskId>) -> Result<BTreeMap<TaskId, Raw>> {
        // All of the history is read, which is long: mostly nothing is asked about.
        let Some(repository) = self.recorder()?.filter(|_| !tasks.is_empty()) else {
            return Ok(BTreeMap::new());
        };
        let lines = History::of(self.home, &repository).since(0)?;
        let voided: BTreeSet<u64> = lines.iter().filter_map(|it| it.entry.voids()).collect();
        let mut known: BTreeMap<TaskId, (Raw, u64)> = BTreeMap::new();
        for line in &lines {
            let entry = &line.entry;
            if voided.contains(&line.n) || !self.concerns(entry) {
                continue;
            }
            if let Some(task) = entry.task.as_ref().filter(|it| tasks.contains(it)) {
                let rev = entry.rev();
                match (
                    &entry.kind,
                    object(entry, CONTENT),
                    object(entry, "changes"),
                ) {
                    (Kind::TaskRemoved, ..) => drop(known.remove(task)),
                    (_, Some(content), _) => {
                        // What others wrote has no revision of its own.
                        let last = known.get(task).map_or(0, |(_, last)| *last);
                        known.insert(task.clone(), (content.clone(), rev.unwrap_or(last)));
                    }
                    (_, None, changes) => {
                        if let Some((raw, last)) = known.get_mut(task) {
                            *last = rev.unwrap_or(*last);
                            changes.into_iter().for_each(|it| task_file::apply(raw, it));
                        }
                    }
                }
            }
            for (task, changes) in neighbours(entry, "others") {
                if let Some((raw, rev)) = known.get_mut(&task) {
                    *rev = rev.saturating_add(1);
                    task_file::apply(raw, changes);
                }
            }
            let first = neighbours(entry, CONTENTS).filter(|(task, _)| tasks.contains(task));
            known.extend(first.map(|(task, content)| (task, (content.clone(), 1))));
        }
        let restored = |(task, (raw, rev))| (task, claude_tasks::restore(raw, rev));
        Ok(known.into_iter().map(restored).collect())
    }

    /// The file as the history last tells of it, where it was taken away or emptied.
    pub fn taken_away(&self, task: &TaskId) -> Result<Option<TaskFile>> {
        let asked = BTreeSet::from([task.clone()]);
        let away = self.vanished_within(u64::MAX, asked.iter().cloned())?;
        if !away.contains(task) {
            return Ok(None);
        }
        let mut known = self.last_known(&asked)?;
        let raw = known.remove(task);
        Ok(raw.and_then(|raw| self.understand(task, &raw).ok()))
    }

    /// Of what open tasks wait for, all that is in no file any more and was completed: nobody waits for that.
    pub(super) fn done_and_away<'o, N: Node + 'o>(
        &self,
        tasks: impl Iterator<Item = &'o N> + Clone,
    ) -> BTreeSet<TaskId> {
        let open = tasks.clone().filter(|it| plan::is_open(it.state()));
        let mut missing: HashSet<&TaskId> = open.flat_map(Node::blocked_by).collect();
        if !missing.is_empty() {
            for task in tasks {
                missing.remove(task.id());
            }
        }
        let missing = missing.into_iter().cloned().collect();
        self.completed_and_away(missing)
    }

    /// Those of these tasks whose files were taken away or emptied once they were completed. Where the history
    /// cannot be asked, nobody knows of any.
    pub(crate) fn completed_and_away(&self, mut tasks: BTreeSet<TaskId>) -> BTreeSet<TaskId> {
        if tasks.is_empty() {
            return tasks;
        }
        let away = self.vanished_within(LATELY, tasks.iter().cloned());
        let away = away.unwrap_or_default();
        tasks.retain(|task| away.contains(task));
        let known = self.last_known(&tasks).unwrap_or_default();
        let is_done = |task: &TaskId| {
            let file = known
                .get(task)
                .and_then(|raw| self.understand(task, raw).ok());
            file.is_some_and(|it| it.task.state == State::Completed)
        };
        tasks.retain(is_done);
        tasks
    }

    /// Whether there is a file of a task and nothing in it: another program emptied it, or a power cut did.
    pub(crate) fn is_emptied(&self, task: &TaskId) -> bool {
        let content = fsx::read(self.home.fs(), &self.task_path(task));
        matches!(content, Ok(Some(content)) if is_nothing(&content))
    }

    /// Puts the files back that were taken away or emptied, as the history last tells of them; whether there
    /// were any.
    pub(crate) fn bring_back(&self, actor: &WorkerId) -> Result<bool> {
        self.home.transact(|| {
            let mut change = self.change(actor)?;
            let known = self.last_known(&self.vanished(&self.load()?.skipped)?)?;
            let has_any = !known.is_empty();
            for (task, raw) in known {
                change.restore(&task, raw)?;
                let entry = change.note(Kind::TaskCreated, &task);
                entry.detail.insert(BROUGHT_BACK.to_owned(), true.into());
            }
            change.commit()?;
            Ok(has_any)
        })
    }
}

/// Whether nothing is left in a file.
pub(super) fn is_nothing(content: &[u8]) -> bool {
    let is_blank = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    content.iter().all(is_blank)
}

/// What a line says of the files of tasks.
fn says(entry: &Entry) -> Vec<(TaskId, LastWord)> {
    let mut all = Vec::new();
    if let Some(task) = &entry.task {
        let says = match entry.kind {
            Kind::TaskRemoved => Some(LastWord::Gone),
            Kind::TaskVanished => Some(LastWord::Others),
            _ if entry.rev().is_some() => Some(LastWord::Ours),
            _ => (entry.detail.contains_key(FINGERPRINT)).then_some(LastWord::Others),
        };
        all.extend(says.map(|it| (task.clone(), it)));
    }
    all.extend(neighbours(entry, "others").map(|(task, _)| (task, LastWord::Ours)));
    all
}

/// What a line says of tasks that have no line of their own.
fn neighbours<'e>(entry: &'e Entry, key: &str) -> impl Iterator<Item = (TaskId, &'e Raw)> {
    let told = object(entry, key).into_iter().flatten();
    told.filter_map(|(task, it)| Some((task.parse().ok()?, it.as_object()?)))
}

fn object<'e>(entry: &'e Entry, key: &str) -> Option<&'e Raw> {
    entry.detail.get(key).and_then(Value::as_object)
}

/// The number that all lines of one change share.
fn operation(line: &Line) -> u64 {
    line.entry.number("op").unwrap_or(line.n)
}
