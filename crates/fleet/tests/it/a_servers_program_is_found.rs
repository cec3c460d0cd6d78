//! A server's program is the first that will do; where none will, it is said why and how one is got.

use std::{ffi::OsStr, fs, os::unix::fs::PermissionsExt, path::Path};

use flagpost_fleet::{ServerError, find_program};
use flagpost_testkit::{nats, scratch::scratch};

fn script(dir: &Path, text: &str) {
    fs::create_dir_all(dir).unwrap();
    let path = dir.join("nats-server");
    // Another thread that starts a process meanwhile would hold it open for writing.
    let made = std::process::Command::new("sh")
        .args([
            "-c",
            "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$2\"",
            "sh",
            text,
        ])
        .arg(&path)
        .status();
    assert!(made.unwrap().success());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_first_that_will_do_is_taken() {
    let dir = scratch();
    let at = |name: &str| dir.path().join(name);
    script(&at("old"), "echo nats-server: v2.10.27");
    script(&at("new"), "echo nats-server: v2.12.3");
    script(&at("newer"), "echo nats-server: v2.15.1");
    script(&at("plain"), "echo nats-server: v2.15.1");
    fs::set_permissions(at("plain/nats-server"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::create_dir_all(at("dir/nats-server")).unwrap();
    let search = |names: &[&str]| {
        let paths = names.iter().map(|name| at(name));
        find_program(None, Some(&std::env::join_paths(paths).unwrap()))
    };
    let found = search(&["none", "plain", "dir", "old", "new", "newer"]).unwrap();
    assert_eq!(
        (found.path, found.version.as_str()),
        (at("new/nats-server"), "2.12.3")
    );

    let old = search(&["plain", "old"]).unwrap_err();
    assert!(matches!(&old, ServerError::OldProgram { version, .. } if version == "2.10.27"));
    assert!(old.to_string().contains("2.12"), "{old}");
    assert!(old.hint().contains("nats-server"), "{}", old.hint());
    let none = search(&["none", "plain", "dir"]).unwrap_err();
    assert!(matches!(none, ServerError::NoProgram), "{none:?}");
    assert!(matches!(
        find_program(None, None),
        Err(ServerError::NoProgram)
    ));
    // The one that is named is the only one.
    let search = Some(at("new").into_os_string());
    let named = find_program(Some(at("old/nats-server").as_os_str()), search.as_deref());
    assert!(matches!(named, Err(ServerError::OldProgram { .. })));
    let named = find_program(Some(at("none").as_os_str()), search.as_deref());
    assert!(matches!(named, Err(ServerError::NotAServer { .. })));
    let unnamed = find_program(Some(OsStr::new("")), search.as_deref());
    assert_eq!(unnamed.unwrap().version, "2.12.3");
}

#[test]
fn what_is_no_server_is_said_to_be_none() {
    let dir = scratch();
    for (name, text) in [
        ("other", "echo some other program 2.15.1"),
        ("fails", "echo nats-server: v2.15.1; exit 3"),
        ("silent", "exit 0"),
    ] {
        let at = dir.path().join(name);
        script(&at, text);
        let refused = find_program(Some(at.join("nats-server").as_os_str()), None);
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, ServerError::NotAServer { .. }),
            "{refused:?}"
        );
    }
}

#[test]
fn the_real_one_says_its_version() {
    let Some(program) = nats::program() else {
        return;
    };
    let found = find_program(Some(program.as_os_str()), None).unwrap();
    assert_eq!(found.path, program);
    assert!(found.version.starts_with("2."), "{}", found.version);
}
