//! Inodes and names, as they are now and as far as they would survive a power cut.
//!
//! Owns the model of durability: a name change is certain once every directory that it touched was
//! synced, and content once its file was. Most journals also keep a new directory's own name when
//! the directory is synced; nothing promises it. It must not decide what a crash leaves (`crash`)
//! nor when one happens (`fs`).

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    hash::{Hash, Hasher},
    io,
    path::{Component, Path},
};

use flagpost_disk::fsx::{FileKind, Stat};
use rustix::io::Errno;

/// A name in a directory: the directory's inode and the name.
pub(super) type Slot = (u64, OsString);
/// Which inode each name stands for.
pub(super) type Names = BTreeMap<Slot, u64>;

/// The root directory's inode.
const ROOT: u64 = 1;
/// Times count up from here, in steps of a millisecond: 2023-11-14.
const EPOCH_NANOS: i64 = 1_700_000_000_000_000_000;

/// A file or a directory.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) is_dir: bool,
    pub(super) content: Vec<u8>,
    /// The content as of the last sync.
    pub(super) synced: Vec<u8>,
    modified: i64,
    changed: i64,
}

/// A change of names: one of create (`to`), remove (`from`), rename (both) and exchange (`back` as well).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NameChange {
    pub(super) id: usize,
    from: Option<Slot>,
    to: Option<Slot>,
    pub(super) inode: u64,
    /// What takes the place at `from`.
    back: Option<u64>,
    /// Directories still to be synced before the change is certain.
    awaits: BTreeSet<u64>,
    /// Changes without which this one cannot have happened.
    pub(super) needs: Vec<usize>,
}

impl NameChange {
    pub(super) fn apply(&self, names: &mut Names) {
        if let Some(from) = &self.from {
            match self.back {
                Some(back) => names.insert(from.clone(), back),
                None => names.remove(from),
            };
        }
        if let Some(to) = &self.to {
            names.insert(to.clone(), self.inode);
        }
    }

    pub(super) fn is_certain(&self) -> bool {
        self.awaits.is_empty()
    }

    fn touches(&self, slot: &Slot) -> bool {
        self.from.as_ref() == Some(slot) || self.to.as_ref() == Some(slot)
    }
}

/// A whole file system.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    pub(super) nodes: BTreeMap<u64, Node>,
    pub(super) names: Names,
    /// The names that survive whatever happens.
    pub(super) certain: Names,
    /// The changes from `certain` to `names`, oldest first.
    pub(super) pending: Vec<NameChange>,
    ticks: i64,
    next: u64,
}

impl Tree {
    pub(super) fn new() -> Self {
        let mut tree = Self {
            nodes: BTreeMap::new(),
            names: Names::new(),
            certain: Names::new(),
            pending: Vec::new(),
            ticks: 0,
            next: ROOT,
        };
        tree.add_node(true);
        tree
    }

    /// Everything as it is now is durable.
    pub(super) fn settle(&mut self) {
        for node in self.nodes.values_mut() {
            node.synced.clone_from(&node.content);
        }
        self.certain.clone_from(&self.names);
        self.pending.clear();
    }

    pub(super) fn sync_dir(&mut self, dir: u64) {
        for change in &mut self.pending {
            change.awaits.remove(&dir);
        }
        // What is certain makes certain what it needed: one journal, written in order.
        let mut certain: BTreeSet<usize> = BTreeSet::new();
        for change in self.pending.iter_mut().rev() {
            if certain.contains(&change.id) {
                change.awaits.clear();
            }
            if change.is_certain() {
                certain.insert(change.id);
                certain.extend(&change.needs);
            }
        }
        let first_open = self.pending.iter().position(|c| !c.is_certain());
        let rest = self
            .pending
            .split_off(first_open.unwrap_or(self.pending.len()));
        for change in std::mem::replace(&mut self.pending, rest) {
            change.apply(&mut self.certain);
        }
    }

    pub(super) fn sync_file(&mut self, inode: u64) {
        let node = self.node_mut(inode);
        node.synced.clone_from(&node.content);
    }

    pub(super) fn extend(&mut self, inode: u64, bytes: &[u8]) {
        let now = self.tick();
        let node = self.node_mut(inode);
        node.content.extend_from_slice(bytes);
        (node.modified, node.changed) = (now, now);
    }

    pub(super) fn overwrite(&mut self, inode: u64, bytes: &[u8]) {
        self.node_mut(inode).content.clear();
        self.extend(inode, bytes);
    }

    /// A journal keeps a file's new length whole or not at all.
    pub(super) fn cut(&mut self, inode: u64, len: u64) {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let now = self.tick();
        let node = self.node_mut(inode);
        node.content.truncate(len);
        node.synced.clone_from(&node.content);
        (node.modified, node.changed) = (now, now);
    }

    /// Creates a file or directory under a free name.
    pub(super) fn create(&mut self, at: Slot, is_dir: bool) -> u64 {
        let inode = self.add_node(is_dir);
        self.change(None, Some(at), inode, false);
        inode
    }

    pub(super) fn remove(&mut self, at: Slot) {
        if let Some(inode) = self.names.get(&at).copied() {
            self.change(Some(at), None, inode, false);
        }
    }

