//! Briefs and decisions, as the operator types them.

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::world;

/// The text with what differs from run to run named: each message's own id and the hash over it, and
/// the process that decided.
pub fn named(told: &str) -> String {
    let ids = named_after(told, "\"id\":\"01", ("\"id\":\"[id]", 34));
    let envelopes = named_after(&ids, "\"envelope\":\"", ("\"envelope\":\"[envelope]", 64));
    let mut parts = envelopes.split("\"hand\":{");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all += "\"hand\":{[hand]";
        all += &part[part.find('}').unwrap()..];
    }
    all
}

/// The text with so many bytes after each of these words replaced.
fn named_after(told: &str, words: &str, (name, length): (&str, usize)) -> String {
    let mut parts = told.split(words);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        all += name;
        all += &part[length..];
    }
    all
}

/// A fleet of two, and a brief for each.
fn fleet() -> World {
    let world = world();
    world.ok(["worker", "add", "W1", "--agent", "claude"]);
    world.ok(["worker", "add", "W2"]);
    for worker in ["W1", "W2"] {
        world.ok(["worker", "heartbeat", "--as", worker]);
    }
    world.ok([
        "assign",
        "#1192",
        "W1",
        "--inline",
        "# Merge the seal\n\nAll of it.\n",
    ]);
    world.ok(["assign", "1244", "W2", "--inline", "Write the parser"]);
    world
}

