//! Messages, as an orchestrator, a worker and the operator type them.

use crate::world;
use flagpost_testkit::sealed::World;

/// A fleet of two whose orchestrator's words need no person.
fn fleet() -> World {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "add", "W2"]);
    let rule = "[[rule]]\nname = \"our run\"\ncontroller = \"orchestrator\"\nthen = \"ratify\"\n";
    std::fs::write(world.home().join("policy.toml"), rule).unwrap();
    world.ok(["policy", "accept", "--yes"]);
    world
}

#[test]
fn send() {
    let world = fleet();
    std::fs::write(world.repository().join("brief.md"), "Write it\nin Rust\n").unwrap();
    transcript!(world, @r#"
    $ FLAGPOST_WORKER=orchestrator msg send --to W1 --subject TASK --task b1 --title Parser --num 1 --total 2 --thread epic-1 --file brief.md
    sent TASK W1/inbox/1 from orchestrator to W1 in epic-1 (109 bytes)
    ratified by the policy: our run
    $ msg send --to W2 --subject TASK --body '{"task_id":"b2","prompt":"Test it","x":1}' --thread epic-1
    sent TASK W2/inbox/1 from ann to W2 in epic-1 (41 bytes)
    $ msg send --to W2 --subject TASK --body '{"task_id":"b2","prompt":"Test it","x":1}' --thread epic-1 --ratify
    sent TASK W2/inbox/1 from ann to W2 in epic-1 (41 bytes)
    2> flagpost: it was said before: nothing was added
    $ msg send --subject PROGRESS --task b1 --percent 50 --touches src/a.rs 'running tests' --as W1
    sent PROGRESS W1/outbox/1 from W1 (by ann) to orchestrator in epic-1 (101 bytes)
    $ msg send --subject STUCK --task b1 --needs guidance 'Which parser?' --as W1 --quiet
    W1/outbox/2
    $ msg send --subject REPLY --re W1/outbox/2 'The first' --ratify
    sent REPLY W1/inbox/2 from ann to W1 in epic-1 (9 bytes)
    $ msg send --subject DONE --task b1 --commit abc123 'Parser written' --as W1
    sent DONE W1/outbox/3 from W1 (by ann) to orchestrator in epic-1 (80 bytes)
    $ msg send --subject DONE --task b1 'Written once more' --as W1
    sent DONE W1/outbox/3 from W1 (by ann) to orchestrator in epic-1 (80 bytes)
    2> flagpost: it was said before: nothing was added
    $ msg list
    MESSAGE      SUBJECT   FROM          TO            STATE  SAYS
    W1/inbox/1   TASK      orchestrator  W1            acked  b1: Parser
    W2/inbox/1   TASK      ann           W2            new    b2: Test it
    W1/outbox/1  PROGRESS  W1 (by ann)   orchestrator  new    b1: 50 % running tests
    W1/outbox/2  STUCK     W1 (by ann)   orchestrator  new    b1: needs guidance: Which parser?
    W1/inbox/2   REPLY     ann           W1            new    The first
    W1/outbox/3  DONE      W1 (by ann)   orchestrator  new    b1: Parser written
    $ msg thread epic-1 --quiet
    W1/inbox/1
    W2/inbox/1
    W1/outbox/1
    W1/outbox/2
    W1/inbox/2
    W1/outbox/3
    $ inbox W2 1
    {"task_id":"b2","prompt":"Test it","x":1}
    $ outbox
    WORKER  SEQ   STATE  KIND          TICKET  SAYS
    W1      0001  new    cycle report  b1      b1: 50 % running tests
    W1      0002  new    blocked       b1      b1: needs guidance: Which parser?
    W1      0003  new    cycle report  b1      b1: Parser written
    "#);
}

#[test]
fn scripts_of_the_original_say_it_their_way() {
    let world = fleet();
    transcript!(world, @r"
    $ msg send --to W1 -s task -t epic-1 --task b1 --title 'Write the parser' --ratify --quiet
    W1/inbox/1
    $ msg recv --as W1 --quiet
    W1/inbox/1
    $ msg send -s progress -b 'half of it' -t epic-1 --as W1 --quiet
    W1/outbox/1
    $ msg send -s done -b 'all of it' --as W1 --quiet
    W1/outbox/2
    $ msg send -s done -b 'once more' --as W2
    exit 6
    2> flagpost: body: plain words are about the one task in hand, and there is not just one: name the task, with --task or as bead_id of a DONE's JSON
    $ msg thread epic-1
    MESSAGE      SUBJECT   FROM         TO   STATE  SAYS
    W1/inbox/1   TASK      ann          W1   acked  b1: Write the parser
    W1/outbox/1  PROGRESS  W1 (by ann)  ann  new    b1: half of it
    W1/outbox/2  DONE      W1 (by ann)  ann  new    b1: all of it
    ");
}

#[test]
fn what_is_refused_names_the_field() {
    let world = fleet();
    transcript!(world, @r#"
    $ msg send --to W1 --subject NOISE x
    exit 2
    2> flagpost: invalid value 'NOISE' for '--subject <WORD>': use one of TASK, DONE, STUCK, PROGRESS, QUERY, REPLY
    2>   hint: 'flagpost msg send --help' shows how
    $ msg send --to W1 --subject TASK
    exit 2
    2> flagpost: say something: TEXT with --task, or the whole body with --body or --file
    2>   hint: flagpost --help shows how
    $ msg send --to W1 --subject TASK 'no JSON'
    exit 6
    2> flagpost: body: plain words are about the one task in hand, and there is not just one: name the task, with --task or as bead_id of a TASK's JSON
    $ msg send --to W1 --subject TASK --task b1 --percent 5 x
    exit 2
    2> flagpost: --percent goes with PROGRESS, not TASK
    2>   hint: flagpost --help shows how
    $ msg send --to W1 --subject TASK --task b1 --num 3 --total 2 x
    exit 6
    2> flagpost: body: the body of a TASK: bead_num must be a whole number from 1 to 2
    $ msg send --subject STUCK --task b1 x --as W1
    exit 2
    2> flagpost: say what would help: --needs guidance, dependency or abort
    2>   hint: flagpost --help shows how
    $ msg send --subject PROGRESS --task b1 --percent 101 x --as W1
    exit 6
    2> flagpost: body: the body of a PROGRESS: percent must be a whole number from 0 to 100
    $ msg send --to W1 --subject QUERY --task b1 x
    exit 2
    2> flagpost: a QUERY is about no task: leave --task out, and say --re where it answers
    2>   hint: flagpost --help shows how
    $ msg send --to W1 --subject QUERY ' '
    exit 6
    2> flagpost: body: the body of a QUERY: it says nothing
    $ msg send --subject QUERY x
    exit 6
    2> flagpost: recipient: say for which worker it is
    $ msg send --to W9 --subject QUERY x
    exit 3
    2> flagpost: there is no worker W9
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ msg send --to W1 --subject REPLY --re W1/outbox/9 x
    exit 3
    2> flagpost: there is no message W1/outbox/9
    2>   hint: 'flagpost msg list' shows those there are
    $ msg send --to W1 --subject REPLY --re W1/nowhere/9 x
    exit 6
    2> flagpost: message: "W1/nowhere/9" names no message: use its id, or its place as in W1/outbox/3
    $ msg show nothing
    exit 3
    2> flagpost: there is no message nothing
    2>   hint: 'flagpost msg list' shows those there are
    $ msg thread nothing
    exit 3
    2> flagpost: there is no thread nothing
    2>   hint: 'flagpost msg list' shows those there are
    $ msg recv --as W1 --lease 0s
    exit 2
    2> flagpost: invalid value '0s' for '--lease <TIME>': use a time, as in 30s or 15m
    2>   hint: 'flagpost msg recv --help' shows how
    "#);
}

#[test]
fn trap_29_nobody_speaks_in_anothers_name_but_the_operator() {
    let world = fleet();
    world.ok("msg send --to W1 --subject QUERY Ready? --ratify".split(' '));
    transcript!(world, @r#"
    $ FLAGPOST_WORKER=orchestrator msg send --subject STUCK --task b1 --needs abort x --as W1
    exit 4
    2> flagpost: orchestrator does not act for W1: only the operator acts in another's name
    2>   hint: name nobody else: $FLAGPOST_WORKER says who you are
    $ FLAGPOST_WORKER=W2 msg ack W1/inbox/1
    exit 4
    2> flagpost: message W1/inbox/1 is for W1: W2 cannot acknowledge it
    2>   hint: 'flagpost msg show' shows it without acknowledging it
    $ FLAGPOST_WORKER=W2 msg ack W1/inbox/1 --as W1
    exit 4
    2> flagpost: W2 does not act for W1: only the operator acts in another's name
    2>   hint: name nobody else: $FLAGPOST_WORKER says who you are
    $ FLAGPOST_WORKER=W2 msg recv --as W1
    exit 4
    2> flagpost: W2 does not act for W1: only the operator acts in another's name
    2>   hint: name nobody else: $FLAGPOST_WORKER says who you are
    $ FLAGPOST_WORKER=W2 msg send --to W1 --subject QUERY x
    exit 6
    2> flagpost: W2 does not write to W1: workers speak to the orchestrator, not to each other
    2>   hint: leave --to out, and the orchestrator passes it on
    $ FLAGPOST_WORKER=orchestrator msg send --to W1 --subject DONE --task b1 x
    exit 6
    2> flagpost: orchestrator does not send a DONE: only the worker that does the work
    2>   hint: 'flagpost msg send --help' tells what each subject is for
    $ FLAGPOST_WORKER=orchestrator msg send --to W1 --subject QUERY x --ratify
    exit 4
    2> flagpost: orchestrator decides on no brief: only the operator does
    2>   hint: 'flagpost inbox' shows what waits for the operator
    $ msg ack W1/inbox/1
    exit 4
    2> flagpost: message W1/inbox/1 is for W1: ann cannot acknowledge it
    2>   hint: 'flagpost msg show' shows it without acknowledging it
    $ msg ack 1 --as W1
    W1 has QUERY W1/inbox/1 from ann to W1
    $ FLAGPOST_WORKER=W1 msg ack 1
    W1 has QUERY W1/inbox/1 from ann to W1 before
    $ msg send --subject REPLY --re W1/inbox/1 'Yes' --as W1
    sent REPLY W1/outbox/1 from W1 (by ann) to ann (3 bytes)
    $ msg list
    MESSAGE      SUBJECT  FROM         TO   STATE  SAYS
    W1/inbox/1   QUERY    ann          W1   acked  Ready?
    W1/outbox/1  REPLY    W1 (by ann)  ann  new    Yes
    "#);
}

#[test]
fn recv_and_ack() {
    let world = fleet();
    for id in ["b1", "b2"] {
        let line = format!("msg send --to W1 --subject TASK --task {id} Do --ratify");
        world.ok(line.split(' '));
    }
    world.ok("msg send --to W1 --subject TASK --task b3 Undecided".split(' '));
    transcript!(world, @r#"
    $ msg wait --as W1
    a message waits: 'flagpost msg recv' takes it
    $ msg recv --as W1
    TASK W1/inbox/1 from ann to W1
    lease ends in 5m

    {
      "bead_id": "b1",
      "title": "Do",
      "prompt": "Do"
    }
    $ msg recv --as W1 --quiet
    W1/inbox/2
    $ msg recv --as W1
    exit 3
    2> flagpost: no message waits
    $ msg recv --as W1 --wait --timeout 0s
    exit 5
    2> flagpost: no message waits
    $ msg show 1 --field prompt --as W1
    Do
    $ msg show 1 --field colour --as W1
    exit 3
    2> flagpost: there is no field "colour"
    2>   hint: there are bead_id, title, prompt
    $ msg unacked --to W1
    MESSAGE     SUBJECT  FROM  TO  STATE      NEXT    SAYS
    W1/inbox/1  TASK     ann   W1  held       await   b1: Do
    W1/inbox/2  TASK     ann   W1  held       await   b2: Do
    W1/inbox/3  TASK     ann   W1  undecided  decide  b3: Undecided
    $ msg ack 1 --as W1
    W1 has TASK W1/inbox/1 from ann to W1
    $ msg ack 1 --as W1
    W1 has TASK W1/inbox/1 from ann to W1 before
    $ FLAGPOST_CLOCK=2026-05-13T14:31:00Z msg unacked
    MESSAGE     SUBJECT  FROM  TO  STATE      NEXT      SAYS
    W1/inbox/1  TASK     ann   W1  acked      reassign  b1: Do
    W1/inbox/2  TASK     ann   W1  lapsed     offer     b2: Do
    W1/inbox/3  TASK     ann   W1  undecided  decide    b3: Undecided
    $ FLAGPOST_CLOCK=2026-05-13T14:31:00Z msg recv --as W1 --lease 1h
    TASK W1/inbox/2 from ann to W1
    lease ends in 1h, given out 2 times

    {
      "bead_id": "b2",
      "title": "Do",
      "prompt": "Do"
    }
    $ relay reject W1 3 --reason 'Not now'
    REJECTED #b3 Undecided → W1
    $ msg recv --as W1
    TASK W1/inbox/3 from ann to W1
    lease ends in 5m
    REJECTED: do not do this: Not now

    {
      "bead_id": "b3",
      "title": "Undecided",
      "prompt": "Undecided"
    }
    $ msg recv --as orchestrator
    exit 3
    2> flagpost: no message waits
    $ msg send --subject PROGRESS --task b2 'reading' --as W1 --to orchestrator
    sent PROGRESS W1/outbox/1 from W1 (by ann) to orchestrator (45 bytes)
    $ msg recv --as orchestrator
    PROGRESS W1/outbox/1 from W1 (by ann) to orchestrator

    {
      "bead_id": "b2",
      "status": "reading"
    }
    $ msg recv --as orchestrator --wait --timeout 0s
    exit 5
    2> flagpost: no message waits
    "#);
}

#[test]
fn answers_in_json() {
    let world = fleet();
    let (_, sent) = world.json("msg send --to W1 --subject QUERY a? --ratify".split(' '));
    assert_eq!(sent["verdict"]["via"], "cli");
    let id = sent["message"]["id"].as_str().unwrap().to_owned();
    let (_, received) = world.json(["msg", "recv", "--as", "W1"]);
    tells!(received, {"message/id": id.as_str(), "lease/until": "2026-05-13T14:30:00Z"});
    let (_, acked) = world.json(["msg", "ack", &id[..20], "--as", "W1"]);
    assert_eq!(acked["message"]["place"], "W1/inbox/1");
    let (_, shown) = world.json(["msg", "show", "1", "--as", "W1"]);
    tells!(shown, {"state": "acked", "message/body": "a?"});
    let (code, none) = world.json(["msg", "recv", "--as", "W1"]);
    assert_eq!((code, &none["waited"]), (3, &false.into()));
    let (_, listed) = world.json(["msg", "list", "--limit", "1"]);
    tells!(listed, {"total": 1, "truncated": false});
}

#[test]
fn the_operator_edits_a_task_without_making_it_another() {
    let world = fleet();
    world.ok("msg send --to W1 --subject TASK --task b1 Do-it".split(' '));
    let edit =
        |body: &str| world.feed(["relay", "edit", "W1", "1", "--file", "-"], body.as_bytes());
    for text in ["Do it now", r#"{"bead_id":"b2","prompt":"Do it"}"#] {
        let other = edit(text);
        assert!(
            other.stderr.contains("it must stay about task b1"),
            "{other}"
        );
    }
    let edited = edit(r#"{"bead_id":"b1","title":"Now","prompt":"Do it now"}"#);
    assert_eq!(edited.stdout, "EDITED #b1 Now → W1\n");
}

#[test]
fn what_was_said_is_a_table_and_another_programs_table_is_taken_over() {
    let world = fleet();
    let theirs = world.repository().join("theirs.db");
    let rows = "CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, \
        from_id TEXT NOT NULL, to_id TEXT NOT NULL, body TEXT, thread_id TEXT, \
        created_at DATETIME DEFAULT CURRENT_TIMESTAMP, acked_at DATETIME); \
        INSERT INTO messages VALUES(7, 'HELLO', 'orchestrator', 'W3', 'hi', 'epic-0', \
        '2026-05-01 10:00:00', '2026-05-01 10:00:05'), \
        (8, 'HELLO', 'orchestrator', 'orchestrator', NULL, NULL, '2026-05-01 10:00:00', NULL)";
    let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
    let mut python = std::process::Command::new("python3");
    let made = python.args(["-c", script]).arg(&theirs).arg(rows).status();
    assert!(made.expect("python3 is needed for this test").success());
    transcript!(world, @r#"
    $ msg send --to W1 --subject TASK --task b1 --thread epic-1 'Write it' --as orchestrator --quiet
    W1/inbox/1
    $ msg recv --as W1 --quiet
    W1/inbox/1
    $ msg ack 1 --as W1 --quiet
    W1/inbox/1
    $ index sql "SELECT subject, from_id, to_id, acked_at FROM messages WHERE thread_id = 'epic-1'"
    subject  from_id       to_id  acked_at
    TASK     orchestrator  W1     2026-05-13 14:25:00
    $ msg import theirs.db --dry-run
    exit 1
    1 messages would be added, 0 would be acknowledged, 0 here already
    workers would be registered: W3
    2> flagpost: left out: row 8: the orchestrator says it to itself
    $ msg import theirs.db
    exit 1
    1 messages added, 0 acknowledged, 0 here already
    workers registered: W3
    2> flagpost: left out: row 8: the orchestrator says it to itself
    $ msg import theirs.db --quiet
    exit 1
    2> flagpost: left out: row 8: the orchestrator says it to itself
    $ index sql "SELECT subject, from_id, to_id, body, created_at, acked_at FROM messages WHERE thread_id = 'epic-0'"
    subject  from_id       to_id  body  created_at           acked_at
    HELLO    orchestrator  W3     hi    2026-05-01 10:00:00  2026-05-01 10:00:05
    $ msg list --thread epic-0
    MESSAGE     SUBJECT  FROM          TO  STATE  SAYS
    W3/inbox/1  HELLO    orchestrator  W3  acked  hi
    $ msg show W3/inbox/1 --line
    HELLO W3/inbox/1 hi
    $ msg import absent.db
    exit 3
    2> flagpost: cannot read absent.db: No such file or directory (os error 2)
    "#);
}
