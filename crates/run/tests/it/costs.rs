//! What a run costs where nothing is slow but the disk: syncs, and lines of the history.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
};

use flagpost_core::{
    Home, List, Repository, Settings, SystemClock,
    history::History,
    tasks::{self, Fields},
};
use flagpost_run::{Options, Stage, Terms, scheduler::Config};
use flagpost_testkit::{scratch::scratch, syncs::SyncedFs};
use jiff::SignedDuration;

/// So many syncs may a run of one task cost that its agent does at once, in a repository that knows runs.
const SYNCS: usize = 35;

/// So many lines may the history have of it.
const LINES: usize = 6;

fn options() -> Options {
    Options {
        actor: "ann".parse().unwrap(),
        agents: vec!["sh -c true".parse().unwrap()],
        workers: Vec::new(),
        config: Config::default(),
        lease: SignedDuration::from_mins(15),
        stall_after: None,
        group: None,
        skip_failed: false,
        worktrees: false,
        terms: Terms::default(),
    }
}

/// Adds a task and runs it; answers with what was synced meanwhile, and the lines that it left.
fn run_one(home: &Home, project: &Path, disk: &SyncedFs) -> (Vec<PathBuf>, Vec<String>) {
    let options = options();
    let repository = Repository::register(home, project, &options.actor).unwrap();
    let list = List::open_or_create(home, &repository.name, &repository).unwrap();
    let fields = Fields {
        subject: Some("One".to_owned()),
        ..Fields::default()
    };
    tasks::add(&list, &options.actor, &fields, &[]).unwrap();
    let settings = Settings {
        path: Some("/usr/bin:/bin".into()),
        ..Settings::default()
    };
    let lines = || {
        let read = History::of(home, &repository.id).since(0).unwrap();
        read.into_iter().map(|it| it.entry.kind.as_str().to_owned())
    };
    let before = lines().count();
    disk.take();
    let (send, inputs) = mpsc::channel();
    let stage = Stage {
        home,
        settings: &settings,
        repository: &repository,
        list: &list,
    };
    let report = flagpost_run::run(stage, &options, (&send, &inputs), &mut |_, _| {}).unwrap();
    assert!(report.fates.iter().all(|(_, fate)| fate.is_passed()));
    (disk.take(), lines().skip(before).collect())
}

#[test]
fn a_run_of_one_task_syncs_and_records_only_what_cannot_be_made_again() {
    let dir = scratch();
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let disk = SyncedFs::default();
    let root = dir.path().join("home");
    let home = Home::new(root, Arc::new(disk.clone()), Arc::new(SystemClock));
    // The first one makes what those behind it find.
    run_one(&home, &project, &disk);
    let (synced, lines) = run_one(&home, &project, &disk);
    assert!(synced.len() <= SYNCS, "{}: {synced:#?}", synced.len());
    assert!(lines.len() <= LINES, "{}: {lines:#?}", lines.len());
}
