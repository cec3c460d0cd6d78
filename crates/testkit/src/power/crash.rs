//! What a power cut may leave behind.
//!
//! Owns the space of outcomes: any set of the name changes that were not synced, each whole or not
//! at all, and for each file that was not synced the old content, none, a torn one, one full of
//! zeros, or the new. Deterministic: the same seed gives the same outcomes.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Names, Tree};
use crate::chance::Chance;

/// Up to so many outcomes all are tried; of more, a sample is.
const ALL_UP_TO: usize = 1024;
/// How many a sample holds, apart from the extremes.
const SAMPLE: usize = 192;

/// One outcome.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrashOutcome {
    /// The name changes that survived, by their number.
    kept: BTreeSet<usize>,
    /// What is left in the files that were not synced, by inode.
    contents: BTreeMap<u64, Vec<u8>>,
}

/// The outcomes that are possible now, each once.
pub(super) fn choices(tree: &Tree, seed: u64) -> BTreeSet<CrashOutcome> {
    let files = unsynced_files(tree);
    let changes: Vec<usize> = tree.pending.iter().map(|change| change.id).collect();
    // An outcome is a number for each question: 0 or 1 for a change, an index for a file.
    let mut radix = vec![2; changes.len()];
    radix.extend(files.values().map(Vec::len));
    let decide = |digits: &[usize]| {
        let (change_digits, file_digits) = digits.split_at(changes.len());
        let wanted = changes.iter().zip(change_digits).filter(|(_, d)| **d == 1);
        let left = files.iter().zip(file_digits);
        CrashOutcome {
            kept: possible(tree, &wanted.map(|(id, _)| *id).collect()),
            contents: left
                .filter_map(|((inode, all), d)| Some((*inode, all.get(*d)?.clone())))
                .collect(),
        }
    };
    let total = radix
        .iter()
        .try_fold(1_usize, |product, r| product.checked_mul(*r));
    if let Some(total) = total.filter(|total| *total <= ALL_UP_TO) {
        return (0..total).map(|n| decide(&digits_of(n, &radix))).collect();
    }
    extremes(&radix)
        .chain(sample(&radix, seed))
        .map(|digits| decide(&digits))
        .collect()
}

/// The tree as this outcome leaves it.
pub(super) fn recovered(tree: &Tree, choice: &CrashOutcome) -> Tree {
    let mut after = tree.clone();
    after.names = survivors(tree, &choice.kept);
    for (inode, content) in &choice.contents {
        if let Some(node) = after.nodes.get_mut(inode) {
            node.content.clone_from(content);
        }
    }
    after.settle();
    after
}

fn survivors(tree: &Tree, kept: &BTreeSet<usize>) -> Names {
    let mut names = tree.certain.clone();
    for change in tree.pending.iter().filter(|c| kept.contains(&c.id)) {
        change.apply(&mut names);
    }
    names
}

/// Drops the changes that cannot have happened without another one, and adds the certain ones.
fn possible(tree: &Tree, wanted: &BTreeSet<usize>) -> BTreeSet<usize> {
    let open: BTreeSet<usize> = tree.pending.iter().map(|change| change.id).collect();
    let mut kept = BTreeSet::new();
    for change in &tree.pending {
        let grounded = |id: &usize| kept.contains(id) || !open.contains(id);
        if change.is_certain() || wanted.contains(&change.id) && change.needs.iter().all(grounded) {
            kept.insert(change.id);
        }
    }
    kept
}

/// Every file whose content is not certain, with what may be left of it; the newest comes last.
fn unsynced_files(tree: &Tree) -> BTreeMap<u64, Vec<Vec<u8>>> {
    let named: BTreeSet<u64> = tree
        .certain
        .values()
        .copied()
        .chain(tree.pending.iter().map(|change| change.inode))
        .collect();
    let mut files = BTreeMap::new();
    for (inode, node) in &tree.nodes {
        if node.content != node.synced && named.contains(inode) {
            files.insert(*inode, remains(&node.synced, &node.content));
        }
    }
    files
}

fn remains(old: &[u8], new: &[u8]) -> Vec<Vec<u8>> {
    // What was appended to is certain up to its old end; what was rewritten is not at all.
    let base = if new.starts_with(old) { old.len() } else { 0 };
    let (head, tail) = new.split_at(base);
    let torn = |len: usize| [head, tail.get(..len).unwrap_or(tail)].concat();
    let zeros = [head, &vec![0; tail.len()][..]].concat();
    let mut all = vec![old.to_vec(), torn(0), torn(tail.len() / 2)];
    all.extend([torn(tail.len().saturating_sub(1)), zeros, new.to_vec()]);
    let mut seen = BTreeSet::new();
    all.retain(|content| seen.insert(content.clone()));
    all
}

/// Nothing lost, all lost, and each question alone answered unlike the others.
fn extremes(radix: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let newest: Vec<usize> = radix.iter().map(|r| r - 1).collect();
    let oldest = vec![0; radix.len()];
    let alone = |base: Vec<usize>, other: Vec<usize>| {
        (0..base.len()).map(move |at| {
            let mut digits = base.clone();
            if let (Some(digit), Some(value)) = (digits.get_mut(at), other.get(at)) {
                *digit = *value;
            }
            digits
        })
    };
    [newest.clone(), oldest.clone()]
        .into_iter()
        .chain(alone(newest.clone(), oldest.clone()))
        .chain(alone(oldest, newest))
}

fn sample(radix: &[usize], seed: u64) -> impl Iterator<Item = Vec<usize>> {
    let mut chance = Chance::of(seed);
    (0..SAMPLE).map(move |_| radix.iter().map(|r| chance.below(*r)).collect())
}

fn digits_of(mut number: usize, radix: &[usize]) -> Vec<usize> {
    let next = |r: &usize| {
        let digit = number % r;
        number /= r;
        digit
    };
    radix.iter().map(next).collect()
}
