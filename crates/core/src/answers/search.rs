//! Where a text is, and what could not be looked through.

use flagpost_model::{
    ListId, RepoId, Seq, TaskId, WorkerId,
    search::{SearchField, SearchKind, Snippet},
    task::StateName,
    view,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::each;
use crate::{
    Skipped,
    index::{Hit, IndexFault, Owner, SearchResult, Thing},
};

view! {
    /// What could not be read.
    pub struct UnreadThings<'a> from faults: &'a [IndexFault] {
        /// Files that could not be read, and so are not looked through.
        skipped: Vec<UnindexedFile<'a>> = faults.iter().filter_map(UnindexedFile::of).collect(),
        /// Lists, roots and repositories that could not be looked through, and why.
        pub unreadable: Vec<String> = faults.iter().filter_map(whole).collect(),
    }
}

/// A file that could not be read.
#[derive(Debug, Serialize, JsonSchema)]
struct UnindexedFile<'a> {
    /// Whose it is; else null.
    list: Option<&'a ListId>,
    /// Whose it is; else null.
    repository: Option<&'a RepoId>,
    /// Its name in the list's directory, below the workers' or the sessions'.
    file: &'a str,
    reason: &'a str,
}

impl<'a> UnindexedFile<'a> {
    /// Where the fault is that of one file.
    fn of(fault: &'a IndexFault) -> Option<Self> {
        let (list, repository) = match &fault.owner {
            Owner::Home => (None, None),
            Owner::List(list) => (Some(list), None),
            Owner::Repository(repository) => (None, Some(repository)),
        };
        Some(Self {
            list,
            repository,
            file: fault.file.as_deref()?,
            reason: &fault.reason,
        })
    }
}

impl UnreadThings<'_> {
    /// The files, for remarks.
    pub fn files(&self) -> Vec<Skipped> {
        let files = self.skipped.iter();
        files
            .map(|it| Skipped::new(it.file.to_owned(), it.reason.to_owned()))
            .collect()
    }
}

/// Where a text is.
///
/// After 'flagpost search'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchAnswer<'a> {
    /// What was looked for.
    text: &'a str,
    hits: Vec<HitAnswer<'a>>,
    /// How many there are, shown or not.
    total: usize,
    /// Whether more are there than are shown; --limit 0 shows all.
    truncated: bool,
    /// What was not looked through.
    #[serde(flatten)]
    pub faults: UnreadThings<'a>,
}

/// A place where it is. Every key is there, whatever it was found in.
#[derive(Debug, Serialize, JsonSchema)]
struct HitAnswer<'a> {
    kind: SearchKind,
    /// Of a task; else null.
    list: Option<&'a ListId>,
    /// Its id; null for anything else.
    task: Option<&'a TaskId>,
    /// Of a task; else null.
    state: Option<StateName>,
    /// Of a task; of a brief or report, as the messages table has it; else null.
    subject: Option<&'a str>,
    /// The id of the one that it is of; null for a task.
    repository: Option<&'a RepoId>,
    /// Whose brief or report it is; else null.
    worker: Option<&'a WorkerId>,
    /// The number of a brief or report; else null.
    seq: Option<Seq>,
    /// The archive that a brief or report is in; null where it is live.
    month: Option<&'a str>,
    /// A session's directory and the file in it; else null.
    file: Option<&'a str>,
    /// The number of a line of the history; else null.
    #[schemars(range(min = 1))]
    line: Option<u64>,
    field: SearchField,
    /// Which of several notes or late results, counted from 1; else 1.
    n: u32,
    /// Where it begins, in characters.
    at: usize,
    /// In characters.
    length: usize,
    /// The words around it, on one line.
    snippet: &'a Snippet,
}

impl<'a> From<&'a Hit> for HitAnswer<'a> {
    fn from(hit: &'a Hit) -> Self {
        let of = |kind| Self {
            kind,
            list: None,
            task: None,
            state: None,
            subject: None,
            repository: None,
            worker: None,
            seq: None,
            month: None,
            file: None,
            line: None,
            field: hit.place,
            n: hit.n,
            at: hit.spot.at,
            length: hit.spot.len,
            snippet: &hit.spot.snippet,
        };
        match &hit.thing {
            Thing::Task {
                list,
                id,
                subject,
                state,
            } => Self {
                list: Some(list),
                task: Some(id),
                state: Some(*state),
                subject: Some(subject),
                ..of(SearchKind::Task)
            },
            Thing::Message {
                repository,
                worker,
                direction,
                seq,
                month,
                subject,
            } => Self {
                repository: Some(repository),
                worker: Some(worker),
                seq: Some(*seq),
                month: month.as_deref(),
                subject: Some(subject),
                ..of(SearchKind::of(*direction))
            },
            Thing::Session { repository, file } => Self {
                repository: Some(repository),
                file: Some(file),
                ..of(SearchKind::Session)
            },
            Thing::History { repository, n } => Self {
                repository: Some(repository),
                line: Some(*n),
                ..of(SearchKind::History)
            },
        }
    }
}

impl<'a> SearchAnswer<'a> {
    /// What was found for a text.
    pub fn new(text: &'a str, found: &'a SearchResult) -> Self {
        Self {
            text,
            hits: each(&found.hits),
            total: found.total,
            truncated: found.hits.len() < found.total,
            faults: found.faults.as_slice().into(),
        }
    }
}

/// What is to be said where it is no single file that could not be read.
fn whole(fault: &IndexFault) -> Option<String> {
    let reason = &fault.reason;
    fault.file.is_none().then(|| match &fault.owner {
        Owner::Home => reason.clone(),
        Owner::List(list) => format!("list {list} cannot be looked through: {reason}"),
        Owner::Repository(repository) => {
            format!("repository {repository} cannot be looked through: {reason}")
        }
    })
}
