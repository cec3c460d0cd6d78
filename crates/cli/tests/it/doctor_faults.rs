//! Each fault that `doctor` looks for, made by hand: it finds that one and no other, and what it
//! can mend it mends without losing content.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use flagpost_model::envelope::Hash;
use flagpost_testkit::sealed::World;
use serde_json::{Value, json};

use crate::{world, world_with};

/// The codes of what is found, and the exit code.
pub fn found(world: &World) -> (i32, Vec<String>) {
    let (code, answer) = world.json(["doctor"]);
    let findings = answer["findings"].as_array().unwrap();
    let codes = findings
        .iter()
        .map(|it| it["code"].as_str().unwrap().to_owned());
    (code, codes.collect())
}

/// Just this is found, and exits so.
pub fn finds(world: &World, exit: i32, code: &str) {
    let told = world.flagpost(["doctor"]);
    assert_eq!(found(world), (exit, vec![code.to_owned()]), "{told}");
}

pub fn is_healthy(world: &World) {
    let told = world.flagpost(["doctor"]);
    assert_eq!(found(world), (0, Vec::new()), "{told}");
}

/// Mends what can be mended, all of it with success.
fn mend(world: &World) {
    let (code, answer) = world.json(["doctor", "--fix", "--yes"]);
    assert_eq!(code, 0, "{answer:#}");
    let fixed = answer["fixed"].as_array().unwrap();
    assert!(!fixed.is_empty(), "{answer:#}");
    for it in fixed {
        assert_eq!(it["outcome"], "done", "{it}");
    }
}

/// Finds just this, mends it, and finds nothing more.
pub fn finds_and_mends(world: &World, exit: i32, code: &str) {
    finds(world, exit, code);
    mend(world);
    is_healthy(world);
}

/// Writes a file that only we may read, as our own are.
pub fn put(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).unwrap();
    mode(path, 0o600);
}

pub fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub fn edit(path: &Path, change: impl Fn(&mut Value)) {
    let mut task: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut task);
    put(path, task.to_string());
}

/// A history with one more line, which carries the hash of the one before.
pub fn chained(text: &str, mut line: Value) -> String {
    let before = text.lines().last().unwrap();
    line["prev"] = json!(Hash::of(before.as_bytes()).as_str()[..16]);
    format!("{text}{line}\n")
}

pub fn task(world: &World, id: &str) -> PathBuf {
    world.list("web").join(format!("{id}.json"))
}

pub fn repository(world: &World) -> PathBuf {
    let mut all = fs::read_dir(world.home().join("repos")).unwrap();
    all.next().unwrap().unwrap().path()
}

/// What quarantine holds, as one text.
fn quarantined(world: &World) -> String {
    let dir = fs::read_dir(world.list("web").join("quarantine")).unwrap();
    let texts =
        dir.map(|it| String::from_utf8_lossy(&fs::read(it.unwrap().path()).unwrap()).into_owned());
    texts.collect()
}

#[test]
fn what_is_in_order_is_left_in_peace() {
    let world = world();
    is_healthy(&world);
    assert!(!world.home().exists(), "looking makes no home");
    world.ok(["init"]);
    is_healthy(&world);
    world.ok(["add", "a"]);
    world.ok(["add", "b", "--after", "1"]);
    world.ok(["claim", "1", "--as", "W1"]);
    world.ok(["done", "1", "x", "--as", "W1"]);
    world.ok(["task", "rm", "1", "--yes"]);
    is_healthy(&world);
    world.ok(["run", "--agent", "true"]);
    is_healthy(&world);
    world.ok(["list"]);
    is_healthy(&world);
}

#[test]
fn a_demo_leaves_nothing_to_be_mended() {
    let mut world = world();
    let dir = world.outside().join("demo");
    world.ok(["demo", "--dir", dir.to_str().unwrap()]);
    world.set("FLAGPOST_HOME", dir.join("home"));
    world.set("FLAGPOST_CLOCK", "");
    is_healthy(&world);
}

