//! What an order began with, put in place on a machine that joins it or comes back to it.
//!
//! Owns what becomes of what is here. A history that the base goes on from, or is, is ended as the base
//! says, and the shared files are what they are there. Lines that are here and not there are kept in
//! quarantine, and so is each file that is here otherwise, unless the base came after it. Done again after a
//! crash, it does the same once more. Invariants: lines, then names, then the order's number and the flag
//! `.shared`; a history that has nothing in common with the base is left alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use flagpost_disk::{
    dialects::claude_tasks::id_of,
    fsx::{self, Batch},
};
use flagpost_model::{ListId, RepoId, TaskId};

use super::{
    BasePart, OrderRefusal,
    apply::lock_all,
    base::{BaseCounter, BaseFile, counter_of, dirs},
    shared_dir::{SharedDir, SharedFile},
};
use crate::{
    error::Result,
    history::{Follower, History},
    home::Home,
    tasks::observe,
};

/// Why a copy lies in quarantine.
const WHY: &str = "it was here, and not in the order that the fleet began anew";

/// What was put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenOver {
    /// The number of the history's last line.
    pub last: u64,
    /// Of what was here and is not there, a copy lies in the quarantine beside each of these.
    pub aside: Vec<PathBuf>,
}

/// A whole base.
struct Base {
    last: u64,
    history: String,
    files: BTreeMap<SharedDir, Vec<(String, String)>>,
    counters: Vec<(SharedDir, u64)>,
}

/// Puts the whole base of the `epoch`-th order in place, and begins to share with it.
pub fn take_over(
    home: &Home,
    (repo, epoch): (&RepoId, u64),
    parts: Vec<BasePart>,
) -> Result<TakenOver> {
    let base = Base::of(repo, parts)?;
    let mut all: BTreeSet<SharedDir> = dirs(home, repo)?.into_iter().collect();
    all.extend(base.files.keys().cloned());
    all.extend(base.counters.iter().map(|(dir, _)| dir.clone()));
    let _held = lock_all(home, repo, all.iter())?;
    let history = History::of(home, repo);
    let follower = history.follower(home.now())?;
    let mut taken = TakenOver {
        last: base.last,
        aside: Vec::new(),
    };
    if history.is_shared()? && history.epoch()? >= epoch {
        return Ok(taken);
    }
    let here = history.bytes()?;
    let fit = Fit::of(&here, &base.history);
    if fit == Fit::Nothing {
        let reason = "no line of its history is in what the fleet began anew with".to_owned();
        let repo = repo.clone();
        return Err(OrderRefusal::Frozen { repo, reason }.into());
    }
    let is_settled = history.settled().0 == base.last;
    if fit != Fit::Same || !is_settled {
        let by_hand = match fit {
            Fit::Beyond(_) => None,
            _ => observe::by_hand(home, repo)?,
        };
        let step = TakingOver {
            home,
            repo,
            by_hand,
        };
        let staged = step.batch(&all, &base, &mut taken.aside)?;
        let staged = staged.stage(home.fs())?;
        if let Fit::Beyond(common) = fit {
            let beyond = here.get(common..).unwrap_or_default();
            fsx::store(home.fs(), history.path(), beyond, WHY)?;
            taken.aside.push(history.path().clone());
        }
        lines(&follower, &base.history, fit)?;
        staged.publish()?;
        step.count(&base)?;
        follower.settle(base.last, &base.history);
    }
    follower.enter(epoch)?;
    follower.raise_shared()?;
    Ok(taken)
}

fn lines(follower: &Follower<'_>, text: &str, fit: Fit) -> Result<()> {
    match fit {
        Fit::Same | Fit::Nothing => Ok(()),
        Fit::Behind(0) | Fit::Beyond(_) => follower.begin_with(text),
        Fit::Behind(has) => follower.go_on_to(text, has),
    }
}

/// How the history here is to a base's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// It is the same.
    Same,
    /// It has so many bytes of it, and nothing else.
    Behind(usize),
    /// It has the lines of it that these bytes are, and goes on otherwise.
    Beyond(usize),
    /// They have no line in common.
    Nothing,
}

impl Fit {
    fn of(here: &[u8], there: &str) -> Self {
        let there = there.as_bytes();
        if there.starts_with(here) {
            return match here.len() == there.len() {
                true => Self::Same,
                false => Self::Behind(here.len()),
            };
        }
        let common = here.iter().zip(there).take_while(|(a, b)| a == b).count();
        let line = here[..common].iter().rposition(|byte| *byte == b'\n');
        line.map_or(Self::Nothing, |at| Self::Beyond(at + 1))
    }
}

