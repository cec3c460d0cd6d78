//! Nobody else on the machine reads what agents were told.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use crate::world_with;

#[test]
fn trap_42_files_are_0600_and_directories_0700() {
    let world = world_with(&["a", "b"]);
    world.ok(["claim", "1"]);
    world.ok(["done", "1", "text"]);
    world.ok(["task", "rm", "2", "--yes"]);
    fs::write(world.list("web").join("7.json"), "[").unwrap();
    fs::set_permissions(
        world.list("web").join("7.json"),
        PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    // Long settled, so that it is kept aside.
    world.run(
        world
            .command()
            .args(["list"])
            .env("FLAGPOST_CLOCK", "2100-01-01T00:00:00Z"),
    );
    let mut seen = 0;
    check(&world.home(), &mut seen);
    assert!(seen > 8, "{seen}");
}

#[test]
fn whatever_the_umask_is() {
    let world = world_with(&[]);
    let script = "umask 0; exec \"$0\" add x";
    let status = world
        .command_of("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_flagpost")])
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    check(&world.home(), &mut 0);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_that_is_there_keeps_its_mode_and_only_new_ones_are_0600() {
    let world = world_with(&["a"]);
    let theirs = world.list("web").join("7.json");
    fs::write(
        &theirs,
        r#"{"id": "7", "subject": "Theirs", "status": "pending"}"#,
    )
    .unwrap();
    world.ok(["coord", "leader", "init", "Build it"]);
    let table = world.repository().join(".coordination/tasks.json");
    assert_eq!(mode(&table), 0o600);
    for (path, wanted) in [(&theirs, 0o644), (&table, 0o664)] {
        fs::set_permissions(path, PermissionsExt::from_mode(wanted)).unwrap();
    }
    world.ok(["task", "edit", "7", "--priority", "high"]);
    world.ok(["coord", "leader", "add-task", "Write"]);
    assert_eq!((mode(&theirs), mode(&table)), (0o644, 0o664));
    assert_eq!(mode(&world.list("web").join("1.json")), 0o600);
}

fn check(path: &Path, seen: &mut usize) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(
        metadata.permissions().mode() & 0o777,
        wanted,
        "{}",
        path.display()
    );
    *seen += 1;
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            check(&entry.unwrap().path(), seen);
        }
    }
}
