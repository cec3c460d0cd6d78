//! A fleet in the scratch directory.
//!
//! Owns what the rows of the relay and the soak stand on: a repository, its workers, and their mail
//! in this process.

use std::{cell::Cell, path::PathBuf};

use anyhow::Result;
use flagpost_core::{
    Home, Repository as Registered,
    history::History,
    relay::{
        Fleet as Workers, Mail,
        briefs::{self, NewBrief},
        workers::{self, Traits},
    },
    slash::dispatch,
};
use flagpost_model::{RepoId, Seq, WorkerId, envelope::Ticket};

use crate::scratch::{Repository, Scratch};

/// The fleet.
#[derive(Debug)]
pub struct Fleet<'s> {
    /// Where its processes run.
    pub repository: Repository<'s>,
    /// Its workers' ids, in order.
    pub ids: Vec<WorkerId>,
    home: Home,
    id: RepoId,
    proposed: Cell<usize>,
}

impl<'s> Fleet<'s> {
    /// Workers `W1` to `W{count}` of a fresh repository.
    pub fn new(scratch: &'s Scratch, name: &str, count: usize) -> Result<Self> {
        let repository = scratch.repository(name)?;
        let root = scratch.dir().join("home");
        let home = Home::at(root);
        let registered = Registered::register(&home, repository.dir(), &operator()?)?;
        let ids = (1..=count).map(|n| format!("W{n}").parse());
        let fleet = Self {
            repository,
            ids: ids.collect::<Result<_, _>>()?,
            home,
            id: registered.id,
            proposed: Cell::new(0),
        };
        for worker in &fleet.ids {
            workers::register(&fleet.workers(), &operator()?, worker, Traits::default())?;
        }
        Ok(fleet)
    }

    /// All of it.
    pub fn workers(&self) -> Workers<'_> {
        Workers::of(&self.home, &self.id)
    }

    /// The mail of one.
    pub fn mail(&self, worker: &WorkerId) -> Result<Mail<'_>> {
        Ok(self.workers().mail(worker)?)
    }

    /// Proposes a brief that is like no other: it must not be taken for a retry.
    pub fn propose(&self, worker: &WorkerId) -> Result<Seq> {
        let number = self.proposed.get() + 1;
        self.proposed.set(number);
        let ticket: Ticket = number.to_string().parse()?;
        let body = format!("Brief {number}: {}", "what is to be done. ".repeat(25));
        let proposal: NewBrief = dispatch(&ticket, body);
        Ok(
            briefs::propose(&self.mail(worker)?, &operator()?, proposal)?
                .brief
                .seq,
        )
    }

    /// The history of its repository.
    pub fn history(&self) -> History<'_> {
        History::of(&self.home, &self.id)
    }

    /// Where its daemon listens.
    pub fn socket(&self) -> PathBuf {
        self.home.root().join("run/daemon.sock")
    }

    /// A worker's directory.
    pub fn dir(&self, worker: &WorkerId) -> PathBuf {
        self.workers().dir().join(worker.as_str())
    }
}

/// Who proposes and decides.
pub fn operator() -> Result<WorkerId> {
    Ok("operator".parse()?)
}
