//! A line of the history, and every kind of line there is (`tree.md` §7).
//!
//! Owns the words and their form. A kind that this version does not know is kept as it is.
#![doc = include_str!("../../../../docs/formats/history.md")]

use std::path::Path;

use flagpost_disk::json;
use flagpost_model::{ListId, ListRef, RepoId, Seq, SessionId, TaskId, WorkerId, task::StateName};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::detail::{FINGERPRINT, TABLE};

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)?) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(from = "String", into = "String")]
        #[schemars(inline)]
        pub enum Kind {
            $($(#[$doc])* $variant,)+
            /// A kind that this version does not know.
            Other(String),
        }

        impl Kind {
            /// Every kind that this version knows.
            pub const KNOWN: &[Self] = &[$(Self::$variant),+];

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
    /// Another program took a task's file away.
    TaskVanished = "task.vanished",
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
    /// A person answered what was asked about a task.
    TaskAnswered = "task.answered",
    /// An attempt of a client on it ended; its record.
    TaskAttempted = "task.attempted",
    /// The task is not wanted any more.
    TaskCancelled = "task.cancelled",
    /// A task's work is on the target branch.
    TaskLanded = "land.landed",
    /// A task's work did not land.
    TaskRefused = "land.refused",
    /// A person approved a task's work: this commit of its branch may land.
    TaskApproved = "land.approved",
    /// A person returned a task's work, with words.
    TaskReturned = "land.returned",
    /// A task passed without a commit: nothing of it lands.
    TaskNoCommit = "land.no_commit",
    /// A landing moves the branch that work lands on to a commit that passed.
    TargetMoving = "land.target_moving",
    /// Somebody else moved the branch that work lands on, while a run or a landing was under way.
    TargetMoved = "land.target_moved",
    /// A result came after its claim was over.
    TaskLate = "task.late_result",
    /// A file that is no task was copied aside.
    TaskQuarantined = "task.quarantined",
    /// A plan was imported.
    ListImported = "list.imported",
    /// A session began.
    SessionStarted = "session.started",
    /// Somebody asked a session to end, or to stop one of its tasks.
    SessionStopAsked = "session.stop_asked",
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
    /// A worker was given a token; the one before is void.
    TokenIssued = "worker.token_issued",
    /// Somebody wrote a brief.
    BriefProposed = "relay.brief_proposed",
    /// A brief was ratified, rejected or edited.
    BriefDecided = "relay.decided",
    /// A brief was given to its worker for the first time.
    BriefDelivered = "relay.delivered",
    /// A body was changed after the decision on it and is not delivered.
    BriefWithheld = "relay.withheld",
    /// A hand that nobody knows rewrote a brief, decided on it or changed its flags.
    ChangedOutside = "relay.changed_outside",
    /// The worker has the brief.
    BriefRead = "worker.read",
    /// A worker reported.
    Reported = "worker.paste_back",
    /// Somebody has read a report.
    ReportRead = "relay.report_read",
    /// A worker said that its report came full circle.
    ReportConfirmed = "relay.report_confirmed",
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
    /// The operator accepted a policy.
    PolicyAccepted = "policy.accepted",
    /// Somebody reserved files.
    ReservationAdded = "reservation.added",
    /// Somebody gave a reservation back.
    ReservationReleased = "reservation.released",
    /// A reservation was over, and its file was cleared away.
    ReservationExpired = "reservation.expired",
    /// An agent asked to be allowed something.
    PermissionAsked = "permission.asked",
    /// The operator allowed it.
    PermissionAllowed = "permission.allowed",
    /// The operator denied it.
    PermissionDenied = "permission.denied",
    /// Nobody decided in time.
    PermissionExpired = "permission.expired",
    /// The client needs no answer any more: it was answered in its own window, or has ended.
    PermissionWithdrawn = "permission.withdrawn",
    /// Whoever began a run allowed its agents something.
    PermissionRules = "permission.rules",
    /// A hand that nobody knows changed a request, which was put back as it was asked.
    PermissionChanged = "permission.changed_outside",
    /// The highest id that a list ever gave out was found anew.
    ListRecounted = "list.recounted",
    /// The lines before it are damaged, or some are lost; numbers go on above all that were seen.
    Resumed = "history.resumed",
    /// The line it names told of a change that never appeared.
    Void = "history.void",
}

impl Kind {
    /// Whether it is the kind of this name, or of the family: `task.claimed`, `task`.
    pub fn is(&self, name: &str) -> bool {
        let rest = self.as_str().strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// What happened, to a person: "task claimed".
    pub fn words(&self) -> String {
        let text = match self {
            Self::BriefProposed => "brief proposed",
            Self::BriefDecided => "brief decided",
            Self::BriefDelivered => "brief delivered",
            Self::BriefWithheld => "brief withheld",
            Self::ChangedOutside => "brief changed outside",
            Self::BriefRead => "brief read",
            Self::Reported => "report sent",
            Self::ReportRead => "report read",
            Self::ReportConfirmed => "report confirmed",
            Self::EnvelopesArchived => "mail archived",
            Self::TaskLanded => "task landed",
            Self::TaskRefused => "landing refused",
            Self::TaskApproved => "work approved",
            Self::TaskReturned => "work returned",
            Self::PermissionRules => "rules of a run",
            Self::TaskNoCommit => "task passed, no commit",
            other => other.as_str(),
        };
        text.replace(['.', '_'], " ")
    }

    /// The family: `task` of `task.claimed`.
    pub fn family(&self) -> &str {
        let text = self.as_str();
        text.split_once('.').map_or(text, |(family, _)| family)
    }
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
        map.insert("detail".into(), Value::Object(self.entry.detail.clone()));
        Value::Object(map)
    }

    /// The line as it is written after a line of this hash ([`super::chain`]).
    pub(super) fn chained(&self, prev: Option<&str>) -> String {
        let mut json = self.to_json();
        if let (Value::Object(map), Some(prev)) = (&mut json, prev) {
            map.insert("prev".into(), prev.into());
        }
        json.to_string()
    }

    /// The number of the first line of its change.
    pub(super) fn first(&self) -> u64 {
        self.entry.number("op").unwrap_or(self.n).min(self.n)
    }

    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let mut map = json::object(text).ok()?;
        let n = map.remove("n")?.as_u64()?;
        let at = map.remove("at")?.as_str()?.parse().ok()?;
        let repo = map.remove("repo")?.as_str()?.parse().ok()?;
        let detail = match map.remove("detail") {
            Some(Value::Object(detail)) => detail,
            Some(_) => return None,
            None => Map::new(),
        };
        let entry: Entry = serde_json::from_value(Value::Object(map)).ok()?;
        let entry = Entry { detail, ..entry };
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
    /// of a change that has several, and in a void that of the change it takes back; `apart` that the
    /// line is a change of its own all the same; `by` who acted under the actor's name; `kept` the
    /// id of a report that was kept while the fleet was away, `said_at` when it was made. Its numbers
    /// stay as they are spelt, which they would not on the way through a serializer.
    #[serde(skip)]
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

    /// About the list of this name, or that lies there where it has none.
    pub(crate) fn sign(&mut self, list: &ListRef, dir: &Path) {
        match list {
            ListRef::Named(id) => self.list = Some(id.clone()),
            ListRef::Foreign(_) | ListRef::Coordination(_) => {
                let dir = dir.to_string_lossy().into_owned();
                self.detail.insert(TABLE.to_owned(), dir.into());
            }
        }
    }

    /// Whether it is about that list.
    pub(crate) fn is_about(&self, list: &ListRef, dir: &Path) -> bool {
        match list {
            ListRef::Named(id) => self.list.as_ref() == Some(id),
            ListRef::Foreign(_) | ListRef::Coordination(_) => {
                let there = self.detail.get(TABLE).and_then(Value::as_str);
                there == Some(&*dir.to_string_lossy())
            }
        }
    }

    /// Done under this name, by this hand where it is another's.
    #[must_use]
    pub(crate) fn on_behalf_of(mut self, actor: &WorkerId, hand: Option<&WorkerId>) -> Self {
        self.actor = Some(actor.clone());
        let said = self.detail.get("by").and_then(Value::as_str);
        let is_open = said.is_none_or(|it| it == actor.as_str());
        match hand.filter(|_| is_open) {
            Some(hand) => self.detail("by", hand.as_str()),
            None => self,
        }
    }

    /// Whether it tells of a file that was not there before.
    pub(crate) fn creates(&self) -> bool {
        self.kind == Kind::TaskCreated || self.detail.contains_key(FINGERPRINT)
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
