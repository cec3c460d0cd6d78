//! Claiming, starting, finishing and giving back: who may do what, and how it is told.

use crate::{world, world_with};

#[test]
fn claim() {
    let world = world_with(&["Write", "Test", "Ship", "Later"]);
    world.ok(["task", "dep", "add", "4", "1"]);
    world.ok(["task", "edit", "2", "--priority", "high"]);
    transcript!(world, @r#"
    $ claim --next --as W1
    claimed 2 Test (token 8, lease ends in 15m)
    $ claim --next --as W2 --quiet
    1
    $ claim 3 --as W3 --lease 1h --json
    {"schema":"flagpost.task/1","id":"3","subject":"Ship","description":"","state":"claimed","owner":"W3","claim":{"by":"W3","token":10,"at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T15:25:00Z","session":null},"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":1,"rev":2,"result":null,"late":[],"landing":null}
    $ claim 1 --as W1
    exit 4
    2> flagpost: task 1 is held by W2 until 2026-05-13T14:40:00Z (token 9)
    2>   hint: 'flagpost claim --next' gives you another task
    $ claim 2 --as W2
    exit 4
    2> flagpost: task 2 is held by W1 until 2026-05-13T14:40:00Z (token 8)
    2>   hint: 'flagpost claim --next' gives you another task
    $ claim 4 --as W4
    exit 4
    2> flagpost: task 4 waits for 1
    2>   hint: 'flagpost ready' shows what can begin now
    $ claim --next --as W4
    exit 3
    2> flagpost: no task of web is ready
    2>   hint: 'flagpost list' shows what the rest waits for
    $ claim --next --as W4 --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"no task of web is ready","hint":"'flagpost list' shows what the rest waits for","causes":[]}
    $ claim
    exit 2
    2> flagpost: the following required arguments were not provided: <ID>
    2>   hint: 'flagpost claim --help' shows how
    $ claim 1 --next
    exit 2
    2> flagpost: the argument '[ID]' cannot be used with '--next'
    2>   hint: 'flagpost claim --help' shows how
    $ claim 1 --lease 0s
    exit 2
    2> flagpost: a lease lasts from one second to 30 days, as in --lease 15m
    2>   hint: flagpost --help shows how
    $ claim 1 --lease soon
    exit 2
    2> flagpost: invalid value 'soon' for '--lease <TIME>': use a time, as in 15m or 1h
    2>   hint: 'flagpost claim --help' shows how
    "#);
}

