//! Sessions: one at a time, recovered whole, nothing learned lost.

mod child;
mod ends;
mod files_of_agents;
mod inheritance;
mod no_word_is_lost_in_a_crash;
mod trap_03_hijacked_session;
mod trap_04_recovery_that_recovers_nothing;
mod trap_05_lock_by_age;
mod trap_09_path_tricks;
mod trap_10_vanished_results;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use flagpost_core::{
    Home, List, Repository, Result,
    claims::{self, Claimed, Terms},
    history::{Kind, Line},
    sessions::{self, Begun, Live, Recovered, SessionStatus, Sessions, Start},
};
use flagpost_disk::dialects::session::context;
use flagpost_model::{
    SessionId, TaskId, WorkerId,
    session::{
        Knowledge, KnowledgeNote, LogRow, Outcome, Progress, ProgressStatus, SessionSummary,
        SharedContext, TaskNotes,
    },
    task::{DEFAULT_LEASE, StateName},
};
use flagpost_testkit::race::until;

use crate::world::{World, id, worker};

pub fn of(world: &World) -> Sessions<'_> {
    Sessions::of(&world.home, &world.repository)
}

/// Begins a session that plans every task in one wave.
pub fn try_begin<'h>(
    home: &'h Home,
    repository: &Repository,
    list: &'h List<'h>,
) -> Result<Begun<'h>> {
    let actor = WorkerId::operator();
    let start = Start {
        actor: &actor,
        group: Some("auth"),
        max_parallel: 3,
        attempts: 3,
    };
    let all = |outlines: &[flagpost_model::task::Outline]| {
        vec![outlines.iter().map(|it| it.id.clone()).collect()]
    };
    sessions::begin(
        &Sessions::of(home, repository),
        repository,
        list,
        &start,
        all,
    )
}

pub fn begin<'h>(world: &'h World, list: &'h List<'h>) -> Begun<'h> {
    try_begin(&world.home, &world.repository, list).unwrap()
}

/// The runner of a session dies. A child that another test is starting holds its lock, too, until it is another
/// program.
pub fn dies(world: &World, live: Live<'_>) {
    drop(live);
    until("nobody holds its lock", || {
        let status = of(world).status().unwrap();
        !matches!(status, Some((SessionStatus::Live, _)))
    });
}

pub fn recover(world: &World, list: &List<'_>) -> Result<Option<Recovered>> {
    sessions::recover(&of(world), list, &worker("operator"))
}

pub fn archive_complete(world: &World) -> Result<PathBuf> {
    sessions::archive_complete(&of(world), &world.list(), &worker("operator"))
}

/// Archives as a runner does at its end.
pub fn archive(mut live: Live<'_>, list: &List<'_>) -> Result<PathBuf> {
    end(&mut live, list)
}

pub fn end(live: &mut Live<'_>, list: &List<'_>) -> Result<PathBuf> {
    end_with(live, list, Vec::new())
}

/// Archives as a runner does at its end, with what ended in the session.
pub fn end_with(live: &mut Live<'_>, list: &List<'_>, rows: Vec<LogRow>) -> Result<PathBuf> {
    let progress = complete(live);
    let account = SessionSummary {
        session: live.id().clone(),
        list: list.id().clone(),
        started: live.started(),
        ended: live.started(),
        rows,
        not_started: Vec::new(),
        asking: Vec::new(),
        refused: Vec::new(),
        cost_usd: None,
    };
    sessions::archive(live, list, &worker("operator"), &progress, &account)
}

pub fn complete(live: &Live<'_>) -> Progress {
    Progress {
        status: ProgressStatus::Complete,
        wave: None,
        max_parallel: 3,
        updated: live.started(),
        active: Vec::new(),
        completed: Vec::new(),
    }
}

pub fn within(session: &SessionId, name: &str) -> Terms {
    Terms {
        actor: worker(name),
        lease: DEFAULT_LEASE,
        session: Some(session.clone()),
    }
}

/// Begins the work on a task in a session.
pub fn start(list: &List<'_>, session: &SessionId, task: u64) -> Claimed {
    claims::start(list, &within(session, "run-1"), None, &id(task)).unwrap()
}

pub fn state(list: &List<'_>, task: u64) -> StateName {
    list.task(&id(task)).unwrap().task.state.name()
}

pub fn row(task: u64) -> LogRow {
    LogRow {
        id: id(task),
        subject: format!("Task {task}"),
        outcome: Outcome::Pass,
        attempt: 1,
        of: 3,
        duration: None,
        tokens: None,
    }
}

/// What a task learned: one pattern.
pub fn notes(task: u64, pattern: &str) -> TaskNotes {
    TaskNotes {
        id: id(task),
        subject: format!("Task {task}"),
        outcome: Outcome::Pass,
        knowledge: Knowledge {
            patterns: vec![bullet(pattern)],
            ..Knowledge::default()
        },
        learnings: vec![bullet(&format!("{pattern}, and more"))],
    }
}

pub fn bullet(text: &str) -> KnowledgeNote {
    KnowledgeNote::Bullet(text.to_owned())
}

/// The context in a session's directory.
pub fn context_in(dir: &Path) -> SharedContext {
    context::parse(&fs::read_to_string(dir.join("execution_context.md")).unwrap())
}

/// The directories among the sessions whose names begin so.
pub fn dirs(world: &World, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(of(world).root()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort();
    names
}

pub type Files = BTreeMap<PathBuf, (Vec<u8>, SystemTime)>;

/// Every file below a directory: content and time of change.
pub fn files(dir: &Path) -> Files {
    let mut files = Files::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let modified = fs::metadata(&path).unwrap().modified().unwrap();
                files.insert(path.clone(), (fs::read(&path).unwrap(), modified));
            }
        }
    }
    files
}

/// Puts a session of another program's into the live directory.
pub fn put_foreign(world: &World, lock: &str) -> PathBuf {
    let live = of(world).live_dir();
    fs::create_dir_all(live.join("tasks")).unwrap();
    fs::write(live.join(".lock"), lock).unwrap();
    let progress = "# Execution Progress\nStatus: Executing\nWave: 1 of 2\nMax Parallel: 5\nUpdated: 2026-02-05T14:35:22Z\n";
    fs::write(live.join("progress.md"), progress).unwrap();
    fs::write(live.join("task_log.md"), "# Task Execution Log\n").unwrap();
    live
}

/// Puts a task as Claude Code writes it.
pub fn put_task(world: &World, task: u64, status: &str) {
    let text = format!(
        r#"{{"id": "{task}", "subject": "Foreign {task}", "description": "", "status": "{status}", "blocks": [], "blockedBy": []}}"#
    );
    world.put(&format!("{task}.json"), text);
}

/// How often the lines tell that a task was given back.
pub fn releases(lines: &[Line], task: &TaskId) -> usize {
    let released = |line: &&Line| {
        line.entry.kind == Kind::TaskReleased && line.entry.task.as_ref() == Some(task)
    };
    let voided = crate::account::voided(lines);
    let stands = |line: &&Line| !voided.contains(&line.n);
    lines.iter().filter(released).filter(stands).count()
}

pub fn kinds(world: &World, kind: Kind) -> Vec<Line> {
    let lines = world.history().into_iter();
    lines.filter(|line| line.entry.kind == kind).collect()
}
