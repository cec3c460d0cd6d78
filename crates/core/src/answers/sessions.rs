//! Sessions.

use std::borrow::Cow;

use flagpost_model::{
    ListRef, TaskId,
    session::{
        ActiveTask, AttemptRecord, Band, Bar, BarEnd, LogRow, Outcome, ProgressStatus, Timeline,
        TimelineRow,
    },
    task::Landed,
    view,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{LandingBranch, WithoutCommit, each};
use crate::{
    accounts::Park,
    landing::SessionLanding,
    sessions::{
        Left, Output, OutputPart, Session, SessionAttempts, SessionDocument, SessionStatus,
    },
};

view! {
    /// A run of a list.
    pub struct SessionAnswer<'a> from it: &'a Session {
        /// Its id; for files without one, the name of their directory.
        id: String = it.title(),
        /// Whether it runs; dead is one whose runner is gone and that nobody has recovered.
        stage: SessionStatus = it.stage,
        /// The conversation that its tasks were given in; null where its files do not say.
        thread: Option<&'a str> = it.thread(),
        /// Where its files are.
        dir: String = it.dir.to_string_lossy().into(),
        /// The list it works on, where its files say.
        list: Option<&'a ListRef> = it.lock.list.as_ref(),
        /// Null where its files do not say.
        started: Option<Timestamp> = it.lock.started.and_then(|at| at.shown()),
        /// As other readers of progress.md see it; null where it says nothing that they know.
        status: Option<ProgressStatus> = it.progress.status,
        /// Null in a run that is eager or has not begun.
        wave: Option<Wave> = it.progress.wave.map(Wave::from),
        /// The tasks that are at work now; none in a session that does not run.
        active: &'a [ActiveTask] = &it.progress.active,
        /// The attempts that ended, in order.
        ended: Vec<EndedAttempt<'a>> = each(&it.rows),
        /// The tasks that were begun, have no end and are not at work now.
        left: Vec<LeftTask<'a>> = it.left.iter().map(|left| (left, it.runs()).into()).collect(),
        /// How many reports of its tasks are among its files.
        results: usize = it.results,
        /// The tasks of its plan that have not begun, or never did. Subjects are as the plan writes them.
        unbegun: Vec<UnbegunTask<'a>> = each(&it.unbegun),
    }

    /// A wave, of so many.
    struct Wave from it: (u32, u32) {
        /// Counted from 1.
        n: u32 = it.0,
        of: u32 = it.1,
    }

    struct EndedAttempt<'a> from it: &'a LogRow {
        id: &'a TaskId = &it.id,
        subject: &'a str = &it.subject,
        outcome: Outcome = it.outcome,
        /// Which attempt, counted from 1.
        attempt: u32 = it.attempt,
        /// Of how many at most.
        attempts: u32 = it.of,
        /// How long it took; null where the log does not say.
        #[schemars(range(min = 0))]
        seconds: Option<i64> = it.duration.map(|took| took.as_secs()),
        /// Input and output of all its attempts; null where no client told.
        tokens: Option<u64> = it.tokens,
    }

    struct UnbegunTask<'a> from it: &'a (TaskId, String) {
        id: &'a TaskId = &it.0,
        subject: &'a str = &it.1,
    }

    /// A task that was begun, has no end and is not at work now.
    struct LeftTask<'a> from (left, runs): (&'a Left, bool) {
        id: &'a TaskId = &left.id,
        subject: &'a str = &left.subject,
        /// How far it came: 'between_tries' in a session that runs, 'broken_off' in one that does not.
        #[schemars(extend("enum" = ["asks", "parked", "stopped", "between_tries", "broken_off"]))]
        how: String = left.how.word(runs).replace(' ', "_"),
        /// The last attempt, counted from 1; null where its events do not say.
        attempt: Option<u32> = left.attempt.map(|(attempt, _)| attempt),
        /// Of how many at most.
        attempts: Option<u32> = left.attempt.map(|(_, of)| of),
    }

    /// How far a session is, or got.
    ///
    /// After 'flagpost session show'.
    pub struct SessionInFull<'a> from (session, told, landing): (&'a Session, &'a SessionAttempts, &'a SessionLanding) {
        #[serde(flatten)]
        session: SessionAnswer<'a> = session.into(),
        /// Of all its attempts; null where no client told.
        tokens: Option<u64> = told.usage().total(),
        /// Of all its attempts in US dollars; null where no client told.
        #[schemars(range(min = 0))]
        cost_usd: Option<f64> = told.cost_usd(),
        /// The accounts that it parked and did not open again.
        parked: Vec<&'a Park> = told.parked.values().collect(),
        /// The records of the attempts that ended, in order.
        attempts: Vec<AttemptAnswer<'a>> = each(&told.attempts),
        /// Its branches that hold work which the target lacks, those that land next first.
        branches: Vec<LandingBranch<'a>> = landing.branches().map(LandingBranch::from).collect(),
        /// The work of its tasks that has landed.
        landed: Vec<TaskOnTarget<'a>> = each(&landing.landed),
        /// Its tasks that passed without a commit, so that nothing of them lands.
        no_commit: Vec<WithoutCommit<'a>> = each(&landing.no_commit),
    }

    struct TaskOnTarget<'a> from it: &'a (TaskId, Landed) {
        task: &'a TaskId = &it.0,
        #[serde(flatten)]
        landed: &'a Landed = &it.1,
    }

    struct AttemptAnswer<'a> from it: &'a (TaskId, AttemptRecord) {
        task: &'a TaskId = &it.0,
        #[serde(flatten)]
        record: &'a AttemptRecord = &it.1,
    }
}

