//! Faults of sessions, and of what they left.

use std::fs;

use super::*;

/// A live session that this lock tells of.
fn session(world: &World, lock: &str) {
    let live = world.repository().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    put(&live.join(".lock"), lock);
    put(
        &live.join("progress.md"),
        "Status: Executing\nUpdated: 2026-05-13T14:25:00Z\n",
    );
}

const DEAD: &str = "task_execution_id: x-20260513-142500\ntimestamp: 2026-05-13T14:25:00Z\npid: 2147483647\nlist: web\nholder: flock\n";

fn recovered() -> ByHand {
    by_hand(|world| drop(world.ok(["session", "recover"])))
}

/// How the fault is brought about, where it is one of these.
pub(super) fn of_sessions(code: Code) -> Option<Make> {
    Some(match code {
        Code::SessionDead => |world| {
            session(world, DEAD);
            recovered()
        },
        Code::SessionUnasked => |world| {
            session(
                world,
                &DEAD
                    .replace("pid: 2147483647", "pid: me")
                    .replace("holder: flock\n", ""),
            );
            by_hand(|world| {
                world.set("FLAGPOST_CLOCK", "2026-05-13T18:26:00Z");
                world.ok(["session", "recover"]);
            })
        },
        Code::SessionUnnamed => |world| {
            session(world, "\0garbage\n");
            let lock = world
                .repository()
                .join(".claude/sessions/__live_session__/.lock");
            world.set("FLAGPOST_CLOCK", "");
            by_hand(move |world| {
                old(&lock);
                old(&lock.with_file_name("progress.md"));
                world.ok(["session", "recover"]);
            })
        },
        Code::SessionUnreadable => |world| {
            let live = world.repository().join(".claude/sessions/__live_session__");
            fs::create_dir_all(live.parent().unwrap()).unwrap();
            symlink("/", &live).unwrap();
            by_hand(move |_| fs::remove_file(live).unwrap())
        },
        Code::TaskOfDeadSession => |world| {
            session(world, DEAD);
            world.ok(["session", "recover"]);
            world.ok(["claim", "1", "--as", "W1"]);
            edit(&task(world, "1"), |task| {
                task["metadata"]["flagpost"]["claim"]["session"] = json!("x-20260513-142500");
            });
            recovered()
        },
        Code::WorktreeLeft => |world| {
            let git = |world: &World, args: &[&str]| {
                let mut git = world.command_of("git");
                let name = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
                world.run(git.args(name).args(args)).stdout
            };
            git(
                world,
                &["commit", "--allow-empty", "--quiet", "-m", "first"],
            );
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
        },
        _ => return None,
    })
}
