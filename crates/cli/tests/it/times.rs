//! A person reads how long ago something was; `--time iso` and JSON tell the date and time.

use crate::world_with;

#[test]
fn moments_are_told_as_seen_from_now() {
    let mut world = world_with(&["a"]);
    world.ok(["claim", "1", "--as", "W1", "--lease", "2h"]);
    world.set("FLAGPOST_CLOCK", "2026-05-13T14:27:10Z");
    transcript!(world, @"
    $ show 1
    1 a
      state       claimed
      owner       W1
      claim       by W1, token 3, lease ends in 2h
      added       by ann, 2m ago
      attempts    1
    $ show 1 --time iso
    1 a
      state       claimed
      owner       W1
      claim       by W1, token 3, lease ends 2026-05-13T16:25:00Z
      added       by ann, 2026-05-13T14:25:00Z
      attempts    1
    $ history
    N  WHEN    WHO  WHAT                   OF  CHANGE
    1  2m ago  ann  repository registered      path: [dir]/web
    2  2m ago  ann  task created           1   → pending
    3  2m ago  W1   task claimed           1   pending → claimed, token: 3, by: ann
    $ status --time iso
    web: 1 task (1 claimed)

    At work
      1 a by W1, claimed 2026-05-13T14:25:00Z
    ");
    let json = world.ok(["show", "1", "--json"]);
    assert_eq!(world.ok(["show", "1", "--json", "--time", "iso"]), json);
    assert!(json.contains("2026-05-13T16:25:00Z"), "{json}");
}
