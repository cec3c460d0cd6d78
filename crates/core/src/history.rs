//! The append-only record of every transition (`tree.md` §7).
//!
//! Owns `history.jsonl` and its numbers. A line about a task is durable *before* the change it tells
//! of appears, so no change of a list or a mail is ever unrecorded. A crash in between leaves a line whose
//! change never appeared; the next writer sees that and appends a `history.void` line that names it.
//! A repository's registration and a quarantine are recorded first too, and once more after such a
//! crash. A line about a session follows what it tells of, since none of these can take it back: a
//! crash in between leaves it untold, and the session's own files tell of it. Nothing is ever
//! rewritten.

mod backward;
mod onward;
mod survey;
mod tail;

use std::path::PathBuf;

use flagpost_disk::{
    self as disk,
    fsx::{self, Durability, Lock, Rank},
};
use flagpost_model::{
    ListId, RepoId, Seq, SessionId, TaskId, WorkerId, id::MAX_NUMBER, task::StateName,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use onward::Place;
pub(crate) use survey::Survey;
pub use tail::{News, Tail};

use crate::{change, error::Result, home::Home, relay, reservations};

/// How much of the end is read to find the last line.
const TAIL: u64 = 4 << 10;

/// How much of the end may be read to find it: 128 MiB. What a line tells of fits one file.
const LONGEST_TAIL: u64 = 8 * fsx::READ_LIMIT;

/// Largest history that is read, 8 GiB: tens of millions of changes. A larger one was damaged.
const LIMIT: u64 = 8 << 30;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)?) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum Kind {
            $($(#[$doc])* $variant,)+
            /// A kind that this version does not know.
            Other(String),
        }

        impl Kind {
            /// The kind as written.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $text,)+ Self::Other(text) => text }
            }
        }

        impl From<String> for Kind {
            fn from(text: String) -> Self {
                match text.as_str() { $($text => Self::$variant,)+ _ => Self::Other(text) }
            }
        }
    };
}

kinds! {
    /// A repository was registered.
    RepositoryRegistered = "repository.registered",
    /// A task was added.
    TaskCreated = "task.created",
    /// Fields of a task changed.
    TaskEdited = "task.edited",
    /// Somebody wrote a remark.
    TaskNoted = "task.noted",
    /// Somebody began to measure the work.
    TimerStarted = "timer.started",
    /// Somebody stopped measuring it.
    TimerStopped = "timer.stopped",
    /// A change was taken back.
    TaskUndone = "task.undone",
    /// A dependency was added.
    TaskLinked = "task.linked",
    /// A dependency was removed.
    TaskUnlinked = "task.unlinked",
    /// A task was removed.
    TaskRemoved = "task.removed",
    /// Somebody took possession.
    TaskClaimed = "task.claimed",
    /// The work began.
    TaskStarted = "task.started",
    /// A lease was extended.
    TaskRenewed = "task.renewed",
    /// The work is done.
    TaskCompleted = "task.completed",
    /// The work was given up.
    TaskFailed = "task.failed",
    /// The work waits for help.
    TaskStuck = "task.stuck",
    /// The task was given back.
    TaskReleased = "task.released",
    /// The task is pending again.
    TaskReopened = "task.reopened",
    /// The task is not wanted any more.
    TaskCancelled = "task.cancelled",
    /// A result came after its claim was over.
    TaskLate = "task.late_result",
    /// A file that is no task was copied aside.
    TaskQuarantined = "task.quarantined",
    /// A plan was imported.
    ListImported = "list.imported",
    /// A session began.
    SessionStarted = "session.started",
    /// A session's files were archived.
    SessionArchived = "session.archived",
    /// A dead session's tasks were given back.
    SessionRecovered = "session.recovered",
    /// A list was given to the repository whose history records it.
    ListBound = "list.bound",
    /// A worker joined the fleet.
    WorkerRegistered = "worker.registered",
    /// A worker has fallen silent, or is live again.
    WorkerLiveness = "worker.liveness",
    /// A worker was taken off the fleet; its mail stays.
    WorkerRetired = "worker.retired",
    /// Somebody wrote a brief.
    BriefProposed = "relay.brief_proposed",
    /// A brief was ratified, rejected or edited.
    BriefDecided = "relay.decided",
    /// A brief was given to its worker for the first time.
    BriefDelivered = "relay.delivered",
    /// A body was changed after the decision on it and is not delivered.
    BriefWithheld = "relay.withheld",
    /// The worker has the brief.
    BriefRead = "worker.read",
    /// A worker reported.
    Reported = "worker.paste_back",
    /// Somebody has read a report.
    ReportRead = "relay.report_read",
    /// A number was taken by somebody who had not asked for one.
    ContractViolated = "relay.contract_violation",
    /// A half or malformed message was kept aside.
    EnvelopeQuarantined = "relay.quarantined",
    /// A message with a subject was sent.
    MessageSent = "message.sent",
    /// A message was given to its recipient, perhaps again.
    MessageReceived = "message.received",
    /// The recipient has it.
    MessageAcked = "message.acked",
    /// Whoever sent it took it back.
    MessageWithdrawn = "message.withdrawn",
    /// A message came from somebody else's database, or its acknowledgement did.
    MessageImported = "message.imported",
    /// Older messages were archived.
    EnvelopesArchived = "relay.archived",
    /// Somebody reserved files.
    ReservationAdded = "reservation.added",
    /// Somebody gave a reservation back.
    ReservationReleased = "reservation.released",
    /// A reservation was over, and its file was cleared away.
    ReservationExpired = "reservation.expired",
    /// The highest id that a list ever gave out was found anew.
    ListRecounted = "list.recounted",
    /// The lines before it are damaged, or some are lost; numbers go on above all that were seen.
    Resumed = "history.resumed",
    /// The line it names told of a change that never appeared.
    Void = "history.void",
}

