//! What an agent says of its task reaches the list: by a verb, and by its report's file; and what it commits
//! is where it should be.

use std::sync::Arc;

use flagpost_testkit::{
    clients::{self, Client},
    model_server::Step,
};

use super::{
    for_each_client,
    stage::{Run, Stage, report, reports, runs, side_by_side},
};

for_each_client!(
    every_way_to_report_reaches_the_list,
    every_way_to_report_works_in_a_worktree,
);

/// What each task is, and what must come of it. A worktree changes nothing for the last three.
const TASKS: [(&str, &str, &str); 6] = [
    ("Say that it is done", "passed", "All is written"),
    ("Ask", "stuck", "Which grammar?"),
    ("Commit, and report that it is done", "passed", "Noted"),
    ("Say that it failed", "failed", "No such call"),
    ("Report that it is done in part", "partial", "Half of it"),
    ("Report that it failed", "failed", "None of it"),
];

fn every_way_to_report_reaches_the_list(client: Client) {
    let (stage, run) = or_skip!(reported(client, 6, &["--shared"]));
    let log = stage.git(&["log", "--format=%s", "--name-only", "-1", "main"]);
    assert_eq!(log, "Add the notes\n\nnotes.md\n", "{}", run.shown);
    must_have_left_nothing(&stage);
}

fn every_way_to_report_works_in_a_worktree(client: Client) {
    let (stage, run) = or_skip!(reported(client, 3, &["--worktrees"]));
    let branches = ["branch", "--format=%(subject)", "--list", "flagpost/*/3"];
    assert_eq!(stage.git(&branches), "Add the notes\n", "{}", run.shown);
    assert_eq!(stage.git(&["log", "--format=%s", "main"]), "Begin\n");
    must_have_left_nothing(&stage);
}

/// Nothing of a client or its sandbox is in the repository.
pub fn must_have_left_nothing(stage: &Stage) {
    assert_eq!(
        stage.git(&["status", "--porcelain", "--ignored"]),
        "!! .claude/\n"
    );
    let git = stage.world.repository().join(".git");
    for name in [".git", ".agents", ".codex", ".aws"] {
        assert!(!git.join(name).exists(), "{name}");
    }
}

/// Runs the first so many of the tasks.
fn reported(client: Client, tasks: usize, args: &[&str]) -> Option<(Arc<Stage>, Run)> {
    let tasks = &TASKS[..tasks];
    let plan = tasks
        .iter()
        .map(|(subject, ..)| format!("- [ ] {subject}\n"));
    let stage = Arc::new(Stage::new(client, &plan.collect::<String>())?);
    for (task, verb) in [(1, "done"), (2, "stuck"), (4, "fail")] {
        let words = TASKS[task as usize - 1].2;
        let said = runs(client, &format!("flagpost {verb} {task} '{words}'"));
        stage.script(task, [said, Step::text("Said.")]);
    }
    for (task, status) in [(3, "PASS"), (5, "PARTIAL"), (6, "FAIL")] {
        let words = TASKS[task as usize - 1].2;
        let before = match task {
            3 => commits(&stage, client),
            _ => Vec::new(),
        };
        let report = [
            reports(client, &report(status, words)),
            Step::text("Reported."),
        ];
        stage.script(task, before.into_iter().chain(report));
    }
    let own = [
        "--agent",
        client.as_str(),
        "--retries",
        "1",
        "--max-parallel",
        side_by_side(client),
    ];
    let run = stage.run(&[&own, args].concat());
    let came_of = |n: u32| (TASKS[n as usize - 1].0, run.fate(n), run.words(n));
    let came_of: Vec<_> = (1..).take(tasks.len()).map(came_of).collect();
    assert_eq!((run.code, &came_of[..]), (1, tasks), "{}", run.shown);
    let states = [
        "completed",
        "stuck",
        "completed",
        "failed",
        "failed",
        "failed",
    ];
    assert_eq!(stage.states(tasks.len()), states[..tasks.len()]);
    assert!(run.told("task.unreported").is_empty(), "{}", run.shown);
    Some((stage, run))
}

/// Writes a file where the agent works, and commits it.
fn commits(stage: &Arc<Stage>, client: Client) -> Vec<Step> {
    let there = Arc::clone(stage);
    let write = Step::by(move |_| {
        let path = there.place_of(3).join("notes.md");
        Step::calls([clients::write(client, path.to_str().unwrap(), "Noted\n")])
    });
    let add = runs(client, "git add notes.md");
    let commit = runs(client, "git commit --quiet -m 'Add the notes'");
    vec![write, add, commit]
}
