//! One change of all tasks that a query selects.

use crate::world_with;

fn tagged() -> flagpost_testkit::sealed::World {
    let world = world_with(&["Write", "Test", "Ship", "Rest"]);
    world.ok(["task", "edit", "1,2,3", "--tag", "api"]);
    world
}

#[test]
fn a_dry_run_says_which_and_changes_nothing() {
    let world = tagged();
    let before = world.ok(["list", "--json"]);
    transcript!(world, @r#"
    $ task edit --where tag=api --priority high --dry-run
    would edit 1 Write
    would edit 2 Test
    would edit 3 Ship
    $ task edit --where 'tag=api sort=-id limit=2' --priority high --dry-run --quiet
    3
    2
    $ task edit --where 'id=1' --priority high --dry-run --json
    {"schema":"flagpost.dry_run/1","act":"edit","tasks":[{"id":"1","subject":"Write","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":["api"],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"refused":[]}
    $ done --where tag=api --dry-run
    would complete 1 Write
    would complete 2 Test
    would complete 3 Ship
    $ fail --where tag=api 'No time' --dry-run
    exit 4
    would not fail 1 Write: task 1 is not claimed
    would not fail 2 Test: task 2 is not claimed
    would not fail 3 Ship: task 3 is not claimed
    2> flagpost: as it stands, none of them would be changed
    $ task cancel --where tag=api --dry-run
    would cancel 1 Write
    would cancel 2 Test
    would cancel 3 Ship
    $ task release --where tag=api --dry-run
    exit 4
    would not release 1 Write: task 1 is not claimed
    would not release 2 Test: task 2 is not claimed
    would not release 3 Ship: task 3 is not claimed
    2> flagpost: as it stands, none of them would be changed
    $ task note --where tag=api 'Look here' --dry-run
    would note on 1 Write
    would note on 2 Test
    would note on 3 Ship
    $ task rm --where tag=api --dry-run
    would remove 1 Write
    would remove 2 Test
    would remove 3 Ship
    $ task reopen --where state=completed --dry-run
    exit 3
    2> flagpost: no task of web fits state=completed
    2>   hint: 'flagpost list' with the same words shows what fits
    $ task move --where tag=api --to later --create --dry-run
    would move 1 Write to later
    would move 2 Test to later
    would move 3 Ship to later
    $ task edit 4 --priority high --dry-run
    would edit 4 Rest
    "#);
    assert_eq!(world.ok(["list", "--json"]), before);
}

#[test]
fn without_a_terminal_nobody_can_be_asked() {
    let world = tagged();
    transcript!(world, @r#"
    $ task edit --where tag=api --priority high
    exit 2
    2> flagpost: nobody is there to confirm; --dry-run shows which tasks are meant
    2>   hint: the verb's --help tells how to answer beforehand
    $ task rm --where tag=api
    exit 2
    2> flagpost: nobody is there to confirm; --dry-run shows what would go, and 'flagpost cancel' keeps the record
    2>   hint: the verb's --help tells how to answer beforehand
    $ done --where tag=api --json
    exit 2
    {"schema":"flagpost.error/1","kind":"usage","exit_code":2,"message":"nobody is there to confirm; --dry-run shows which tasks are meant","hint":"the verb's --help tells how to answer beforehand","causes":[]}
    $ list --priority high
    none of the 4 tasks of web fits is=open and priority=high
    $ task edit --where tag=api --priority high --yes
    edited 1 Write
    edited 2 Test
    edited 3 Ship
    $ done --where tag=api 'All of it' --yes
    completed 1 Write (9 bytes)
    completed 2 Test (9 bytes)
    completed 3 Ship (9 bytes)
    $ task reopen --where 'state=completed text~"all of it"' --yes --quiet
    1
    2
    3
    $ task rm --where 'tag=api limit=1' --yes
    removed 1 Write
    $ task note --where tag=api 'Look here' --yes
    noted on 2 Test (9 bytes)
    noted on 3 Ship (9 bytes)
    $ list
    ID  STATE    PRIORITY  TAGS  SUBJECT
    2   pending  high      api   Test
    3   pending  high      api   Ship
    4   pending                  Rest
    $ task move --where tag=api --to later --create
    exit 2
    2> flagpost: nobody is there to confirm; --dry-run shows which tasks are meant
    2>   hint: the verb's --help tells how to answer beforehand
    $ task move --where tag=api --to later --create --yes
    moved 2 to later as 1 Test
    moved 3 to later as 2 Ship
    "#);
}

#[test]
fn all_or_none() {
    let world = tagged();
    world.ok(["claim", "2", "--as", "W1"]);
    let before = world.ok(["list", "--all", "--json"]);
    transcript!(world, @r#"
    $ done --where tag=api --yes
    exit 4
    2> flagpost: task 2 is held by W1 until 2026-05-13T14:40:00Z (token 9)
    2>   hint: 'flagpost claim --next' gives you another task
    $ task reopen --where tag=api --yes
    exit 4
    2> flagpost: task 1 is pending and cannot be reopened
    2>   hint: 'flagpost show' tells where it is
    $ task rm --where tag=api --yes
    exit 4
    2> flagpost: task 2 is held by W1 until 2026-05-13T14:40:00Z (token 9)
    2>   hint: 'flagpost claim --next' gives you another task
    $ task release --where is=blocked --yes
    exit 3
    2> flagpost: no task of web fits is=blocked
    2>   hint: 'flagpost list' with the same words shows what fits
    $ task edit --where tag=api
    exit 2
    2> flagpost: say what to change, as in --priority high
    2>   hint: flagpost --help shows how
    $ task edit 1 --where tag=api --priority low
    exit 2
    2> flagpost: the argument '[ID]...' cannot be used with '--where <EXPR>'
    2>   hint: 'flagpost task edit --help' shows how
    $ task cancel 1 --where tag=api
    exit 2
    2> flagpost: the argument '[ID]' cannot be used with '--where <EXPR>'
    2>   hint: 'flagpost task cancel --help' shows how
    $ done 1 text --where tag=api
    exit 2
    2> flagpost: name ids or say --where, not both
    2>   hint: flagpost --help shows how
    $ done --where tag=api --token 5 --yes
    exit 2
    2> flagpost: a token belongs to one task: name one
    2>   hint: flagpost --help shows how
    $ task edit --where 'tag=' --priority low
    exit 6
    2> flagpost: the query "tag=": at character 5: the end stands where a value belongs
    $ task rm --where '' --yes
    exit 6
    2> flagpost: --where: it says nothing about tasks; is=open means all that are open
    $ task rm --where 'limit=2' --yes
    exit 6
    2> flagpost: --where: it says nothing about tasks; is=open means all that are open
    $ task edit --priority low
    exit 2
    2> flagpost: the following required arguments were not provided: <ID>...
    2>   hint: 'flagpost task edit --help' shows how
    "#);
    assert_eq!(world.ok(["list", "--all", "--json"]), before);
}

#[test]
fn a_dry_run_asks_the_rules() {
    let world = tagged();
    world.ok(["claim", "2", "--as", "W1"]);
    transcript!(world, @r#"
    $ done --where tag=api --dry-run
    exit 4
    would complete 1 Write
    would not complete 2 Test: task 2 is held by W1 until 2026-05-13T14:40:00Z (token 9)
    would complete 3 Ship
    2> flagpost: as it stands, none of them would be changed
    $ done --where tag=api --dry-run --json
    exit 4
    {"schema":"flagpost.dry_run/1","act":"complete","tasks":[{"id":"1","subject":"Write","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":["api"],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"2","subject":"Test","state":"claimed","owner":"W1","claim":{"by":"W1","token":9,"at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T14:40:00Z","session":null},"blocks":[],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":["api"],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":1},{"id":"3","subject":"Ship","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":["api"],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"refused":[{"id":"2","reason":"task 2 is held by W1 until 2026-05-13T14:40:00Z (token 9)"}]}
    2> flagpost: as it stands, none of them would be changed
    $ task reopen 1 --dry-run
    exit 4
    would not reopen 1 Write: task 1 is pending and cannot be reopened
    2> flagpost: as it stands, none of them would be changed
    $ task edit --where tag=api --parent 3 --dry-run
    exit 6
    would edit 1 Write
    would edit 2 Test
    would not edit 3 Ship: that would make a task a part of itself: 3 → 3
    2> flagpost: as it stands, none of them would be changed
    $ done --where tag=api --dry-run --as W1
    would complete 1 Write
    would complete 2 Test
    would complete 3 Ship
    "#);
}

#[test]
fn one_task_that_a_query_selects_is_answered_as_a_list() {
    let world = tagged();
    let (code, edited) = world.json("task edit --where id=1 --priority low --yes".split(' '));
    assert_eq!((code, &edited["schema"]), (0, &"flagpost.changed/1".into()));
    let (_, done) = world.json(["done", "--where", "id=1", "--yes"]);
    assert_eq!(done["schema"], "flagpost.changed/1");
    let (_, edited) = world.json(["task", "edit", "1", "--priority", "low"]);
    assert_eq!(edited["schema"], "flagpost.task/1");
}