impl Base {
    fn of(repo: &RepoId, parts: Vec<BasePart>) -> Result<Self> {
        let frozen = |reason: String| OrderRefusal::Frozen {
            repo: repo.clone(),
            reason,
        };
        let of = parts.len();
        let is_whole = |(at, it): (usize, &BasePart)| it.part == at + 1 && it.of == of;
        let whole = parts.iter().enumerate().all(is_whole);
        let last = parts.last().filter(|_| whole).map(BasePart::last);
        let last = last.ok_or_else(|| frozen("what it began with is not whole".to_owned()))?;
        let named = |error| frozen(format!("what it began with names {error}"));
        let mut base = Self {
            last,
            history: String::new(),
            files: BTreeMap::new(),
            counters: Vec::new(),
        };
        for part in parts {
            base.history.push_str(&part.history);
            for BaseFile { file, text } in part.files {
                let SharedFile { dir, name } = file.parse().map_err(named)?;
                base.files.entry(dir).or_default().push((name, text));
            }
            for BaseCounter { dir, highest } in part.counters {
                base.counters.push((dir.parse().map_err(named)?, highest));
            }
        }
        Ok(base)
    }
}

struct TakingOver<'t> {
    home: &'t Home,
    repo: &'t RepoId,
    /// The tasks that other hands changed, of which nobody heard yet; none where that is not known.
    by_hand: Option<BTreeSet<(ListId, TaskId)>>,
}

impl TakingOver<'_> {
    /// What is to be done with the files.
    fn batch(
        &self,
        dirs: &BTreeSet<SharedDir>,
        base: &Base,
        aside: &mut Vec<PathBuf>,
    ) -> Result<Batch> {
        let fs = self.home.fs();
        let mut batch = Batch::new();
        for dir in dirs {
            let path = dir.path(self.home, self.repo)?;
            let names = fsx::names(fs, &path)?.into_iter();
            let names = names.filter_map(|it| it.into_string().ok());
            let mut here: BTreeSet<String> = names
                .filter(|it| SharedFile::new(dir.clone(), it).is_ok())
                .collect();
            for (name, text) in base.files.get(dir).into_iter().flatten() {
                let file = path.join(name);
                let there = match here.remove(name) {
                    true => fsx::read(fs, &file)?,
                    false => None,
                };
                let bytes = dir.as_here(text, there.as_deref());
                if there.as_ref() != Some(&bytes) {
                    self.keep(dir, &file, there, aside)?;
                    batch.put(file, bytes);
                }
            }
            for name in here {
                let file = path.join(name);
                self.keep(dir, &file, fsx::read(fs, &file)?, aside)?;
                batch.remove(file);
            }
        }
        Ok(batch)
    }

    /// Keeps a copy of what nobody else has.
    fn keep(
        &self,
        dir: &SharedDir,
        file: &Path,
        there: Option<Vec<u8>>,
        aside: &mut Vec<PathBuf>,
    ) -> Result<()> {
        let id = file.file_name().and_then(|it| id_of(it.to_str()?));
        let is_known = match (dir, id, &self.by_hand) {
            // Signs of life are each machine's own.
            (SharedDir::Worker(_), ..) => true,
            (SharedDir::List(list), Some(id), Some(by_hand)) => {
                !by_hand.contains(&(list.clone(), id))
            }
            _ => false,
        };
        if let (Some(bytes), false) = (there, is_known) {
            fsx::store(self.home.fs(), file, &bytes, WHY)?;
            aside.push(file.to_owned());
        }
        Ok(())
    }

    /// Gives out no number that was given out there.
    fn count(&self, base: &Base) -> Result<()> {
        let fs = self.home.fs();
        for (dir, highest) in &base.counters {
            let counter = dir.path(self.home, self.repo)?.join(counter_of(dir));
            if fsx::peek(fs, &counter)? < *highest {
                fsx::allocate(fs, &counter, *highest, 0)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_compared_line_by_line() {
        let there = "one\ntwo\nthree\n";
        for (here, fit) in [
            ("one\ntwo\nthree\n", Fit::Same),
            ("", Fit::Behind(0)),
            ("one\n", Fit::Behind(4)),
            ("one\ntw", Fit::Behind(6)),
            ("one\ntwo\nthree\nfour\n", Fit::Beyond(14)),
            ("one\ntwice\n", Fit::Beyond(4)),
            ("one\ntwo\nother\n", Fit::Beyond(8)),
            ("once\n", Fit::Nothing),
        ] {
            assert_eq!(Fit::of(here.as_bytes(), there), fit, "{here:?}");
        }
    }
}
