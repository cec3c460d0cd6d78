//! What `doctor` says of files that other programs left: a lock that nobody can be asked about, a list
//! that nothing of ours could name.

use std::fs;

use crate::{
    doctor_faults::{finds, is_healthy, mode, put},
    world_with,
};

#[test]
fn session_unasked() {
    let mut world = world_with(&["a"]);
    world.set("FLAGPOST_CLOCK", "");
    let live = world.repository().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    let now = jiff::Timestamp::now();
    let lock = |at| format!("task_execution_id: a-1\ntimestamp: {at:.0}\npid: orchestrator\n");
    put(&live.join(".lock"), lock(now));
    finds(&world, 0, "session-unasked");
    // It came with a clone, and its writer's clock was anywhere.
    let long_ago = (now - jiff::SignedDuration::from_hours(29)).to_string();
    let zoneless = long_ago.split('.').next().unwrap().trim_end_matches('Z');
    let text = format!("task_execution_id: a-1\ntimestamp: {zoneless}\npid: orchestrator\n");
    put(&live.join(".lock"), text);
    finds(&world, 0, "session-dead");
    world.ok(["session", "recover"]);
    is_healthy(&world);
}

#[test]
fn list_foreign() {
    let world = world_with(&["a"]);
    let theirs = world.list("日本 1");
    fs::create_dir(&theirs).unwrap();
    mode(&theirs, 0o700);
    put(
        &theirs.join("1.json"),
        r#"{"id": "1", "subject": "Theirs", "status": "pending"}"#,
    );
    finds(&world, 0, "list-foreign");
    let told = world.ok(["list", "--list", "日本 1"]);
    assert!(told.contains("Theirs"), "{told}");
    let told = world.ok(["show", "1", "--list", "日本 1"]);
    assert!(told.contains("Theirs"), "{told}");
    let files = || fs::read_dir(&theirs).unwrap().count();
    for verb in [
        &["add", "Mine"][..],
        &["claim", "1"],
        &["claim", "--next"],
        &["done", "1", "text"],
        &["task", "edit", "1", "--priority", "high"],
        &["task", "rm", "1", "--yes"],
        &["task", "undo"],
        &["run", "--agent", "true"],
        &["task", "move", "1", "--to", "web"],
    ] {
        let refused = world.run(world.command().args(verb).args(["--list", "日本 1"]));
        assert_eq!(refused.code, 4, "{verb:?}: {refused:?}");
        assert!(
            refused.stderr.contains("can be read and not changed"),
            "{refused:?}"
        );
    }
    assert_eq!(files(), 1);
    // Whatever else a directory can be called.
    for name in [".hidden", "a:b", "a\u{1b}[2Jb\nc"] {
        let other = world.list(name);
        fs::rename(theirs.as_path(), &other).unwrap();
        finds(&world, 0, "list-foreign");
        let told = world.ok(["doctor"]);
        assert!(!told.contains('\u{1b}'), "{told}");
        let told = world.ok(["list", "--list", name]);
        assert!(told.contains("Theirs"), "{told}");
        fs::rename(other, &theirs).unwrap();
    }
    // Where nothing is called that, it is no list's name, as ever.
    let refused = world.run(world.command().args(["list", "--list", "日本 2"]));
    assert_eq!(refused.code, 6, "{refused:?}");
}
