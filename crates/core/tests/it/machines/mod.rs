//! Several machines and one order of changes, without a network: each has a home, and the order is a list
//! in memory that answers as it is told to.

mod a_promise_is_settled;
mod an_order_begins_anew;
mod every_machine_is_alike;
mod list_names;
mod mail_by_hand;
mod of_one_order;
mod while_the_fleet_is_away;
mod who_was_overtaken_tries_again;

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use flagpost_core::{
    Home, List, Result,
    history::{History, Line},
    operations,
    order::{self, ChangeOrigin, Message, NumberedChange, OrderRefusal, Sequencer, SharedChange},
    relay::{Fleet, Mail, workers},
};
use flagpost_disk::fsx;
use flagpost_model::{ListId, RepoId};
use flagpost_testkit::{power::PowerFs, scratch::scratch};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::world::{self, World, worker};

/// What the order answers to a change, whatever it does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// As it is.
    Truly,
    /// It has it, and the answer is lost.
    Unheard,
    /// It never got it, and nobody knows.
    Lost,
    /// It cannot be reached.
    Away,
}

/// The order of one repository, after what was there when it was shared.
#[derive(Debug)]
pub struct Stream {
    repo: RepoId,
    /// The number of the last line that was there.
    base: u64,
    changes: Kept,
    /// One after the other.
    turn: Mutex<()>,
    answers: Mutex<VecDeque<Answer>>,
    /// The names of lists that another repository of the fleet has.
    taken: Mutex<BTreeSet<ListId>>,
    away: AtomicBool,
}

/// Where the changes of an order are, each with who published it.
#[derive(Debug)]
enum Kept {
    /// In memory.
    Here(Mutex<Vec<(Vec<u8>, ChangeOrigin)>>),
    /// With a simulated disk, which a power cut leaves them: all of a machine of the gate.
    With(PowerFs),
}

impl Kept {
    fn all(&self) -> Vec<(Vec<u8>, ChangeOrigin)> {
        match self {
            Self::Here(changes) => changes.lock().unwrap().clone(),
            Self::With(fs) => {
                let kept = fs.kept_elsewhere().into_iter();
                kept.map(|bytes| (bytes, ChangeOrigin::Gate)).collect()
            }
        }
    }

    fn push(&self, bytes: Vec<u8>, origin: ChangeOrigin) {
        match self {
            Self::Here(changes) => changes.lock().unwrap().push((bytes, origin)),
            Self::With(fs) => fs.send_away(bytes),
        }
    }
}

impl Stream {
    /// Shares the repository of a home with what it holds.
    pub fn of(home: &Home, repo: &RepoId) -> Arc<Self> {
        let base = order::share(home, (repo, 1), &worker("operator"), &mut |_| Ok(())).unwrap();
        let changes = Kept::Here(Mutex::default());
        Self::after((repo, base), changes)
    }

    fn after((repo, base): (&RepoId, u64), changes: Kept) -> Arc<Self> {
        Arc::new(Self {
            repo: repo.clone(),
            base,
            changes,
            turn: Mutex::default(),
            answers: Mutex::default(),
            taken: Mutex::default(),
            away: AtomicBool::new(false),
        })
    }

    /// The same home as one machine of several.
    pub fn joined(self: &Arc<Self>, home: Home, origin: ChangeOrigin) -> Home {
        let machine = Machine {
            stream: Arc::clone(self),
            home: home.clone(),
            origin,
        };
        home.ordered(Arc::new(machine), operations::tell)
    }

    /// Answers the next changes so.
    pub fn answers(&self, answers: &[Answer]) {
        self.answers.lock().unwrap().extend(answers);
    }

    /// Another repository has a list of this name.
    pub fn has_elsewhere(&self, list: &str) {
        self.taken.lock().unwrap().insert(list.parse().unwrap());
    }

    /// Cannot be reached by anybody.
    pub fn go_away(&self) {
        self.away.store(true, Ordering::Relaxed);
    }

    /// Can be reached again.
    pub fn come_back(&self) {
        self.away.store(false, Ordering::Relaxed);
    }