#[test]
fn looking_leaves_nothing_behind() {
    let world = world_with(&["a", "b"]);
    put(&task(&world, "3"), "{");
    fs::remove_file(world.list("web").join(".repo")).unwrap();
    let all = |dir: PathBuf| {
        let mut found: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        let mut open = vec![dir];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => open.push(path),
                    false => found.push((path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        found.sort();
        found
    };
    let before = (all(world.home()), all(world.repository()));
    world.flagpost(["doctor"]);
    world.flagpost(["doctor", "--fix", "--dry-run"]);
    world.flagpost(["doctor", "--fix"]);
    assert!((all(world.home()), all(world.repository())) == before);
}

#[test]
fn temporary_orphaned() {
    let world = world_with(&["a"]);
    let random = "0123456789abcdef0123456789abcdef";
    let orphan = world
        .list("web")
        .join(format!(".1.json.tmp-2147483647-{random}"));
    let alive = format!(".1.json.tmp-{}-{random}", std::process::id());
    let alive = world.list("web").join(alive);
    for path in [&orphan, &alive] {
        put(path, "half");
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000))
            .unwrap();
    }
    finds_and_mends(&world, 0, "temporary-orphaned");
    assert!(!orphan.exists() && alive.exists());
}

#[test]
fn temporary_orphaned_in_a_coordination_directory() {
    let world = world_with(&["a"]);
    world.ok(["coord", "leader", "init", "A goal"]);
    let name = ".task-001.md.tmp-2147483647-0123456789abcdef0123456789abcdef";
    let results = world.repository().join(".coordination/results");
    let orphan = results.join(name);
    put(&orphan, "half");
    let file = fs::File::options().write(true).open(&orphan).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000))
        .unwrap();
    finds_and_mends(&world, 0, "temporary-orphaned");
    assert!(!orphan.exists());
}

#[test]
fn task_broken_and_quarantine_mended() {
    let world = world_with(&["a", "b"]);
    let whole = fs::read(task(&world, "2")).unwrap();
    put(&task(&world, "2"), "{\"id\":");
    finds(&world, 1, "task-broken");
    // A file that changed just now is not copied yet: its writer may be in the middle of it.
    let file = fs::File::options()
        .write(true)
        .open(task(&world, "2"))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    world.ok(["list"]);
    assert!(!world.list("web").join("quarantine").exists());
    world.flagpost(["doctor", "--fix", "--yes"]);
    finds(&world, 1, "task-broken");
    put(&task(&world, "2"), whole);
    finds(&world, 0, "quarantine-mended");
    assert!(quarantined(&world).contains("{\"id\":"));
}

#[test]
fn link_one_sided() {
    let world = world_with(&["a", "b"]);
    world.ok(["task", "dep", "add", "2", "1"]);
    edit(&task(&world, "1"), |task| task["blocks"] = json!([]));
    finds_and_mends(&world, 0, "link-one-sided");
    edit(&task(&world, "2"), |task| task["blockedBy"] = json!([]));
    finds_and_mends(&world, 0, "link-one-sided");
    let (_, shown) = world.json(["show", "2"]);
    assert_eq!(shown["blocked_by"], json!(["1"]));
}

#[test]
fn link_unknown_and_link_dangling() {
    let world = world_with(&["a"]);
    edit(&task(&world, "1"), |task| task["blockedBy"] = json!(["9"]));
    finds(&world, 0, "link-unknown");
    world.ok(["task", "dep", "rm", "1", "9"]);
    is_healthy(&world);
    edit(&task(&world, "1"), |task| task["blocks"] = json!(["9"]));
    finds_and_mends(&world, 0, "link-dangling");
    edit(&task(&world, "1"), |task| task["blocks"] = json!(["9"]));
    put(&task(&world, "9"), "{");
    finds(&world, 1, "task-broken");
}

#[test]
fn circle() {
    let world = world_with(&["a", "b"]);
    world.ok(["task", "dep", "add", "2", "1"]);
    edit(&task(&world, "1"), |task| task["blockedBy"] = json!(["2"]));
    edit(&task(&world, "2"), |task| task["blocks"] = json!(["1"]));
    finds(&world, 1, "circle");
    let (_, answer) = world.json(["doctor"]);
    let repair = answer["findings"][0]["repair"]["text"].as_str().unwrap();
    let command = repair.split_once("flagpost ").unwrap().1;
    world.ok(command.split(' '));
    is_healthy(&world);
}

#[test]
fn parent_unknown_and_parent_circle() {
    let world = world_with(&["a", "b"]);
    edit(&task(&world, "1"), |task| {
        task["metadata"]["parent"] = json!("9")
    });
    finds(&world, 0, "parent-unknown");
    edit(&task(&world, "1"), |task| {
        task["metadata"]["parent"] = json!("2")
    });
    is_healthy(&world);
    edit(&task(&world, "2"), |task| {
        task["metadata"]["parent"] = json!("1")
    });
    finds(&world, 0, "parent-circle");
}