/// The sessions of a repository.
///
/// After 'flagpost session list'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionsAnswer<'a> {
    /// Oldest first.
    pub sessions: Vec<SessionAnswer<'a>>,
    /// How many there are.
    pub total: usize,
    /// Whether more are there than are shown.
    pub truncated: bool,
}

/// A run that was asked to stop.
///
/// After 'flagpost stop' and POST /v1/stop. The run takes the request up within a second.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StopAsked<'a> {
    /// The session that runs.
    pub session: &'a str,
    /// The one task; null where the whole run is meant.
    pub task: Option<&'a str>,
    /// Whether running agents are stopped too.
    pub now: bool,
    /// It was asked the same before and has not taken that up yet.
    pub already: bool,
}

/// When the attempts of a session ran.
///
/// After 'flagpost session timeline', and from GET /v1/sessions/{id}/timeline.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TimelineAnswer<'a> {
    session: &'a str,
    /// Whether it goes on.
    live: bool,
    began: Timestamp,
    /// Or until when it was seen.
    ended: Timestamp,
    waves: Vec<WaveBar>,
    tasks: Vec<TaskBars<'a>>,
    /// The file that was drawn; null without --out.
    out: Option<Cow<'a, str>>,
}

impl<'a> TimelineAnswer<'a> {
    /// A timeline, and the file in which it was drawn.
    pub fn new(timeline: &'a Timeline, out: Option<Cow<'a, str>>) -> Self {
        Self {
            session: &timeline.session,
            live: timeline.is_live,
            began: timeline.began,
            ended: timeline.ended,
            waves: each(&timeline.waves),
            tasks: each(&timeline.rows),
            out,
        }
    }
}

view! {
    /// When a wave was.
    struct WaveBar from wave: &Band {
        /// Counted from 1.
        wave: u32 = wave.n,
        of: u32 = wave.of,
        began: Timestamp = wave.from,
        ended: Timestamp = wave.to,
    }

    /// A task and its attempts.
    struct TaskBars<'a> from row: &'a TimelineRow {
        id: &'a TaskId = &row.task,
        subject: &'a str = &row.subject,
        attempts: Vec<AttemptBar> = each(&row.bars),
    }

    /// When an attempt was.
    struct AttemptBar from bar: &Bar {
        /// Counted from 1.
        attempt: u32 = bar.attempt,
        began: Timestamp = bar.from,
        /// Or until when it was seen.
        ended: Timestamp = bar.to,
        /// cut_off: the session ended first.
        end: BarEnd = bar.end,
    }

    /// What a session has written for people.
    ///
    /// From GET /v1/sessions/{id}/documents.
    pub struct SessionDocuments<'a> {
        /// The plan first, then what came of it.
        documents: Vec<DocumentAnswer<'a>>,
    }

    /// A Markdown file of a session.
    pub struct DocumentAnswer<'a> from it: &'a SessionDocument {
        /// Its name, without .md.
        name: &'a str = &it.name,
        text: &'a str = &it.text,
        /// When it was written last.
        changed: Timestamp = it.changed,
    }

    /// A part of what an attempt's agent printed: whole lines.
    ///
    /// From GET /v1/tasks/{list}/{id}/log. Whoever wants more asks again from where it ends.
    pub struct LogPart<'a> from (output, part): (&'a Output, &'a OutputPart) {
        task: &'a TaskId = &output.task,
        /// Which attempt, counted from 1.
        attempt: u32 = output.attempt,
        /// The session that it belongs to.
        session: &'a str = &output.session,
        /// The agent as the operator named it; null where its client did not tell.
        agent: Option<&'a str> = output.agent.as_deref(),
        /// Where it begins, in bytes.
        from: u64 = part.from,
        /// Where it ends.
        to: u64 = part.to,
        /// What is not UTF-8 in it is shown as U+FFFD.
        text: &'a str = &part.text,
        /// Whether nothing more comes of this attempt.
        over: bool = part.is_over,
    }
}

/// No more was printed yet.
///
/// From GET /v1/tasks/{list}/{id}/log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NoLog {
    /// Whether somebody waited for it.
    pub waited: bool,
}