    fn must_be_there(&self) -> Result<(), OrderRefusal> {
        match self.away.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(OrderRefusal::Unreachable {
                repo: self.repo.clone(),
                reason: "the test says so".to_owned(),
            }),
        }
    }

    /// Puts a change in as a machine does that cares for nothing.
    pub fn force(&self, bytes: Vec<u8>, origin: ChangeOrigin) {
        self.changes.push(bytes, origin);
    }

    /// Takes the last change out again, as it was published.
    pub fn take_last(&self) -> Vec<u8> {
        match &self.changes {
            Kept::Here(changes) => changes.lock().unwrap().pop().unwrap().0,
            Kept::With(_) => unreachable!("only what is in memory"),
        }
    }

    /// Has these changes and no others.
    pub fn put(&self, all: Vec<Vec<u8>>) {
        match &self.changes {
            Kept::Here(changes) => {
                *changes.lock().unwrap() =
                    all.into_iter().map(|it| (it, ChangeOrigin::Gate)).collect();
            }
            Kept::With(_) => unreachable!("only what is in memory"),
        }
    }

    pub fn change(&self, at: usize) -> Vec<u8> {
        self.changes.all().swap_remove(at).0
    }

    /// Carries out on this machine what it has not.
    pub fn follow(&self, home: &Home) -> Result<()> {
        let wanted = order::first_wanted(home, &self.repo)?;
        let changes = self.changes.all();
        let mut last = self.base;
        for (bytes, origin) in changes {
            let change = parsed(&self.repo, &bytes)?;
            if change.last() >= wanted {
                change.follow(home, origin)?;
            }
            last = change.last();
        }
        order::caught_up(home, &self.repo, last)
    }
}

/// A message that is a change.
fn parsed(repo: &RepoId, bytes: &[u8]) -> Result<SharedChange> {
    match Message::parse(repo, bytes)? {
        Message::Change(change) => Ok(change),
        Message::Base(part) => panic!("a part of a base: {part:?}"),
    }
}

/// One machine's way to the order.
#[derive(Debug)]
struct Machine {
    stream: Arc<Stream>,
    home: Home,
    origin: ChangeOrigin,
}

impl Sequencer for Machine {
    fn time(&self, own: Timestamp) -> Timestamp {
        own
    }

    fn publish(&self, change: &NumberedChange) -> Result<(), OrderRefusal> {
        self.stream.must_be_there()?;
        let repo = change.repo.clone();
        let unsettled = || OrderRefusal::Unsettled { repo: repo.clone() };
        let unreachable = || OrderRefusal::Unreachable {
            repo: repo.clone(),
            reason: "the test says so".to_owned(),
        };
        let answer = self.stream.answers.lock().unwrap().pop_front();
        let answer = answer.unwrap_or(Answer::Truly);
        match answer {
            Answer::Away => return Err(unreachable()),
            Answer::Lost => return Err(unsettled()),
            Answer::Truly | Answer::Unheard => {}
        }
        if change.needs == ChangeOrigin::Gate && self.origin == ChangeOrigin::Plain {
            let reason = "it may not decide".to_owned();
            return Err(OrderRefusal::NotAllowed { repo, reason });
        }
        let _turn = self.stream.turn.lock().unwrap();
        let changes = self.stream.changes.all();
        let last = changes.last().map_or(self.stream.base, |(bytes, _)| {
            parsed(&repo, bytes).unwrap().last()
        });
        if change.first != last + 1 {
            return Err(OrderRefusal::Overtaken { repo });
        }
        self.stream.changes.push(change.bytes.clone(), self.origin);
        match answer {
            Answer::Unheard => Err(unsettled()),
            _ => Ok(()),
        }
    }

    fn name_list(&self, repo: &RepoId, list: &ListId) -> Result<(), OrderRefusal> {
        match self.stream.taken.lock().unwrap().contains(list) {
            false => Ok(()),
            true => Err(OrderRefusal::ListThere {
                repo: repo.clone(),
                list: list.clone(),
            }),
        }
    }

    fn catch_up(&self, _: &RepoId) -> Result<()> {
        self.stream.must_be_there()?;
        self.stream.follow(&self.home)
    }
}

/// A machine of a fleet, on the test's own disk.
#[derive(Debug)]
pub struct Node {
    _dir: TempDir,
    home: Home,
    stream: Arc<Stream>,
}

