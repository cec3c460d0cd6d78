//! Importing from other tools, exporting, and importing that again.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::{world, world_with};

const ISSUES: &str = concat!(
    r#"{"id":"bd-1","title":"Hash passwords","status":"closed","priority":0,"issue_type":"task","close_reason":"Done"}"#,
    "\n",
    r#"{"id":"bd-2","title":"Log in","status":"in_progress","priority":2,"issue_type":"bug","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"}]}"#,
    "\n",
);

#[test]
fn from_another_tool() {
    let world = world();
    let beads = world.repository().join(".beads");
    fs::create_dir(&beads).unwrap();
    fs::write(beads.join("issues.jsonl"), ISSUES).unwrap();
    transcript!(world, @r#"
    $ task import . --dry-run
           ID  SUBJECT
    added  1   Hash passwords
    added  2   Log in
    2 would be added, 0 would be updated, 0 unchanged; read as beads
    2> flagpost: 1 task had a holder or a running timer there; here nobody holds them
    $ list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ task import .
           ID  SUBJECT
    added  1   Hash passwords
    added  2   Log in
    2 added, 0 updated, 0 unchanged; read as beads
    2> flagpost: 1 task had a holder or a running timer there; here nobody holds them
    $ task import .beads --quiet
    1
    2
    $ task import .beads/issues.jsonl --json
    {"schema":"flagpost.import/1","list":"web","format":"beads","dry_run":false,"added":0,"updated":0,"unchanged":2,"outdated":0,"held":1,"broken":[],"warnings":[],"tasks":[{"id":"1","subject":"Hash passwords","fate":"unchanged","overwritten":[],"kept_state":null},{"id":"2","subject":"Log in","fate":"unchanged","overwritten":[],"kept_state":null}],"gone":[]}
    $ list --all
    ID  STATE      PRIORITY  SUBJECT
    1   completed  critical  Hash passwords
    2   pending    medium    Log in
    "#);
}

#[test]
fn broken_parts_are_named_and_the_rest_imported_on_request() {
    let world = world();
    let file = world.repository().join("issues.jsonl");
    let broken = format!("{ISSUES}nonsense\n{{\"id\":\"bd-3\",\"title\":7}}\n");
    fs::write(&file, broken).unwrap();
    let circle = "{\"id\":1,\"subject\":\"a\",\"blocked_by\":2}\n{\"id\":2,\"subject\":\"b\",\"blocked_by\":[1]}\n";
    fs::write(world.repository().join("circle.jsonl"), circle).unwrap();
    fs::write(
        world.repository().join("dates.csv"),
        "subject,due\na,2026-02-30\n",
    )
    .unwrap();
    fs::create_dir(world.repository().join("empty")).unwrap();
    transcript!(world, @r#"
    $ task import issues.jsonl
    exit 6
    2> flagpost: issues.jsonl: 2 faults
    2>   line 3: column 2: expected ident
    2>   line 4: title: 7 is not a text; title: an issue needs one
    2>   hint: nothing was imported; mend it, or import the rest with --skip-broken
    $ list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ task import issues.jsonl --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"issues.jsonl: 2 faults\n  line 3: column 2: expected ident\n  line 4: title: 7 is not a text; title: an issue needs one","hint":"nothing was imported; mend it, or import the rest with --skip-broken","causes":[]}
    $ task import issues.jsonl --skip-broken
           ID  SUBJECT
    added  1   Hash passwords
    added  2   Log in
    2 added, 0 updated, 0 unchanged; read as beads
    2> flagpost: skipped line 3: column 2: expected ident
    2> flagpost: skipped line 4: title: 7 is not a text; title: an issue needs one
    2> flagpost: 1 task had a holder or a running timer there; here nobody holds them
    $ task import issues.jsonl --skip-broken --json
    {"schema":"flagpost.import/1","list":"web","format":"beads","dry_run":false,"added":0,"updated":0,"unchanged":2,"outdated":0,"held":1,"broken":[{"place":"line 3","reason":"column 2: expected ident"},{"place":"line 4","reason":"title: 7 is not a text; title: an issue needs one"}],"warnings":[],"tasks":[{"id":"1","subject":"Hash passwords","fate":"unchanged","overwritten":[],"kept_state":null},{"id":"2","subject":"Log in","fate":"unchanged","overwritten":[],"kept_state":null}],"gone":[]}
    2> flagpost: skipped line 3: column 2: expected ident
    2> flagpost: skipped line 4: title: 7 is not a text; title: an issue needs one
    $ task import circle.jsonl --skip-broken
    exit 6
    2> flagpost: circle.jsonl: these tasks wait for each other: a → b → a
    $ task import dates.csv
    exit 6
    2> flagpost: dates.csv: line 2: due: "2026-02-30" is not a date that exists, as in 2026-12-01
    2>   hint: nothing was imported; mend it, or import the rest with --skip-broken
    $ task import dates.csv --from beads
    exit 6
    2> flagpost: dates.csv: 2 faults
    2>   line 1: column 1: expected value
    2>   line 2: column 1: expected value
    2>   hint: nothing was imported; mend it, or import the rest with --skip-broken
    $ task import dates.csv --from yaml
    exit 2
    2> flagpost: invalid value 'yaml' for '--from <FORMAT>': "yaml" is none of markdown, json, jsonl, csv, beads, backlog, taskmaster, claude-tasks, coordination
    2>   hint: 'flagpost task import --help' shows how
    $ task import dates.csv --from backlog
    exit 6
    2> flagpost: dates.csv: backlog is a folder
    $ task import empty --from backlog
    exit 6
    2> flagpost: empty: it holds no tasks of the format backlog
    "#);
}

#[test]
fn export() {
    let world = world_with(&["Write the parser", "=1+1, tested"]);
    world.ok(["task", "dep", "add", "2", "1"]);
    world.ok(["task", "note", "1", "Ask first"]);
    transcript!(world, @r#"
    $ task export --to markdown
    # web

    - [ ] Write the parser {uid: flagpost:[repo]/web/1}
    - [ ] =1+1, tested (after: #1) {uid: flagpost:[repo]/web/2}
    2> flagpost: 1 task has notes, results, metadata or times that markdown has no place for; --to json keeps them
    $ task export --to csv
    id,uid,subject,description,active_form,state,owner,claim,priority,complexity,group,project,tags,due,not_before,parent,blocked_by,estimate_minutes,tracked_seconds,timer,notes,metadata,provenance,attempts,rev,exported_from,result,late
    1,flagpost:[repo]/web/1,Write the parser,,,pending,,,,,,,,,,,,,0,,"[{""kind"":""note"",""by"":""ann"",""at"":""2026-05-13T14:25:00Z"",""text"":""Ask first"",""question"":null}]",,"{""origin"":""person"",""by"":""ann"",""at"":""2026-05-13T14:25:00Z""}",0,3,flagpost:[repo]/web,,
    2,flagpost:[repo]/web/2,"'=1+1, tested",,,pending,,,,,,,,,,,1,,0,,,,"{""origin"":""person"",""by"":""ann"",""at"":""2026-05-13T14:25:00Z""}",0,2,flagpost:[repo]/web,,
    $ task export --to jsonl
    {"id":"1","uid":"flagpost:[repo]/web/1","subject":"Write the parser","description":"","active_form":"","state":"pending","owner":null,"claim":null,"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"blocked_by":[],"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[{"kind":"note","by":"ann","at":"2026-05-13T14:25:00Z","text":"Ask first","question":null}],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":3,"exported_from":"flagpost:[repo]/web","result":null,"late":[]}
    {"id":"2","uid":"flagpost:[repo]/web/2","subject":"=1+1, tested","description":"","active_form":"","state":"pending","owner":null,"claim":null,"priority":null,"complexity":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"blocked_by":["1"],"estimate_minutes":null,"tracked_seconds":0,"timer":null,"notes":[],"metadata":{},"provenance":{"origin":"person","by":"ann","at":"2026-05-13T14:25:00Z"},"attempts":0,"rev":2,"exported_from":"flagpost:[repo]/web","result":null,"late":[]}
    $ task export --out tasks.json
    2 tasks written to tasks.json as json
    $ task export --out tasks.json
    exit 4
    2> flagpost: [dir]/web/tasks.json exists already: name another file, or say --force
    $ task export --out tasks.json --force --quiet
    1
    2
    $ task export --out tasks.csv --to csv --json
    {"schema":"flagpost.export/1","list":"web","format":"csv","count":2,"out":"tasks.csv","content":null,"cut":0,"losses":0,"skipped":[]}
    $ task export --to csv --json
    {"schema":"flagpost.export/1","list":"web","format":"csv","count":2,"out":null,"content":"id,uid,subject,description,active_form,state,owner,claim,priority,complexity,group,project,tags,due,not_before,parent,blocked_by,estimate_minutes,tracked_seconds,timer,notes,metadata,provenance,attempts,rev,exported_from,result,late\n1,flagpost:[repo]/web/1,Write the parser,,,pending,,,,,,,,,,,,,0,,\"[{\"\"kind\"\":\"\"note\"\",\"\"by\"\":\"\"ann\"\",\"\"at\"\":\"\"2026-05-13T14:25:00Z\"\",\"\"text\"\":\"\"Ask first\"\",\"\"question\"\":null}]\",,\"{\"\"origin\"\":\"\"person\"\",\"\"by\"\":\"\"ann\"\",\"\"at\"\":\"\"2026-05-13T14:25:00Z\"\"}\",0,3,flagpost:[repo]/web,,\n2,flagpost:[repo]/web/2,\"'=1+1, tested\",,,pending,,,,,,,,,,,1,,0,,,,\"{\"\"origin\"\":\"\"person\"\",\"\"by\"\":\"\"ann\"\",\"\"at\"\":\"\"2026-05-13T14:25:00Z\"\"}\",0,2,flagpost:[repo]/web,,\n","cut":0,"losses":0,"skipped":[]}
    $ task export --to xml
    exit 2
    2> flagpost: invalid value 'xml' for '--to <FORMAT>': "xml" is none of json, jsonl, csv, markdown
    2>   hint: 'flagpost task export --help' shows how
    $ task import tasks.json
    0 added, 0 updated, 2 unchanged; read as json
    $ task import tasks.json --list other
           ID  SUBJECT
    added  1   Write the parser
    added  2   =1+1, tested
    2 added, 0 updated, 0 unchanged; read as json
    $ task import tasks.csv --list other
    0 added, 0 updated, 2 unchanged; read as csv
    $ task export --open --list nowhere
    exit 3
    2> flagpost: there is no list nowhere
    2>   hint: 'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are
    "#);
    let mode = |name: &str| {
        let path = world.repository().join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    fs::write(world.repository().join("usual"), "").unwrap();
    assert_eq!(mode("tasks.csv"), mode("usual"), "a file of the user's");
}

#[test]
fn an_export_of_nothing() {
    let world = world_with(&["One"]);
    world.ok(["task", "rm", "1", "--yes"]);
    transcript!(world, @r#"
    $ task export
    {
      "schema": "flagpost.list/1",
      "list": "web",
      "tasks": []
    }
    $ task export --to csv
    id,uid,subject,description,active_form,state,owner,claim,priority,complexity,group,project,tags,due,not_before,parent,blocked_by,estimate_minutes,tracked_seconds,timer,notes,metadata,provenance,attempts,rev,exported_from,result,late
    $ task export --to markdown --quiet
    "#);
}

#[test]
fn what_is_held_there_is_held_by_nobody_here() {
    let world = world_with(&["One"]);
    world.ok(["claim", "1", "--as", "W1"]);
    world.ok(["task", "export", "--out", "x.json"]);
    transcript!(world, @r#"
    $ task import x.json --list other
           ID  SUBJECT
    added  1   One
    1 added, 0 updated, 0 unchanged; read as json
    2> flagpost: 1 task had a holder or a running timer there; here nobody holds them
    $ show 1 --list other
    1 One
      state       pending
      uid         flagpost:[repo]/web/1
      added       by ann, now
      attempts    1
    $ task import x.json
    0 added, 0 updated, 1 unchanged; read as json
    $ task edit 1 --subject Two
    edited 1 Two
    $ task import x.json
    0 added, 0 updated, 0 unchanged; read as json
    2> flagpost: 1 changed here after it was exported, and is left as it is
    $ task import x.json --json
    {"schema":"flagpost.import/1","list":"web","format":"json","dry_run":false,"added":0,"updated":0,"unchanged":0,"outdated":1,"held":1,"broken":[],"warnings":[],"tasks":[{"id":"1","subject":"One","fate":"outdated","overwritten":[],"kept_state":null}],"gone":[]}
    2> flagpost: 1 changed here after it was exported, and is left as it is
    "#);
}

#[test]
fn bytes_stay_as_they_are() {
    let world = world();
    let subject = "\u{202e}odd\u{200b} \u{7} \u{1b}[31m";
    world.ok(["add", subject]);
    for to in ["json", "jsonl", "csv", "markdown"] {
        let path = world.repository().join(format!("x-{to}"));
        let text = world.ok(["task", "export", "--to", to]);
        fs::write(&path, &text).unwrap();
        let list = format!("from-{to}");
        world.ok([
            "task",
            "import",
            path.to_str().unwrap(),
            "--from",
            to,
            "--list",
            &list,
        ]);
        let (_, shown) = world.json(["show", "1", "--list", &list]);
        assert_eq!(shown["subject"], subject, "{to}");
    }
}

#[test]
fn a_removed_dependency_stays_removed_while_the_source_is_as_it_was() {
    let world = world();
    let repository = world.repository();
    let plan = "- [ ] One\n- [ ] Two (after: 1)\n";
    fs::write(repository.join("plan.md"), plan).unwrap();
    let records =
        r#"[{"id": "1", "subject": "One"}, {"id": "2", "subject": "Two", "blocked_by": ["1"]}]"#;
    fs::write(repository.join("tasks.json"), records).unwrap();
    for source in ["plan.md", "tasks.json", "own.json"] {
        let list = source.split_once('.').unwrap().0;
        let run = |words: &[&str]| world.ok([words, &["--list", list]].concat());
        match list {
            "own" => {
                run(&["add", "One"]);
                run(&["add", "Two"]);
                run(&["task", "dep", "add", "2", "1"]);
                run(&["task", "export", "--out", source]);
            }
            _ => drop(run(&["task", "import", source])),
        }
        run(&["task", "dep", "rm", "2", "1"]);
        run(&["task", "import", source]);
        let (_, shown) = world.json(["show", "2", "--list", list]);
        assert_eq!(shown["blocked_by"], serde_json::json!([]), "{source}");
    }
}

#[test]
fn keys_that_mean_nothing_here_are_named_and_those_of_task_files_refused() {
    let world = world();
    let write = |name, text| fs::write(world.repository().join(name), text).unwrap();
    write(
        "odd.jsonl",
        "{\"subject\": \"One\", \"labels\": [\"x\"], \"dependencies\": [2]}\n{\"subject\": \"Two\", \"labels\": []}\n",
    );
    write(
        "theirs.json",
        "{\"subject\": \"One\", \"status\": \"completed\"}",
    );
    transcript!(world, @r#"
    $ task import odd.jsonl
           ID  SUBJECT
    added  1   One
    added  2   Two
    2 added, 0 updated, 0 unchanged; read as jsonl
    2> flagpost: kept as metadata: dependencies, labels
    $ task import theirs.json
    exit 6
    2> flagpost: theirs.json: task 1: status: looks like Claude Code's task files: import the folder, --from claude-tasks, or call it "state"
    2>   hint: nothing was imported; mend it, or import the rest with --skip-broken
    "#);
}

#[test]
fn the_name_of_the_file_says_the_format_and_to_says_it_louder() {
    let world = world_with(&["One"]);
    transcript!(world, @"
    $ task export --out a.json
    1 task written to a.json as json
    $ task export --out a.jsonl
    1 task written to a.jsonl as jsonl
    $ task export --out a.CSV
    1 task written to a.CSV as csv
    $ task export --out a.md
    1 task written to a.md as markdown
    $ task export --out a.txt
    1 task written to a.txt as json
    $ task export --out b.csv --to jsonl
    1 task written to b.csv as jsonl
    ");
}

#[test]
fn an_export_that_is_not_all_fails_and_says_what_is_missing() {
    let world = world_with(&["One", "Two"]);
    fs::write(world.home().join("tasks/web/2.json"), "{").unwrap();
    transcript!(world, @r##"
    $ task export --out a.md
    exit 1
    1 task written to a.md as markdown
    2> flagpost: skipped 2.json: EOF while parsing an object at line 1 column 1
    $ task export --to markdown --json
    exit 1
    {"schema":"flagpost.export/1","list":"web","format":"markdown","count":1,"out":null,"content":"# web\n\n- [ ] One {uid: flagpost:[repo]/web/1}\n","cut":0,"losses":0,"skipped":[{"file":"2.json","reason":"EOF while parsing an object at line 1 column 1"}]}
    2> flagpost: skipped 2.json: EOF while parsing an object at line 1 column 1
    "##);
}

#[test]
fn an_export_is_not_written_among_the_tasks() {
    let world = world_with(&["One"]);
    let home = world.home();
    for place in ["tasks/web/9.json", "tasks/x.csv", "repos/x.json"] {
        let path = home.join(place);
        let ran = world.flagpost(["task", "export", "--force", "--out", path.to_str().unwrap()]);
        assert_eq!(ran.code, 2, "{place}");
        assert!(!path.exists(), "{place}");
    }
}

#[test]
fn a_task_that_is_imported_without_a_link_is_not_called_skipped() {
    let world = world();
    let records = "{\"subject\": \"One\", \"blocked_by\": [\"x-9\"]}\n";
    fs::write(world.repository().join("x.jsonl"), records).unwrap();
    transcript!(world, @r#"
    $ task import x.jsonl --skip-broken
           ID  SUBJECT
    added  1   One
    1 added, 0 updated, 0 unchanged; read as jsonl
    2> flagpost: line 1: imported without: it waits for "x-9", which is not there
    "#);
}

#[test]
fn a_table_in_between_does_not_make_the_plan_news_again() {
    let world = world();
    let write = |name, text: &str| fs::write(world.repository().join(name), text).unwrap();
    write("plan.md", "- [ ] One {priority: high, group: core}\n");
    world.ok(["task", "import", "plan.md"]);
    world.ok(["task", "edit", "1", "--priority", "low"]);
    let table = world.ok(["task", "export", "--to", "csv"]);
    write("tasks.csv", &table.replace(",core,", ",edge,"));
    transcript!(world, @"
    $ task import tasks.csv
             ID  SUBJECT
    updated  1   One
    0 added, 1 updated, 0 unchanged; read as csv
    $ task import plan.md
    0 added, 0 updated, 1 unchanged; read as markdown
    $ show 1
    1 One
      state       pending
      priority    low
      group       edge
      uid         plan:5443e23824061afa
      added       by ann (an import), now
    $ task edit 1 --group mine
    edited 1 One
    $ task import tasks.csv
    0 added, 0 updated, 1 unchanged; read as csv
    $ task import plan.md
    0 added, 0 updated, 1 unchanged; read as markdown
    $ show 1
    1 One
      state       pending
      priority    low
      group       mine
      uid         plan:5443e23824061afa
      added       by ann (an import), now
    ");
}

#[test]
fn a_list_is_not_imported_into_itself() {
    let world = world_with(&["One"]);
    let own = world.list("web");
    std::os::unix::fs::symlink(&own, world.repository().join("own")).unwrap();
    transcript!(world, @r#"
    $ task import own --dry-run
    exit 2
    2> flagpost: own is the list web itself: what is there are its tasks already
    2>   hint: name the source, or the list to import it into with --list
    $ task import own
    exit 2
    2> flagpost: own is the list web itself: what is there are its tasks already
    2>   hint: name the source, or the list to import it into with --list
    $ task import own --json
    exit 2
    {"schema":"flagpost.error/1","kind":"usage","exit_code":2,"message":"own is the list web itself: what is there are its tasks already","hint":"name the source, or the list to import it into with --list","causes":[]}
    $ task import own --list other
           ID  SUBJECT
    added  1   One
    1 added, 0 updated, 0 unchanged; read as claude-tasks
    $ list
    ID  STATE    SUBJECT
    1   pending  One
    "#);
}

#[test]
fn an_emptied_cell_takes_the_field_away_unless_it_changed_here() {
    let world = world();
    let write = |name, text: &str| fs::write(world.repository().join(name), text).unwrap();
    write(
        "plan.md",
        "- [ ] One {priority: high, tags: api}\n- [ ] Two (after: 1) {parent: 1}\n",
    );
    world.ok(["task", "import", "plan.md"]);
    world.ok(["task", "export", "--out", "tasks.csv"]);
    let table = fs::read_to_string(world.repository().join("tasks.csv")).unwrap();
    let emptied = table.replace(",high,", ",,").replace(",1,1,", ",,1,");
    assert_ne!(table, emptied);
    write("tasks.csv", &emptied);
    write(
        "null.jsonl",
        "{\"uid\": \"plan:5443e23824061afa\", \"subject\": \"One\", \"tags\": null}\n",
    );
    transcript!(world, @"
    $ task import tasks.csv
             ID  SUBJECT
    updated  1   One
    updated  2   Two
    0 added, 2 updated, 0 unchanged; read as csv
    $ list
    ID  STATE    TAGS  WAITS FOR  SUBJECT
    1   pending  api              One
    2   pending        1          Two
    $ task edit 1 --priority low
    edited 1 One
    $ task import tasks.csv
    0 added, 0 updated, 2 unchanged; read as csv
    $ task import plan.md
    0 added, 0 updated, 2 unchanged; read as markdown
    $ task import null.jsonl
    0 added, 0 updated, 1 unchanged; read as jsonl
    $ list
    ID  STATE    PRIORITY  TAGS  WAITS FOR  SUBJECT
    1   pending  low       api              One
    2   pending                  1          Two
    ");
}
