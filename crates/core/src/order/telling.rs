//! Telling the fleet what was kept while it was away.
//!
//! Owns the one who tells: under a lock, report by report in their order, each as the operation that it is.
//! It is begun again where another machine was first, as every operation is. Whether it has happened is
//! asked of the history before each try: a crash between the change and the removal of the file tells it
//! only once. One that is refused for good is put aside, and holds up nothing behind it.

use flagpost_disk::{self as disk, fsx};
use flagpost_model::{RepoId, decision::Via, task::Origin};
use serde_json::Value;

use super::{
    OrderRefusal, TRIES,
    outgoing::{KeptFile, Outgoing},
};
use crate::{
    error::{Error, Result, describe},
    history::History,
    home::Home,
    operations::{self, Arguments, Caller, CallerPlace, Identity, Operation, Parameter},
    repository::Repository,
    sequencer::KeptReport,
};

/// What became of a report.
#[derive(Debug, PartialEq)]
enum KeptOutcome {
    /// It has happened.
    Done,
    /// It never will, for this reason.
    Never(String),
}

/// Tells the fleet what is kept of a repository, the oldest first. What was refused for good is put aside;
/// a sentence of each comes back. The caller holds no lock.
pub fn tell(home: &Home, repo: &RepoId) -> Result<Vec<String>> {
    let outgoing = Outgoing::of(home, repo);
    let mut aside = Vec::new();
    if outgoing.numbers()?.is_empty() {
        return Ok(aside);
    }
    let fs = home.fs();
    let (path, wait) = (outgoing.lock_path(), fsx::DEFAULT_WAIT);
    let lock = fsx::lock(fs, &path, fsx::Rank::Outgoing, wait, home.now());
    let _lock = lock.map_err(|error| match error {
        // Whatever is said meanwhile comes behind it.
        disk::Error::Busy { .. } => Error::from(OrderRefusal::Unreachable {
            repo: repo.clone(),
            reason: format!("what was said before is being told: {error}"),
        }),
        other => other.into(),
    })?;
    let Some(order) = home.order_of(repo)? else {
        return Ok(aside);
    };
    order.catch_up(repo)?;
    while let Some(number) = outgoing.numbers()?.first() {
        let path = outgoing.path(*number);
        let bytes = fsx::read(fs, &path)?.unwrap_or_default();
        let told = match KeptFile::read(&bytes) {
            KeptFile::Report(report) => report.tell(home, repo)?,
            KeptFile::Damaged(reason) => KeptOutcome::Never(format!("it cannot be read: {reason}")),
            KeptFile::Newer => {
                let reason = format!(
                    "a newer Flagpost kept {}, which goes first; update this machine's",
                    path.display()
                );
                let repo = repo.clone();
                return Err(OrderRefusal::Frozen { repo, reason }.into());
            }
        };
        if let KeptOutcome::Never(reason) = told {
            fsx::store(fs, &path, &bytes, &reason)?;
            aside.push(format!("{}: {reason}", path.display()));
        }
        fsx::remove(fs, &path)?;
    }
    Ok(aside)
}

impl KeptReport {
    fn tell(&self, home: &Home, repo: &RepoId) -> Result<KeptOutcome> {
        let history = History::of(home, repo);
        for _ in 0..TRIES {
            if self.is_told(&history)? {
                return Ok(KeptOutcome::Done);
            }
            let telling = home.clone().telling(self);
            match (self.carry_out(&telling, repo), home.order()) {
                (Ok(()) | Err(Error::KeptLate(_)), _) => return Ok(KeptOutcome::Done),
                (Err(Error::Order(OrderRefusal::Overtaken { repo })), Some(order)) => {
                    order.catch_up(&repo)?;
                }
                // It has happened, here or on its way here, and is finished from the order.
                (Err(_), Some(order)) if self.is_told(&history)? => {
                    order.catch_up(repo)?;
                    return Ok(KeptOutcome::Done);
                }
                (Err(error), _) if is_for_good(&error) => {
                    return Ok(KeptOutcome::Never(describe(&error)));
                }
                (Err(error), _) => return Err(error),
            }
        }
        let repo = repo.clone();
        Err(OrderRefusal::Overtaken { repo }.into())
    }

    /// Carries out the operation that it is, as whoever said it.
    fn carry_out(&self, home: &Home, repo: &RepoId) -> Result<()> {
        let entry = operations::all().find(|it| {
            let operation = it.operation;
            operation.name() == self.operation && operation.can_be_kept()
        });
        let entry = entry.ok_or_else(|| Error::Invalid {
            what: self.operation.clone(),
            reason: "no such operation can be kept".to_owned(),
        })?;
        let mut said = self.arguments.clone();
        if entry.operation == Operation::MessageSend {
            // A second one of the same id is a retry.
            let id = Value::from(&*self.id);
            said.entry("id").or_insert(id);
        }
        let parameters: Vec<&'static Parameter> = entry.parameters.iter().collect();
        let said = Arguments::read(&parameters, Vec::new(), said)?;
        let identity = Identity::of(&self.speaker(), Origin::Agent);
        let repository = Repository::registered(home, repo)?;
        let place = repository.map_or(CallerPlace::Nowhere, CallerPlace::In);
        let caller = Caller::new(home, identity, Via::Cli, place);
        entry.carry_out(&caller, &said).map(drop)
    }
}

/// Whether an operation that was refused so will never be carried out.
fn is_for_good(error: &Error) -> bool {
    match error {
        Error::Order(refusal) => matches!(refusal, OrderRefusal::TooLarge { .. }),
        Error::Disk(error) => !matches!(
            error,
            disk::Error::Busy { .. } | disk::Error::Io { .. } | disk::Error::Changed { .. }
        ),
        Error::Clock { .. } | Error::Index(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use flagpost_model::{Refusal, TaskId};

    use super::*;

    #[test]
    fn what_may_pass_is_tried_again_and_what_a_rule_refuses_is_not() {
        let repo: RepoId = "0190c6f0-0000-7000-8000-000000000000".parse().unwrap();
        let order = |refusal| Error::Order(refusal);
        let (reason, path) = (String::new(), PathBuf::from("/x"));
        for (error, for_good) in [
            (
                order(OrderRefusal::Unreachable {
                    repo: repo.clone(),
                    reason: reason.clone(),
                }),
                false,
            ),
            (order(OrderRefusal::Unsettled { repo: repo.clone() }), false),
            (
                order(OrderRefusal::NotAllowed {
                    repo: repo.clone(),
                    reason: reason.clone(),
                }),
                false,
            ),
            (
                order(OrderRefusal::Frozen {
                    repo: repo.clone(),
                    reason: reason.clone(),
                }),
                false,
            ),
            (order(OrderRefusal::TooLarge { repo, bytes: 9 }), true),
            (disk::Error::Changed { path: path.clone() }.into(), false),
            (
                disk::Error::io("write", &path)(std::io::ErrorKind::StorageFull.into()).into(),
                false,
            ),
            (disk::Error::Malformed { path, reason }.into(), true),
            (
                Error::NotFound {
                    what: "task",
                    id: "7".to_owned(),
                    list: None,
                },
                true,
            ),
            (
                Refusal::NotClaimed {
                    task: TaskId::from(7),
                }
                .into(),
                true,
            ),
        ] {
            assert_eq!(is_for_good(&error), for_good, "{error}");
        }
    }
}