impl Node {
    pub fn list(&self) -> List<'_> {
        List::open(&self.home, &"repo".parse().unwrap()).unwrap()
    }

    pub fn fleet(&self) -> Fleet<'_> {
        Fleet::of(&self.home, &self.stream.repo)
    }

    pub fn mail(&self, name: &str) -> Mail<'_> {
        self.fleet().mail(&worker(name)).unwrap()
    }

    pub fn register(&self, name: &str) {
        let traits = workers::Traits::default();
        workers::register(&self.fleet(), &worker("operator"), &worker(name), traits).unwrap();
    }

    pub fn history_path(&self) -> PathBuf {
        let dir = self.home.repository_dir(&self.stream.repo);
        dir.join("history.jsonl")
    }

    pub fn history_text(&self) -> String {
        std::fs::read_to_string(self.history_path()).unwrap()
    }

    pub fn history(&self) -> Vec<Line> {
        History::of(&self.home, &self.stream.repo).since(0).unwrap()
    }

    /// Carries out what the others did.
    pub fn try_follow(&self) -> Result<()> {
        self.stream.follow(&Home::at(self.home.root().clone()))
    }

    pub fn follow(&self) {
        self.try_follow().unwrap();
    }

    /// Every file that each machine has, by its path in the home.
    pub fn replicated(&self) -> BTreeMap<PathBuf, String> {
        replicated_in(self.home.root())
    }
}

fn replicated_in(root: &Path) -> BTreeMap<PathBuf, String> {
    let files = walked(root).into_iter();
    let shared = files.filter(|path| is_replicated(path));
    shared
        .map(|path| {
            let text = std::fs::read(&path).unwrap();
            let inside = path.strip_prefix(root).unwrap().to_owned();
            (inside, String::from_utf8_lossy(&text).into_owned())
        })
        .collect()
}

fn assert_alike(a: &BTreeMap<PathBuf, String>, b: &BTreeMap<PathBuf, String>) {
    let names = a.keys().chain(b.keys());
    let unlike = names.filter(|name| a.get(*name) != b.get(*name));
    let unlike: Vec<_> = unlike.map(|it| (it, a.get(it), b.get(it))).collect();
    assert!(unlike.is_empty(), "{unlike:#?}");
}

/// Every file below a directory.
fn walked(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap();
    let paths = entries.map(|it| it.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => walked(&path),
            false => vec![path],
        })
        .collect()
}

/// The world of one machine of a fleet, and a check that another one holds the same.
pub fn of_two(mut world: World) -> (World, impl FnOnce()) {
    let stream = Stream::of(&world.home, &world.repository.id);
    let other = node(&world, &stream, ChangeOrigin::Gate);
    world.home = stream.joined(world.home, ChangeOrigin::Gate);
    let root = world.home.root().clone();
    let check = move || {
        other.follow();
        let mut ours = replicated_in(&root);
        // What is no task is nothing to share.
        ours.retain(|path, text| !path.ends_with("7.json") || text != "{");
        assert_alike(&ours, &other.replicated());
    };
    (world, check)
}

/// Three machines of the gate that share one repository.
#[derive(Debug)]
pub struct Fleet3 {
    pub stream: Arc<Stream>,
    nodes: [Node; 3],
    /// What they began with.
    first: World,
}

impl Fleet3 {
    pub fn new() -> Self {
        let first = World::real();
        let stream = Stream::of(&first.home, &first.repository.id);
        let nodes = [(); 3].map(|()| node(&first, &stream, ChangeOrigin::Gate));
        Self {
            stream,
            nodes,
            first,
        }
    }

    pub fn nodes(&self) -> &[Node; 3] {
        &self.nodes
    }

    /// One machine more.
    pub fn node(&self, origin: ChangeOrigin) -> Node {
        node(&self.first, &self.stream, origin)
    }

    pub fn all_follow(&self) {
        self.nodes.iter().for_each(Node::follow);
    }

    /// All hold the same once each has carried out what the others did.
    pub fn all_alike(&self) {
        self.all_follow();
        let [a, b, c] = self.nodes.each_ref().map(Node::replicated);
        assert_alike(&a, &b);
        assert_alike(&a, &c);
    }
}

