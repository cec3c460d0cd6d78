//! A reader that has read enough ends the writer quietly.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    os::fd::OwnedFd,
    process::{Command, Stdio},
};

use crate::{world, world_with};

fn quiet_end(mut command: Command) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    assert!(!first.is_empty());
    drop(reader);
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn trap_39_closed_pipe() {
    let world = world();
    world.ok(["init"]);
    // Much more than a pipe holds.
    for id in 1..=5_000 {
        let text = format!(r#"{{"id":"{id}","subject":"Task {id} of many","status":"pending"}}"#);
        std::fs::write(world.list("web").join(format!("{id}.json")), text).unwrap();
    }
    for args in [
        &["list", "--limit", "0"][..],
        &["list", "--limit", "0", "--quiet"],
        &["ready", "--limit", "0"],
        &["task", "graph"],
    ] {
        let mut command = world.command();
        command.args(args);
        quiet_end(command);
    }
}

/// A pipe whose reading end is gone before the first byte.
fn nobody() -> OwnedFd {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_pipe_that_is_closed_from_the_start() {
    let world = world_with(&["a"]);
    for args in [
        &["list"][..],
        &["list", "--json"],
        &["--help"],
        &["--version"],
        &["add", "b"],
        &["help", "task", "add"],
    ] {
        let status = world
            .command()
            .args(args)
            .stdout(nobody())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&status.stderr).into_owned();
        assert_eq!(
            (status.status.code(), said.as_str()),
            (Some(0), ""),
            "{args:?}"
        );
    }
    // What was added is there although nobody read that it is.
    assert_eq!(world.ok(["list", "--quiet"]), "1\n2\n");
}

#[test]
fn an_error_nobody_reads_keeps_its_code() {
    let world = world_with(&["a"]);
    for (line, code) in [
        ("show 9", 3),
        ("show 9 --json", 3),
        ("lst", 2),
        ("lst --json", 2),
    ] {
        let mut command = world.command();
        let command = command.args(line.split(' ')).stdout(nobody());
        let status = command.stderr(nobody()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{line}");
    }
}

#[test]
fn a_stdout_that_was_never_opened() {
    let world = world_with(&["a"]);
    for line in ["list >&-", "add b >&- 2>&-", "list --json >&- <&-"] {
        let script = format!("\"$0\" {line}");
        let status = world
            .command_of("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_flagpost")])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&status.stderr).into_owned();
        assert_eq!(
            (status.status.code(), said.as_str()),
            (Some(0), ""),
            "{line}"
        );
    }
    assert_eq!(world.ok(["list", "--quiet"]), "1\n2\n");
}

/// A full device is not a reader that has read enough: the answer was lost, and nobody may take
/// that for success.
#[test]
fn an_answer_that_cannot_be_written_is_a_failure() {
    let world = world_with(&["a"]);
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        println!("skipped: there is no /dev/full");
        return;
    };
    for args in [&["list"][..], &["list", "--json"], &["--help"]] {
        let output = world
            .command()
            .args(args)
            .stdout(full.try_clone().unwrap())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("No space left"), "{args:?}: {said}");
    }
    // Whoever does it again would do it twice.
    let output = world
        .command()
        .args(["add", "b"])
        .stdout(full)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("flagpost: it is done, but"), "{said}");
    assert_eq!(world.ok(["list", "--quiet"]), "1\n2\n");
}
