//! The poller that pastes, with a real tmux of its own.

use std::path::Path;

use flagpost_testkit::race::until;

use crate::{tmux::Tmux, world};

#[test]
fn a_brief_is_pasted_and_waits_while_the_pane_is_gone() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "1", "W1", "--inline", "One\n$HOME 'two'"]);
    world.ok(["ratify", "all"]);
    let repositories = std::fs::read_dir(world.home().join("repos")).unwrap();
    let repository = repositories.map(|it| it.unwrap().path()).next().unwrap();
    let worker = repository.join("workers/W1");
    let read = worker.join("inbox/0001.read");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/tmux-poller.sh");
    let tmux = Tmux::of(&world);
    let look = || {
        let mut command = tmux.command(&script);
        let ran = world.run(command.arg(&worker).args(["fleet", "--once"]));
        assert_eq!(ran.code, 0, "{ran}");
    };
    look();
    assert!(!read.exists(), "nobody took it");
    let taken = world.outside().join("taken");
    let agent = format!("cat > {}", taken.display());
    assert!(tmux.run(&["new-session", "-d", "-s", "fleet", &agent]));
    until("the agent listens", || taken.exists());
    look();
    assert!(read.exists());
    let expected = "One\n$HOME 'two'\n";
    until("the agent has it", || {
        std::fs::read_to_string(&taken).unwrap() == expected
    });
    look();
}
