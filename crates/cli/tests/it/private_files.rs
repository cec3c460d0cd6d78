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
