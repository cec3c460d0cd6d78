//! Faults of sessions, and of what they left.

use super::*;
use crate::doctor_faults::is_healthy;

pub(super) const FAULTS: &[Fault] = &[
    ("a session whose process is dead", 0, SessionDead, |world| {
        session(world, DEAD, "Executing");
        recovered()
    }),
    ("a complete session is archived", 0, SessionDead, |world| {
        let lock = "task_execution_id: x-1\nholder: flock\n";
        session(world, lock, "Complete");
        by_hand(|world| {
            let archive = "session archive --list web";
            let told = world.ok(["doctor"]);
            assert!(told.contains(&format!("flagpost {archive}")), "{told}");
            world.ok(archive.split(' '));
        })
    }),
    ("a session has nobody to ask", 0, SessionUnasked, |world| {
        let lock = DEAD
            .replace("pid: 2147483647", "pid: me")
            .replace("holder: flock\n", "");
        session(world, &lock, "Executing");
        by_hand(|world| {
            world.set("FLAGPOST_CLOCK", "2026-05-13T18:26:00Z");
            world.ok(["session", "recover"]);
        })
    }),
    ("a session's lock is garbage", 0, SessionUnnamed, |world| {
        let lock = session(world, "\0garbage\n", "Executing");
        world.set("FLAGPOST_CLOCK", "");
        by_hand(move |world| {
            old(&lock);
            old(&lock.with_file_name("progress.md"));
            world.ok(["session", "recover"]);
        })
    }),
    ("a session is a link", 0, SessionUnreadable, |world| {
        let live = world.repository().join(LIVE);
        fs::create_dir_all(live.parent().unwrap()).unwrap();
        symlink("/", &live).unwrap();
        by_hand(move |_| fs::remove_file(live).unwrap())
    }),
    ("a dead session's task", 0, TaskOfDeadSession, |world| {
        session(world, DEAD, "Executing");
        world.ok(["session", "recover"]);
        is_healthy(world);
        world.ok(["claim", "1", "--as", "W1"]);
        edit(&task(world, "1"), |task| {
            task["metadata"]["flagpost"]["claim"]["session"] = json!("x-20260513-142500");
        });
        recovered()
    }),
    ("a working tree has changes", 0, WorktreeLeft, |world| {
        first_commit(world);
        world.ok(["run", "--worktrees", "--agent", "sh -c 'echo x > draft'"]);
        by_hand(move |world| {
            let session = world
                .home()
                .join("worktrees/web/exec-session-20260513-142500");
            for dir in fs::read_dir(session).unwrap() {
                let dir = dir.unwrap().path();
                git(
                    world,
                    &["worktree", "remove", "--force", dir.to_str().unwrap()],
                );
            }
        })
    }),
    (
        "passed work whose task is gone",
        0,
        BranchOwnerless,
        |world| passed_and(world, &["task", "rm", "1", "--yes"]),
    ),
    (
        "passed work whose task moved",
        0,
        BranchOwnerless,
        |world| passed_and(world, &["task", "move", "1", "--to", "other"]),
    ),
];

/// Git, as somebody who may commit.
fn git(world: &World, args: &[&str]) -> String {
    let mut git = world.command_of("git");
    let name = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
    world.run(git.args(name).args(args)).stdout
}

fn first_commit(world: &World) {
    git(
        world,
        &["commit", "--allow-empty", "--quiet", "-m", "first"],
    );
}

/// Each task's work is committed and passes, and then the first is taken out of its list before that lands.
fn passed_and(world: &World, away: &[&str]) -> ByHand {
    first_commit(world);
    let body = "sh -c 'echo x > \"$FLAGPOST_TASK\"; git add .; git commit -qm work'";
    world.ok(["run", "--worktrees", "--agent", body]);
    world.ok(["worktree", "clean"]);
    world.ok(away);
    by_hand(|world| {
        let told = world.ok(["doctor"]);
        let merge = told.split('\'').find(|it| it.starts_with("git merge "));
        let branch = merge.and_then(|it| it.split(' ').nth(2)).unwrap();
        git(world, &["merge", "--quiet", branch]);
    })
}

const LIVE: &str = ".claude/sessions/__live_session__";
const DEAD: &str = "task_execution_id: x-20260513-142500\ntimestamp: 2026-05-13T14:25:00Z\npid: 2147483647\nlist: web\nholder: flock\n";

/// A live session in this state that this lock tells of, which is where it answers.
fn session(world: &World, lock: &str, state: &str) -> PathBuf {
    let live = world.repository().join(LIVE);
    fs::create_dir_all(&live).unwrap();
    put(&live.join(".lock"), lock);
    let progress = format!("Status: {state}\nUpdated: 2026-05-13T14:25:00Z\n");
    put(&live.join("progress.md"), progress);
    live.join(".lock")
}

fn recovered() -> ByHand {
    by_hand(|world| drop(world.ok(["session", "recover"])))
}

#[test]
fn from_each_fault_of_sessions_to_a_home_that_works() {
    lead_home(FAULTS);
}
