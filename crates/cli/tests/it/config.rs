//! `config`: settings seen, stored and taken away, and what they do.

use std::fs;

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::{exits, says, world, world_with};

fn write(world: &World, text: impl AsRef<[u8]>) {
    fs::create_dir_all(world.home()).unwrap();
    fs::write(world.home().join("config.toml"), text).unwrap();
}

fn file(world: &World) -> String {
    fs::read_to_string(world.home().join("config.toml")).unwrap()
}

/// Without the settings that nobody set, all of which the defaults' own test lists.
fn settled(told: &str) -> String {
    let is_settled = |line: &&str| {
        let from = line.split_whitespace().nth(1);
        !matches!(from, Some("default" | "unset"))
    };
    told.lines()
        .filter(is_settled)
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn without_a_file_the_defaults_hold() {
    let world = world();
    transcript!(world, @r#"
    $ config list
    KEY                               FROM     VALUE
    tasks.roots                       unset
    tasks.list                        unset
    tasks.mirror                      unset
    tasks.mirror_as                   default  link
    claim.lease                       default  15m
    gate.wait                         default  30m
    run.agent                         unset
    run.max_parallel                  default  5
    run.retries                       default  3
    run.timeout                       unset
    run.stall_after                   default  10m
    run.grace                         default  10s
    run.start_timeout                 default  60s
    run.uncommitted                   default  commit
    run.worktrees                     default  auto
    run.worktree.copy                 unset
    run.worktree.link                 unset
    run.worktree.submodules           default  true
    run.worktree.setup                unset
    run.worktree.teardown             unset
    run.worktree.ports                unset
    run.worktree.keep                 default  unlanded
    run.schedule                      default  eager
    run.max_usd                       unset
    run.max_tokens                    unset
    run.resume_after_limit            default  false
    run.quota.reserve                 default  5
    run.quota.park                    default  1h
    run.inject                        default  hooks mcp turns
    run.open                          unset
    land.check                        unset
    land.timeout                      default  30m
    land.git_timeout                  default  10m
    land.how                          default  merge
    land.batch                        default  4
    land.retries                      default  2
    land.review                       default  false
    session.keep_results              default  true
    bridge.dir                        unset
    bridge.compat                     unset
    bridge.list                       unset
    integrations.agent.enabled        default  false
    integrations.agent.poll_interval  default  2s
    notify.channels                   default  terminal
    notify.command                    unset
    notify.kinds                      unset
    notify.grace                      default  5s
    notify.batch                      default  20s
    notify.remind                     default  0s
    notify.quiet                      unset
    notify.body                       default  none
    notify.osc                        default  auto
    ui.glyphs                         default  auto
    ui.mouse                          default  true
    $ config get claim.lease
    15m
    $ config get claim.lease --json
    {"schema":"flagpost.setting/1","key":"claim.lease","value":"15m","hidden":false,"origin":"default","default":"15m","variable":"FLAGPOST_CLAIM_LEASE","option":"--lease","about":"How long a claim holds without renewal, in a run as well."}
    $ config path
    [dir]/home/.flagpost/config.toml
    $ config path --json
    {"schema":"flagpost.config_path/1","path":"[dir]/home/.flagpost/config.toml","exists":false}
    $ config path --quiet
    [dir]/home/.flagpost/config.toml
    "#);
    assert!(!world.home().exists(), "looking makes nothing");
}

#[test]
fn what_is_stored_is_echoed_and_found_again() {
    let world = world();
    transcript!(world, settled, @r#"
    $ config set run.max_parallel 8
    run.max_parallel = 8
    $ config set claim.lease '1h 30m' --json
    {"schema":"flagpost.setting_stored/1","key":"claim.lease","value":"1h 30m","overridden_by":null}
    $ config set run.timeout 20m --quiet
    run.timeout
    $ config set run.agent 'sh agent.sh {prompt_file}'
    run.agent = "sh agent.sh {prompt_file}"
    $ config set tasks.roots ~/tasks /srv/tasks
    tasks.roots = ["~/tasks","/srv/tasks"]
    $ config set queries.mine 'owner=ann sort=due'
    queries.mine = "owner=ann sort=due"
    $ config list
    KEY                               FROM         VALUE
    tasks.roots                       config.toml  ~/tasks /srv/tasks
    claim.lease                       config.toml  1h 30m
    run.agent                         config.toml  sh agent.sh {prompt_file}
    run.max_parallel                  config.toml  8
    run.timeout                       config.toml  20m
    queries.mine                      config.toml  owner=ann sort=due
    $ config get tasks.roots
    ~/tasks
    /srv/tasks
    $ config get tasks.roots --json
    {"schema":"flagpost.setting/1","key":"tasks.roots","value":["~/tasks","/srv/tasks"],"hidden":false,"origin":"config.toml","default":null,"variable":"FLAGPOST_TASKS_ROOTS","option":null,"about":"Directories whose subdirectories are lists too, such as those of an agent's own task tool; the first that has a list wins, and the home comes first."}
    $ config get queries.mine
    owner=ann sort=due
    $ config unset run.agent
    run.agent is taken out of the file
    $ config unset run.agent
    run.agent is not in the file
    $ config unset queries.mine --json
    {"schema":"flagpost.setting_unset/1","key":"queries.mine","was_set":true}
    $ config unset claim.lease --quiet
    claim.lease
    $ config get run.agent
    exit 3
    2> flagpost: run.agent is not set
    2>   hint: 'flagpost config set run.agent VALUE' sets it
    $ config get queries.mine --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"queries.mine is not set","hint":"'flagpost config set queries.mine VALUE' sets it","causes":[]}
    "#);
    assert_snapshot!(file(&world), @r#"
    [run]
    max_parallel = 8
    timeout = "20m"

    [claim]

    [tasks]
    roots = ["~/tasks", "/srv/tasks"]

    [queries]
    "#);
}

#[test]
fn a_value_comes_from_a_file_or_stdin_too() {
    let world = world();
    let path = world.repository().join("agent.txt");
    fs::write(&path, "sh agent.sh\n").unwrap();
    world.ok([
        "config",
        "set",
        "run.agent",
        "--file",
        path.to_str().unwrap(),
    ]);
    assert_eq!(world.ok(["config", "get", "run.agent"]), "sh agent.sh\n");
    let ran = world.feed(["config", "set", "run.agent", "-"], b"claude\n");
    assert_eq!(ran.stdout, "run.agent = \"claude\"\n");
    transcript!(world, @r#"
    $ config set run.agent
    exit 2
    2> flagpost: which value? 'flagpost config unset' takes one away
    2>   hint: flagpost --help shows how
    $ config set run.agent x --file agent.txt
    exit 2
    2> flagpost: give the value or --file, not both
    2>   hint: flagpost --help shows how
    $ config set run.agent --file nowhere
    exit 3
    2> flagpost: cannot read nowhere: No such file or directory (os error 2)
    "#);
}

#[test]
fn what_is_wrong_is_refused_and_changes_nothing() {
    let world = world();
    transcript!(world, @r#"
    $ config set run.retires 3
    exit 3
    2> flagpost: there is no setting run.retires
    2>   hint: do you mean run.retries? 'flagpost config list' shows those there are
    $ config set nonsense 3
    exit 3
    2> flagpost: there is no setting nonsense
    2>   hint: 'flagpost config list' shows those there are
    $ config set run 3
    exit 3
    2> flagpost: there is no setting run
    2>   hint: do you mean run.open? 'flagpost config list' shows those there are
    $ config set queries.../x y
    exit 3
    2> flagpost: there is no setting queries.../x
    2>   hint: 'flagpost config list' shows those there are
    $ config get run.retires --json
    exit 3
    {"schema":"flagpost.error/1","kind":"not_found","exit_code":3,"message":"there is no setting run.retires","hint":"do you mean run.retries? 'flagpost config list' shows those there are","causes":[]}
    $ config unset run.retires
    exit 3
    2> flagpost: there is no setting run.retires
    2>   hint: do you mean run.retries? 'flagpost config list' shows those there are
    $ config set run.retries three
    exit 6
    2> flagpost: run.retries: it must be a whole number from 1
    $ config set run.retries 0 --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"run.retries: it must be a whole number from 1","hint":null,"causes":[]}
    $ config set run.retries 3 4
    exit 6
    2> flagpost: run.retries: it takes one value; quote one of several words
    $ config set claim.lease 31d
    exit 6
    2> flagpost: claim.lease: it must be a time from 1s to 720h, such as "15m" or "1h 30m"
    $ config set run.agent ''
    exit 6
    2> flagpost: run.agent: it must be a text that is not empty
    $ config set tasks.roots tasks
    exit 6
    2> flagpost: tasks.roots: it must be directories, each absolute or below ~
    $ config set tasks.list ../x
    exit 6
    2> flagpost: tasks.list: it must be a list's name: up to 64 letters, digits, '.', '_' and '-'
    "#);
    assert!(!world.home().exists(), "nonsense makes nothing");
}

#[test]
fn comments_and_order_stay() {
    let world = world();
    write(
        &world,
        "# Ann's\n\n[run] # runs\nretries = 2 # dear\n\n# not yet\n#agent = \"x\"\n[claim]\nlease='9m'\n# the end\n",
    );
    world.ok(["config", "set", "run.retries", "4"]);
    world.ok(["config", "set", "claim.lease", "10m"]);
    world.ok(["config", "set", "run.agent", "claude"]);
    world.ok(["config", "unset", "run.retries"]);
    assert_snapshot!(file(&world), @r#"
    # Ann's

    [run] # runs
    # dear
    agent = "claude"

    # not yet
    #agent = "x"
    [claim]
    lease="10m"
    # the end
    "#);
}

#[test]
fn a_name_that_is_no_setting_does_no_harm() {
    let world = world_with(&["a"]);
    write(&world, "[run]\nretry = 3\n[other]\nthing = { x = 1 }\n");
    transcript!(world, settled, @"
    $ config list
    KEY                               FROM     VALUE
    2> flagpost: [dir]/home/.flagpost/config.toml, line 2: there is no setting run.retry; do you mean run.retries?
    2> flagpost: [dir]/home/.flagpost/config.toml, line 4: there is no setting other.thing.x
    $ list
    ID  STATE    SUBJECT
    1   pending  a
    $ claim 1
    claimed 1 a (token 3, lease ends in 15m)
    $ config unset run.retry
    run.retry is taken out of the file
    ");
    write(&world, "'run.retries' = 9\n[queries.a]\nb = 'x'\n");
    assert_eq!(world.ok(["config", "get", "run.retries"]), "3\n");
    let names = world.ok(["config", "list", "--quiet"]);
    assert!(names.starts_with("tasks.roots\n") && names.ends_with("ui.mouse\n"));
    assert_eq!(names.lines().count(), 54);
    let (_, listed) = world.json(["config", "list"]);
    assert_snapshot!(listed["unknown"].to_string(), @r#"[{"key":"run.retries","line":1,"suggestion":"run.retries"},{"key":"queries.a.b","line":3,"suggestion":null}]"#);
}

#[test]
fn a_file_that_cannot_be_read_is_never_written() {
    let world = world_with(&["a"]);
    for broken in [
        &b"[run]\nretries = \n"[..],
        b"[run]\nretries = 3\nretries = 4\n",
        b"x = '\xff'\n",
        b"run = 3\n",
        b"[run.retries]\nx = 1\n",
    ] {
        write(&world, broken);
        let ran = exits(world.flagpost(["config", "set", "run.retries", "5"]), 6);
        let kept = fs::read(world.home().join("config.toml")).unwrap();
        assert_eq!(kept, broken, "{ran}");
    }
    write(&world, "[claim]\n\nlease = 15 # minutes\nx = [\n");
    transcript!(world, @r#"
    $ config list
    exit 6
    2> flagpost: [dir]/home/.flagpost/config.toml is malformed: line 4: unclosed array, expected `]`
    2>   hint: it is left as it is; mend it with an editor
    $ config set claim.lease 15m --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"[dir]/home/.flagpost/config.toml is malformed: line 4: unclosed array, expected `]`","hint":"it is left as it is; mend it with an editor","causes":[]}
    $ claim 1
    exit 6
    2> flagpost: [dir]/home/.flagpost/config.toml is malformed: line 4: unclosed array, expected `]`
    2>   hint: it is left as it is; mend it with an editor
    $ list
    ID  STATE    SUBJECT
    1   pending  a
    $ config path
    [dir]/home/.flagpost/config.toml
    "#);
    write(&world, "[claim]\n\nlease = 15 # minutes\n");
    transcript!(world, @r#"
    $ config list
    exit 6
    2> flagpost: [dir]/home/.flagpost/config.toml is malformed: line 3: claim.lease must be a time from 1s to 720h, such as "15m" or "1h 30m"; it is 15
    2>   hint: it is left as it is; mend it with an editor
    $ config get claim.lease --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"[dir]/home/.flagpost/config.toml is malformed: line 3: claim.lease must be a time from 1s to 720h, such as \"15m\" or \"1h 30m\"; it is 15","hint":"it is left as it is; mend it with an editor","causes":[]}
    $ claim 1
    exit 6
    2> flagpost: [dir]/home/.flagpost/config.toml is malformed: line 3: claim.lease must be a time from 1s to 720h, such as "15m" or "1h 30m"; it is 15
    2>   hint: it is left as it is; mend it with an editor
    $ config get run.retries
    3
    $ config set claim.lease 15m
    claim.lease = "15m"
    $ claim 1
    claimed 1 a (token 3, lease ends in 15m)
    "#);
}

#[test]
fn an_option_comes_before_the_environment_and_that_before_the_file() {
    let world = world_with(&["a"]);
    write(&world, "[run]\nmax_parallel = 7\nretries = 1\n");
    let (_, planned) = world.json(["run", "--dry-run"]);
    tells!(planned, {"max_parallel": 7, "attempts": 1});
    let (_, planned) = world.json(["run", "--dry-run", "--max-parallel", "2"]);
    tells!(planned, {"max_parallel": 2, "attempts": 1});
    let world = world.with("FLAGPOST_RUN_MAX_PARALLEL", "9");
    let (_, planned) = world.json(["run", "--dry-run"]);
    assert_eq!(planned["max_parallel"], 9);
    let (_, planned) = world.json(["run", "--dry-run", "--max-parallel", "2"]);
    assert_eq!(planned["max_parallel"], 2);
    transcript!(world, @r#"
    $ config get run.max_parallel --json
    {"schema":"flagpost.setting/1","key":"run.max_parallel","value":9,"hidden":false,"origin":"environment","default":5,"variable":"FLAGPOST_RUN_MAX_PARALLEL","option":"--max-parallel","about":"How many tasks run side by side."}
    $ config set run.max_parallel 3
    run.max_parallel = 3
    2> flagpost: $FLAGPOST_RUN_MAX_PARALLEL is set, and comes before the file
    $ config get run.max_parallel
    9
    $ FLAGPOST_RUN_MAX_PARALLEL=many config get run.max_parallel
    exit 6
    2> flagpost: $FLAGPOST_RUN_MAX_PARALLEL: it must be a whole number from 1
    $ FLAGPOST_RUN_MAX_PARALLEL=many run --dry-run
    exit 6
    2> flagpost: $FLAGPOST_RUN_MAX_PARALLEL: it must be a whole number from 1
    $ FLAGPOST_TASKS_ROOTS=/a:/b config get tasks.roots
    /a
    /b
    "#);
}

#[test]
fn the_settings_of_a_run_and_a_claim_are_heeded() {
    let world = world_with(&["a", "b", "c"]);
    world.ok(["config", "set", "claim.lease", "1h"]);
    transcript!(world, @r"
    $ claim 1
    claimed 1 a (token 5, lease ends in 1h)
    $ task start 2
    started 2 b (token 6, lease ends in 1h)
    $ claim 3 --lease 5m
    claimed 3 c (token 8, lease ends in 5m)
    $ task release 3
    released 3 c
    ");
    world.ok(["config", "set", "run.retries", "2"]);
    world.ok(["config", "set", "run.agent", "sh -c 'exit 3'"]);
    says(world.flagpost(["run"]), 1, &["(try 2 of 2)"]);
    world.ok(["task", "reopen", "3"]);
    world.ok(["config", "set", "run.agent", "sleep 60"]);
    world.ok(["config", "set", "run.retries", "1"]);
    world.ok(["config", "set", "run.timeout", "1s"]);
    says(world.flagpost(["run"]), 1, &["failed 3"]);
    world.ok(["task", "reopen", "3"]);
    world.ok(["config", "set", "run.agent", "sh -c 'x"]);
    assert_snapshot!(world.flagpost(["run"]), @r#"
    exit 6
    2> flagpost: run.agent: the agent's command line "sh -c 'x" cannot be used: a quote is not closed
    "#);
}

#[test]
fn in_no_repository_a_list_can_be_settled() {
    let world = world_with(&["a"]);
    let anywhere = |args: &[&str]| {
        let mut command = world.command();
        world
            .run(command.args(args).current_dir(world.outside()))
            .to_string()
    };
    assert_snapshot!(anywhere(&["list"]), @r#"
    exit 3
    2> flagpost: [dir] is in no repository that Flagpost knows
    2>   hint: run 'flagpost init' at the top of your project, or name a list with --list
    "#);
    world.ok(["config", "set", "tasks.list", "web"]);
    assert_snapshot!(anywhere(&["list"]), @r#"
    ID  STATE    SUBJECT
    1   pending  a
    "#);
    assert_snapshot!(anywhere(&["add", "b"]), @"added 2 b");
    world.ok(["config", "set", "tasks.list", "other"]);
    assert_snapshot!(anywhere(&["list"]), @r#"
    exit 3
    2> flagpost: there is no list other
    2>   hint: 'flagpost add SUBJECT' makes the list with its first task; 'flagpost status' names the lists there are
    "#);
    // A repository has its own.
    assert_eq!(world.ok(["list", "--quiet"]), "1\n2\n");
}

#[test]
fn settings_stored_at_once_are_all_stored() {
    let world = world();
    let children: Vec<_> = (0..16)
        .map(|n| {
            let mut command = world.command();
            command.args([
                "config",
                "set",
                &format!("queries.q{n}"),
                &format!("text {n}"),
            ]);
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    for n in 0..16 {
        let stored = world.ok(["config", "get", &format!("queries.q{n}")]);
        assert_eq!(stored, format!("text {n}\n"));
    }
}

#[test]
fn a_link_to_a_file_elsewhere_stays_a_link() {
    let world = world();
    fs::create_dir_all(world.home()).unwrap();
    let kept = world.outside().join("dotfiles.toml");
    fs::write(&kept, "# mine\n").unwrap();
    std::os::unix::fs::symlink(&kept, world.home().join("config.toml")).unwrap();
    world.ok(["config", "set", "run.retries", "2"]);
    assert!(world.home().join("config.toml").is_symlink());
    assert_eq!(
        fs::read_to_string(&kept).unwrap(),
        "# mine\n\n[run]\nretries = 2\n"
    );
    assert_eq!(world.ok(["config", "path"]), "[dir]/dotfiles.toml\n");
}
