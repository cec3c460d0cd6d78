//! Reservations: who works on which files of a repository.
//!
//! Owns the repository's `reservations` directory. A change of it is made under its lock, the line in
//! the history is durable first, and what is over goes with it. A renewal is no line: nothing
//! changes hands. What cannot be understood holds nothing, is told of, and is never touched.

mod announce;

use std::path::PathBuf;

use flagpost_disk::{
    dialects::reservations::{self as layout, ReservationFile},
    fsx::{self, Batch, Lock, Rank},
};
use flagpost_model::{
    RepoId, WorkerId,
    reservation::{
        Pattern, Reservation, ReservationConflict, ReservationGrant, ReservationRequest,
        may_reserve,
    },
};
use jiff::{SignedDuration, Timestamp};

pub use announce::Announced;

use crate::{
    error::{Error, Result},
    history::{Entry, History, Kind, detail::RESERVATION},
    home::Home,
    skipped::Skipped,
};

/// So many paths are reserved at once at most.
const MOST_PATHS: usize = 200;
/// So many characters a reason has at most: it is repeated with each path, and told to other agents.
const LONGEST_REASON: usize = 300;

/// The reservations of one repository.
#[derive(Debug)]
pub struct Reservations<'h> {
    home: &'h Home,
    repo: RepoId,
    dir: PathBuf,
}

/// What there is.
#[derive(Debug, Clone, Default)]
pub struct ReservationScan {
    /// What holds, by number.
    pub live: Vec<Reservation>,
    /// Files that cannot be understood.
    pub skipped: Vec<Skipped>,
}

/// Which of somebody's reservations.
#[derive(Debug, Clone)]
pub enum ReservationSelector {
    /// All of them.
    All,
    /// Those of these paths, as they were reserved.
    Paths(Vec<Pattern>),
    /// Those for this task.
    Task(String),
}

impl<'h> Reservations<'h> {
    /// Those of a registered repository.
    pub fn of(home: &'h Home, repo: &RepoId) -> Self {
        Self {
            home,
            repo: repo.clone(),
            dir: home.repository_dir(repo).join(layout::DIR),
        }
    }

    /// Where they are.
    pub(crate) fn dir(&self) -> &PathBuf {
        &self.dir
    }

