//! What waits for the operator is the first thing that `status` says.

use crate::{fleet::Fleet, world};

#[test]
fn briefs_that_wait_for_a_word_come_before_everything_else() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "add", "W2"]);
    world.ok(["assign", "1192", "W2", "--inline", "Merge the seal"]);
    transcript!(world, @"
    $ status
    Waits for your word
      1 brief, the oldest for W2, now: #1192 Merge the seal
      'flagpost ratify W2 1' lets it through, 'flagpost ratify all' all; 'flagpost inbox' shows them

    no tasks here yet
    next: flagpost add 'What is to be done', or flagpost demo
    $ add 'A task'
    added 1 A task
    $ FLAGPOST_CLOCK=2026-05-13T14:26:00Z relay redirect W1 'Look at #1244 first'
    REDIRECTED → W1 (seq=0001)
    2> flagpost: W1 is not running: it reads this when it starts
    $ status
    Waits for your word
      2 briefs, the oldest for W2, now: #1192 Merge the seal
      'flagpost ratify W2 1' lets it through, 'flagpost ratify all' all; 'flagpost inbox' shows them

    web: 1 task (1 pending)

    Ready
      1 A task
    $ ratify W2 1
    RATIFIED #1192 Merge the seal → W2
    $ status
    Waits for your word
      1 brief, the oldest for W1, in 1m: Look at #1244 first
      'flagpost ratify W1 1' lets it through, 'flagpost ratify all' all; 'flagpost inbox' shows them

    web: 1 task (1 pending)

    Ready
      1 A task
    ");
    world.ok(["ratify", "all"]);
    let bare = world.ok([""; 0]);
    assert!(bare.starts_with("web: 1 task"), "{bare}");
}

#[test]
fn as_json_and_without_a_repository() {
    let fleet = Fleet::of(3);
    fleet.assign_each(7);
    fleet.assign_each(8);
    fleet.world.ok(["relay", "reject", "W1", "1"]);
    let (_, json) = fleet.world.json(["status"]);
    assert_eq!(json["to_decide"]["total"], 5);
    let oldest = &json["to_decide"]["oldest"];
    tells!(oldest, {"worker": "W1", "seq": 2});
    let (_, json) = crate::world_without_repository().json(["status"]);
    tells!(json, {"to_decide": {"total": 0, "withheld": [], "oldest": null}});
}