impl From<Kind> for String {
    fn from(kind: Kind) -> Self {
        kind.as_str().to_owned()
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Grows by one.
    pub n: u64,
    /// When.
    pub at: Timestamp,
    /// In which repository.
    pub repo: RepoId,
    /// What happened.
    pub entry: Entry,
}

impl Line {
    /// The line as one JSON object.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("n".into(), self.n.into());
        map.insert("at".into(), self.at.to_string().into());
        map.insert("repo".into(), self.repo.as_str().into());
        if let Ok(Value::Object(entry)) = serde_json::to_value(&self.entry) {
            map.extend(entry);
        }
        Value::Object(map)
    }

    /// The number of the first line of its change.
    fn first(&self) -> u64 {
        self.entry.number("op").unwrap_or(self.n).min(self.n)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut map: Map<String, Value> = serde_json::from_slice(text).ok()?;
        let n = map.remove("n")?.as_u64()?;
        let at = map.remove("at")?.as_str()?.parse().ok()?;
        let repo = map.remove("repo")?.as_str()?.parse().ok()?;
        let entry = serde_json::from_value(Value::Object(map)).ok()?;
        Some(Self { n, at, repo, entry })
    }
}

/// A line before it has a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What happened.
    pub kind: Kind,
    /// Who did it; filled in on recording.
    #[serde(default)]
    pub actor: Option<WorkerId>,
    /// Whose mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// Which message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// In which list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<ListId>,
    /// To which task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The state before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<StateName>,
    /// The state after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<StateName>,
    /// The rest. `rev` is the task's revision after the change; `op` the number of the first line
    /// of a change that has several, and in a void that of the change it takes back.
    #[serde(default)]
    pub detail: Map<String, Value>,
}

impl Entry {
    /// An entry of this kind.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            actor: None,
            worker: None,
            seq: None,
            list: None,
            task: None,
            from: None,
            to: None,
            detail: Map::new(),
        }
    }

    /// With one more detail.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.detail.insert(key.to_owned(), value.into());
        self
    }

    /// About a worker's mail, or one message in it.
    #[must_use]
    pub fn mail(mut self, worker: &WorkerId, seq: Option<Seq>) -> Self {
        self.worker = Some(worker.clone());
        self.seq = seq;
        self
    }

    /// About a session.
    #[must_use]
    pub fn session(self, session: &SessionId) -> Self {
        self.detail("session", session.as_str())
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.detail.get(key).and_then(Value::as_u64)
    }

    /// The number of the line that this entry takes back, if it takes one back.
    pub fn voids(&self) -> Option<u64> {
        match self.kind {
            Kind::Void => self.number("n"),
            _ => None,
        }
    }

    /// The task's revision after the change, where the entry tells of one.
    pub fn rev(&self) -> Option<u64> {
        self.number("rev")
    }
}

