//! A sealed home: its own directory, its own disk, and a clock that only the test moves.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use flagpost_core::{
    Clock, Home, List, Repository, SystemClock,
    claims::{self, Terms},
    history::{History, Line},
    relay::Fleet,
    tasks::{self, Fields, Move, Parts},
};
use flagpost_disk::fsx::{Fs, RealFs};
use flagpost_model::{
    TaskId, Token, WorkerId,
    plan::Graph,
    task::{Act, DEFAULT_LEASE, Ending, Task},
};
use flagpost_testkit::{power::PowerFs, scratch::scratch};
use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;

use crate::machines;

/// A home with one registered repository and its list.
#[derive(Debug)]
pub struct World {
    pub home: Home,
    pub repository: Repository,
    hands: Arc<Hands>,
    dir: Option<TempDir>,
}

/// The hands of the clock.
#[derive(Debug)]
struct Hands(Mutex<Timestamp>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

impl World {
    /// On the machine's own disk. The clock starts at the machine's time, which is what its files
    /// are stamped with.
    pub fn real() -> Self {
        let dir = scratch();
        let mut world = Self::at(Arc::new(RealFs), dir.path(), SystemClock.now());
        world.dir = Some(dir);
        world
    }

    /// The same with these tasks in its list, none of which waits for another.
    pub fn with_tasks(subjects: &[&str]) -> Self {
        let world = Self::real();
        for text in subjects {
            add(&world.list(), text, &[]);
        }
        world
    }

    /// On the machine's own disk, at a time that can be written down. Its clock is behind the times
    /// of its files.
    pub fn simple_clock() -> Self {
        let dir = scratch();
        let mut world = Self::at(Arc::new(RealFs), dir.path(), start());
        world.dir = Some(dir);
        world
    }

    /// On the machine's own disk, in a directory that the test keeps.
    pub fn at_place(root: &Path) -> Self {
        Self::at(Arc::new(RealFs), root, SystemClock.now())
    }

    /// On a simulated disk with the directories `/home` and `/repo`.
    pub fn simulated(fs: &PowerFs) -> Self {
        machines::catch_up(fs);
        let world = Self::at(Arc::new(fs.clone()), Path::new("/"), start());
        let home = machines::on(fs, world.home.clone());
        Self { home, ..world }
    }

    fn at(fs: Arc<dyn Fs>, root: &Path, now: Timestamp) -> Self {
        let hands = Arc::new(Hands(Mutex::new(now)));
        let home = Home::new(root.join("home"), fs, hands.clone());
        let top = root.join("repo");
        if home.fs().stat(&top).is_err() {
            home.fs().make_dir(&top).unwrap();
        }
        let repository = Repository::register(&home, &top, &worker("operator")).unwrap();
        List::open_or_create(&home, &repository.name, &repository).unwrap();
        Self {
            home,
            repository,
            hands,
            dir: None,
        }
    }

    /// The repository's list.
    pub fn list(&self) -> List<'_> {
        List::open(&self.home, &self.repository.name).unwrap()
    }

    /// The repository's fleet.
    pub fn fleet(&self) -> Fleet<'_> {
        Fleet::of(&self.home, &self.repository.id)
    }

    /// Every readable line of the repository's history.
    pub fn history(&self) -> Vec<Line> {
        let history = History::of(&self.home, &self.repository.id);
        history.since(0).unwrap()
    }

    pub fn history_path(&self) -> PathBuf {
        let dir = self.home.repository_dir(&self.repository.id);
        dir.join("history.jsonl")
    }

    /// The directory that holds the home, for other processes.
    pub fn place(&self) -> &Path {
        self.dir.as_ref().unwrap().path()
    }

    /// Moves the clock, back where negative.
    pub fn pass(&self, time: SignedDuration) {
        let mut now = self.hands.0.lock().unwrap();
        *now += time;
    }

    /// Sets the clock to the machine's.
    pub fn catch_up(&self) {
        *self.hands.0.lock().unwrap() = SystemClock.now();
    }

    /// The path of a file in the list's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.list().dir().join(name)
    }

    /// Writes a file into the list's directory as a foreign program does.
    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }
}

pub fn start() -> Timestamp {
    "2026-05-13T14:25:00Z".parse().unwrap()
}

/// The home of [`World::simulated`] without a look at the disk.
pub fn simulated_home(fs: &PowerFs) -> Home {
    let home = Home::new("/home".into(), Arc::new(fs.clone()), Arc::new(start()));
    machines::on(fs, home)
}

/// A simulated disk on which a [`World`] finds its directories.
pub fn power() -> PowerFs {
    let fs = PowerFs::with_dir("/home");
    fs.make_dir(Path::new("/repo")).unwrap();
    fs.settle();
    fs
}

/// A simulated disk with a working tree and nothing of ours.
pub fn empty() -> PowerFs {
    PowerFs::with_dir("/repo")
}

pub fn worker(name: &str) -> WorkerId {
    name.parse().unwrap()
}

pub fn id(number: u64) -> TaskId {
    TaskId::from(number)
}

pub fn ids(numbers: &[u64]) -> Vec<TaskId> {
    numbers.iter().copied().map(TaskId::from).collect()
}

pub fn terms(name: &str) -> Terms {
    Terms {
        actor: worker(name),
        lease: DEFAULT_LEASE,
        session: None,
    }
}

pub fn act(name: &str, token: Option<Token>) -> Act {
    Act {
        actor: worker(name),
        token,
        at: Timestamp::UNIX_EPOCH,
    }
}

pub fn subject(text: &str) -> Fields {
    Fields {
        subject: Some(text.to_owned()),
        ..Fields::default()
    }
}

/// Adds a task that waits for those of these numbers.
pub fn add(list: &List<'_>, text: &str, after: &[u64]) -> Task {
    tasks::add(list, &worker("operator"), &subject(text), &ids(after)).unwrap()
}

pub fn finish(ending: Ending) -> Move {
    Move::Finish {
        ending,
        text: "what came of it".to_owned(),
        parts: Parts::MustBeDone,
    }
}

/// One task of the list, whole.
pub fn task_of(list: &List<'_>, number: u64) -> Task {
    list.task(&id(number)).unwrap().task
}

/// The task that is given to a worker who asks for any.
pub fn next_of(list: &List<'_>, name: &str) -> TaskId {
    claims::claim_next(list, &terms(name)).unwrap().task.id
}

/// Every task of the list, whole.
pub fn tasks_of(list: &List<'_>) -> BTreeMap<TaskId, Task> {
    let loaded = list.load().unwrap();
    let whole = |id: TaskId| {
        let task = list.task(&id).unwrap().task;
        (id, task)
    };
    loaded.outlines.into_iter().map(|it| whole(it.id)).collect()
}

/// Who waits for whom among the tasks of the list: (waiting, on).
pub fn edges_of(list: &List<'_>) -> Vec<(TaskId, TaskId)> {
    let outlines = list.load().unwrap().outlines;
    let graph = Graph::new(&outlines);
    let waits = |id: &TaskId| {
        let id = id.clone();
        let on = graph.blockers(&id).map(|it| it.id.clone());
        on.map(|on| (id.clone(), on)).collect::<Vec<_>>()
    };
    outlines.iter().flat_map(|it| waits(&it.id)).collect()
}