#[test]
fn assign() {
    let world = world();
    world.ok(["worker", "add", "W7"]);
    world.ok(["worker", "heartbeat", "--as", "W7"]);
    std::fs::write(world.repository().join("brief.md"), "# From a file\n").unwrap();
    transcript!(world, named, @r#"
    $ assign '#1244' W7 --brief brief.md
    ASSIGNED #1244 → W7 (seq=0001)
    $ assign 1244 W7 --brief brief.md
    ASSIGNED #1244 → W7 (seq=0001)
    2> flagpost: the same was proposed a moment ago: nothing was added
    $ assign 1245 W7 --inline 'Now' --summary 'Short' --expires-in 2h --json
    {"schema":"flagpost.proposed/1","brief":{"worker":"W7","seq":2,"kind":"dispatch_brief","ticket":"1245","summary":"Short","controller":"ann","submitted_at":"2026-05-13T14:25:00Z","expires_at":"2026-05-13T16:25:00Z","in_reply_to":null,"id":"[id]"},"replay":false,"verdict":null,"policy_fault":null}
    $ assign 1246 W7 --inline Then --quiet
    W7/3
    $ assign x1 W7 --inline a
    exit 6
    2> flagpost: "x1" is not a ticket: use digits, as in 1244 or #1244
    $ assign 1 ../W7 --inline a
    exit 6
    2> flagpost: "../W7" is not a worker id: use 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit
    $ assign 1 W9 --inline a
    exit 3
    2> flagpost: there is no worker W9
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ assign 1 W7 --brief nope.md
    exit 3
    2> flagpost: cannot read nope.md: No such file or directory (os error 2)
    $ assign 1 W7 --inline a --brief brief.md
    exit 2
    2> flagpost: the argument '--inline <TEXT>' cannot be used with '--brief <PATH>'
    2>   hint: 'flagpost assign --help' shows how
    $ assign 1 W7 --inline ' '
    exit 6
    2> flagpost: brief: it says nothing
    $ assign 1 W7 --inline a --expires-in never
    exit 2
    2> flagpost: invalid value 'never' for '--expires-in <TIME>': use a time, as in 30m or 2h
    2>   hint: 'flagpost assign --help' shows how
    $ assign 1 W7
    exit 6
    2> flagpost: brief: it says nothing
    "#);
    let fed = world.feed(["assign", "7", "W7"], b"From stdin\n");
    assert_eq!(fed.stdout, "ASSIGNED #7 → W7 (seq=0004)\n");
}

#[test]
fn what_a_silent_worker_is_assigned_waits_for_it_and_the_slash_command_refuses() {
    let world = world();
    world.ok(["worker", "add", "W7"]);
    transcript!(world, @r#"
    $ slash '/assign 1 W7 --inline=a'
    exit 4
    2> flagpost: worker W7 is not live: it has given no sign of life yet, and no process of it runs
    2>   hint: it is live once it asks: 'flagpost worker next' or 'flagpost worker heartbeat'; 'flagpost assign' queues a brief until then
    $ worker heartbeat W7
    W7 is live
    $ FLAGPOST_CLOCK=2026-05-13T15:00:00Z slash '/assign 1 W7 --inline=a'
    exit 4
    2> flagpost: worker W7 is not live: its last sign of life was at 2026-05-13T14:25:00Z, and no process of it runs
    2>   hint: it is live once it asks: 'flagpost worker next' or 'flagpost worker heartbeat'; 'flagpost assign' queues a brief until then
    $ FLAGPOST_CLOCK=2026-05-13T15:00:00Z assign 1 W7 --inline a
    ASSIGNED #1 → W7 (seq=0001)
    2> flagpost: W7 is not running: it reads this when it starts
    $ FLAGPOST_CLOCK=2026-05-13T15:00:00Z relay redirect W7 b
    REDIRECTED → W7 (seq=0002)
    2> flagpost: W7 is not running: it reads this when it starts
    $ FLAGPOST_CLOCK=2026-05-13T15:00:00Z worker heartbeat W7
    W7 is live
    $ FLAGPOST_CLOCK=2026-05-13T15:00:00Z assign 2 W7 --inline a
    ASSIGNED #2 → W7 (seq=0003)
    $ FLAGPOST_CLOCK=2026-05-13T15:00:00Z ratify W7 1
    RATIFIED #1 a → W7
    $ FLAGPOST_CLOCK=2026-05-13T15:00:00Z worker next --as W7 --quiet
    1
    "#);
}

#[test]
fn inbox() {
    transcript!(fleet(), named, @r##"
    $ inbox --briefs
    WORKER  SEQ   STAGE    KIND            TICKET  SUMMARY
    W1      0001  pending  dispatch brief  1192    Merge the seal
    W2      0001  pending  dispatch brief  1244    Write the parser
    $ inbox W2
    WORKER  SEQ   STAGE    KIND            TICKET  SUMMARY
    W2      0001  pending  dispatch brief  1244    Write the parser
    $ inbox --briefs --quiet
    W1/1
    W2/1
    $ inbox --briefs --limit 1
    WORKER  SEQ   STAGE    KIND            TICKET  SUMMARY
    W2      0001  pending  dispatch brief  1244    Write the parser
    … and 1 more: --limit 0 shows all
    $ inbox W1 1
    # Merge the seal

    All of it.
    $ inbox W1 1 --json
    {"schema":"flagpost.brief/1","brief":{"worker":"W1","seq":1,"kind":"dispatch_brief","ticket":"1192","summary":"Merge the seal","controller":"ann","submitted_at":"2026-05-13T14:25:00Z","expires_at":null,"in_reply_to":null,"id":"[id]"},"body":"# Merge the seal\n\nAll of it.\n","stage":"pending","decision":null,"verdict":null,"envelope":"[envelope]","withheld":null,"unproposed":false,"before":null}
    $ inbox W1 9
    exit 3
    2> flagpost: there is no brief 0009 of W1
    2>   hint: 'flagpost inbox --briefs --all' shows those there are
    $ inbox W9
    exit 3
    2> flagpost: there is no worker W9
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ inbox W1 0
    exit 6
    2> flagpost: "0" is not the number of an envelope: numbers are 1, 2, 3 and so on
    2>   hint: 'flagpost inbox --briefs --all' and 'flagpost outbox' show the numbers
    $ ratify W1
    RATIFIED #1192 Merge the seal → W1
      | # Merge the seal
      | All of it.
    $ inbox W1
    nothing waits for you
    $ inbox W1 --json
    {"schema":"flagpost.briefs/1","briefs":[],"total":0,"truncated":false,"skipped":[]}
    $ inbox --briefs --all
    WORKER  SEQ   STAGE     KIND            TICKET  SUMMARY
    W1      0001  ratified  dispatch brief  1192    Merge the seal
    W2      0001  pending   dispatch brief  1244    Write the parser
    "##);
}

#[test]
fn ratify() {
    let world = fleet();
    transcript!(world, named, @r#"
    $ ratify W1 1
    RATIFIED #1192 Merge the seal → W1
    $ ratify W1 1
    ALREADY RATIFIED #1192 Merge the seal → W1
    $ relay reject W1 1
    exit 4
    2> flagpost: brief 0001 of W1 is ratified already by ann
    2>   hint: the first decision stands; 'flagpost relay redirect' sends another brief
    $ ratify W1
    exit 3
    2> flagpost: no brief of W1 waits for a decision
    2>   hint: 'flagpost inbox --briefs --all' shows what was decided
    $ ratify W1 7
    exit 3
    2> flagpost: there is no brief 0007 of W1
    2>   hint: 'flagpost inbox --briefs --all' shows those there are
    $ ratify W9
    exit 3
    2> flagpost: there is no worker W9
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ ratify
    exit 2
    2> flagpost: the following required arguments were not provided: <WORKER>
    2>   hint: 'flagpost ratify --help' shows how
    $ ratify W1 --scope 'W*'
    exit 2
    2> flagpost: --scope and --count-status go with all, as in ratify all
    2>   hint: flagpost --help shows how
    $ ratify all 1
    exit 2
    2> flagpost: all takes no number: 'flagpost ratify WORKER SEQ' decides on one brief
    2>   hint: flagpost --help shows how
    $ ratify all --scope 'W{'
    exit 6
    2> flagpost: "W{" is not a pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
    $ ratify all --scope 'W{1,3}'
    nothing in W{1,3} waits for you; 1 other brief waits
    $ ratify all --json
    {"schema":"flagpost.decided/1","decided":[{"brief":{"worker":"W2","seq":1,"kind":"dispatch_brief","ticket":"1244","summary":"Write the parser","controller":"ann","submitted_at":"2026-05-13T14:25:00Z","expires_at":null,"in_reply_to":null,"id":"[id]"},"decision":"ratified","already":false}],"failed":[],"arrived":[],"left_aside":[]}
    $ ratify all
    nothing waits for you
    $ ratify all --quiet
    $ ratify all --count-status
    nothing waits for you
    "#);
    for text in ["one", "two", "three"] {
        world.ok(["relay", "redirect", "W1", text]);
    }
    assert_eq!(world.flagpost(["ratify", "all", "--count-status"]).code, 3);
}

#[test]
fn reject() {
    let world = fleet();
    transcript!(world, named, @r#"
    $ relay reject W1 --reason 'Too large: split it'
    REJECTED #1192 Merge the seal → W1
      | # Merge the seal
      | All of it.
    $ relay reject W1 1
    ALREADY REJECTED #1192 Merge the seal → W1
    $ ratify W1 1
    exit 4
    2> flagpost: brief 0001 of W1 is rejected already by ann
    2>   hint: the first decision stands; 'flagpost relay redirect' sends another brief
    $ relay reject W2 1 --json
    {"schema":"flagpost.decided/1","decided":[{"brief":{"worker":"W2","seq":1,"kind":"dispatch_brief","ticket":"1244","summary":"Write the parser","controller":"ann","submitted_at":"2026-05-13T14:25:00Z","expires_at":null,"in_reply_to":null,"id":"[id]"},"decision":"rejected","already":false}],"failed":[],"arrived":[],"left_aside":[]}
    $ relay reject W2
    exit 3
    2> flagpost: no brief of W2 waits for a decision
    2>   hint: 'flagpost inbox --briefs --all' shows what was decided
    $ worker next --as W1
    dispatch_brief 0001 #1192 rejected, 29 bytes
    [dir]/home/.flagpost/repos/[repo]/workers/W1/inbox/0001.brief
    REJECTED: do not do this: Too large: split it

    # Merge the seal

    All of it.
    "#);
}

#[test]
fn edit() {
    let world = fleet();
    std::fs::write(world.repository().join("better.md"), "Better\n").unwrap();
    transcript!(world, named, @r#"
    $ relay edit W1
    exit 2
    2> flagpost: set EDITOR, or give the new text with --file PATH
    2>   hint: flagpost --help shows how
    $ EDITOR='sed -i s/seal/door/' relay edit W1 1
    EDITED #1192 Merge the door → W1
    $ inbox W1 1
    # Merge the door

    All of it.
    $ EDITOR=true relay edit W1 1
    exit 4
    2> flagpost: brief 0001 of W1 is edited already by ann
    2>   hint: the first decision stands; 'flagpost relay redirect' sends another brief
    $ EDITOR=false relay edit W2
    exit 1
    2> flagpost: false ended with exit status: 1: the brief is as it was
    $ EDITOR=true relay edit W1
    exit 3
    2> flagpost: no brief of W1 waits for a decision
    2>   hint: 'flagpost inbox --briefs --all' shows what was decided
    $ relay edit W2 1 --file better.md --json
    {"schema":"flagpost.decided/1","decided":[{"brief":{"worker":"W2","seq":1,"kind":"dispatch_brief","ticket":"1244","summary":"Better","controller":"ann","submitted_at":"2026-05-13T14:25:00Z","expires_at":null,"in_reply_to":null,"id":"[id]"},"decision":"edited","already":false}],"failed":[],"arrived":[],"left_aside":[]}
    $ worker next --as W2
    dispatch_brief 0001 #1244 edited, 7 bytes
    [dir]/home/.flagpost/repos/[repo]/workers/W2/inbox/0001.brief

    Better
    "#);
    assert_eq!(drafts(&world), 0);
    // While the operator writes, somebody else decides, whose flag counts.
    let policy = world.home().join("policy.toml");
    std::fs::write(policy, "foreign_flags = \"accept\"\n").unwrap();
    world.ok(["policy", "accept", "--yes"]);
    world.ok(["assign", "3", "W2", "--inline", "Write the lexer"]);
    let inbox = world.home().join("repos/*/workers/W2/inbox");
    let editor = format!(
        "for d in {}; do touch $d/0002.rejected; done; echo more >>",
        inbox.display()
    );
    let mut command = world.command();
    let ran = world.run(command.args(["relay", "edit", "W2"]).env("EDITOR", editor));
    assert_eq!(ran.code, 4, "{ran}");
    assert!(
        ran.stderr.contains("what you wrote is kept in [dir]"),
        "{ran}"
    );
    assert_eq!(drafts(&world), 1);
}

fn drafts(world: &World) -> usize {
    let names = std::fs::read_dir(world.home()).unwrap();
    let names = names.map(|it| it.unwrap().file_name());
    names
        .filter(|it| it.to_string_lossy().starts_with("draft-"))
        .count()
}

#[test]
fn redirect_and_merge() {
    let world = fleet();
    world.ok([
        "worker", "report", "Ready", "--pr", "12", "--ticket", "9", "--as", "W2",
    ]);
    transcript!(world, named, @r#"
    $ relay redirect W1 'Look at #1244 first'
    REDIRECTED → W1 (seq=0002)
    $ relay redirect W1
    exit 2
    2> flagpost: say what to do, as in redirect W3 'Stop'
    2>   hint: flagpost --help shows how
    $ relay redirect W9 x
    exit 3
    2> flagpost: there is no worker W9
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ relay redirect W1 Stop --json
    {"schema":"flagpost.proposed/1","brief":{"worker":"W1","seq":3,"kind":"redirect","ticket":null,"summary":"Stop","controller":"ann","submitted_at":"2026-05-13T14:25:00Z","expires_at":null,"in_reply_to":null,"id":"[id]"},"replay":false,"verdict":null,"policy_fault":null}
    $ relay merge 12
    MERGE #12 → W2 (seq=0002)
    $ relay merge 13
    exit 3
    2> flagpost: there is no worker that reported on pull request #13
    2>   hint: 'flagpost relay redirect' sends a brief to a worker by name
    $ relay merge x
    exit 2
    2> flagpost: invalid value 'x' for '<PR>': invalid digit found in string
    2>   hint: 'flagpost relay merge --help' shows how
    "#);
}

#[test]
fn outbox() {
    let world = fleet();
    transcript!(world, named, @r#"
    $ outbox
    no reports
    $ worker report 'Cycle 3 complete' --re 1 --as W1
    reported cycle_report (seq=0001, 16 bytes)
    $ worker report 'Which grammar?' --kind blocked --ticket 7 --as W2
    reported blocked (seq=0001, 14 bytes)
    $ outbox
    WORKER  SEQ   STATE  KIND          TICKET  SAYS
    W1      0001  new    cycle report  1192    Cycle 3 complete
    W2      0001  new    blocked       7       Which grammar?
    $ outbox W1 --json
    {"schema":"flagpost.reports/1","reports":[{"report":{"worker":"W1","seq":1,"kind":"cycle_report","ticket":"1192","body":"Cycle 3 complete","pr":null,"next_action":null,"in_reply_to":1,"session":"W1","produced_at":"2026-05-13T14:25:00Z","id":"[id]"},"read":false,"confirmed":false}],"total":1,"truncated":false,"skipped":[]}
    $ outbox W1 1
    Cycle 3 complete
    $ outbox --unread
    WORKER  SEQ   STATE  KIND     TICKET  SAYS
    W2      0001  new    blocked  7       Which grammar?
    $ outbox W1 1 --json
    {"schema":"flagpost.report/1","report":{"worker":"W1","seq":1,"kind":"cycle_report","ticket":"1192","body":"Cycle 3 complete","pr":null,"next_action":null,"in_reply_to":1,"session":"W1","produced_at":"2026-05-13T14:25:00Z","id":"[id]"},"read":true,"confirmed":false}
    $ outbox W1 2
    exit 3
    2> flagpost: there is no report 0002 of W1
    2>   hint: 'flagpost outbox' shows those there are
    "#);
}

#[test]
fn gc() {
    let world = fleet();
    transcript!(world, @r#"
    $ relay gc
    nothing to archive: the newest 100 and what nobody has read stay
    $ relay gc --dry-run --json
    {"schema":"flagpost.mail_archived/1","dry_run":true,"archived":[]}
    "#);
    for number in 0..101 {
        world.ok(["relay", "redirect", "W1", &format!("Turn {number}")]);
    }
    world.ok(["ratify", "all"]);
    for number in ["1", "2", "3"] {
        world.ok(["worker", "ack", number, "--as", "W1"]);
    }
    transcript!(world, @"
    $ relay gc --dry-run
    would archive 2 of W1/inbox
    $ relay gc
    archived 2 of W1/inbox
    $ relay gc --quiet
    $ inbox W1 1
    # Merge the seal

    All of it.
    $ inbox W1 2
    Turn 0
    ");
}

#[test]
fn slash() {
    let world = fleet();
    transcript!(world, named, @r#"
    $ slash '/inbox'
    W1 0001 dispatch_brief #1192 Merge the seal
    W2 0001 dispatch_brief #1244 Write the parser
    $ slash '/ratify all --scope=W{1,3}'
    exit 1
    RATIFIED #1192 Merge the seal → W1
    $ slash '/ratify all' --json
    exit 1
    {"schema":"flagpost.slash/1","command":"/ratify all","lines":["RATIFIED #1244 Write the parser → W2"],"faults":[],"exit_status":1}
    $ slash '/ratify all'
    $ slash '/ratify W1'
    exit 3
    2> flagpost: no brief of W1 waits for a decision
    2>   hint: 'flagpost inbox --briefs --all' shows what was decided
    $ slash '/reject W1 1'
    exit 4
    2> flagpost: brief 0001 of W1 is ratified already by ann
    2>   hint: the first decision stands; 'flagpost relay redirect' sends another brief
    $ slash '/assign #7 W2 --inline="Fix it, now"'
    ASSIGNED #7 → W2 (seq=0002)
    $ slash '/assign seven W2 --inline=x'
    exit 6
    2> flagpost: "seven" is not a ticket: use digits, as in 1244 or #1244
    $ slash '/assign 7 W9 --inline=x'
    exit 3
    2> flagpost: there is no worker W9
    2>   hint: 'flagpost worker list' shows the fleet, 'flagpost worker add' adds to it; a worker's own verbs take --as
    $ slash '/assign 7 W2 --brief=nope.md'
    exit 3
    2> flagpost: there is no file nope.md
    $ slash '/redirect W2 do not stop'
    REDIRECTED → W2 (seq=0003)
    $ EDITOR='sed -i s/not/never/' slash '/edit W2'
    EDITED do never stop → W2
    $ slash '/reject W2'
    REJECTED #7 Fix it, now → W2
    $ slash '/merge 12'
    exit 3
    2> flagpost: there is no worker that reported on pull request #12
    2>   hint: 'flagpost relay redirect' sends a brief to a worker by name
    $ slash '/outbox W1'
    $ slash '/relay-gc'
    $ slash '/search PARSER' --quiet
    W2/inbox/0001: Write the parser
    history 5: {"kind":"relay.brief_proposed","actor":"ann","worker":"W2","seq":1,"detail":{"kind":"dispatch_brief","ticket":"1244","summary":"Write the parser","sha256":"4f26a3975893ee3356a6e7bd0291cb1a6823d6a35f99a23e67e09a2600bdff93","envelope":"[envelope]"}}
    $ slash '/nope'
    exit 6
    2> flagpost: there is no command "/nope": there are /ratify /reject /edit /assign /inbox /outbox /redirect /merge /relay-gc /search
    $ slash ratify
    exit 6
    2> flagpost: there is no command "ratify": there are /ratify /reject /edit /assign /inbox /outbox /redirect /merge /relay-gc /search
    $ slash
    exit 2
    2> flagpost: type a command, as in slash '/inbox'
    2>   hint: flagpost --help shows how
    "#);
}

#[test]
fn a_policy_ratifies_what_it_names() {
    let world = world();
    world.ok(["worker", "add", "W1"]);
    world.ok(["worker", "heartbeat", "--as", "W1"]);
    let policy = world.home().join("policy.toml");
    let rule = "[[rule]]\nname = \"turns\"\nkind = \"redirect\"\nthen = \"ratify\"\n";
    std::fs::write(&policy, rule).unwrap();
    let withheld = world.transcript(
        "relay redirect W1 Down\npolicy accept\nFLAGPOST_WORKER=W1 policy accept --yes",
    );
    for page in ["inbox", "status"] {
        let told = world.flagpost([page]).stderr;
        let words = "skipped policy.toml: nothing is approved by it: the operator has not accepted";
        assert!(told.contains(words), "{page}: {told}");
    }
    let turned = world.transcript(
        "policy accept --yes\nrelay redirect W1 Left\nassign 1 W1 --inline Right\npolicy accept --yes --json",
    );
    std::fs::write(&policy, "[[rule]]\nthen = \"yes\"\n").unwrap();
    let broken = world.transcript("relay redirect W1 Back");
    assert_snapshot!(withheld + &turned + &broken, @r#"
    $ relay redirect W1 Down
    REDIRECTED → W1 (seq=0001)
    2> flagpost: the policy was not asked: the operator has not accepted it as it is; 'flagpost policy accept' shows it and asks
    $ policy accept
    exit 2
    2> [dir]/home/.flagpost/policy.toml:
    2> [[rule]]
    2> name = "turns"
    2> kind = "redirect"
    2> then = "ratify"
    2> flagpost: nobody is there to confirm, so nothing was accepted
    2>   hint: --yes does not ask
    $ FLAGPOST_WORKER=W1 policy accept --yes
    exit 4
    2> flagpost: W1 accepts no policy: only the operator does
    2>   hint: 'flagpost stuck' asks a person, who does it in a terminal of their own
    $ policy accept --yes
    the policy of web counts as it is printed here
    2> [dir]/home/.flagpost/policy.toml:
    2> [[rule]]
    2> name = "turns"
    2> kind = "redirect"
    2> then = "ratify"
    $ relay redirect W1 Left
    REDIRECTED → W1 (seq=0002)
    ratified by the policy: turns
    $ assign 1 W1 --inline Right
    ASSIGNED #1 → W1 (seq=0003)
    $ policy accept --yes --json
    {"schema":"flagpost.policy_accepted/1","path":"[dir]/home/.flagpost/policy.toml","sha256":"41c93637d2a4f47d9c5b6170cb6ec549b18ed46724bc3aa800552a2cb202858d","already":true}
    2> [dir]/home/.flagpost/policy.toml:
    2> [[rule]]
    2> name = "turns"
    2> kind = "redirect"
    2> then = "ratify"
    $ relay redirect W1 Back
    REDIRECTED → W1 (seq=0004)
    2> flagpost: the policy was not asked: [dir]/home/.flagpost/policy.toml is malformed: rule 1: "yes" is none of ratify, ask
    "#);
}

#[test]
fn nowhere() {
    transcript!(world(), @r#"
    $ inbox --briefs
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ worker list
    exit 3
    2> flagpost: [dir]/web is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    $ slash '/ratify all' --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"[dir]/web is in no repository that Flagpost knows","hint":"run 'flagpost init' at the top of your project, or name a list with --list","causes":[]}
    "#);
}
