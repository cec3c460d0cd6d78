//! Lists by query: expressions, options, columns, headings.

use crate::{world, world_with};

/// Six tasks that differ in every field.
fn planned() -> flagpost_testkit::sealed::World {
    let world = world();
    for line in [
        "add 'Write the parser' -p high --project web --tag api --tag lang --due 2026-05-12 --estimate 2h",
        "add 'Test the parser' -p critical --project web --tag api --after 1 --due 2026-05-13 --parent 1",
        "add 'Draw the logo' -p low --project art --due 2026-05-19 --meta sprint=12",
        "add 'Ship it' --after 1,2 --not-before 2026-06-01 --description 'With the PARSER in it'",
        "add 'Sketch the logo' --project art --parent 1",
        "add 'Ask the printer'",
    ] {
        let ran = world.transcript(line);
        assert!(ran.contains("added"), "{ran}");
    }
    world.ok(["claim", "3", "--as", "W1"]);
    world.ok(["done", "5", "Three of them"]);
    world
}

#[test]
fn a_list_shows_the_columns_that_are_used() {
    transcript!(planned(), @r#"
    $ list
    ID  STATE    PRIORITY  DUE         OWNER  PROJECT  TAGS      PARTS  WAITS FOR       SUBJECT
    1   pending  high      2026-05-12         web      api lang  1/2                    Write the parser
    2   pending  critical  2026-05-13         web      api              1               Test the parser
    3   claimed  low       2026-05-19  W1     art                                       Draw the logo
    4   pending                                                         1 2 2026-06-01  Ship it
    6   pending                                                                         Ask the printer
    $ COLUMNS=80 list
    ID  STATE    PRIORITY  DUE         OWNER  WAITS FOR       SUBJECT
    1   pending  high      2026-05-12                         Write the parser
    2   pending  critical  2026-05-13         1               Test the parser
    3   claimed  low       2026-05-19  W1                     Draw the logo
    4   pending                               1 2 2026-06-01  Ship it
    6   pending                                               Ask the printer
    $ COLUMNS=140 list --all
    ID  STATE      PRIORITY  DUE         OWNER  PROJECT  TAGS      PARTS  WAITS FOR       SUBJECT
    1   pending    high      2026-05-12         web      api lang  1/2                    Write the parser
    2   pending    critical  2026-05-13         web      api              1               Test the parser
    3   claimed    low       2026-05-19  W1     art                                       Draw the logo
    4   pending                                                           1 2 2026-06-01  Ship it
    5   completed                        ann    art                                       Sketch the logo
    6   pending                                                                           Ask the printer
    $ list 'project=art'
    ID  STATE    PRIORITY  DUE         OWNER  PROJECT  SUBJECT
    3   claimed  low       2026-05-19  W1     art      Draw the logo
    "#);
}

#[test]
fn expressions_and_options_say_the_same() {
    transcript!(planned(), @r#"
    $ list 'priority=high,critical and tag=api sort=due limit=1' --quiet
    1
    2> flagpost: … and 1 more: --limit 0 shows all
    $ list --priority high,critical --tag api --sort due --limit 1 --quiet
    1
    2> flagpost: … and 1 more: --limit 0 shows all
    $ list --priority high --priority critical --tag api --sort=-priority --quiet
    2
    1
    $ list tag=api priority=high --quiet
    1
    $ list --due overdue,today --quiet
    1
    2
    $ list due=week -q
    2
    3
    $ list --owner W1 -q
    3
    $ list --owner me --as W1 -q
    3
    $ list parser -q
    1
    2
    4
    $ list --text parser --all -q
    1
    2
    4
    $ list 'three of them' --all -q
    5
    $ list '"three of them"' --all -q
    5
    $ list is=ready -q
    1
    6
    $ list is=blocked -q
    2
    4
    $ list --status completed -q
    5
    $ list ended=today -q
    5
    $ list 'not (project=web or project=none)' -q
    3
    $ list 'estimate>=90m' -q
    1
    $ list meta.sprint=12 -q
    3
    $ list parent=1 --all -q
    2
    5
    $ list --project art --all --sort -id -q
    5
    3
    $ list 'limit=2' --limit 0 -q
    1
    2
    3
    4
    6
    $ list tag=api limit=1 --json
    {"schema":"flagpost.tasks/1","list":"web","tasks":[{"id":"1","subject":"Write the parser","state":"pending","owner":null,"claim":null,"blocks":["2","4"],"blocked_by":[],"priority":"high","group":null,"project":"web","tags":["api","lang"],"due":"2026-05-12","not_before":null,"parent":null,"complexity":null,"estimate_minutes":120,"attempts":0}],"total":2,"truncated":true,"skipped":[],"groups":null}
    "#);
}

#[test]
fn a_query_that_is_wrong_says_where() {
    transcript!(planned(), @r#"
    $ list 'tag=api and prioritty=high'
    exit 6
    2> flagpost: the query "tag=api and prioritty=high": at character 13: there is no field "prioritty" (did you mean priority?); the fields are id, is, state, status, priority, project, tag, owner, group, due, text, subject, parent, uid, complexity, estimate, tracked, attempts, added, ended, meta.KEY
    $ list 'tag=api and prioritty=high' --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"the query \"tag=api and prioritty=high\": at character 13: there is no field \"prioritty\" (did you mean priority?); the fields are id, is, state, status, priority, project, tag, owner, group, due, text, subject, parent, uid, complexity, estimate, tracked, attempts, added, ended, meta.KEY","hint":null,"causes":[]}
    $ list due=2026-02-30
    exit 6
    2> flagpost: the query "due=2026-02-30": at character 5: "2026-02-30" is no value of due; use yesterday, today, tomorrow, week, overdue, none or a date that exists, as in 2026-12-01
    $ list '(tag=api'
    exit 6
    2> flagpost: the query "(tag=api": at character 1: this ( is never closed
    $ list tag:api
    exit 6
    2> flagpost: the query "tag:api": at character 1: write tag=api, or quote it to look for that text
    $ list --due 2026-02-30
    exit 2
    2> flagpost: invalid value '2026-02-30' for '--due <WHEN>': "2026-02-30" is no value of due; use yesterday, today, tomorrow, week, overdue, none or a date that exists, as in 2026-12-01
    2>   hint: 'flagpost list --help' shows how
    $ list --sort size
    exit 2
    2> flagpost: invalid value 'size' for '--sort <KEYS>': "size" is no value of sort; use id, subject, state, priority, project, owner, group, due, complexity, estimate, tracked, attempts, added, ended, uid, each with a - before it to turn it around
    2>   hint: 'flagpost list --help' shows how
    $ list --group-by size
    exit 2
    2> flagpost: invalid value 'size' for '--group-by <FIELD>': use one of state, priority, project, owner, group, tag, due, parent
    2>   hint: 'flagpost list --help' shows how
    $ list --state open --all
    exit 2
    2> flagpost: invalid value 'open' for '--state <STATE>': "open" is no value of state; use pending, claimed, in_progress, completed, failed, stuck, cancelled
    2>   hint: 'flagpost list --help' shows how
    $ list 'owner=nobody'
    none of the 6 tasks of web fits is=open and owner=nobody
    $ list --tag nope --json
    {"schema":"flagpost.tasks/1","list":"web","tasks":[],"total":0,"truncated":false,"skipped":[],"groups":null}
    "#);
}

#[test]
fn a_list_stands_under_headings() {
    transcript!(planned(), @r#"
    $ list --group-by due
    before today (1)
    ID  STATE    PRIORITY  DUE         PROJECT  TAGS      PARTS  SUBJECT
    1   pending  high      2026-05-12  web      api lang  1/2    Write the parser

    today (1)
    ID  STATE    PRIORITY  DUE         PROJECT  TAGS  WAITS FOR  SUBJECT
    2   pending  critical  2026-05-13  web      api   1          Test the parser

    within a week (1)
    ID  STATE    PRIORITY  DUE         OWNER  PROJECT  SUBJECT
    3   claimed  low       2026-05-19  W1     art      Draw the logo

    no due (2)
    ID  STATE    WAITS FOR       SUBJECT
    4   pending  1 2 2026-06-01  Ship it
    6   pending                  Ask the printer
    $ list --group-by tag --limit 2
    api (2)
    ID  STATE    PRIORITY  DUE         PROJECT  TAGS      PARTS  WAITS FOR  SUBJECT
    1   pending  high      2026-05-12  web      api lang  1/2               Write the parser
    2   pending  critical  2026-05-13  web      api              1          Test the parser

    lang (1)
    ID  STATE    PRIORITY  DUE         PROJECT  TAGS      PARTS  SUBJECT
    1   pending  high      2026-05-12  web      api lang  1/2    Write the parser
    … and 3 more: --limit 0 shows all
    $ list --group-by parent --all --quiet
    1
    2
    3
    4
    5
    6
    $ list --group-by project --limit 1 --json
    {"schema":"flagpost.tasks/1","list":"web","tasks":[{"id":"1","subject":"Write the parser","state":"pending","owner":null,"claim":null,"blocks":["2","4"],"blocked_by":[],"priority":"high","group":null,"project":"web","tags":["api","lang"],"due":"2026-05-12","not_before":null,"parent":null,"complexity":null,"estimate_minutes":120,"attempts":0}],"total":5,"truncated":true,"skipped":[],"groups":[{"name":"art","total":1,"tasks":[]},{"name":"web","total":2,"tasks":["1"]},{"name":null,"total":2,"tasks":[]}]}
    $ list --group-by state project=nope
    none of the 6 tasks of web fits is=open and project=nope
    "#);
}

#[test]
fn a_query_can_be_saved() {
    let world = planned();
    // Not every hand that writes there is ours.
    let settings = "[queries]\nbroken = 'prio=high'\ntwice = '@urgent tag=api'\n";
    std::fs::write(world.home().join("config.toml"), settings).unwrap();
    transcript!(world, @r#"
    $ list @urgent
    exit 3
    2> flagpost: there is no saved query "urgent"
    2>   hint: there are @broken, @twice
    $ config set queries.urgent 'priority>=high or due=week sort=-priority' --quiet
    queries.urgent
    $ config set queries.broken 'prio=high' --quiet
    exit 6
    2> flagpost: queries.broken, "prio=high": at character 1: there is no field "prio" (did you mean priority?); the fields are id, is, state, status, priority, project, tag, owner, group, due, text, subject, parent, uid, complexity, estimate, tracked, attempts, added, ended, meta.KEY
    $ config set queries.twice '@urgent tag=api' --quiet
    exit 6
    2> flagpost: queries.twice, "@urgent tag=api": a saved query cannot begin with another
    $ list @urgent -q
    2
    1
    3
    $ list @urgent tag=api limit=1 sort=id -q
    1
    2> flagpost: … and 1 more: --limit 0 shows all
    $ list '@urgent and tag=api' -q
    2
    1
    $ task edit --where '@urgent project=art' --tag logo --dry-run
    would edit 3 Draw the logo
    $ list @broken
    exit 6
    2> flagpost: queries.broken in [dir]/home/.flagpost/config.toml, "prio=high": at character 1: there is no field "prio" (did you mean priority?); the fields are id, is, state, status, priority, project, tag, owner, group, due, text, subject, parent, uid, complexity, estimate, tracked, attempts, added, ended, meta.KEY
    $ list @twice
    exit 6
    2> flagpost: queries.twice in [dir]/home/.flagpost/config.toml, "@urgent tag=api": a saved query cannot begin with another
    $ list @nope
    exit 3
    2> flagpost: there is no saved query "nope"
    2>   hint: there are @broken, @twice, @urgent
    $ list @../evil --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no saved query \"../evil\"","hint":"there are @broken, @twice, @urgent","causes":[]}
    $ list tag=api @urgent
    exit 6
    2> flagpost: the query "tag=api @urgent": at character 9: a saved query such as @urgent stands before everything else; quote it to look for that text
    $ list '@urgent tag>api'
    exit 6
    2> flagpost: the query "@urgent tag>api": at character 12: tag cannot be compared with >; use =, != or ~
    "#);
}

#[test]
fn a_task_in_a_circle_of_parents_is_listed() {
    let world = planned();
    for (id, parent) in [("4", "6"), ("6", "4")] {
        let path = world.list("web").join(format!("{id}.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        let mut file: serde_json::Value = serde_json::from_str(&text).unwrap();
        file["metadata"]["parent"] = parent.into();
        std::fs::write(&path, file.to_string()).unwrap();
    }
    assert_eq!(world.ok(["list", "parent=4,6", "--quiet"]), "4\n6\n");
    assert!(
        world
            .ok(["list", "--group-by", "parent"])
            .contains("4 Ship it (1)")
    );
}

#[test]
fn a_pipe_gets_every_column_and_whole_cells() {
    let world = world();
    let subject = "word ".repeat(40);
    world.ok([
        "add",
        subject.trim(),
        "--project",
        "somewhere far away",
        "--tag",
        "one",
        "--tag",
        "another",
    ]);
    world.ok(["claim", "1", "--as", "somebody-with-quite-a-long-name"]);
    let narrow = world.ok(["list"]);
    assert!(narrow.lines().count() > 2, "{narrow}");
    let world = world.with("COLUMNS", "");
    let wide = world.ok(["list"]);
    assert_eq!(wide.lines().count(), 2, "{wide}");
    assert!(
        wide.contains(subject.trim()) && wide.contains("somebody-with-quite-a-long-name"),
        "{wide}"
    );
}

#[test]
fn a_long_expression_is_not_repeated_whole() {
    let world = world_with(&["one"]);
    let long = format!("status={}", "x".repeat(5_000));
    let ran = world.flagpost(["list", &long]);
    assert_eq!(ran.code, 6, "{ran}");
    assert!(ran.stderr.len() < 1_000, "{ran}");
}
