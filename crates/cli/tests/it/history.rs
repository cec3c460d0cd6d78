//! What happened, as it is told to whoever asks.

use flagpost_testkit::background::Background;
use serde_json::Value;

use crate::{relay::named, world_with, world_without_repository};

#[test]
fn what_happened_is_told_by_whom_and_of_what() {
    let world = world_with(&["Write the parser", "Ship"]);
    world.ok(["claim", "1", "--as", "W1"]);
    world.ok(["done", "1", "The parser is in it", "--as", "W1"]);
    world.ok(["--list", "other", "add", "Elsewhere"]);
    world.ok(["worker", "add", "W3"]);
    world.ok(["assign", "#12", "W3", "--inline", "Do it"]);
    world.ok(["ratify", "W3"]);
    transcript!(world, named, @r#"
    $ history
    N  WHEN  WHO  WHAT                   OF       CHANGE
    1  now   ann  repository registered           path: [dir]/web
    2  now   ann  task created           1        → pending
    3  now   ann  task created           2        → pending
    4  now   W1   task claimed           1        pending → claimed, token: 4, by: ann
    5  now   W1   task completed         1        claimed → completed, by: ann
    6  now   ann  task created           other/1  → pending
    7  now   ann  worker registered      W3
    8  now   ann  brief proposed         W3/0001  kind: dispatch_brief, ticket: 12, summary: Do it
    9  now   ann  brief decided          W3/0001  decision: ratified, via: cli
    $ history --task 1
    N  WHEN  WHO  WHAT            OF  CHANGE
    2  now   ann  task created    1   → pending
    4  now   W1   task claimed    1   pending → claimed, token: 4, by: ann
    5  now   W1   task completed  1   claimed → completed, by: ann
    $ history --list other
    N  WHEN  WHO  WHAT          OF  CHANGE
    6  now   ann  task created  1   → pending
    $ history --worker W3
    N  WHEN  WHO  WHAT               OF       CHANGE
    7  now   ann  worker registered  W3
    8  now   ann  brief proposed     W3/0001  kind: dispatch_brief, ticket: 12, summary: Do it
    9  now   ann  brief decided      W3/0001  decision: ratified, via: cli
    $ history --worker W1 --quiet
    4
    5
    $ history --kind relay,task.claimed --quiet
    4
    8
    9
    $ history --since 3 --quiet
    4
    5
    6
    7
    8
    9
    $ history --since 3 --limit 1 --quiet
    9
    2> flagpost: … and older lines: --limit 0 shows all
    $ history --limit 2
    N  WHEN  WHO  WHAT            OF       CHANGE
    8  now   ann  brief proposed  W3/0001  kind: dispatch_brief, ticket: 12, summary: Do it
    9  now   ann  brief decided   W3/0001  decision: ratified, via: cli
    … and older lines: --limit 0 shows all
    $ history --limit 1 --json
    {"schema":"flagpost.history/1","lines":[{"n":9,"at":"2026-05-13T14:25:00Z","repo":"[repo]","kind":"relay.decided","actor":"ann","worker":"W3","seq":1,"list":null,"task":null,"from":null,"to":null,"detail":{"decision":"ratified","by":"ann","via":"cli","sha256":"8af08d741b31f5a2192f16914c5cfa109072a010c0e8206bf3d55e134f82f1a8","envelope":"[envelope]","hand":{[hand]}}}],"total":null,"truncated":true}
    $ history --task 7
    nothing of that happened
    $ history --kind task.claim
    exit 2
    2> flagpost: invalid value 'task.claim' for '--kind <KIND>': there are task.answered, task.attempted, task.cancelled, task.claimed, task.completed, task.created, task.edited, task.failed, task.late_result, task.linked, task.noted, task.quarantined, task.released, task.removed, task.renewed, task.reopened, task.started, task.stuck, task.undone, task.unlinked, task.vanished
    2>   hint: 'flagpost history --help' shows how
    $ history --kind tusk
    exit 2
    2> flagpost: invalid value 'tusk' for '--kind <KIND>': there are history, land, list, message, permission, policy, relay, repository, reservation, session, task, timer, worker
    2>   hint: 'flagpost history --help' shows how
    $ history --worker ../W1
    exit 6
    2> flagpost: "../W1" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ history --list nope
    exit 3
    2> flagpost: there is no list nope
    2>   hint: 'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are
    "#);
}

#[test]
fn where_no_repository_is() {
    let world = world_without_repository();
    transcript!(world, @r"
    $ history
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    ");
}

#[test]
fn whoever_listens_hears_what_was_and_what_comes() {
    let world = world_with(&["One"]);
    let mut listening = Background::start(world.command().args(["history", "--follow", "--json"]));
    let mut hear = |word: &str| {
        listening.until(word, |it| it.stdout().contains(word));
        listening.stdout()
    };
    hear("\"task\":\"1\"");
    world.ok(["add", "Two"]);
    let heard = hear("\"task\":\"2\"");
    let lines: Vec<Value> = heard
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let numbers: Vec<_> = lines
        .iter()
        .map(|it| it["line"]["n"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 3], "each once, in order");
    assert!(
        lines
            .iter()
            .all(|it| it["schema"] == "flagpost.history_line/1")
    );
}

#[test]
fn whoever_listens_hears_a_history_that_took_the_place_of_another() {
    let world = world_with(&["One", "Two", "Three"]);
    let follow = ["history", "--follow", "--json", "--since", "2"];
    let mut listening = Background::start(world.command().args(follow));
    let mut hear = |word: &str| {
        listening.until(word, |it| (it.stdout() + &it.stderr()).contains(word));
    };
    hear("\"task\":\"3\"");
    let repositories = std::fs::read_dir(world.home().join("repos")).unwrap();
    let mut histories = repositories.map(|it| it.unwrap().path().join("history.jsonl"));
    let history = histories.find(|it| it.exists()).unwrap();
    std::fs::remove_file(history).unwrap();
    hear("this is another history");
    world.ok(["task", "note", "1", "after all"]);
    hear("\"kind\":\"task.noted\"");
}