/// Whether the change that an entry tells of has appeared.
pub type Appeared<'a> = &'a dyn Fn(&Entry) -> Result<bool>;

/// One repository's history.
#[derive(Debug)]
pub struct History<'h> {
    home: &'h Home,
    repo: RepoId,
    path: PathBuf,
}

impl<'h> History<'h> {
    /// The history of a registered repository.
    pub fn of(home: &'h Home, repo: &RepoId) -> Self {
        let path = home.repository_dir(repo).join("history.jsonl");
        Self {
            home,
            repo: repo.clone(),
            path,
        }
    }

    /// Every readable line after number `since`.
    pub fn since(&self, since: u64) -> Result<Vec<Line>> {
        let bytes = self.bytes()?;
        // A last line without its newline was not acknowledged, even where it happens to parse.
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let ended = bytes.get(..end.unwrap_or_default()).unwrap_or_default();
        Ok(lines(ended).filter(|line| line.n > since).collect())
    }

    /// All of it; nothing where there is none.
    fn bytes(&self) -> Result<Vec<u8>> {
        match self.home.fs().read(&self.path, 0, LIMIT) {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(disk::Error::io("read", &self.path)(error).into()),
        }
    }

    /// Its file.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Records entries of changes that are in no list's files.
    pub fn record(&self, actor: &WorkerId, at: Timestamp, entries: Vec<Entry>) -> Result<()> {
        let appeared = |entry: &Entry| change::appeared(self.home, None, entry);
        self.writer(at, &appeared)?.record(actor, entries)
    }

    /// Takes back at once those lines of the last change that it did not bring about.
    pub(crate) fn settle(&self, actor: &WorkerId, at: Timestamp) -> Result<()> {
        self.record(actor, at, Vec::new())
    }

