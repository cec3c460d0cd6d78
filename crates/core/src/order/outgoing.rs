//! What agents say while the fleet is away, kept until it hears of it.
//!
//! Owns `outgoing/` in the directory of a shared repository, and which operations may be kept there: an
//! agent's word on what it holds already. A kept report is the operation's own name and arguments, and who
//! said it. Reports are told in the order in which they were said, as ordinary operations, before this
//! machine changes anything else of the repository. Invariants: a report is durable before it is answered
//! for; it is removed only once it has happened, or was refused for good and a copy lies in quarantine.

use std::path::PathBuf;

use flagpost_disk::{self as disk, fsx};
use flagpost_model::{
    RepoId, Token,
    message::{Speaker, Subject},
    task::{Act, Ending},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    answers::KeptAnswer,
    error::{Error, Result},
    history::History,
    home::Home,
    operations::{Arguments, Caller, Operation},
    sequencer::KeptReport,
    tasks::{self, Move, Parts, Preview},
};

/// Grows where an older version could not tell a report.
const FORM: u32 = 1;

/// What is answered for a report that is kept.
const NOTE: &str = "kept; the fleet has not heard it yet";

/// The form alone, which every later one keeps.
#[derive(Debug, Deserialize)]
struct KeptForm {
    form: u32,
}

/// What a kept file holds.
#[derive(Debug, PartialEq)]
pub(super) enum KeptFile {
    /// A report.
    Report(Box<KeptReport>),
    /// What a newer version wrote.
    Newer,
    /// Nothing that can be understood, for this reason.
    Damaged(String),
}

impl KeptFile {
    pub(super) fn read(bytes: &[u8]) -> Self {
        match serde_json::from_slice::<KeptForm>(bytes) {
            Ok(it) if it.form > FORM => Self::Newer,
            Ok(_) => match serde_json::from_slice(bytes) {
                Ok(report) => Self::Report(Box::new(report)),
                Err(error) => Self::Damaged(error.to_string()),
            },
            Err(error) => Self::Damaged(error.to_string()),
        }
    }
}

impl KeptReport {
    /// Who said it.
    pub(super) fn speaker(&self) -> Speaker {
        Speaker {
            name: self.actor.clone(),
            by: self.by.clone(),
        }
    }

    /// Whether the other one says the same.
    fn says_as(&self, other: &Self) -> bool {
        let words = |it: &Self| {
            let Self {
                operation,
                actor,
                by,
                arguments,
                ..
            } = it.clone();
            (operation, actor, by, arguments)
        };
        words(self) == words(other)
    }
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
    let outgoing = Outgoing::of(home, &repo);
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

/// How many reports of a repository the fleet has not heard yet.
pub fn kept(home: &Home, repo: &RepoId) -> Result<usize> {
    Ok(Outgoing::of(home, repo).numbers()?.len())
}

/// The name of a report's file, and the number of such a name.
fn name(number: u64) -> String {
    format!("{number:06}.json")
}

fn number(text: &str) -> Option<u64> {
    let number = text.strip_suffix(".json")?.parse().ok()?;
    (name(number) == text).then_some(number)
}

/// The kept reports of a repository.
#[derive(Debug)]
pub(crate) struct Outgoing<'h> {
    pub(super) home: &'h Home,
    dir: PathBuf,
}

impl<'h> Outgoing<'h> {
    pub(crate) fn of(home: &'h Home, repo: &RepoId) -> Self {
        let dir = home.repository_dir(repo).join("outgoing");
        Self { home, dir }
    }

    /// Where they are.
    pub(crate) fn dir(&self) -> &PathBuf {
        &self.dir
    }

    /// The lock of whoever tells them.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.dir.join(".lock")
    }

    /// Their numbers, in the order in which they were said.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>> {
        let names = fsx::names(self.home.fs(), &self.dir)?;
        let mut numbers: Vec<u64> = names
            .iter()
            .filter_map(|name| number(name.to_str()?))
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The first entry that nobody here can tell and that holds up all behind it, and why.
    pub(crate) fn obstacle(&self) -> Result<Option<(PathBuf, String)>> {
        for number in self.numbers()? {
            let path = self.path(number);
            match fsx::read(self.home.fs(), &path) {
                Err(error) => return Ok(Some((path, error.to_string()))),
                Ok(bytes) => {
                    if KeptFile::read(&bytes.unwrap_or_default()) == KeptFile::Newer {
                        return Ok(Some((path, "a newer Flagpost kept it".to_owned())));
                    }
                }
            }
        }
        Ok(None)
    }

    pub(super) fn path(&self, number: u64) -> PathBuf {
        self.dir.join(name(number))
    }

    /// Keeps one more behind all others, durable on return. The same that is kept already is a retry.
    fn add(&self, report: &KeptReport) -> Result<()> {
        let fs = self.home.fs();
        self.home.make_dirs(&self.dir)?;
        let mut numbers = self.numbers()?;
        for number in &numbers {
            let bytes = fsx::read(fs, &self.path(*number))?.unwrap_or_default();
            match KeptFile::read(&bytes) {
                KeptFile::Report(earlier) if earlier.says_as(report) => return Ok(()),
                _ => {}
            }
        }
        let bytes = serde_json::to_vec(report).map_err(|error| Error::Invalid {
            what: "report".to_owned(),
            reason: error.to_string(),
        })?;
        loop {
            let next = numbers.last().map_or(1, |last| last.saturating_add(1));
            match fsx::publish(fs, &self.path(next), &bytes) {
                // Somebody else keeps something at the same moment.
                Err(disk::Error::Conflict { .. }) => numbers.push(next),
                published => return Ok(published?),
            }
        }
    }
}

#[cfg(test)]
mod tests;
