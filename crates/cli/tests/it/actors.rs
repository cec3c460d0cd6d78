//! Who acts: `--as`, else the worker of the environment, else the login name.

use crate::{world, world_with};

#[test]
fn who_acts() {
    let world = world_with(&["a", "b", "c", "d"]);
    transcript!(world, @"
    $ claim 1 --as W1
    claimed 1 a (token 6, lease ends in 15m)
    $ FLAGPOST_WORKER=W2 claim 2
    claimed 2 b (token 7, lease ends in 15m)
    $ claim 3
    claimed 3 c (token 8, lease ends in 15m)
    $ USER= LOGNAME=bob claim 4
    claimed 4 d (token 9, lease ends in 15m)
    $ list
    ID  STATE    OWNER  SUBJECT
    1   claimed  W1     a
    2   claimed  W2     b
    3   claimed  ann    c
    4   claimed  bob    d
    ");
}

#[test]
fn an_agent_acts_for_itself_whatever_the_verb() {
    let mut world = world_with(&["a"]);
    for worker in ["W1", "W2"] {
        world.ok(["worker", "add", worker]);
    }
    world.ok(["claim", "1", "--as", "W1"]);
    world.ok(["coord", "leader", "init", "goal"]);
    let before = world.history();
    world.set("FLAGPOST_WORKER", "W2");
    for verb in [
        "add b",
        "task edit 1 --priority high",
        "task note 1 seen",
        "claim --next",
        "task start 1",
        "done 1 finished",
        "task release 1",
        "task renew 1",
        "assign #1 W2 --inline x",
        "worker next",
        "worker ack 1",
        "worker report x",
        "worker heartbeat",
        "reserve add src/a.rs",
        "reserve release --all",
        "msg send --subject QUERY x",
        "coord worker claim",
        "coord register W1",
        "run --agent true",
        "config set tasks.list web",
        "up",
        "list",
        "status",
        "worker list",
        "msg list",
    ] {
        let ran = world.flagpost(verb.split(' ').chain(["--as", "W1"]));
        assert_eq!(ran.code, 4, "{verb}: {ran}");
        let said = "W2 does not act for W1: only the operator acts in another's name";
        assert!(ran.stderr.contains(said), "{verb}: {ran}");
    }
    let ran = world.flagpost(["worker", "heartbeat", "W1"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert_eq!(world.history(), before);
}

#[test]
fn the_history_tells_who_acted_in_anothers_name() {
    let world = world_with(&["a"]);
    world.ok(["worker", "add", "W1"]);
    for (verb, actor) in [
        ("claim 1 --as W1", "W1"),
        ("done 1 finished --as W1", "W1"),
        ("worker report finished --as W1", "W1"),
        ("reserve add src/a.rs --as W1", "W1"),
        ("assign #1 W1 --inline x --as hub", "hub"),
        ("ratify W1 1 --as bob", "bob"),
    ] {
        let before = world.history().len();
        world.ok(verb.split(' '));
        let lines = world.history();
        assert!(lines.len() > before, "{verb}");
        for line in &lines[before..] {
            assert_eq!(line["actor"], actor, "{verb}: {line}");
            assert_eq!(line["detail"]["by"], "ann", "{verb}: {line}");
        }
    }
    let before = world.history().len();
    world.ok(["add", "b", "--as", "ann"]);
    let line = &world.history()[before];
    assert_eq!(line["detail"].get("by"), None, "her own name: {line}");
}

#[test]
fn a_login_name_is_spelled_as_an_id() {
    let world = world_with(&["a", "b"]);
    transcript!(world, @r#"
    $ USER='--Zoë O/Brien' claim 1 --quiet
    1
    $ USER= claim 2 --quiet
    2
    $ list
    ID  STATE    OWNER        SUBJECT
    1   claimed  Zo--O-Brien  a
    2   claimed  operator     b
    "#);
}

#[test]
fn a_worker_that_is_no_id_is_refused() {
    transcript!(world(), @r#"
    $ add x --as ../evil
    exit 6
    2> flagpost: "../evil" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ add x --as ''
    exit 6
    2> flagpost: "" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ FLAGPOST_WORKER='a b' add x
    exit 6
    2> flagpost: FLAGPOST_WORKER: "a b" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ FLAGPOST_WORKER=operator add x
    exit 6
    2> flagpost: FLAGPOST_WORKER: no agent acts as the operator
    $ FLAGPOST_WORKER=ann add x
    exit 6
    2> flagpost: FLAGPOST_WORKER: ann is the name of the person who is logged in, and no agent acts as that
    $ FLAGPOST_WORKER=Ann add x
    exit 6
    2> flagpost: FLAGPOST_WORKER: Ann is the name of the person who is logged in, and no agent acts as that
    $ FLAGPOST_WORKER=Operator add x
    exit 6
    2> flagpost: FLAGPOST_WORKER: no agent acts as the operator
    $ FLAGPOST_WORKER=all add x
    exit 6
    2> flagpost: FLAGPOST_WORKER: no agent is called all: 'ratify all' approves everybody's briefs
    $ FLAGPOST_WORKER=.hidden add x --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"FLAGPOST_WORKER: \".hidden\" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit","hint":null,"causes":[]}
    $ list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    "#);
}

#[test]
fn which_list() {
    let world = world();
    transcript!(world, @r#"
    $ add one --list api
    added 1 one
    $ FLAGPOST_LIST=api add two
    added 2 two
    $ FLAGPOST_LIST=api add three --list ops
    added 1 three
    $ list --list api
    ID  STATE    SUBJECT
    1   pending  one
    2   pending  two
    $ FLAGPOST_LIST=ops list
    ID  STATE    SUBJECT
    1   pending  three
    $ list
    exit 3
    2> flagpost: there is no list web
    2>   hint: 'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are
    $ status
    no tasks here yet
    next: flagpost add 'What is to be done', or flagpost demo
    lists elsewhere: api ops
    $ FLAGPOST_LIST=nope status
    no tasks here yet
    next: flagpost add 'What is to be done', or flagpost demo
    lists elsewhere: api ops
    $ status --list nope
    exit 3
    2> flagpost: there is no list nope
    2>   hint: 'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are
    $ list --list nope --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no list nope","hint":"'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are","causes":[]}
    "#);
}
