//! The simulated disk as a test steers it: steps, faults, power.
//!
//! Owns the count of steps and the decision whether the next one happens. The calls themselves are
//! in `calls`.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard},
};

use rustix::io::Errno;

use super::{
    crash::{self, CrashOutcome},
    step::DiskStep,
    tree::Tree,
};

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
    rival: Option<(PathBuf, Vec<u8>)>,
    pub(super) locked: BTreeSet<u64>,
    elsewhere: Vec<Vec<u8>>,
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
        Self::of(tree)
    }

    fn of(tree: Tree) -> Self {
        let machine = Machine {
            tree,
            steps: Vec::new(),
            asked: 0,
            plan: Plan::Free,
            is_on: true,
            failed: None,
            rival: None,
            locked: BTreeSet::new(),
            elsewhere: Vec::new(),
        };
        Self(Arc::new(Shared {
            machine: Mutex::new(machine),
            unlocked: Condvar::new(),
        }))
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
        let machine = self.machine();
        let recovered = Self::of(crash::recovered(&machine.tree, choice));
        recovered.machine().elsewhere.clone_from(&machine.elsewhere);
        recovered
    }

    /// Hands something to another machine, which keeps it whatever happens to this one.
    pub fn send_away(&self, bytes: Vec<u8>) {
        self.machine().elsewhere.push(bytes);
    }

    /// What another machine was given, in order.
    pub fn kept_elsewhere(&self) -> Vec<Vec<u8>> {
        self.machine().elsewhere.clone()
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

    fn machine(&self) -> MutexGuard<'_, Machine> {
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