/// A machine that begins with what the first one had.
fn node(first: &World, stream: &Arc<Stream>, origin: ChangeOrigin) -> Node {
    let dir = scratch();
    let (from, root) = (first.home.root(), dir.path().join("home"));
    for path in walked(from) {
        let to = root.join(path.strip_prefix(from).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(&path, to).unwrap();
    }
    let home = stream.joined(Home::at(root), origin);
    Node {
        _dir: dir,
        home,
        stream: Arc::clone(stream),
    }
}

/// How the crash tests of one home go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is shared with nobody.
    Alone,
    /// It is, and the order has each change that was asked for.
    Shared,
}

impl Mode {
    pub const ALL: [Self; 2] = [Self::Alone, Self::Shared];
}

/// What was there when the simulated homes on this thread were shared.
#[derive(Debug, Clone)]
struct Shared {
    repo: RepoId,
    base: u64,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Shared {
    fn stream(&self, fs: &PowerFs) -> Arc<Stream> {
        Stream::after((&self.repo, self.base), Kept::With(fs.clone()))
    }
}

thread_local! {
    static SHARED: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

/// A disk whose home, and that of each disk that a crash makes of it, is as this mode says.
pub fn arranged(mode: Mode, setup: impl FnOnce() -> PowerFs) -> PowerFs {
    SHARED.set(None);
    let fs = setup();
    if mode != Mode::Alone {
        let world = world::World::simulated(&fs);
        let repo = world.repository.id;
        let mut parts = |_: &_| Ok(());
        let base = order::share(&world.home, (&repo, 1), &worker("operator"), &mut parts).unwrap();
        fs.settle();
        let files = fs.files();
        SHARED.set(Some(Shared { repo, base, files }));
    }
    fs
}

/// The home of a simulated disk, in an order where it is in one.
pub fn on(fs: &PowerFs, home: Home) -> Home {
    match SHARED.with_borrow(Clone::clone) {
        Some(shared) => shared.stream(fs).joined(home, ChangeOrigin::Gate),
        None => home,
    }
}

/// The same while the fleet is away.
pub fn away(fs: &PowerFs, home: Home) -> Home {
    let shared = SHARED.with_borrow(Clone::clone).unwrap();
    let stream = shared.stream(fs);
    stream.go_away();
    stream.joined(home, ChangeOrigin::Gate)
}

/// What a daemon does that is started again.
pub fn catch_up(fs: &PowerFs) {
    if let Some(shared) = SHARED.with_borrow(Clone::clone) {
        shared.stream(fs).follow(&plain_home(fs)).unwrap();
    }
}

/// Another machine that follows the same order holds the same.
pub fn others_hold_the_same(fs: &PowerFs) {
    let Some(shared) = SHARED.with_borrow(Clone::clone) else {
        return;
    };
    let other = PowerFs::with_dir("/home");
    for (path, bytes) in &shared.files {
        fsx::make_dirs(&other, path.parent().unwrap()).unwrap();
        fsx::replace(&other, path, bytes).unwrap();
    }
    shared.stream(fs).follow(&plain_home(&other)).unwrap();
    assert_alike(&replicated(&other), &replicated(fs));
}

/// The home of a simulated disk, in no order.
fn plain_home(fs: &PowerFs) -> Home {
    Home::new(
        "/home".into(),
        Arc::new(fs.clone()),
        Arc::new(world::start()),
    )
}

/// Every file that each machine has, by its path.
pub fn replicated(fs: &PowerFs) -> BTreeMap<PathBuf, String> {
    let files = fs.files().into_iter();
    let shared = files.filter(|(path, _)| is_replicated(path));
    shared
        .map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned()))
        .collect()
}

/// Whether each machine has a file of this path alike: the history, tasks, mail and reservations.
pub fn is_replicated(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_string_lossy();
    let own = [
        ".lock",
        ".seq",
        ".highwatermark",
        ".cache",
        ".settled",
        ".policy-accepted",
        ".epoch",
        "tasks.seen.json",
        ".shared",
        ".history.lock",
    ];
    let parts = || path.components().map(|it| it.as_os_str().to_string_lossy());
    let is_ours = parts().any(|it| it == "repos" || it == "tasks");
    let aside = ["quarantine", "outgoing", ".queue", "run-1"];
    let is_aside = parts().any(|it| aside.contains(&&*it));
    is_ours
        && !is_aside
        && !own.contains(&&*name)
        && !name.ends_with(".offered")
        && !name.ends_with(".words.json")
        && !name.contains(".tmp")
        && name != "worker.json"
}
