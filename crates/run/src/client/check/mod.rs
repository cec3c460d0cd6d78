//! Whether a client can be started as Flagpost starts it, told before it is.
//!
//! Owns what is asked of an installed client (its version, and whether it knows the options of its
//! command line), what stands in the way of a run, and what is only worth knowing. Invariants: the
//! user's own files are not written, not even by the client, which is given a scratch directory for
//! them; no value of any variable is told; what cannot be told for sure stops no run.

mod answers;
mod codex;
mod fault;
mod help;
mod known;
mod login;
mod scratch;
mod trial;
mod trust;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use flagpost_core::Home;
use flagpost_model::{TaskId, hook::settings::Injection};

use self::answers::Answers;
pub use self::{
    fault::ClientFault,
    login::{Login, Surroundings, account, advice, login},
    trial::attempt,
};
use super::{
    Client,
    inject::{Injected, TrustedHook},
    preset::{self, Start, TemplateValues},
};
use crate::error::{Error, Result};

/// A client to be looked at.
#[derive(Debug, Clone)]
pub struct CheckTarget {
    /// As the operator names the agent: the client's name, or one of their own.
    pub name: String,
    /// Which client it is.
    pub client: Client,
    /// Where it is.
    pub program: PathBuf,
    /// The words that the operator adds to its options.
    pub added: Vec<String>,
    /// The variables that the operator sets for it.
    pub env: Vec<(String, String)>,
}

/// What was found out about a client.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The agent's name.
    pub name: String,
    /// Which client it is.
    pub client: Client,
    /// Where it is.
    pub program: PathBuf,
    /// Its version, where it tells one.
    pub version: Option<String>,
    /// Why it cannot be started as it would be.
    pub faults: Vec<ClientFault>,
    /// What is worth knowing, in sentences.
    pub notes: Vec<String>,
    /// The hooks that it is told to trust.
    pub trusted: Vec<TrustedHook>,
}

/// How a version stands to the one that the preset was tried with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionStatus {
    /// It is that one.
    Tested,
    /// It came later.
    Newer,
    /// It came before.
    Older,
    /// It is not known, or none was tried.
    Untested,
}

impl VersionStatus {
    /// As printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tested => "tested",
            Self::Newer => "newer",
            Self::Older => "older",
            Self::Untested => "untested",
        }
    }
}

impl CheckTarget {
    /// The command lines that it is started with: for a task, and to go on.
    fn lines(&self) -> Vec<Vec<OsString>> {
        let (task, place) = (TaskId::from(1), Path::new("/nowhere"));
        let places = TemplateValues {
            list: "list",
            task: &task,
            attempt: 1,
            prompt: place,
            text: "",
            out: place,
            dir: place,
            git: &[place.to_owned()],
            inject: Injected {
                wanted: Injection::ALL,
                program: "",
                trusted: &[],
            },
        };
        let id = "00000000-0000-4000-8000-000000000000";
        let starts = [Start::New(id), Start::Resume(id)].into_iter();
        let known = match preset::can_resume(self.client) {
            true => 2,
            false => 1,
        };
        let line = |start| preset::arguments(self.client, start, &places, &self.added);
        starts.take(known).map(line).collect()
    }

    /// Whether the operator added this option.
    fn is_added(&self, option: &str) -> bool {
        self.added.iter().any(|word| help::name_of(word) == option)
    }
}

/// Looks at several clients, and remembers nothing of them.
pub fn check_all(subjects: &[CheckTarget]) -> Vec<Checked> {
    let answers = ask_each(&subjects.iter().collect::<Vec<_>>()).into_iter();
    let checked = answers.zip(subjects);
    checked
        .map(|(answers, subject)| answers.into_checked(subject))
        .collect()
}

/// Whether a run can begin with these clients; an error says what is in the way and what to do. What
/// was found out is remembered in the home, so that the next run need not ask.
pub fn ready(home: &Home, subjects: &[CheckTarget]) -> Result<Vec<Checked>> {
    let known: Vec<Option<Answers>> = subjects
        .iter()
        .map(|subject| known::recall(home, subject))
        .collect();
    let unknown = subjects.iter().zip(&known);
    let unknown: Vec<&CheckTarget> = unknown
        .filter(|(_, known)| known.is_none())
        .map(|(subject, _)| subject)
        .collect();
    let mut asked = ask_each(&unknown).into_iter();
    let mut all = Vec::new();
    for (subject, known) in subjects.iter().zip(known) {
        let answers = match known {
            Some(answers) => answers,
            None => {
                let answers = asked.next().unwrap_or_default();
                known::remember(home, subject, &answers);
                answers
            }
        };
        let checked = answers.into_checked(subject);
        if let Some(fault) = checked.faults.first() {
            return Err(Error::ClientUnfit {
                agent: checked.name.clone(),
                what: fault.describe(&checked),
                hint: fault.hint(&checked),
            });
        }
        all.push(checked);
    }
    Ok(all)
}

/// Asks several clients side by side: some take seconds to say their name.
fn ask_each(subjects: &[&CheckTarget]) -> Vec<Answers> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = subjects
            .iter()
            .map(|subject| scope.spawn(move || answers::ask_all(subject)))
            .collect();
        let lost = |_| Answers::lost("it could not be looked at".to_owned());
        let answered = asked
            .into_iter()
            .map(|asked| asked.join().unwrap_or_else(lost));
        answered.collect()
    })
}

impl Checked {
    /// The client as it is called in sentences, with its version.
    pub fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.client),
            None => self.client.to_string(),
        }
    }

    /// How its version stands to the tested one.
    pub fn version_status(&self) -> VersionStatus {
        let (Some(own), Some(tested)) = (&self.version, preset::tested(self.client)) else {
            return VersionStatus::Untested;
        };
        match numbers(own).cmp(&numbers(tested)) {
            _ if own == tested => VersionStatus::Tested,
            std::cmp::Ordering::Less => VersionStatus::Older,
            std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => VersionStatus::Newer,
        }
    }
}

/// The numbers of a version, in order. What is no number is left out.
fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
