//! Graphs and timelines as files and texts that other programs show.

use std::{fs, os::unix::fs::symlink};

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::{world, world_with};

/// 2 and 3 wait for 1, and 4 for both; 5 waits for nothing.
fn diamond() -> World {
    let world = world_with(&["Agree on \"it\"", "Parse", "Print <b>", "Try both", "Rest"]);
    for (task, blocker) in [("2", "1"), ("3", "1"), ("4", "2"), ("4", "3")] {
        world.ok(["task", "dep", "add", task, blocker]);
    }
    world.ok(["done", "1"]);
    world.ok(["claim", "2", "--as", "W3"]);
    world
}

/// The drawing without its colours.
fn unstyled(svg: &str) -> String {
    let (before, style) = svg.split_once("<style>").unwrap();
    let (_, after) = style.split_once("</style>\n").unwrap();
    format!("{before}{after}")
}

#[test]
fn a_diamond_in_dot_and_in_mermaid() {
    transcript!(diamond(), @r##"
    $ task graph --format dot
    // drawn by flagpost
    digraph "web" {
      rankdir=LR
      node [shape=box style="rounded,filled" fontname="sans-serif" fontsize=11 fontcolor="#1f2328"]
      edge [color="#8c959f"]
      "1" [label="● 1\nAgree on \"it\"" class="completed" color="#1a7f37" fillcolor="#effbf2" style="filled" tooltip="completed: Agree on \"it\""]
      "2" [label="◔ 2\nParse" class="claimed critical" color="#0e7490" fillcolor="#effcff" penwidth=3 tooltip="claimed: Parse"]
      "3" [label="○ 3\nPrint <b>" class="pending" color="#59636e" fillcolor="#ffffff" tooltip="pending: Print <b>"]
      "4" [label="○ 4\nTry both" class="pending critical" color="#59636e" fillcolor="#ffffff" penwidth=3 tooltip="pending: Try both"]
      "5" [label="○ 5\nRest" class="pending" color="#59636e" fillcolor="#ffffff" tooltip="pending: Rest"]
      "1" -> "2"
      "1" -> "3"
      "2" -> "4" [class="critical" penwidth=3 color="#8250df"]
      "3" -> "4"
    }
    $ task graph --format mermaid
    %% drawn by flagpost
    flowchart LR
      t1[["● 1 Agree on #34;it#34;"]]:::completed
      t2("◔ 2 Parse"):::claimed
      t3["○ 3 Print #60;b#62;"]:::pending
      t4["○ 4 Try both"]:::pending
      t5["○ 5 Rest"]:::pending
      t1 --> t2
      t1 --> t3
      t2 ==> t4
      t3 --> t4
      classDef pending fill:#ffffff,stroke:#59636e,color:#1f2328
      classDef claimed fill:#effcff,stroke:#0e7490,color:#1f2328
      classDef completed fill:#effbf2,stroke:#1a7f37,color:#1f2328
      classDef critical stroke:#8250df,stroke-width:3px
      class t2,t4 critical
    "##);
}

#[test]
fn a_diamond_as_svg() {
    assert_snapshot!(unstyled(&diamond().ok(["task", "graph", "--format", "svg"])), @r#"
    <svg xmlns="http://www.w3.org/2000/svg" width="844" height="440" viewBox="0 0 844 440" role="graphics-document" aria-label="web">
    <!-- drawn by flagpost -->
    <title>web</title>
    <desc>5 tasks · 3 pending · 1 claimed · 1 completed · critical path of 2</desc>
    <rect class="paper" width="844" height="440"/>
    <g transform="translate(28 28)">
    <text class="heading" y="18">web</text>
    <text class="note" y="42">5 tasks · 3 pending · 1 claimed · 1 completed · critical path of 2</text>
    <g transform="translate(0 76)"><g class="pending"><circle class="ring" cx="8" r="6"/></g><text class="legend" x="24" y="4">pending</text></g>
    <g transform="translate(95 76)"><g class="claimed"><circle class="ring" cx="8" r="6"/><path class="full" d="M8 0V-6A6 6 0 0 1 14 0Z"/></g><text class="legend" x="24" y="4">claimed</text></g>
    <g transform="translate(190 76)"><g class="completed"><circle class="full" cx="8" r="7"/><path class="cut" d="M4.6 0.2L7.2 2.8L11.6 -2.6"/></g><text class="legend" x="24" y="4">completed</text></g>
    <g transform="translate(299 76)"><path class="edge" d="M0 0h32" marker-end="url(#arrow)"></path><text class="legend" x="40" y="4">comes before</text></g>
    <g transform="translate(445 76)"><path class="ribbon" d="M-1 -8h12v17l-6 -5l-6 5z"/><path class="edge critical" d="M16 0h32" marker-end="url(#arrow-critical)"></path><text class="legend" x="56" y="4">critical path</text></g>
    <g transform="translate(0 108)">
    <defs>
    <clipPath id="card"><rect width="214" height="72"/></clipPath>
    <marker id="arrow" class="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 1L9 5L0 9Z"/></marker>
    <marker id="arrow-critical" class="arrow critical" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="13" markerHeight="13" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10Z"/></marker>
    <marker id="arrow-closing" class="arrow closing" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10Z"/></marker>
    </defs>
    <path class="edge" d="M220 82C252 82 252 36 284 36" marker-end="url(#arrow)"><title>2 waits for 1</title></path>
    <path class="edge" d="M220 82C252 82 252 128 284 128" marker-end="url(#arrow)"><title>3 waits for 1</title></path>
    <path class="edge" d="M504 128C536 128 536 54 568 54" marker-end="url(#arrow)"><title>4 waits for 3</title></path>
    <path class="edge critical" d="M504 36C536 36 536 54 568 54" marker-end="url(#arrow-critical)"><title>4 waits for 2</title></path>
    <g class="task completed" transform="translate(0 46)"><title>1 Agree on &quot;it&quot;
    completed</title><rect class="card" width="220" height="72" rx="9"/><g transform="translate(13 20)"><circle class="full" cx="8" r="7"/><path class="cut" d="M4.6 0.2L7.2 2.8L11.6 -2.6"/></g><g clip-path="url(#card)"><text class="id" x="36" y="24">1</text><text class="small" x="52" y="24">completed · ann</text><text class="subject" x="14" y="44">Agree on &quot;it&quot;</text></g></g>
    <g class="task claimed critical" transform="translate(284 0)"><title>2 Parse
    claimed by W3
    on the critical path</title><rect class="card" width="220" height="72" rx="9"/><g transform="translate(13 20)"><circle class="ring" cx="8" r="6"/><path class="full" d="M8 0V-6A6 6 0 0 1 14 0Z"/></g><g clip-path="url(#card)"><text class="id" x="36" y="24">2</text><text class="small" x="52" y="24">claimed · W3</text><text class="subject" x="14" y="44">Parse</text></g><path class="ribbon" d="M196 -1h12v17l-6 -5l-6 5z"/></g>
    <g class="task pending" transform="translate(284 92)"><title>3 Print &lt;b&gt;
    pending</title><rect class="card" width="220" height="72" rx="9"/><g transform="translate(13 20)"><circle class="ring" cx="8" r="6"/></g><g clip-path="url(#card)"><text class="id" x="36" y="24">3</text><text class="small" x="52" y="24">pending</text><text class="subject" x="14" y="44">Print &lt;b&gt;</text></g></g>
    <g class="task pending critical" transform="translate(568 18)"><title>4 Try both
    pending
    on the critical path</title><rect class="card" width="220" height="72" rx="9"/><g transform="translate(13 20)"><circle class="ring" cx="8" r="6"/></g><g clip-path="url(#card)"><text class="id" x="36" y="24">4</text><text class="small" x="52" y="24">pending</text><text class="subject" x="14" y="44">Try both</text></g><path class="ribbon" d="M196 -1h12v17l-6 -5l-6 5z"/></g>
    <g class="task pending" transform="translate(0 204)"><title>5 Rest
    pending</title><rect class="card" width="220" height="72" rx="9"/><g transform="translate(13 20)"><circle class="ring" cx="8" r="6"/></g><g clip-path="url(#card)"><text class="id" x="36" y="24">5</text><text class="small" x="52" y="24">pending</text><text class="subject" x="14" y="44">Rest</text></g></g>
    </g>
    </g>
    </svg>
    "#);
}

#[test]
fn a_graph_as_data() {
    transcript!(diamond(), @r#"
    $ task graph --json
    {"schema":"flagpost.graph/1","list":"web","nodes":[{"id":"1","subject":"Agree on \"it\"","state":"completed","owner":"ann","claim":null,"blocks":["2","3"],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"2","subject":"Parse","state":"claimed","owner":"W3","claim":{"by":"W3","token":12,"at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T14:40:00Z","session":null},"blocks":["4"],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":1},{"id":"3","subject":"Print <b>","state":"pending","owner":null,"claim":null,"blocks":["4"],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"4","subject":"Try both","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["2","3"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"5","subject":"Rest","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"edges":[{"task":"2","waits_for":"1","closes_circle":false},{"task":"3","waits_for":"1","closes_circle":false},{"task":"4","waits_for":"2","closes_circle":false},{"task":"4","waits_for":"3","closes_circle":false}],"critical":["2","4"],"unknown":[],"cycle":null,"text":null,"out":null,"skipped":[]}
    $ task graph 2 --json --format mermaid
    {"schema":"flagpost.graph/1","list":"web","nodes":[{"id":"2","subject":"Parse","state":"claimed","owner":"W3","claim":{"by":"W3","token":12,"at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T14:40:00Z","session":null},"blocks":["4"],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":1},{"id":"4","subject":"Try both","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["2","3"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"edges":[{"task":"4","waits_for":"2","closes_circle":false}],"critical":["2","4"],"unknown":[],"cycle":null,"text":"%% drawn by flagpost\nflowchart LR\n  t2(\"◔ 2 Parse\"):::claimed\n  t4[\"○ 4 Try both\"]:::pending\n  t2 ==> t4\n  classDef pending fill:#ffffff,stroke:#59636e,color:#1f2328\n  classDef claimed fill:#effcff,stroke:#0e7490,color:#1f2328\n  classDef critical stroke:#8250df,stroke-width:3px\n  class t2,t4 critical\n","out":null,"skipped":[]}
    $ task graph --open --quiet --format svg
    2
    3
    4
    5
    "#);
}

#[test]
fn estimates_decide_what_is_critical() {
    let world = diamond();
    world.ok(["task", "edit", "3", "--estimate", "2h"]);
    let (_, graph) = world.json(["task", "graph"]);
    assert_eq!(graph["critical"], serde_json::json!(["3", "4"]));
    let drawn = world.ok(["task", "graph", "--format", "svg"]);
    assert!(
        drawn.contains("estimated 2h\non the critical path"),
        "{drawn}"
    );
}

#[test]
fn only_what_is_open() {
    let world = diamond();
    transcript!(world, @r#"
    $ task graph --open
    ◔ 2 Parse [claimed]
    └─ ○ 4 Try both
    ○ 3 Print <b>
    └─ ○ 4 Try both
    ○ 5 Rest
    $ task graph 1 --open
    ● 1 Agree on "it"
    ├─ ◔ 2 Parse [claimed]
    │  └─ ○ 4 Try both
    └─ ○ 3 Print <b>
       └─ ○ 4 Try both
    "#);
    for id in ["2", "3", "4", "5"] {
        world.ok(["done", id, "--as", "W3"]);
    }
    transcript!(world, @r#"
    $ task graph --open
    nothing of web is open
    $ task graph --open --json
    {"schema":"flagpost.graph/1","list":"web","nodes":[],"edges":[],"critical":[],"unknown":[],"cycle":null,"text":null,"out":null,"skipped":[]}
    "#);
}

#[test]
fn a_list_without_tasks_has_an_empty_drawing() {
    let world = world();
    world.ok(["init"]);
    transcript!(world, @r##"
    $ task graph --format mermaid
    %% drawn by flagpost
    flowchart LR
    $ task graph --format dot
    // drawn by flagpost
    digraph "web" {
      rankdir=LR
      node [shape=box style="rounded,filled" fontname="sans-serif" fontsize=11 fontcolor="#1f2328"]
      edge [color="#8c959f"]
    }
    $ task graph --out a.svg
    drew 0 tasks in a.svg
    "##);
    let drawn = fs::read_to_string(world.repository().join("a.svg")).unwrap();
    assert!(drawn.contains("no tasks"), "{drawn}");
}

#[test]
fn a_file_says_by_its_name_what_it_is() {
    let world = diamond();
    let first_line = |name: &str| {
        world.ok(["task", "graph", "--out", name]);
        let drawn = fs::read_to_string(world.repository().join(name)).unwrap();
        drawn.lines().next().unwrap().to_owned()
    };
    assert!(first_line("a.svg").starts_with("<svg "));
    assert_eq!(first_line("a.dot"), "// drawn by flagpost");
    assert_eq!(first_line("a.mmd"), "%% drawn by flagpost");
    assert_eq!(first_line("a.txt"), "web, drawn by flagpost");
}

#[test]
fn a_drawing_replaces_a_drawing_and_nothing_else() {
    let world = diamond();
    let place = world.repository();
    fs::write(place.join("mine.svg"), "<svg/>").unwrap();
    fs::create_dir(place.join("dir.svg")).unwrap();
    symlink("mine.svg", place.join("link.svg")).unwrap();
    transcript!(world, @r#"
    $ task graph --out new.svg
    drew 5 tasks in new.svg
    $ task graph 2 --out new.svg
    drew 2 tasks in new.svg
    $ task graph --out new.svg --format dot --json
    {"schema":"flagpost.graph/1","list":"web","nodes":[{"id":"1","subject":"Agree on \"it\"","state":"completed","owner":"ann","claim":null,"blocks":["2","3"],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"2","subject":"Parse","state":"claimed","owner":"W3","claim":{"by":"W3","token":12,"at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T14:40:00Z","session":null},"blocks":["4"],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":1},{"id":"3","subject":"Print <b>","state":"pending","owner":null,"claim":null,"blocks":["4"],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"4","subject":"Try both","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["2","3"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"5","subject":"Rest","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":[],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"edges":[{"task":"2","waits_for":"1","closes_circle":false},{"task":"3","waits_for":"1","closes_circle":false},{"task":"4","waits_for":"2","closes_circle":false},{"task":"4","waits_for":"3","closes_circle":false}],"critical":["2","4"],"unknown":[],"cycle":null,"text":null,"out":"new.svg","skipped":[]}
    $ task graph --out new.svg --quiet
    1
    2
    3
    4
    5
    $ task graph --out mine.svg
    exit 4
    2> flagpost: [dir]/web/mine.svg exists and is no drawing of flagpost's; it is left as it is
    2>   hint: name another file with --out
    $ task graph --out mine.svg --json
    exit 4
    {"schema":"flagpost.error/1","kind":"conflict","exit_code":4,"message":"[dir]/web/mine.svg exists and is no drawing of flagpost's; it is left as it is","hint":"name another file with --out","causes":[]}
    $ task graph --out dir.svg
    exit 4
    2> flagpost: [dir]/web/dir.svg exists and is no drawing of flagpost's; it is left as it is
    2>   hint: name another file with --out
    $ task graph --out link.svg
    exit 4
    2> flagpost: [dir]/web/link.svg exists and is no drawing of flagpost's; it is left as it is
    2>   hint: name another file with --out
    $ task graph --out nowhere/new.svg
    exit 3
    2> flagpost: cannot write [dir]/web/nowhere/new.svg: No such file or directory (os error 2)
    $ task graph --out new.png
    exit 2
    2> flagpost: --out names no .svg, .dot, .mmd or .txt: say with --format how to draw it
    2>   hint: flagpost --help shows how
    $ task graph --out new
    exit 2
    2> flagpost: --out names no .svg, .dot, .mmd or .txt: say with --format how to draw it
    2>   hint: flagpost --help shows how
    $ task graph --format gif
    exit 2
    2> flagpost: invalid value 'gif' for '--format <FORMAT>' [possible values: tree, dot, mermaid, svg]
    2>   hint: 'flagpost task graph --help' shows how
    "#);
    assert_eq!(
        fs::read_to_string(place.join("mine.svg")).unwrap(),
        "<svg/>"
    );
    assert!(
        fs::read_dir(&place)
            .unwrap()
            .flatten()
            .all(|entry| !entry.file_name().to_string_lossy().contains(".tmp"))
    );
}

#[test]
fn circles_of_foreign_writers_are_drawn() {
    let world = world_with(&["a", "b", "c"]);
    for (id, on) in [("1", "2"), ("2", "1"), ("3", "3")] {
        let task = format!(
            r#"{{"id":"{id}","subject":"s","status":"pending","blocks":[],"blockedBy":["{on}"]}}"#
        );
        fs::write(world.list("web").join(format!("{id}.json")), task).unwrap();
    }
    transcript!(world, @r#"
    $ task graph
    ○ 1 s
    └─ ○ 2 s
       └─ ○ 1 s (above)
    ○ 3 s
    └─ ○ 3 s (above)
    2> flagpost: these wait for each other: 1 → 2 → 1
    $ task graph 2
    ○ 2 s
    └─ ○ 1 s
       └─ ○ 2 s (above)
    2> flagpost: these wait for each other: 1 → 2 → 1
    $ task graph --format mermaid
    %% drawn by flagpost
    flowchart LR
      t1["○ 1 s"]:::pending
      t2["○ 2 s"]:::pending
      t3["○ 3 s"]:::pending
      t2 -.-> t1
      t1 --> t2
      t3 -.-> t3
      classDef pending fill:#ffffff,stroke:#59636e,color:#1f2328
    2> flagpost: these wait for each other: 1 → 2 → 1
    $ task graph --json
    {"schema":"flagpost.graph/1","list":"web","nodes":[{"id":"1","subject":"s","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["2"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"2","subject":"s","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["1"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0},{"id":"3","subject":"s","state":"pending","owner":null,"claim":null,"blocks":[],"blocked_by":["3"],"priority":null,"group":null,"project":null,"tags":[],"due":null,"not_before":null,"parent":null,"complexity":null,"estimate_minutes":null,"attempts":0}],"edges":[{"task":"1","waits_for":"2","closes_circle":true},{"task":"2","waits_for":"1","closes_circle":false},{"task":"3","waits_for":"3","closes_circle":true}],"critical":[],"unknown":[],"cycle":["1","2","1"],"text":null,"out":null,"skipped":[]}
    2> flagpost: these wait for each other: 1 → 2 → 1
    "#);
    let drawn = world.ok(["task", "graph", "--format", "svg"]);
    assert_eq!(
        drawn.matches("<path class=\"edge closing\"").count(),
        3,
        "{drawn}"
    );
}

const EVENTS: &str = r#"{"cursor":1,"at":"2026-02-05T14:30:00Z","event":"session.started"}
{"cursor":2,"at":"2026-02-05T14:30:00Z","event":"wave.started","wave":1,"of":2}
{"cursor":3,"at":"2026-02-05T14:30:10Z","event":"task.started","task":"1","subject":"Parse <b>","attempt":1,"attempts":2}
{"cursor":4,"at":"2026-02-05T14:31:00Z","event":"task.ended","task":"1","subject":"Parse <b>","attempt":1,"attempts":2,"outcome":"FAIL","seconds":50,"words":""}
{"cursor":5,"at":"2026-02-05T14:31:00Z","event":"task.started","task":"1","subject":"Parse <b>","attempt":2,"attempts":2}
no event
{"cursor":6,"at":"2026-02-05T14:32:00Z","event":"task.ended","task":"1","subject":"Parse <b>","attempt":2,"attempts":2,"outcome":"PASS","seconds":60,"words":""}
{"cursor":7,"at":"2026-02-05T14:32:00Z","event":"wave.started","wave":2,"of":2}
{"cursor":8,"at":"2026-02-05T14:32:00Z","event":"task.started","task":"2","subject":"Print","attempt":1,"attempts":2}
{"cursor":9,"at":"2026-02-05T14:35:00Z","event":"session.draining"}
"#;

/// A session that ended without an end, and one of which only its name is left.
fn sessions() -> World {
    let world = world_with(&["a"]);
    let root = world.repository().join(".claude/sessions");
    for (name, events) in [
        ("auth-20260205-143000", EVENTS),
        ("empty-20250101-000000", ""),
    ] {
        fs::create_dir_all(root.join(name)).unwrap();
        fs::write(root.join(name).join("progress.jsonl"), events).unwrap();
    }
    world
}

#[test]
fn a_timeline_as_svg() {
    assert_snapshot!(unstyled(&sessions().ok(["session", "timeline"])), @r#"
    <svg xmlns="http://www.w3.org/2000/svg" width="1176" height="268" viewBox="0 0 1176 268" role="graphics-document" aria-label="auth-20260205-143000">
    <!-- drawn by flagpost -->
    <title>auth-20260205-143000</title>
    <desc>2026-02-05T14:30:00Z · took 5m · 2 tasks · 3 attempts</desc>
    <rect class="paper" width="1176" height="268"/>
    <g transform="translate(28 28)">
    <text class="heading" y="18">auth-20260205-143000</text>
    <text class="note" y="42">2026-02-05T14:30:00Z · took 5m · 2 tasks · 3 attempts</text>
    <g transform="translate(0 76)"><g class="passed"><rect class="bar" y="-7" width="26" height="14" rx="4"/></g><text class="legend" x="34" y="4">passed</text></g>
    <g transform="translate(98 76)"><g class="failed"><rect class="bar" y="-7" width="26" height="14" rx="4"/></g><text class="legend" x="34" y="4">failed</text></g>
    <g transform="translate(196 76)"><g class="cut_off"><rect class="bar" y="-7" width="26" height="14" rx="4"/></g><text class="legend" x="34" y="4">cut off</text></g>
    <g transform="translate(0 108)">
    <defs>
    <pattern id="partial" class="partial" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="8" height="8"/><rect class="line" width="3" height="8"/></pattern>
    <pattern id="failed" class="failed" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="8" height="8"/><path class="line" d="M0 0H8V1.6H1.6V8H0Z"/></pattern>
    </defs>
    <g class="wave"><title>wave 1 of 2: 2m</title><rect x="260.0" width="344.0" height="104"/><text class="small" x="266.0" y="15">wave 1</text></g>
    <g class="wave even"><title>wave 2 of 2: 3m</title><rect x="604.0" width="516.0" height="104"/><text class="small" x="610.0" y="15">wave 2</text></g>
    <path class="mark" d="M260.0 22V104"/><text class="small" x="264.0" y="34">0s</text>
    <path class="mark" d="M432.0 22V104"/><text class="small" x="436.0" y="34">1m</text>
    <path class="mark" d="M604.0 22V104"/><text class="small" x="608.0" y="34">2m</text>
    <path class="mark" d="M776.0 22V104"/><text class="small" x="780.0" y="34">3m</text>
    <path class="mark" d="M948.0 22V104"/><text class="small" x="952.0" y="34">4m</text>
    <path class="mark" d="M1120.0 22V104"/><text class="small" x="1124.0" y="34">5m</text>
    <g class="row"><title>1 Parse &lt;b&gt;</title><path class="rule" d="M0 44H1120"/><text x="0" y="64"><tspan class="id">1</tspan> Parse &lt;b&gt;</text></g>
    <g class="attempt failed"><title>1 attempt 1: failed, 50s</title><rect class="bar" x="288.7" y="50" width="143.3" height="18" rx="4"/><text class="label" x="295.7" y="64">failed 50s</text></g>
    <g class="attempt passed"><title>1 attempt 2: passed, 1m</title><rect class="bar" x="432.0" y="50" width="172.0" height="18" rx="4"/><text class="label" x="439.0" y="64">#2 1m</text></g>
    <g class="row"><title>2 Print</title><path class="rule" d="M0 74H1120"/><text x="0" y="94"><tspan class="id">2</tspan> Print</text></g>
    <g class="attempt cut_off"><title>2 attempt 1: cut off, 3m</title><rect class="bar" x="604.0" y="80" width="516.0" height="18" rx="4"/><text class="label" x="611.0" y="94">cut off 3m</text></g>
    </g>
    </g>
    </svg>
    "#);
}

#[test]
fn a_timeline_as_data_and_as_a_file() {
    let world = sessions();
    fs::write(world.repository().join("mine.svg"), "<svg/>").unwrap();
    transcript!(world, @r#"
    $ session timeline --json
    {"schema":"flagpost.timeline/1","session":"auth-20260205-143000","live":false,"began":"2026-02-05T14:30:00Z","ended":"2026-02-05T14:35:00Z","waves":[{"wave":1,"of":2,"began":"2026-02-05T14:30:00Z","ended":"2026-02-05T14:32:00Z"},{"wave":2,"of":2,"began":"2026-02-05T14:32:00Z","ended":"2026-02-05T14:35:00Z"}],"tasks":[{"id":"1","subject":"Parse <b>","attempts":[{"attempt":1,"began":"2026-02-05T14:30:10Z","ended":"2026-02-05T14:31:00Z","end":"failed"},{"attempt":2,"began":"2026-02-05T14:31:00Z","ended":"2026-02-05T14:32:00Z","end":"passed"}]},{"id":"2","subject":"Print","attempts":[{"attempt":1,"began":"2026-02-05T14:32:00Z","ended":"2026-02-05T14:35:00Z","end":"cut_off"}]}],"out":null}
    $ session timeline auth --quiet
    1
    2
    $ session timeline auth --out run.svg
    drew 2 tasks in run.svg
    $ session timeline auth --out run.svg --json
    {"schema":"flagpost.timeline/1","session":"auth-20260205-143000","live":false,"began":"2026-02-05T14:30:00Z","ended":"2026-02-05T14:35:00Z","waves":[{"wave":1,"of":2,"began":"2026-02-05T14:30:00Z","ended":"2026-02-05T14:32:00Z"},{"wave":2,"of":2,"began":"2026-02-05T14:32:00Z","ended":"2026-02-05T14:35:00Z"}],"tasks":[{"id":"1","subject":"Parse <b>","attempts":[{"attempt":1,"began":"2026-02-05T14:30:10Z","ended":"2026-02-05T14:31:00Z","end":"failed"},{"attempt":2,"began":"2026-02-05T14:31:00Z","ended":"2026-02-05T14:32:00Z","end":"passed"}]},{"id":"2","subject":"Print","attempts":[{"attempt":1,"began":"2026-02-05T14:32:00Z","ended":"2026-02-05T14:35:00Z","end":"cut_off"}]}],"out":"run.svg"}
    $ session timeline --out mine.svg
    exit 4
    2> flagpost: [dir]/web/mine.svg exists and is no drawing of flagpost's; it is left as it is
    2>   hint: name another file with --out
    $ session timeline empty
    exit 3
    2> flagpost: there is no timeline of session empty-20250101-000000
    2>   hint: its progress.jsonl tells of no times; 'flagpost session show' shows what is known
    $ session timeline empty --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no timeline of session empty-20250101-000000","hint":"its progress.jsonl tells of no times; 'flagpost session show' shows what is known","causes":[]}
    $ session timeline nobody
    exit 3
    2> flagpost: there is no session nobody
    2>   hint: 'flagpost session list' shows those there are
    "#);
    let drawn = fs::read_to_string(world.repository().join("run.svg")).unwrap();
    assert_eq!(drawn, world.ok(["session", "timeline"]));
}

#[test]
fn without_a_session_there_is_no_timeline() {
    transcript!(world_with(&["a"]), @r#"
    $ session timeline
    exit 3
    2> flagpost: no session is in [dir]/web/.claude/sessions
    2>   hint: 'flagpost session list' shows those that ended
    $ session timeline --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"no session is in [dir]/web/.claude/sessions","hint":"'flagpost session list' shows those that ended","causes":[]}
    "#);
}
