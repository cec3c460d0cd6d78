//! What `doctor` finds and leaves in peace, and what its other tests make faults with; the faults themselves
//! are the tables of `doctor_leads_home`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    time::SystemTime,
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

/// What quarantine holds, as one text.
pub fn quarantined(world: &World) -> String {
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
fn records() {
    let world = world_with(&["a"]);
    let record = world.kept().join("repo.json");
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
    put(&world.kept().join("repo.json"), "[]");
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
