//! Who acts: `--as`, else the worker of the environment, else the login name.

use insta::assert_snapshot;

use crate::{world, world_with};

#[test]
fn who_acts() {
    let world = world_with(&["a", "b", "c", "d"]);
    assert_snapshot!(world.transcript(
        "FLAGPOST_WORKER=W2 claim 1 --as W1
        FLAGPOST_WORKER=W2 claim 2
        FLAGPOST_WORKER= claim 3
        USER= LOGNAME=bob claim 4
        list"), @r#"
    $ FLAGPOST_WORKER=W2 claim 1 --as W1
    claimed 1 a (token 6, until 2026-05-13T14:40:00Z)
    $ FLAGPOST_WORKER=W2 claim 2
    claimed 2 b (token 7, until 2026-05-13T14:40:00Z)
    $ FLAGPOST_WORKER= claim 3
    claimed 3 c (token 8, until 2026-05-13T14:40:00Z)
    $ USER= LOGNAME=bob claim 4
    claimed 4 d (token 9, until 2026-05-13T14:40:00Z)
    $ list
    ID  STATE    OWNER  SUBJECT
    1   claimed  W1     a
    2   claimed  W2     b
    3   claimed  ann    c
    4   claimed  bob    d
    "#);
}

#[test]
fn a_login_name_is_spelled_as_an_id() {
    let world = world_with(&["a", "b"]);
    assert_snapshot!(world.transcript(
        "USER='--Zoë O/Brien' claim 1 --quiet
        USER= claim 2 --quiet
        list"), @r#"
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
    assert_snapshot!(world().transcript(
        "add x --as ../evil
        add x --as ''
        FLAGPOST_WORKER='a b' add x
        FLAGPOST_WORKER=.hidden add x --json
        list"), @r#"
    $ add x --as ../evil
    exit 6
    2> flagpost: "../evil" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ add x --as ''
    exit 6
    2> flagpost: "" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ FLAGPOST_WORKER='a b' add x
    exit 6
    2> flagpost: "a b" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ FLAGPOST_WORKER=.hidden add x --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"\".hidden\" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit","hint":null,"causes":[]}
    $ list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    "#);
}

#[test]
fn which_list() {
    let world = world();
    assert_snapshot!(world.transcript(
        "add one --list api
        FLAGPOST_LIST=api add two
        FLAGPOST_LIST=api add three --list ops
        list --list api
        FLAGPOST_LIST=ops list
        list
        status
        FLAGPOST_LIST=nope status
        status --list nope
        list --list nope --json"), @r#"
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
