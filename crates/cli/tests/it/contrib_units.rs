//! The units of systemd, which is not wherever the tests are: what they start is a command of ours, and
//! where they listen is where the daemon is asked.

use std::path::{Path, PathBuf};

use crate::world;

/// What a unit says under a key, once.
fn says(unit: &str, key: &str) -> String {
    let contrib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib");
    let text = std::fs::read_to_string(contrib.join(unit)).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let mut values = lines.filter(|(name, _)| *name == key);
    let (_, value) = values
        .next()
        .unwrap_or_else(|| panic!("{unit} has no {key}"));
    assert_eq!(values.next(), None, "{unit} says {key} once");
    value.to_owned()
}

#[test]
fn the_service_starts_a_command_that_there_is() {
    let world = world();
    let exec = says("flagpost.service", "ExecStart");
    let mut words = exec.split_whitespace();
    let binary = PathBuf::from(words.next().unwrap().replace("%h", "/home/ann"));
    assert!(binary.is_absolute(), "systemd takes no other");
    assert_eq!(binary.file_name().unwrap(), "flagpost");
    let args: Vec<&str> = words.collect();
    assert_eq!(args, ["daemon", "up", "--foreground"]);
    // Asked for help, it refuses an option that it does not know.
    let told = world.flagpost(args.iter().copied().chain(["--help"]));
    assert_eq!(told.code, 0, "{told}");
    let told = world.flagpost(args.iter().copied().chain(["--nothing", "--help"]));
    assert_eq!(told.code, 2, "{told}");
}

#[test]
fn the_socket_is_the_one_that_programs_ask_at() {
    let world = world();
    let socket = says("flagpost.socket", "ListenStream");
    let below = socket.strip_prefix("%h/").unwrap();
    assert!(world.home().join("run/daemon.sock").ends_with(below));
    assert_eq!(says("flagpost.socket", "SocketMode"), "0600");
    assert_eq!(says("flagpost.socket", "DirectoryMode"), "0700");
}