    /// Its lock.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.path.with_file_name(".history.lock")
    }

    /// Takes the history's lock and looks whether the last recorded change has appeared.
    pub(crate) fn writer(&self, at: Timestamp, appeared: Appeared<'_>) -> Result<Writer<'_>> {
        let fs = self.home.fs();
        // Whoever wrote the first line had made the directory durable.
        if fsx::stat(fs, &self.path)?.is_none() {
            self.home.make_dirs(&self.home.repository_dir(&self.repo))?;
        }
        let lock = fsx::lock(fs, &self.lock_path(), Rank::History, fsx::DEFAULT_WAIT, at)?;
        let tail = self.tail(TAIL)?;
        let last = tail.last().map_or(0, |line| line.n);
        if last >= MAX_NUMBER {
            return Err(disk::Error::Malformed {
                path: self.path.clone(),
                reason: format!("there is no number after {last}"),
            }
            .into());
        }
        Ok(Writer {
            history: self,
            _lock: lock,
            at,
            last,
            voids: self.unsettled(tail, appeared)?,
        })
    }

    /// The entries that take back what the last change told of and did not bring about.
    fn unsettled(&self, last: Vec<Line>, appeared: Appeared<'_>) -> Result<Vec<Entry>> {
        let mut voids = Vec::new();
        let voided: Vec<u64> = last.iter().filter_map(|line| line.entry.voids()).collect();
        let first = last.first().map_or(0, |line| line.n);
        for line in last {
            let entry = &line.entry;
            let may_be_void = entry.rev().is_some()
                || entry.seq.is_some()
                || entry.number(reservations::NUMBER).is_some();
            let open = may_be_void && !voided.contains(&line.n);
            if open && !(appeared(entry)? && self.is_beside(entry)?) {
                let mut void = Entry::new(Kind::Void)
                    .detail("n", line.n)
                    .detail("op", first);
                void.worker = line.entry.worker;
                void.seq = line.entry.seq;
                void.list = line.entry.list;
                void.task = line.entry.task;
                voids.push(void);
            }
        }
        Ok(voids)
    }

    /// Whether it is in what the repository has beside its lists: its mail, its reservations.
    fn is_beside(&self, entry: &Entry) -> Result<bool> {
        Ok(relay::appeared(self.home, &self.repo, entry)?
            && reservations::appeared(self.home, &self.repo, entry)?)
    }

    /// All lines of the change that the last line belongs to, or takes back; none only where the
    /// history is empty. At first `size` bytes are read, and more of them until the change is there.
    /// A line that lacks only its newline is one of them: the next append ends it, so its number is
    /// taken.
    fn tail(&self, size: u64) -> Result<Vec<Line>> {
        let fs = self.home.fs();
        let Some(stat) = fsx::stat(fs, &self.path)? else {
            return Ok(Vec::new());
        };
        let offset = stat.len.saturating_sub(size);
        let bytes = fs
            .read(&self.path, offset, u64::MAX)
            .map_err(disk::Error::io("read", &self.path))?;
        // Where the reading began in the middle of a line, that line is for a longer look.
        let begun = match offset {
            0 => 0,
            _ => bytes
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(bytes.len()),
        };
        if ends_damaged(&bytes[begun..]) {
            return Err(disk::Error::Malformed {
                path: self.path.clone(),
                reason: "its last line cannot be read; 'flagpost doctor' tells how to go on"
                    .to_owned(),
            }
            .into());
        }
        let Last { lines, is_whole } = last_change(&bytes);
        match (lines.is_empty(), offset) {
            (true, 1..) if size >= LONGEST_TAIL => Err(disk::Error::Malformed {
                path: self.path.clone(),
                reason: format!("none of the lines in its last {size} bytes can be read"),
            }
            .into()),
            (false, 1..) if !is_whole => self.tail(size.saturating_mul(8)),
            (false, _) => Ok(lines),
            (true, 0) if bytes.contains(&b'\n') => Err(disk::Error::Malformed {
                path: self.path.clone(),
                reason: "none of its lines can be read".to_owned(),
            }
            .into()),
            (true, 0) => Ok(lines),
            (true, _) => self.tail(size.saturating_mul(8)),
        }
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Line> {
    bytes.split(|byte| *byte == b'\n').filter_map(Line::parse)
}

/// Whether the last whole line is one that cannot be read, so that nobody knows which number it took.
/// One that a crash cut off was never acknowledged, and its number is free.
fn ends_damaged(bytes: &[u8]) -> bool {
    let whole = |line: &&[u8]| Line::parse(line).is_some() || line.ends_with(b"}");
    // What follows the last line break was cut off.
    let last = bytes.rsplit(|byte| *byte == b'\n').skip(1).find(whole);
    last.is_some_and(|line| Line::parse(line).is_none())
}

/// The end of a history.
struct Last {
    /// The lines of the change that the last line belongs to, as far as they are there.
    lines: Vec<Line>,
    /// Whether what lies before them belongs to another change.
    is_whole: bool,
}

fn last_change(bytes: &[u8]) -> Last {
    let mut lines: Vec<Line> = Vec::new();
    let mut is_whole = false;
    let backwards = bytes.rsplit(|byte| *byte == b'\n');
    for line in backwards.filter_map(Line::parse) {
        let first = lines.first().unwrap_or(&line).first();
        is_whole = line.n <= first;
        if line.n >= first {
            lines.push(line);
        }
        if is_whole {
            break;
        }
    }
    lines.reverse();
    Last { lines, is_whole }
}

/// The history, locked for one change.
#[derive(Debug)]
pub(crate) struct Writer<'h> {
    history: &'h History<'h>,
    _lock: Lock,
    at: Timestamp,
    last: u64,
    voids: Vec<Entry>,
}

impl Writer<'_> {
    /// The number that the first entry of the coming change will get.
    pub(crate) fn next(&self) -> u64 {
        self.last + self.voids.len() as u64 + 1
    }

    /// Makes the entries of one change durable. The lock is held until the writer is dropped.
    pub(crate) fn record(&mut self, actor: &WorkerId, entries: Vec<Entry>) -> Result<()> {
        let first = self.next();
        let several = entries.len() > 1;
        let mut text = Vec::new();
        let voids = std::mem::take(&mut self.voids)
            .into_iter()
            .map(|entry| (false, entry));
        let entries = entries.into_iter().map(|entry| (several, entry));
        for (n, (several, mut entry)) in (self.last + 1..).zip(voids.chain(entries)) {
            entry.actor = Some(actor.clone());
            if several {
                entry = entry.detail("op", first);
            }
            let line = Line {
                n,
                at: self.at,
                repo: self.history.repo.clone(),
                entry,
            };
            text.extend(format!("{}\n", line.to_json()).into_bytes());
            self.last = n;
        }
        if text.is_empty() {
            return Ok(());
        }
        Ok(fsx::append(
            self.history.home.fs(),
            &self.history.path,
            &text,
            Durability::Synced,
        )?)
    }
}