#[test]
fn a_renewal_gives_the_lease_its_own_length_again() {
    let world = world_with(&["Write", "Test"]);
    world.ok(["claim", "1", "--as", "W1", "--lease", "2h"]);
    world.ok(["claim", "2", "--as", "W1", "--lease", "1m"]);
    transcript!(world, @r#"
    $ FLAGPOST_CLOCK=2026-05-13T15:00:00Z task renew 1 --as W1
    renewed 1 Write: lease ends in 2h
    $ FLAGPOST_CLOCK=2026-05-13T14:25:30Z task renew 2 --as W1
    renewed 2 Test: lease ends in 1m
    $ task edit 2 --due 2026-12-01 --as W1 --quiet
    2
    $ task edit 2 --due none --as W1 --json
    {"schema":"flagpost.task/1","id":"2","subject":"Test","description":"","state":"claimed","owner":"W1","claim":{"by":"W1","token":5,"at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T14:26:30Z","session":null},"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":1,"rev":5,"result":null,"late":[],"landing":null}
    "#);
}

#[test]
fn a_lease_that_ran_out_is_claimed_anew() {
    let world = world_with(&["Write"]);
    transcript!(world, @"
    $ claim 1 --as W1
    claimed 1 Write (token 3, lease ends in 15m)
    $ FLAGPOST_CLOCK=2026-05-13T14:39:59Z ready
    no task of web is ready; 'flagpost list' shows what there is and what it waits for
    $ FLAGPOST_CLOCK=2026-05-13T14:40:00Z ready
    ID  STATE    OWNER  SUBJECT
    1   claimed  W1     Write
    $ FLAGPOST_CLOCK=2026-05-13T14:40:00Z status
    web: 1 task (1 claimed)

    At work
      1 Write by W1, claimed 15m ago, lease expired

    Ready
      1 Write
    $ FLAGPOST_CLOCK=2026-05-13T14:40:00Z claim --next --as W2
    claimed 1 Write (token 4, lease ends in 15m)
    $ FLAGPOST_CLOCK=2026-05-13T14:41:00Z done 1 'too late' --as W1 --token 3
    exit 4
    2> flagpost: token 3 for task 1 is stale: the current one is 4; what you reported is kept as a late result
    2>   hint: stop working on this task; 'flagpost show' tells who has it now
    $ FLAGPOST_CLOCK=2026-05-13T14:42:00Z done 1 'in time' --as W2 --token 4
    completed 1 Write (7 bytes)
    $ show 1
    1 Write
      state       completed
      owner       W2
      added       by ann, now
      attempts    2

    completed by W2, in 17m
    in time

    late result: completed by W1, in 16m
    too late
    ");
}

#[test]
fn start() {
    let world = world_with(&["Write", "Test", "Ship"]);
    world.ok(["task", "dep", "add", "3", "2"]);
    world.ok(["claim", "2", "--as", "W2"]);
    transcript!(world, @r#"
    $ task start 1 --as W1
    started 1 Write (token 7, lease ends in 15m)
    $ task start 1 --as W1 --quiet
    1
    $ task start 2 --as W1
    exit 4
    2> flagpost: task 2 is held by W2 until 2026-05-13T14:40:00Z (token 6)
    2>   hint: 'flagpost claim --next' gives you another task
    $ task start 2 --as W2 --token 1
    exit 4
    2> flagpost: token 1 for task 2 is stale: the current one is 6
    2>   hint: your claim is over; 'flagpost claim' asks for a new one
    $ task start 2 --as W2 --json
    {"schema":"flagpost.task/1","id":"2","subject":"Test","description":"","state":"in_progress","owner":"W2","claim":{"by":"W2","token":6,"at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T14:40:00Z","session":null},"blocks":["3"],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":1,"rev":4,"result":null,"late":[],"landing":null}
    $ task start 3
    exit 4
    2> flagpost: task 3 waits for 2
    2>   hint: 'flagpost ready' shows what can begin now
    "#);
}

#[test]
fn done() {
    let world = world_with(&["Write", "Test", "Ship", "Sail"]);
    world.ok(["task", "dep", "add", "4", "3"]);
    world.ok(["claim", "2", "--as", "W2"]);
    transcript!(world, @r#"
    $ done 1 'It is written'
    completed 1 Write (13 bytes)
    $ done 1
    exit 4
    2> flagpost: task 1 is completed and cannot be completed
    2>   hint: 'flagpost reopen' makes it pending again, if that is what you want
    $ done 2 'mine' --as W1
    exit 4
    2> flagpost: task 2 is held by W2 until 2026-05-13T14:40:00Z (token 7); what you reported is kept as a late result
    2>   hint: stop working on this task; 'flagpost show' tells who has it now
    $ done 2 --as W2 --quiet
    2
    $ done 3 'all' --file -
    exit 2
    2> flagpost: give the text or --file, not both
    2>   hint: flagpost --help shows how
    $ done 4
    exit 4
    2> flagpost: task 4 waits for 3
    2>   hint: 'flagpost ready' shows what can begin now
    $ done 3 '' --json
    {"schema":"flagpost.task/1","id":"3","subject":"Ship","description":"","state":"completed","owner":"ann","claim":null,"blocks":["4"],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":3,"result":{"ending":"completed","text":"","by":"ann","at":"2026-05-13T14:25:00Z","token":null},"late":[],"landing":null}
    $ done 4 --token x
    exit 2
    2> flagpost: invalid value 'x' for '--token <N>': invalid digit found in string
    2>   hint: 'flagpost done --help' shows how
    "#);
}

#[test]
fn an_agent_finishes_what_it_was_given() {
    let world = world_with(&["Write", "Test"]);
    let claimed = world.json(["claim", "1", "--as", "W3"]).1;
    assert_eq!(claimed["claim"]["token"], 4);
    transcript!(world, @r#"
    $ FLAGPOST_TASK=1 FLAGPOST_TOKEN=2 FLAGPOST_WORKER=W3 done 1 'lost?'
    exit 4
    2> flagpost: token 2 for task 1 is stale: the current one is 4; what you reported is kept as a late result
    2>   hint: stop working on this task; 'flagpost show' tells who has it now
    $ FLAGPOST_TASK=1 FLAGPOST_TOKEN=no FLAGPOST_WORKER=W3 done
    exit 6
    2> flagpost: $FLAGPOST_TOKEN is "no": invalid digit found in string
    $ FLAGPOST_TASK=1 FLAGPOST_TOKEN=2 FLAGPOST_WORKER=W3 done 2 --quiet
    2
    $ FLAGPOST_TASK=1 FLAGPOST_TOKEN=4 FLAGPOST_WORKER=W3 done
    completed 1 Write
    $ FLAGPOST_TASK=9 FLAGPOST_WORKER=W3 done
    exit 3
    2> flagpost: there is no task 9 in list web
    2>   hint: 'flagpost list' shows what there is
    "#);
}

#[test]
fn fail_and_stuck() {
    let world = world_with(&["Write", "Test", "Ship", "Sail"]);
    for (task, worker) in [("1", "W1"), ("2", "W2"), ("3", "W3")] {
        world.ok(["claim", task, "--as", worker]);
    }
    transcript!(world, @r#"
    $ task fail 1 'No such call' --as W1
    failed 1 Write (12 bytes)
    $ task fail 2 --as W2 --json
    {"schema":"flagpost.task/1","id":"2","subject":"Test","description":"","state":"failed","owner":"W2","claim":null,"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":1,"rev":3,"result":{"ending":"failed","text":"","by":"W2","at":"2026-05-13T14:25:00Z","token":7},"late":[],"landing":null}
    $ task stuck 3 'Which one?' --as W3 --quiet
    3
    $ task fail 4
    exit 4
    2> flagpost: task 4 is not claimed
    2>   hint: 'flagpost claim' takes it first
    $ task stuck 4
    exit 4
    2> flagpost: task 4 is not claimed
    2>   hint: 'flagpost claim' takes it first
    $ task fail 1 again --as W1
    exit 4
    2> flagpost: task 1 is failed and cannot be failed; what you reported is kept as a late result
    2>   hint: stop working on this task; 'flagpost show' tells who has it now
    $ status
    Needs you: 3
      3 Ship: W3 asks: Which one? (now)
        flagpost answer 3 'WORDS'
      1 Write: failed: No such call (now)
        flagpost retry 1
      2 Test: failed (now)
        flagpost retry 2

    web: 4 tasks (1 pending, 2 failed, 1 stuck)

    Ready
      4 Sail
    $ status --quiet
    3
    1
    2
    "#);
}

#[test]
fn reopen_and_cancel() {
    let world = world_with(&["Write", "Test", "Ship"]);
    world.ok(["done", "1"]);
    world.ok(["claim", "3", "--as", "W3"]);
    transcript!(world, @r#"
    $ task reopen 1
    reopened 1 Write
    $ task reopen 1
    exit 4
    2> flagpost: task 1 is pending and cannot be reopened
    2>   hint: 'flagpost show' tells where it is
    $ task cancel 2
    cancelled 2 Test
    $ task cancel 2
    exit 4
    2> flagpost: task 2 is cancelled and cannot be cancelled
    2>   hint: 'flagpost reopen' makes it pending again, if that is what you want
    $ task reopen 2 --quiet
    2
    $ task cancel 2 --json
    {"schema":"flagpost.task/1","id":"2","subject":"Test","description":"","state":"cancelled","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":4,"result":null,"late":[],"landing":null}
    $ task cancel 3
    exit 4
    2> flagpost: task 3 is held by W3 until 2026-05-13T14:40:00Z (token 6)
    2>   hint: 'flagpost claim --next' gives you another task
    $ task cancel 3 --as W3 --quiet
    3
    "#);
}

#[test]
fn the_verbs_of_every_day_need_no_group() {
    let world = world_with(&["Write", "Test"]);
    world.ok(["claim", "1"]);
    world.ok(["fail", "1", "No paper"]);
    transcript!(world, @r#"
    $ ls --quiet
    1
    2
    $ retry 1
    reopened 1 Write
    $ cancel 2
    cancelled 2 Test
    $ reopen 2
    reopened 2 Test
    $ rm 2 --dry-run
    would remove 2 Test
    "#);
}

#[test]
fn release_and_renew() {
    let world = world_with(&["Write"]);
    world.ok(["claim", "1", "--as", "W3"]);
    transcript!(world, @r#"
    $ FLAGPOST_CLOCK=2026-05-13T14:30:00Z task renew 1 --as W3
    renewed 1 Write: lease ends in 15m
    $ task renew 1
    exit 4
    2> flagpost: task 1 is held by W3 until 2026-05-13T14:45:00Z (token 3)
    2>   hint: 'flagpost claim --next' gives you another task
    $ task renew 1 --as W3 --token 1
    exit 4
    2> flagpost: token 1 for task 1 is stale: the current one is 3
    2>   hint: your claim is over; 'flagpost claim' asks for a new one
    $ FLAGPOST_CLOCK=2026-05-13T14:31:00Z task renew 1 --as W3 --quiet
    1
    $ task release 1
    exit 4
    2> flagpost: task 1 is held by W3 until 2026-05-13T14:46:00Z (token 3)
    2>   hint: 'flagpost claim --next' gives you another task
    $ task release 1 --as W3 --json
    {"schema":"flagpost.task/1","id":"1","subject":"Write","description":"","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"uid":null,"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":1,"rev":5,"result":null,"late":[],"landing":null}
    $ task release 1 --as W3
    exit 4
    2> flagpost: task 1 is not claimed
    2>   hint: 'flagpost claim' takes it first
    $ task renew 1 --as W3
    exit 4
    2> flagpost: task 1 is not claimed
    2>   hint: 'flagpost claim' takes it first
    "#);
}

#[test]
fn release_with_force_is_recorded_under_the_one_who_forced() {
    let world = world_with(&["Write"]);
    world.ok(["claim", "1", "--as", "W3"]);
    transcript!(world, @r#"
    $ task release 1 --force
    released 1 Write
    $ task release 1 --force
    exit 4
    2> flagpost: task 1 is not claimed
    2>   hint: 'flagpost claim' takes it first
    "#);
    let history = world.history();
    let last = history.last().unwrap();
    assert_eq!(
        (last["kind"].as_str(), last["actor"].as_str()),
        (Some("task.released"), Some("ann"))
    );
}

#[test]
fn ready() {
    let world = world_with(&["Write", "Test", "Ship", "Sail"]);
    world.ok(["task", "dep", "add", "1", "2"]);
    world.ok(["task", "edit", "4", "--priority", "high"]);
    world.ok(["claim", "3"]);
    transcript!(world, @r#"
    $ ready
    ID  STATE    PRIORITY  SUBJECT
    4   pending  high      Sail
    2   pending            Test
    $ ready --quiet
    4
    2
    $ ready --json
    {"schema":"flagpost.tasks/1","list":"web","tasks":[{"id":"4","subject":"Sail","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":"high","group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"2","subject":"Test","state":"pending","owner":null,"claim":null,"blocks":["1"],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"total":2,"truncated":false,"skipped":[],"groups":null}
    $ ready --limit x
    exit 2
    2> flagpost: invalid value 'x' for '--limit <N>': invalid digit found in string
    2>   hint: 'flagpost ready --help' shows how
    "#);
}

/// A clock that jumps back must neither lose a change nor give a number twice.
#[test]
fn a_clock_that_jumps_back() {
    let world = world();
    transcript!(world, @r#"
    $ FLAGPOST_CLOCK=2030-01-01T00:00:00Z add Write
    added 1 Write
    $ FLAGPOST_CLOCK=2020-01-01T00:00:00Z add Test
    added 2 Test
    $ FLAGPOST_CLOCK=2030-01-01T00:00:00Z claim 1 --as W1
    claimed 1 Write (token 4, lease ends in 15m)
    $ FLAGPOST_CLOCK=2020-01-01T00:00:00Z claim 1 --as W2
    exit 4
    2> flagpost: task 1 is held by W1 until 2030-01-01T00:15:00Z (token 4)
    2>   hint: 'flagpost claim --next' gives you another task
    $ FLAGPOST_CLOCK=2020-01-01T00:00:00Z claim --next --as W2
    claimed 2 Test (token 5, lease ends in 15m)
    $ FLAGPOST_CLOCK=2019-01-01T00:00:00Z done 2 --as W2 ok
    completed 2 Test (2 bytes)
    $ FLAGPOST_CLOCK=1970-01-01T00:00:00Z list --all
    ID  STATE      OWNER  SUBJECT
    1   claimed    W1     Write
    2   completed  W2     Test
    $ FLAGPOST_CLOCK=2030-01-01T00:16:00Z claim --next --as W3
    claimed 1 Write (token 7, lease ends in 15m)
    $ FLAGPOST_CLOCK=yesterday list
    exit 6
    2> flagpost: FLAGPOST_CLOCK: "yesterday" is no time of the years 1970 to 9998, as in 2026-12-01T09:00:00Z, and no shift, as in -40s
    "#);
    let numbers: Vec<u64> = world
        .history()
        .iter()
        .map(|line| line["n"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_token_for_a_task_that_nobody_holds_is_of_no_claim() {
    let world = world_with(&["a", "b"]);
    transcript!(world, @r#"
    $ claim 1 --as W1 --quiet
    1
    $ task release 1 --as W1 --quiet
    1
    $ done 1 late --as W1 --token 3
    exit 4
    2> flagpost: task 1 is not claimed, and token 3 is over; what you reported is kept as a late result
    2>   hint: stop working on this task; 'flagpost show' tells who has it now
    $ task renew 1 --as W1 --token 3
    exit 4
    2> flagpost: task 1 is not claimed, and token 3 is over
    2>   hint: your claim is over; 'flagpost claim' asks for a new one
    "#);
}
