//! The tasks of all lists, told as they change.
//!
//! Owns what was told last, once for all who listen. A look tells which tasks differ from then: those that
//! somebody changed by whatever way, and those that can be claimed now or no longer. It costs as much as
//! the lists are long; nobody looks where nobody listens, and looks are spaced so that a storm of changes
//! takes a tenth of a processor.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use flagpost_core::{
    Home, List, ListReader,
    answers::{self, ListedTask},
    describe, registry, roots,
};
use flagpost_model::{
    ListId, RepoId, TaskId,
    plan::{Index, Readiness, readiness},
    task::Outline,
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tracing::warn;

use super::{Hub, Text, event};

/// So many changes are kept, and so many bytes of them.
const KEPT: usize = 512;
const KEPT_BYTES: usize = 4 << 20;
/// How often to look in any case: a lease runs out without a notice.
const RECHECK: Duration = Duration::from_secs(10);
/// After a look that took one unit of time, the next waits for so many.
const REST: u32 = 9;
/// No look waits longer for the one before.
const LONGEST_REST: Duration = Duration::from_secs(1);
/// Changes that come together are told together.
const TOGETHER: Duration = Duration::from_millis(5);

/// What all who listen to lists share.
#[derive(Debug, Default)]
pub(crate) struct ListFeed {
    /// What was read of lists, for all who read them here.
    pub(crate) reader: ListReader,
    told: Mutex<Told>,
    /// Moves on with each change that is told.
    changes: watch::Sender<u64>,
}

/// What was told.
#[derive(Debug, Default)]
struct Told {
    lists: BTreeMap<ListId, ToldList>,
    /// The last changes.
    kept: VecDeque<ToldChange>,
    bytes: usize,
    /// All up to this number was told.
    n: u64,
    /// The state as it was said last, for as long as somebody is still being told it and no list has changed;
    /// and what it says beside the tasks.
    said: (String, Weak<Text>),
}

/// A change, ready to be told.
#[derive(Debug)]
struct ToldChange {
    n: u64,
    repo: RepoId,
    text: String,
}

/// A list as it was told last.
#[derive(Debug)]
struct ToldList {
    repo: RepoId,
    tasks: Vec<(Arc<Outline>, Readiness)>,
}

/// Tasks of a list that changed.
///
/// The data of the event list.changed, for those who listen to GET /v1/events?with=outlines.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListChange<'a> {
    repo: &'a RepoId,
    list: &'a ListId,
    /// Those that are new, or differ from what was told before.
    tasks: Vec<ListedTask<'a>>,
    /// Those that are gone.
    removed: Vec<&'a TaskId>,
}

/// A list with its tasks.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListState<'a> {
    list: &'a ListId,
    #[serde(serialize_with = "one_by_one")]
    #[schemars(with = "Vec<ListedTask<'a>>")]
    tasks: &'a [(Arc<Outline>, Readiness)],
}

/// Ten thousand tasks are written without ten thousand answers beside each other.
fn one_by_one<S: Serializer>(
    tasks: &&[(Arc<Outline>, Readiness)],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(tasks.iter().map(|(task, plan)| ListedTask::of(task, plan)))
}

impl ListFeed {
    /// Somebody who listens: is woken with each change, and is the reason to look for them.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// What came after this number to the lists of one repository, or of all, as events; and the number
    /// of the last. `None` where it is not kept any more.
    pub(crate) fn after(&self, n: u64, only: Option<&RepoId>) -> Option<(String, u64)> {
        let told = self.told();
        let first = told.kept.front().map_or(told.n + 1, |it| it.n);
        if n + 1 < first || n > told.n {
            return None;
        }
        let is_wanted = |it: &&ToldChange| it.n > n && only.is_none_or(|id| *id == it.repo);
        let news = told.kept.iter().filter(is_wanted);
        Some((news.map(|it| it.text.as_str()).collect(), told.n))
    }

