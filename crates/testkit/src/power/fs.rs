//! The simulated disk as a test steers it: steps, faults, power.
//!
//! Owns the count of steps and the decision whether the next one happens. The calls themselves are
//! in `calls`.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{Hash, Hasher},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard},
};

use rustix::io::Errno;
use uuid::{Builder, Uuid};

use super::{
    crash::{self, CrashOutcome},
    step::DiskStep,
    tree::Tree,
};

/// The first id's time: 2023-11-14.
const BEGIN_MILLIS: u64 = 1_700_000_000_000;
/// Spreads small numbers over the bits of an id.
const SPREAD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060;

/// How a single step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full (`ENOSPC`); of a write, one half got through.
    NoSpace,
    /// The device failed (`EIO`).
    Broken,
}

/// A file system in memory. Clones share it.
#[derive(Debug, Clone)]
pub struct PowerFs(pub(super) Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) machine: Mutex<Machine>,
    pub(super) unlocked: Condvar,
}

#[derive(Debug)]
pub(super) struct Machine {
    pub(super) tree: Tree,
    steps: Vec<DiskStep>,
    /// How many steps were asked for, failed ones included.
    asked: usize,
    plan: Plan,
    is_on: bool,
    failed: Option<DiskStep>,
    /// The syncs, as steps counted from 1, that count as done and do nothing.
    omitted: BTreeSet<usize>,
    rival: Option<(PathBuf, Vec<u8>)>,
    pub(super) locked: BTreeSet<u64>,
    elsewhere: Vec<Vec<u8>>,
    /// How many ids were given out.
    ids: u64,
}

#[derive(Debug, Clone, Copy)]
enum Plan {
    Free,
    CutAfter(usize),
    FailAt(usize, Fault),
}

impl PowerFs {
    /// An empty disk with this directory, durable.
    pub fn with_dir(dir: &str) -> Self {
        let mut tree = Tree::new();
        let mut path = PathBuf::from("/");
        for part in Path::new(dir).components().skip(1) {
            path.push(part);
            let slot = tree.slot(&path).expect("the path is absolute");
            tree.create(slot, true);
        }
        tree.settle();
        Self::of(Machine::begun(tree))
    }

    fn of(machine: Machine) -> Self {
        Self(Arc::new(Shared {
            machine: Mutex::new(machine),
            unlocked: Condvar::new(),
        }))
    }

    /// A machine with this tree in which nothing runs, and which knows what this one knows.
    fn with(&self, tree: impl FnOnce(&Tree) -> Tree) -> Self {
        let machine = self.machine();
        Self::of(Machine {
            rival: machine.rival.clone(),
            elsewhere: machine.elsewhere.clone(),
            ids: machine.ids,
            ..Machine::begun(tree(&machine.tree))
        })
    }

    /// The same disk once more, of which nothing is shared.
    pub fn copy(&self) -> Self {
        self.with(Tree::clone)
    }

    /// Counts steps from here on, and lets all of them succeed.
    pub fn run_free(&self) {
        self.plan(Plan::Free);
    }

    /// Counts steps from here on, and cuts the power after `steps` of them.
    pub fn cut_after(&self, steps: usize) {
        self.plan(Plan::CutAfter(steps));
    }

    /// Counts steps from here on, and fails number `step` (from 1) only.
    pub fn fail_step(&self, step: usize, fault: Fault) {
        self.plan(Plan::FailAt(step, fault));
    }

    /// Does nothing for these syncs, by their numbers as steps from 1: as if the product did not ask for them.
    pub(super) fn omit(&self, syncs: &[usize]) {
        self.machine().omitted = syncs.iter().copied().collect();
    }

    /// Somebody else creates this file the moment before it is renamed to as a new name.
    pub fn forestall(&self, path: &Path, content: &[u8]) {
        self.machine().rival = Some((path.to_owned(), content.to_owned()));
    }

    /// The steps since the count began that succeeded.
    pub fn steps(&self) -> Vec<DiskStep> {
        self.machine().steps.clone()
    }

    /// The step that [`fail_step`](Self::fail_step) made fail, if it was reached.
    pub fn failed(&self) -> Option<DiskStep> {
        self.machine().failed.clone()
    }

    /// Makes everything as it is now durable.
    pub fn settle(&self) {
        self.machine().tree.settle();
    }

    /// The outcomes that a power cut at this moment may have; all of them where they are few, else
    /// a sample that `seed` determines.
    pub fn choices(&self, seed: u64) -> Vec<CrashOutcome> {
        crash::choices(&self.machine().tree, seed)
            .into_iter()
            .collect()
    }