    /// Their lock.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.dir.join(layout::LOCK)
    }

    /// What holds now, and what cannot be understood.
    pub fn scan(&self) -> Result<ReservationScan> {
        let (files, skipped) = self.read()?;
        let now = self.home.now();
        let mut live: Vec<Reservation> = files.into_iter().map(|it| it.content).collect();
        live.retain(|it| it.is_live(now));
        Ok(ReservationScan { live, skipped })
    }

    /// Reserves all of these, or none; durable on return. What its holder has already begins anew.
    pub fn add(
        &self,
        wanted: Vec<ReservationRequest>,
        length: SignedDuration,
    ) -> Result<Vec<Reservation>> {
        self.home.transact(|| {
            let Some(first) = wanted.first() else {
                return Ok(Vec::new());
            };
            let holder = first.holder.clone();
            must_be_bounded(&wanted)?;
            let mut change = self.change()?;
            for wanted in wanted.iter().cloned() {
                change.take(wanted, length, Renew::Always)?;
            }
            change.commit(&holder)
        })
    }

    /// Gives back; of paths all of them, or none. What was given back.
    pub fn release(
        &self,
        holder: &WorkerId,
        which: &ReservationSelector,
    ) -> Result<Vec<Reservation>> {
        self.home.transact(|| {
            let mine = |it: &Reservation| {
                it.wanted.holder == *holder
                    && match which {
                        ReservationSelector::All => true,
                        ReservationSelector::Paths(paths) => paths.contains(&it.wanted.path),
                        ReservationSelector::Task(task) => it.wanted.task.as_ref() == Some(task),
                    }
            };
            let any = self.scan()?.live.iter().any(&mine);
            if !any && !matches!(which, ReservationSelector::Paths(_)) {
                return Ok(Vec::new());
            }
            let mut change = self.change()?;
            let released = change.give_back(mine);
            if let ReservationSelector::Paths(paths) = which {
                let is_there = |path: &&Pattern| released.iter().any(|it| it.wanted.path == **path);
                if let Some(missing) = paths.iter().find(|path| !is_there(path)) {
                    return Err(Error::NotFound {
                        what: "reservation",
                        id: format!("of {missing} by {holder}"),
                        list: None,
                    });
                }
            }
            change.commit(holder)?;
            Ok(released)
        })
    }

    /// The holder lives: what it reserved holds as long again. What is fresh is not written.
    pub(crate) fn renew(&self, holder: &WorkerId) -> Result<()> {
        let now = self.home.now();
        let due = |it: &Reservation| {
            let renewed = it.renewed(now);
            renewed.filter(|_| it.wanted.holder == *holder)
        };
        if !self.scan()?.live.iter().any(|it| due(it).is_some()) {
            return Ok(());
        }
        self.home.transact(|| {
            let mut change = self.change()?;
            change.renew(due);
            change.commit(holder).map(drop)
        })
    }

    /// Every file, by number, and those that cannot be understood.
    fn read(&self) -> Result<(Vec<ReservationFile>, Vec<Skipped>)> {
        let (mut files, mut skipped) = (Vec::new(), Vec::new());
        self.home.must_not_be_linked(&self.dir)?;
        for name in fsx::names(self.home.fs(), &self.dir)? {
            let name = name.to_string_lossy();
            let Some(number) = layout::parse(&name) else {
                continue;
            };
            let path = self.dir.join(&*name);
            let read = match (number, fsx::read(self.home.fs(), &path)) {
                // Somebody gave it back meanwhile.
                (_, Ok(None)) => continue,
                (None, _) => Err("its name is no number".to_owned()),
                (Some(n), Ok(Some(bytes))) => layout::read(n, &bytes),
                (_, Err(error)) if error.is_no_such_file() => Err(error.reason()),
                (_, Err(error)) => return Err(error.into()),
            };
            match read {
                Ok(file) => files.push(file),
                Err(reason) => {
                    let name = format!("{}/{name}", layout::DIR);
                    skipped.push(Skipped::new(name, reason));
                }
            }
        }
        files.sort_by_key(|it| it.content.n);
        skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((files, skipped))
    }

    fn change(&self) -> Result<ReservationChange<'_>> {
        let (fs, asked) = (self.home.fs(), self.home.now());
        self.home.make_dirs(&self.dir)?;
        let lock = fsx::lock(
            fs,
            &self.lock_path(),
            Rank::Reservations,
            fsx::DEFAULT_WAIT,
            asked,
        )?;
        // A reservation begins when it is granted, however long others had the lock.
        let at = self.home.now();
        let (files, _) = self.read()?;
        let (live, over) = files.into_iter().partition(|it| it.content.is_live(at));
        Ok(ReservationChange {
            of: self,
            at,
            live,
            over,
            released: Vec::new(),
            renewed: Vec::new(),
            added: Vec::new(),
            _lock: lock,
        })
    }

    fn path(&self, n: u64) -> PathBuf {
        self.dir.join(layout::name(n))
    }
}

/// Refuses more than anybody means to reserve: others wait meanwhile.
fn must_be_bounded(wanted: &[ReservationRequest]) -> Result<()> {
    let invalid = |what: &str, reason| {
        Err(Error::Invalid {
            what: what.to_owned(),
            reason,
        })
    };
    if wanted.len() > MOST_PATHS {
        let n = wanted.len();
        return invalid(
            "paths",
            format!(
                "they are {n}, and at most {MOST_PATHS} are reserved at once: a glob, as in src/**, stands for many"
            ),
        );
    }
    let mut reasons = wanted.iter().filter_map(|it| it.reason.as_ref());
    match reasons.any(|it| it.chars().count() > LONGEST_REASON) {
        true => invalid(
            "reason",
            format!("it has more than {LONGEST_REASON} characters"),
        ),
        false => Ok(()),
    }
}

/// When to begin a lease anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Renew {
    /// Whenever it is asked for.
    Always,
    /// Where a good part of it is over.
    WhenDue,
}

/// A change of the reservations, under their lock.
struct ReservationChange<'r> {
    of: &'r Reservations<'r>,
    at: Timestamp,
    live: Vec<ReservationFile>,
    over: Vec<ReservationFile>,
    released: Vec<Reservation>,
    renewed: Vec<Reservation>,
    /// Without their numbers yet.
    added: Vec<Reservation>,
    _lock: Lock,
}