    /// Says all lists as they are now, by their repositories, and up to which number their changes are in
    /// that. Whoever says the same `beside` the tasks meanwhile gets the same text.
    pub(crate) fn state(
        &self,
        home: &Home,
        beside: String,
        say: impl FnOnce(&BTreeMap<&RepoId, Vec<ListState<'_>>>) -> Text,
    ) -> flagpost_core::Result<(Arc<Text>, u64)> {
        let mut told = self.told();
        told.look(&self.reader, home)?;
        if let Some(said) = told.said.1.upgrade().filter(|_| told.said.0 == beside) {
            return Ok((said, told.n));
        }
        let mut lists: BTreeMap<&RepoId, Vec<ListState<'_>>> = BTreeMap::new();
        for (list, of) in &told.lists {
            let tasks = &of.tasks;
            let state = ListState { list, tasks };
            lists.entry(&of.repo).or_default().push(state);
        }
        let said = Arc::new(say(&lists));
        told.said = (beside, Arc::downgrade(&said));
        Ok((said, told.n))
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks again and again, while somebody listens.
pub(crate) async fn tell_lists(home: Home, hub: Arc<Hub>) {
    let mut looks = hub.looks();
    loop {
        let _: Result<_, _> = timeout(RECHECK, looks.changed()).await;
        if hub.lists.changes.receiver_count() == 0 {
            // What nobody was told of costs no memory.
            *hub.lists.told() = Told::default();
            continue;
        }
        sleep(TOGETHER).await;
        looks.mark_unchanged();
        let begun = Instant::now();
        let (home, own) = (home.clone(), Arc::clone(&hub));
        let looked = tokio::task::spawn_blocking(move || {
            let mut told = own.lists.told();
            (told.look(&own.lists.reader, &home), told.n)
        });
        match looked.await {
            Ok((Ok(()), n)) => {
                let is_news = hub.lists.changes.send_replace(n) != n;
                if is_news {
                    hub.wake_listeners();
                    looks.mark_unchanged();
                }
            }
            Ok((Err(error), _)) => warn!("the lists cannot be read: {}", describe(&error)),
            Err(_) => return,
        }
        sleep((begun.elapsed() * REST).min(LONGEST_REST)).await;
    }
}

impl Told {
    /// Looks at all lists, and keeps what changed to be told.
    fn look(&mut self, reader: &ListReader, home: &Home) -> flagpost_core::Result<()> {
        let repositories = registry::repositories(home)?;
        let mut now = BTreeMap::new();
        for id in roots::lists(home)? {
            // One that leads elsewhere or belongs to nobody is no repository's.
            let Some(list) = List::open(home, &id).ok() else {
                continue;
            };
            let repo = list.repository().ok();
            if let Some(repo) = repo.filter(|id| repositories.iter().any(|it| it.id == *id)) {
                let tasks = reader.look(&list)?.outlines;
                let plan = readiness(&tasks, home.now());
                let tasks = tasks.into_iter().zip(plan).collect();
                now.insert(id, ToldList { repo, tasks });
            }
        }
        let before = std::mem::take(&mut self.lists);
        if !now.keys().eq(before.keys()) {
            self.said = Default::default();
        }
        for (list, of) in &now {
            let old = before.get(list).filter(|it| it.repo == of.repo);
            self.keep(list, old.map_or(&[], |it| &it.tasks), &of.repo, &of.tasks);
        }
        for (list, of) in &before {
            if now.get(list).is_none_or(|it| it.repo != of.repo) {
                self.keep(list, &of.tasks, &of.repo, &[]);
            }
        }
        self.lists = now;
        Ok(())
    }

    fn keep(
        &mut self,
        list: &ListId,
        before: &[(Arc<Outline>, Readiness)],
        repo: &RepoId,
        now: &[(Arc<Outline>, Readiness)],
    ) {
        let old = Index::new(before.iter().map(|(task, _)| task.id.as_str()));
        let new = Index::new(now.iter().map(|(task, _)| task.id.as_str()));
        let is_news = |(task, plan): &&(Arc<Outline>, Readiness)| {
            let old = old.get(task.id.as_str()).and_then(|at| before.get(at));
            // What was not read anew is the same.
            let is_same = |old: &Arc<Outline>| Arc::ptr_eq(old, task) || **old == **task;
            !old.is_some_and(|old| is_same(&old.0) && old.1 == *plan)
        };
        let tasks = now.iter().filter(is_news);
        let tasks: Vec<_> = tasks
            .map(|(task, plan)| ListedTask::of(task, plan))
            .collect();
        let gone = before.iter().map(|(task, _)| &task.id);
        let removed: Vec<&TaskId> = gone.filter(|id| new.get(id.as_str()).is_none()).collect();
        if tasks.is_empty() && removed.is_empty() {
            return;
        }
        let change = ListChange {
            repo,
            list,
            tasks,
            removed,
        };
        let text = event(None, "list.changed", &answers::text(&change));
        self.said = Default::default();
        self.n += 1;
        self.bytes += text.len();
        self.kept.push_back(ToldChange {
            n: self.n,
            repo: repo.clone(),
            text,
        });
        while self.kept.len() > KEPT || self.bytes > KEPT_BYTES && self.kept.len() > 1 {
            let Some(oldest) = self.kept.pop_front() else {
                return;
            };
            self.bytes -= oldest.text.len();
        }
    }
}