    /// Moves a name; `onto` says that the new name may be taken.
    pub(super) fn rename(&mut self, from: Slot, to: Slot, onto: bool) {
        if let Some(inode) = self.names.get(&from).copied().filter(|_| from != to) {
            self.change(Some(from), Some(to), inode, onto);
        }
    }

    /// Gives what two names stand for to each other.
    pub(super) fn exchange(&mut self, one: Slot, other: Slot) {
        let inodes = [&one, &other].map(|slot| self.names.get(slot).copied());
        if let [Some(inode), Some(back)] = inodes {
            self.change_names(Some(one), Some(other), (inode, Some(back)), false);
        }
    }

    /// All that can be reached and seen, with the stamps by which caches know files.
    pub(super) fn hash(&self, state: &mut impl Hasher) {
        let mut dirs = vec![ROOT];
        while let Some(dir) = dirs.pop() {
            for (name, child) in self.entries(dir) {
                let node = self.node(child);
                (dir, name, child, node.modified, node.changed).hash(state);
                node.content.hash(state);
                dirs.extend(node.is_dir.then_some(child));
            }
        }
    }

    /// The inode at a path.
    pub(super) fn inode(&self, path: &Path) -> io::Result<u64> {
        let mut walked = vec![ROOT];
        for part in path.components() {
            let here = walked.last().copied().unwrap_or(ROOT);
            if !self.nodes.get(&here).is_some_and(|node| node.is_dir) {
                return Err(Errno::NOTDIR.into());
            }
            match part {
                Component::Normal(name) => {
                    let slot = (here, name.to_owned());
                    walked.push(*self.names.get(&slot).ok_or(Errno::NOENT)?);
                }
                Component::ParentDir => {
                    walked.truncate(walked.len().max(2) - 1);
                }
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        Ok(walked.last().copied().unwrap_or(ROOT))
    }

    /// The place of a path in its directory, whether or not something is there.
    pub(super) fn slot(&self, path: &Path) -> io::Result<Slot> {
        let name = path.file_name().ok_or(Errno::EXIST)?;
        let dir = self.inode(path.parent().unwrap_or(Path::new("/")))?;
        if self.node(dir).is_dir {
            Ok((dir, name.to_owned()))
        } else {
            Err(Errno::NOTDIR.into())
        }
    }

    pub(super) fn node(&self, inode: u64) -> &Node {
        self.nodes.get(&inode).expect("inodes are never freed")
    }

    pub(super) fn stat(&self, inode: u64) -> Stat {
        let node = self.node(inode);
        Stat {
            kind: if node.is_dir {
                FileKind::Dir
            } else {
                FileKind::File
            },
            len: node.content.len() as u64,
            inode,
            mode: if node.is_dir { 0o700 } else { 0o600 },
            modified: node.modified,
            changed: node.changed,
        }
    }

    /// What a directory holds.
    pub(super) fn entries(&self, dir: u64) -> impl Iterator<Item = (&OsString, u64)> {
        let begin = |dir| (dir, OsString::new());
        self.names
            .range(begin(dir)..begin(dir + 1))
            .map(|((_, name), inode)| (name, *inode))
    }

    fn node_mut(&mut self, inode: u64) -> &mut Node {
        self.nodes.get_mut(&inode).expect("inodes are never freed")
    }

    fn add_node(&mut self, is_dir: bool) -> u64 {
        let inode = self.next;
        self.next += 1;
        let now = self.tick();
        let node = Node {
            is_dir,
            content: Vec::new(),
            synced: Vec::new(),
            modified: now,
            changed: now,
        };
        self.nodes.insert(inode, node);
        inode
    }

    fn change(&mut self, from: Option<Slot>, to: Option<Slot>, inode: u64, onto: bool) {
        self.change_names(from, to, (inode, None), onto);
    }

    fn change_names(
        &mut self,
        from: Option<Slot>,
        to: Option<Slot>,
        (inode, back): (u64, Option<u64>),
        onto: bool,
    ) {
        let last_at = |slot: &Slot| self.pending.iter().rev().find(|c| c.touches(slot));
        // Replacing a name does not need what was there before to have got there.
        let needed = [from.as_ref(), to.as_ref().filter(|_| !onto)];
        let needs = needed.into_iter().flatten().filter_map(last_at);
        let change = NameChange {
            id: self.pending.last().map_or(0, |last| last.id + 1),
            needs: needs.map(|c| c.id).collect(),
            awaits: [&from, &to].into_iter().flatten().map(|s| s.0).collect(),
            from,
            to,
            inode,
            back,
        };
        change.apply(&mut self.names);
        let now = self.tick();
        for inode in [Some(inode), back].into_iter().flatten() {
            self.node_mut(inode).changed = now;
        }
        for dir in change.awaits.clone() {
            let dir = self.node_mut(dir);
            (dir.modified, dir.changed) = (now, now);
        }
        self.pending.push(change);
    }

    fn tick(&mut self) -> i64 {
        self.ticks += 1;
        EPOCH_NANOS + self.ticks * 1_000_000
    }
}
