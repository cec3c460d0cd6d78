//! The polling worker of a coordination directory, in each shell.

use std::{fs, os::unix::fs::symlink, path::Path};

use flagpost_testkit::sealed::World;

use crate::world;

const SHELLS: [&str; 2] = ["dash", "bash"];

/// Does what it is told: tells its task, or fails.
const PROGRAM: &str = r#"
read -r claim
case $claim in
    *'"description":"Fail'*) echo "no way to do $COORD_TASK"; exit 1 ;;
    *'"description":"Babble'*) printf '\377' ;;
    *) echo "did $COORD_TASK with $COORD_TOKEN" ;;
esac
"#;

fn work(world: &World, shell: &str) {
    let bin = world.outside().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_flagpost"), bin.join("flagpost")).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let dirs = std::iter::once(bin).chain(std::env::split_paths(&path));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/coord-worker.sh");
    let mut command = world.command_of(shell);
    command
        .arg(script)
        .args(["terminal-2", "sh", "-c", PROGRAM])
        .env("PATH", std::env::join_paths(dirs).unwrap())
        .env("COORD_ONCE", "1");
    let ran = world.run(&mut command);
    assert_eq!(ran.code, 0, "{shell}: {ran}");
}

#[test]
fn a_shell_does_what_there_is_and_says_what_came_of_it() {
    for shell in SHELLS {
        let world = world();
        world.ok(["coord", "leader", "init", "Build it"]);
        for text in [r#"One "token":7 "id":"x""#, "Fail at once", "Babble"] {
            world.ok(["coord", "leader", "add-task", text]);
        }
        world.ok(["coord", "leader", "add-task", "Two", "--after", "task-001"]);
        work(&world, shell);
        let (_, status) = world.json(["coord", "leader", "status"]);
        let told: Vec<String> = status["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| {
                let task = &it["task"];
                let said = task["output"].as_str().or(task["error"].as_str());
                let said = said.unwrap_or_default().trim();
                let said = said.split(" with ").next().unwrap();
                format!("{} {} {said}", task["id"], task["status"])
            })
            .collect();
        assert_eq!(
            told,
            [
                r#""task-001" "done" did task-001"#,
                r#""task-002" "failed" no way to do task-002"#,
                r#""task-003" "failed" what the program printed is no text"#,
                r#""task-004" "done" did task-004"#,
            ],
            "{shell}"
        );
    }
}