#[test]
fn claim_expired() {
    let mut world = world_with(&["a"]);
    world.ok(["claim", "1", "--as", "W1"]);
    world.set("FLAGPOST_CLOCK", "2026-05-13T15:30:00Z");
    is_healthy(&world);
    world.set("FLAGPOST_CLOCK", "2026-05-13T16:00:00Z");
    finds(&world, 0, "claim-expired");
    world.ok(["task", "release", "1", "--force"]);
    is_healthy(&world);
}

#[test]
fn state_overruled() {
    let world = world_with(&["a"]);
    edit(&task(&world, "1"), |task| {
        task["status"] = json!("completed")
    });
    finds(&world, 0, "state-overruled");
    world.ok(["task", "edit", "1", "--priority", "high"]);
    is_healthy(&world);
}

#[test]
fn counters() {
    for (content, exit, code) in [
        ("garbage", 1, "counter-unreadable"),
        ("18446744073709551615\n", 1, "counter-exhausted"),
        ("1\n", 0, "counter-behind"),
    ] {
        let world = world_with(&["a", "b", "c"]);
        world.ok(["task", "rm", "3", "--yes"]);
        let counter = world.list("web").join(".highwatermark");
        put(&counter, content);
        finds_and_mends(&world, exit, code);
        assert_eq!(fs::read_to_string(&counter).unwrap(), "3\n", "{code}");
        assert!(quarantined(&world).contains(content), "{code}");
        assert_eq!(world.ok(["add", "d", "--quiet"]), "4\n");
    }
    let world = world_with(&["a", "b"]);
    fs::remove_file(world.list("web").join(".highwatermark")).unwrap();
    finds_and_mends(&world, 0, "counter-behind");
}

#[test]
fn bindings() {
    for (content, exit, code) in [
        (Some("../evil"), 1, "binding-broken"),
        (
            Some("00000000-0000-4000-8000-000000000000"),
            1,
            "binding-broken",
        ),
        (None, 0, "binding-missing"),
    ] {
        let world = world_with(&["a"]);
        let binding = world.list("web").join(".repo");
        let before = fs::read(&binding).unwrap();
        match content {
            Some(content) => put(&binding, content),
            None => fs::remove_file(&binding).unwrap(),
        }
        finds_and_mends(&world, exit, code);
        assert_eq!(fs::read(&binding).unwrap(), before);
        if let Some(content) = content {
            assert!(quarantined(&world).contains(content));
        }
    }
}

