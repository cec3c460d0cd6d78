//! Which program is measured.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::{flagpost, world};

#[test]
fn the_program_that_is_named_is_measured() {
    let world = world();
    let (log, named) = (world.outside().join("log"), world.outside().join("named"));
    let script = format!(
        "#!/bin/sh\necho \"$1\" >> {}\nexec {} \"$@\"\n",
        log.display(),
        flagpost().display()
    );
    fs::write(&named, script).unwrap();
    fs::set_permissions(&named, fs::Permissions::from_mode(0o755)).unwrap();
    let named = named.to_str().unwrap();
    let ran = world.flagpost(["--quick", "--rows", "add-1000", "--flagpost", named]);
    assert_eq!(ran.code, 0, "{ran}");
    let log = fs::read_to_string(log).unwrap();
    let adds = log.lines().filter(|line| *line == "add").count();
    assert_eq!(adds, 10, "{log}");
}

#[test]
fn a_program_that_is_not_there_is_told_of_and_how_it_is_built() {
    let ran = world().flagpost(["soak", "--flagpost", "/nowhere/flagpost"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
    assert!(
        ran.stderr.contains("there is no program /nowhere/flagpost"),
        "{ran}"
    );
    assert!(
        ran.stderr.contains("'cargo build -p flagpost' builds it"),
        "{ran}"
    );
}