impl ReservationChange<'_> {
    /// Reserves one more, as far as the rules allow.
    fn take(
        &mut self,
        wanted: ReservationRequest,
        length: SignedDuration,
        renew: Renew,
    ) -> std::result::Result<(), ReservationConflict> {
        let held: Vec<Reservation> = self.live.iter().map(|it| it.content.clone()).collect();
        let standing = may_reserve(&wanted, &held, self.at)?;
        let fresh = |n, wanted| Reservation::new(n, wanted, self.at, length);
        match standing {
            _ if self.added.iter().any(|it| it.wanted.path == wanted.path) => {}
            ReservationGrant::New => self.added.push(fresh(0, wanted)),
            ReservationGrant::Replaces(n) => {
                self.added.push(fresh(0, wanted));
                self.give_back(|it| it.n == n);
            }
            ReservationGrant::Renews(n) => {
                let mine = held.into_iter().find(|it| it.n == n);
                self.renewed.extend(mine.map(|mine| {
                    let due = mine.renewed(self.at);
                    let wanted = ReservationRequest {
                        task: wanted.task.or(mine.wanted.task.clone()),
                        reason: wanted.reason.or(mine.wanted.reason.clone()),
                        ..wanted
                    };
                    match (renew, due) {
                        (Renew::Always, _) => fresh(n, wanted),
                        (Renew::WhenDue, due) => due.unwrap_or(mine),
                    }
                }));
            }
        }
        Ok(())
    }

    fn give_back(&mut self, which: impl Fn(&Reservation) -> bool) -> Vec<Reservation> {
        let gone = self.live.extract_if(.., |it| which(&it.content));
        let gone: Vec<Reservation> = gone.map(|it| it.content).collect();
        self.released.extend(gone.iter().cloned());
        gone
    }

    fn renew(&mut self, due: impl Fn(&Reservation) -> Option<Reservation>) {
        let renewed = self.live.iter().filter_map(|it| due(&it.content));
        self.renewed.extend(renewed);
    }

    /// Carries it out, durable on return, and answers with what was asked for as it is now.
    fn commit(mut self, actor: &WorkerId) -> Result<Vec<Reservation>> {
        let (home, fs) = (self.of.home, self.of.home.fs());
        let over = self.over.iter().map(|it| &it.content);
        let over = over.map(|it| event_for(Kind::ReservationExpired, it));
        let released = self.released.iter();
        let released = released.map(|it| event_for(Kind::ReservationReleased, it));
        let mut entries: Vec<Entry> = over.chain(released).collect();
        let mut batch = Batch::new();
        for reservation in &self.renewed {
            let n = reservation.n;
            let before = self.live.iter().find(|it| it.content.n == n);
            if before.is_none_or(|it| it.content != *reservation) {
                batch.put(self.of.path(n), layout::write(before, reservation));
            }
        }
        if entries.is_empty() && self.added.is_empty() {
            batch.stage(fs)?.publish()?;
            return Ok(self.renewed);
        }
        let history = History::of(home, &self.of.repo);
        let writer = history.writer(self.at)?;
        for (reservation, n) in self
            .added
            .iter_mut()
            .zip(writer.next() + entries.len() as u64..)
        {
            reservation.n = n;
            batch.create(self.of.path(n), layout::write(None, reservation));
        }
        entries.extend(
            self.added
                .iter()
                .map(|it| event_for(Kind::ReservationAdded, it)),
        );
        let over = self.over.iter().map(|it| it.content.n);
        let gone = over.chain(self.released.iter().map(|it| it.n));
        gone.for_each(|n| batch.remove(self.of.path(n)));
        let sealed = batch.stage(fs)?;
        writer.carry_out(actor, entries, sealed)?;
        self.added.extend(self.renewed);
        Ok(self.added)
    }
}

fn event_for(kind: Kind, reservation: &Reservation) -> Entry {
    let wanted = &reservation.wanted;
    Entry::new(kind)
        .mail(&wanted.holder, None)
        .detail(RESERVATION, reservation.n)
        .detail("path", wanted.path.as_str())
        .detail("mode", wanted.mode.as_str())
        .detail("task", wanted.task.clone())
        .detail("until", reservation.until.to_string())
}