#[test]
fn a_list_whose_repository_is_lost_begins_no_second_history() {
    let world = world_with(&["a", "b"]);
    let token = |told: (i32, Value)| told.1["claim"]["token"].as_u64().unwrap();
    let last = token(world.json(["claim", "1", "--as", "W1"]));
    for lost in ["second\n", "../evil", ""] {
        put(&world.list("web").join(".repo"), lost);
        let ran = world.flagpost(["claim", "2", "--as", "W2"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert!(ran.stderr.contains("flagpost doctor"), "{ran}");
        assert!(!world.home().join("repos/second").exists());
        // Reading needs no history.
        assert!(world.ok(["list"]).contains("claimed"));
        finds_and_mends(&world, 1, "binding-broken");
    }
    let next = token(world.json(["claim", "2", "--as", "W2"]));
    assert!(next > last, "{next} after {last}");
}

#[test]
fn pointer_broken() {
    let world = world_with(&["a"]);
    world.ok(["run", "--agent", "true"]);
    is_healthy(&world);
    put(&world.list("web").join("execution_pointer.md"), "/etc\n");
    finds(&world, 0, "pointer-broken");
}

#[test]
fn records() {
    let world = world_with(&["a"]);
    let record = repository(&world).join("repo.json");
    let whole = fs::read_to_string(&record).unwrap();
    put(&record, whole.replace("/web\"", "/gone\""));
    // The one we stand in is known to be here, wherever its record says it is.
    is_healthy(&world);
    put(&record, "{");
    let (code, codes) = found(&world);
    assert_eq!((code, codes), (1, vec!["record-unreadable".to_owned()]));
    fs::remove_file(&record).unwrap();
    assert_eq!(
        found(&world).1,
        ["binding-broken", "repository-unregistered"]
    );
}

#[test]
fn repository_gone() {
    let world = world_with(&["a"]);
    let other = world.outside().join("other");
    fs::create_dir(&other).unwrap();
    let init = |dir: &Path| {
        let mut git = world.command_of("git");
        world.run(git.args(["init", "--quiet"]).current_dir(dir));
        world.run(world.command().arg("init").current_dir(dir))
    };
    assert_eq!(init(&other).code, 0);
    is_healthy(&world);
    fs::rename(&other, world.outside().join("moved")).unwrap();
    finds(&world, 0, "repository-gone");
    fs::create_dir(&other).unwrap();
    finds(&world, 0, "repository-gone");
}

#[test]
fn repository_id_invalid() {
    let world = world_with(&["a"]);
    let mut git = world.command_of("git");
    world.run(git.args(["config", "flagpost.repoId", "../evil"]));
    let (code, codes) = found(&world);
    assert_eq!(code, 1);
    assert!(
        codes.contains(&"repository-id-invalid".to_owned()),
        "{codes:?}"
    );
}

#[test]
fn dead_sessions() {
    let world = world_with(&["a", "b"]);
    let live = world.repository().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    put(
        &live.join(".lock"),
        "task_execution_id: x-20260513-142500\ntimestamp: 2026-05-13T14:25:00Z\npid: 2147483647\nlist: web\nholder: flock\n",
    );
    put(
        &live.join("progress.md"),
        "Status: Executing\nUpdated: 2026-05-13T14:25:00Z\n",
    );
    finds(&world, 0, "session-dead");
    world.ok(["session", "recover"]);
    is_healthy(&world);
    // A task that is still held on behalf of it.
    world.ok(["claim", "1", "--as", "W1"]);
    edit(&task(&world, "1"), |task| {
        task["metadata"]["flagpost"]["claim"]["session"] = json!("x-20260513-142500");
    });
    finds(&world, 0, "task-of-dead-session");
    world.ok(["session", "recover"]);
    is_healthy(&world);
}

#[test]
fn session_unnamed_and_session_unreadable() {
    let world = world_with(&["a"]);
    let live = world.repository().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    put(&live.join(".lock"), "\0garbage\n");
    let mut later = world;
    later.set("FLAGPOST_CLOCK", "");
    finds(&later, 0, "session-unnamed");
    fs::remove_dir_all(&live).unwrap();
    symlink("/", &live).unwrap();
    finds(&later, 0, "session-unreadable");
}

#[test]
fn a_complete_session_is_to_be_archived() {
    let world = world_with(&["a"]);
    let live = world.repository().join(".claude/sessions/__live_session__");
    fs::create_dir_all(&live).unwrap();
    put(
        &live.join(".lock"),
        "task_execution_id: x-1\nholder: flock\n",
    );
    put(
        &live.join("progress.md"),
        "Status: Complete\nUpdated: 2026-05-13T14:25:00Z\n",
    );
    finds(&world, 0, "session-dead");
    let told = world.ok(["doctor"]);
    assert!(
        told.contains("flagpost session archive --list web"),
        "{told}"
    );
    world.ok(["session", "archive", "--list", "web"]);
    is_healthy(&world);
}

#[test]
fn coordination_broken() {
    let world = world_with(&["a"]);
    world.ok(["coord", "leader", "init", "Build it"]);
    world.ok(["coord", "leader", "add-task", "Write"]);
    is_healthy(&world);
    let table = world.repository().join(".coordination/tasks.json");
    let whole = fs::read(&table).unwrap();
    fs::write(&table, r#"{"tasks": ["#).unwrap();
    finds(&world, 1, "coordination-broken");
    fs::write(&table, whole).unwrap();
    is_healthy(&world);
}

/// Everything is broken at once, and each thing is found.
#[test]
fn a_broken_world_is_looked_at_to_its_end() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let world = world_with(&["a", "b"]);
    let list = world.list("web");
    put(&list.join(OsStr::from_bytes(b"\xff\xfe.json")), "{}");
    fs::File::create(list.join("7.json"))
        .unwrap()
        .set_len(100 << 20)
        .unwrap();
    mode(&list.join("7.json"), 0o600);
    symlink("8.json", list.join("8.json")).unwrap();
    put(&list.join(".highwatermark"), [0xff; 100]);
    put(&repository(&world).join("repo.json"), "[]");
    fs::create_dir(world.home().join("repos/x")).unwrap();
    mode(&world.home().join("repos/x"), 0o700);
    fs::create_dir(world.home().join("repos/x/history.jsonl")).unwrap();
    mode(&world.home().join("repos/x/history.jsonl"), 0o700);
    let (code, mut codes) = found(&world);
    codes.dedup();
    assert_eq!(code, 1);
    assert_eq!(
        codes,
        [
            "task-broken",
            "counter-unreadable",
            "record-unreadable",
            "history-unreadable",
            "repository-unregistered"
        ]
    );
}