    /// The disk after a power cut at this moment, restarted.
    pub fn recovered(&self, choice: &CrashOutcome) -> Self {
        self.with(|tree| crash::recovered(tree, choice))
    }

    /// Hands something to another machine, which keeps it whatever happens to this one.
    pub fn send_away(&self, bytes: Vec<u8>) {
        self.machine().elsewhere.push(bytes);
    }

    /// What another machine was given, in order.
    pub fn kept_elsewhere(&self) -> Vec<Vec<u8>> {
        self.machine().elsewhere.clone()
    }

    /// What this machine has, and what others were given.
    pub(super) fn hash(&self, state: &mut impl Hasher) {
        let machine = self.machine();
        machine.tree.hash(state);
        machine.elsewhere.hash(state);
    }

    /// Whether a power cut can leave the same of both.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (one, other) = (self.machine(), other.machine());
        one.tree == other.tree && one.elsewhere == other.elsewhere
    }

    /// Every file with its content, temporaries and lock files included.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let machine = self.machine();
        let tree = &machine.tree;
        let mut files = BTreeMap::new();
        let mut dirs = vec![PathBuf::from("/")];
        while let Some(dir) = dirs.pop() {
            let inode = tree.inode(&dir).expect("it was just listed");
            for (name, child) in tree.entries(inode) {
                let node = tree.node(child);
                if node.is_dir {
                    dirs.push(dir.join(name));
                } else {
                    files.insert(dir.join(name), node.content.clone());
                }
            }
        }
        files
    }

    /// The temporaries that lie about: dotfiles with `.tmp-` in their names.
    pub fn temporaries(&self) -> Vec<PathBuf> {
        let is_temporary = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with('.') && name.contains(".tmp-")
        };
        self.files().into_keys().filter(is_temporary).collect()
    }

    fn plan(&self, plan: Plan) {
        let mut machine = self.machine();
        machine.plan = plan;
        machine.steps.clear();
        machine.asked = 0;
        machine.failed = None;
    }

    pub(super) fn machine(&self) -> MutexGuard<'_, Machine> {
        self.0.machine.lock().expect("no test panics inside it")
    }

    /// The machine, as long as there is power.
    pub(super) fn powered(&self) -> io::Result<MutexGuard<'_, Machine>> {
        let machine = self.machine();
        if machine.is_on {
            Ok(machine)
        } else {
            Err(power_cut())
        }
    }
}

impl Machine {
    /// One that has just been started.
    fn begun(tree: Tree) -> Self {
        Self {
            tree,
            steps: Vec::new(),
            asked: 0,
            plan: Plan::Free,
            is_on: true,
            failed: None,
            omitted: BTreeSet::new(),
            rival: None,
            locked: BTreeSet::new(),
            elsewhere: Vec::new(),
            ids: 0,
        }
    }

    /// Lets the rival act, where this is what it waits for.
    pub(super) fn rival(&mut self, target: &Path) -> io::Result<()> {
        let Some((_, content)) = self.rival.take_if(|it| it.0 == target) else {
            return Ok(());
        };
        let slot = self.tree.slot(target)?;
        let inode = self.tree.create(slot, false);
        self.tree.extend(inode, &content);
        Ok(())
    }

    /// Ids of versions 4 and 7: the same on every copy of a disk, none twice on one, and the second in order.
    pub(super) fn ids(&mut self) -> [Uuid; 2] {
        self.ids += 1;
        let bytes = (u128::from(self.ids) * SPREAD).to_le_bytes();
        let [head @ .., _, _, _, _, _, _] = bytes;
        let dated = Builder::from_unix_timestamp_millis(BEGIN_MILLIS + self.ids, &head);
        [Builder::from_random_bytes(bytes), dated].map(Builder::into_uuid)
    }

    /// Asks for a sync, which the caller performs where the answer is yes.
    pub(super) fn sync(&mut self, step: DiskStep) -> io::Result<bool> {
        self.step(step)?;
        Ok(!self.omitted.contains(&self.asked))
    }

    /// Asks for a step: the caller performs it on the tree after `Ok`.
    pub(super) fn step(&mut self, step: DiskStep) -> io::Result<()> {
        self.asked += 1;
        match self.plan {
            Plan::CutAfter(last) if self.asked > last => {
                self.is_on = false;
                Err(power_cut())
            }
            Plan::FailAt(at, fault) if self.asked == at => {
                self.failed = Some(step);
                Err(match fault {
                    Fault::NoSpace => Errno::NOSPC.into(),
                    Fault::Broken => Errno::IO.into(),
                })
            }
            _ => {
                self.steps.push(step);
                Ok(())
            }
        }
    }
}

fn power_cut() -> io::Error {
    io::Error::other("the power is cut")
}
