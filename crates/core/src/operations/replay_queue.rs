//! Operations that are kept while the fleet is away, and told it afterwards.
//!
//! Owns which may be kept: an agent's word on what it holds already. And the one who tells: under a lock, report by
//! report in the order in which they were said, each as the operation that it is, before this machine changes
//! anything else of the repository. It is begun again where another machine was first, as every operation is.
//! Whether it has happened is asked of the history before each try: a crash between the change and the removal of
//! the file tells it only once. One that is refused for good is put aside, and holds up nothing behind it.

use flagpost_disk::{self as disk, fsx};
use flagpost_model::{
    RepoId, Token,
    decision::Via,
    message::{Speaker, Subject},
    task::{Act, Ending, Origin},
};
use serde_json::{Map, Value};

use super::{Arguments, Caller, CallerPlace, Identity, Operation, Parameter, all};
use crate::{
    answers::KeptAnswer,
    error::{Error, OrderRefusal, Result, describe},
    history::History,
    home::Home,
    order::{FORM, KeptFile, OfflineQueue, TRIES},
    repository::Repository,
    sequencer::{KeptReport, Transaction},
    tasks::{self, Move, Parts, Preview},
};

/// What is answered for a report that is kept.
const NOTE: &str = "kept; the fleet has not heard it yet";

/// What became of a report.
#[derive(Debug, PartialEq)]
enum KeptOutcome {
    /// It has happened.
    Done,
    /// It never will, for this reason.
    Never(String),
}

impl Operation {
    /// Whether it can be kept while the fleet is away: what an agent says of what it holds.
    pub(crate) fn can_be_kept(self) -> bool {
        matches!(
            self,
            Self::TaskDone
                | Self::TaskFail
                | Self::TaskStuck
                | Self::ReportSend
                | Self::BriefAck
                | Self::MessageAck
                | Self::MessageSend
        )
    }
}

/// These words in the form in which they are kept, where they may be: a worker's on what it was given, and
/// nobody's on a task that another one may have taken meanwhile. What its rule refuses here is refused as
/// ever.
fn form(
    caller: &Caller,
    operation: Operation,
    said: &Arguments,
) -> Result<Option<Map<String, Value>>> {
    let mut kept = said.to_object();
    let ending = match operation {
        Operation::TaskDone => Ending::Completed,
        Operation::TaskFail => Ending::Failed,
        Operation::TaskStuck => Ending::Stuck,
        Operation::MessageSend => {
            let subject: Option<Subject> = said.parsed("subject")?;
            let of_work = [Subject::Done, Subject::Stuck, Subject::Progress];
            let is_of_work = subject.is_some_and(|it| of_work.contains(&it));
            return Ok(is_of_work.then_some(kept));
        }
        operation => return Ok(operation.can_be_kept().then_some(kept)),
    };
    let list = caller.list(said)?;
    let id = caller.task(&list, said)?;
    let act = Act {
        actor: caller.actor()?,
        token: said.number("token").map(Token),
        at: caller.home().now(),
    };
    let event = Move::Finish {
        ending,
        text: String::new(),
        parts: Parts::MayBeOpen,
    };
    // By then it may fit several.
    kept.insert("id".to_owned(), id.as_str().into());
    for Preview { task, refusal } in tasks::preview_moves(&list, &act, &[id], &event)? {
        match refusal {
            Some(refusal) => return Err(refusal),
            None if task.state.claim().is_none_or(|it| it.by != act.actor) => return Ok(None),
            None => {}
        }
    }
    Ok(Some(kept))
}

/// Keeps what was refused because nobody of the fleet could be asked, or nothing is changed until somebody
/// looked, all or nothing; for whatever may not be kept, the refusal stands. The rule has been asked about it,
/// of the files that are here.
pub fn keep(
    caller: &Caller,
    operation: Operation,
    said: &[Arguments],
    refused: Error,
) -> Result<KeptAnswer> {
    let home = caller.home();
    let repo = match &refused {
        Error::Order(why) if home.tells().is_none() && !said.is_empty() => why.keeps_reports(),
        _ => None,
    };
    let Some(repo) = repo.cloned() else {
        return Err(refused);
    };
    let forms = said.iter().map(|it| form(caller, operation, it));
    let Some(forms) = forms.collect::<Result<Option<Vec<_>>>>()? else {
        return Err(refused);
    };
    let speaker = caller.speaker()?;
    let after = History::of(home, &repo).last()?;
    let outgoing = OfflineQueue::of(home, &repo);
    for arguments in forms {
        outgoing.add(&KeptReport {
            form: FORM,
            id: home.fs().dated_id().to_string(),
            said_at: home.now(),
            after,
            operation: operation.name().to_owned(),
            actor: speaker.name.clone(),
            by: speaker.by.clone(),
            arguments,
        })?;
    }
    Ok(KeptAnswer::new(operation.name(), speaker.name, repo, NOTE))
}

/// Tells the fleet what is kept of a repository, the oldest first. What was refused for good is put aside;
/// a sentence of each comes back. The caller holds no lock.
pub fn tell(home: &Home, repo: &RepoId) -> Result<Vec<String>> {
    let outgoing = OfflineQueue::of(home, repo);
    let mut aside = Vec::new();
    if outgoing.numbers()?.is_empty() {
        return Ok(aside);
    }
    let fs = home.fs();
    let (path, wait) = (outgoing.lock_path(), fsx::DEFAULT_WAIT);
    let lock = fsx::lock(fs, &path, fsx::Rank::OfflineQueue, wait, home.now());
    let _lock = lock.map_err(|error| match error {
        // Whatever is said meanwhile comes behind it.
        disk::Error::Busy { .. } => Error::from(OrderRefusal::Unreachable {
            repo: repo.clone(),
            reason: format!("what was said before is being told: {error}"),
        }),
        other => other.into(),
    })?;
    let Some(order) = home.sequencer_of(repo)? else {
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
        // Begun again here: the lock of the queue is held all the while.
        let _open = Transaction::begin();
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
        let entry = all().find(|it| {
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
        let speaker = Speaker {
            name: self.actor.clone(),
            by: self.by.clone(),
        };
        let identity = Identity::of(&speaker, Origin::Agent);
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
    fn what_an_agent_says_of_what_it_holds_can_be_kept_and_nothing_else() {
        let kept: Vec<&str> = Operation::ALL
            .iter()
            .filter(|it| it.can_be_kept())
            .map(|it| it.name())
            .collect();
        assert_eq!(
            kept,
            [
                "task.done",
                "task.fail",
                "task.stuck",
                "brief.ack",
                "report.send",
                "message.send",
                "message.ack"
            ]
        );
    }

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
