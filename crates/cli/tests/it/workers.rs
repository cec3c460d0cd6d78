//! The fleet, and a worker's own side of its mail.

use insta::assert_snapshot;

use crate::world;

#[test]
fn the_fleet() {
    let world = world();
    world.ok(["init", "--yes"]);
    assert_snapshot!(world.transcript(
        "worker list
        worker list --json
        worker add W2 --agent codex --can rust --can sql --tmux fleet:1.0
        worker add W10 --json
        worker add W2
        worker add ../W
        worker list
        worker list --quiet
        worker show W2
        worker show W3
        FLAGPOST_CLOCK=2026-05-13T14:30:00Z worker list
        FLAGPOST_CLOCK=2026-05-13T14:30:00Z worker heartbeat --as W2 --agent claude
        FLAGPOST_CLOCK=2026-05-13T14:30:00Z worker list
        worker heartbeat
        worker rm W2
        worker rm W2
        worker list
        worker list --all"), @"");
}

#[test]
fn an_open_mail_keeps_a_worker() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["relay", "redirect", "W1", "Stop"]);
    assert_snapshot!(world.transcript("worker rm W1\nworker rm W1 --force\nworker add W1"), @"");
}

#[test]
fn next_and_ack() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "7", "W1", "--inline", "Write the parser"]);
    assert_snapshot!(world.transcript(
        "worker next --as W1
        worker next --as W1 --json
        worker ack 1 --as W1
        worker next --as W1 --wait --timeout 0s
        worker wait --as W1 --timeout 0s
        ratify all
        worker wait --as W1
        worker wait --as W1 --json
        worker next --as W1 --quiet
        worker next --as W1 --wait
        worker next --as W9
        worker next
        worker ack 1 --as W1
        worker ack 1 --as W1 --json
        worker ack 2 --as W1
        worker ack one --as W1
        worker next --as W1 --timeout 1s"), @"");
}

#[test]
fn what_is_waited_for_comes_at_once() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "7", "W1", "--inline", "Write the parser"]);
    let mut command = world.command();
    command.args([
        "worker",
        "next",
        "--wait",
        "--timeout",
        "60s",
        "--as",
        "W1",
        "--quiet",
    ]);
    let waiting = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    world.ok(["ratify", "W1"]);
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, b"1\n");
}

#[test]
fn report() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["assign", "7", "W1", "--inline", "Write the parser"]);
    assert_snapshot!(world.transcript(
        "worker report 'Tests are green' --re 1 --as W1
        worker report 'Tests are green' --re 1 --as W1
        worker report 'PR 12 is ready' --kind merge_go_request --pr 12 --next-action merge_go --as W1 --quiet
        worker report 'PR' --kind merge_go_request --as W1
        worker report --as W1
        worker report '' --as W1
        worker report x --kind done --as W1
        worker report x --re 9 --as W1
        worker report x --ticket nine --as W1
        worker report x --as W9"), @"");
    let fed = world.feed(["worker", "report", "-", "--as", "W1"], "ä\nb\n".as_bytes());
    assert_eq!(fed.stdout, "reported cycle_report (seq=0003, 5 bytes)\n");
}
