//! What `init` writes into a repository, and takes out again.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
};

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::{exits, world};

const FILES: [&str; 4] = [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
];

fn file(world: &World, name: &str) -> PathBuf {
    world.repository().join(name)
}

fn text(world: &World, name: &str) -> String {
    fs::read_to_string(file(world, name)).unwrap()
}

#[test]
fn a_round_through_all_four() {
    let world = world();
    transcript!(world, @r#"
    $ init --check
    exit 1
    AGENTS.md: there is none
    next: flagpost init
    $ init --dry-run
    would register [dir]/web
    AGENTS.md: would be written
    $ init --claude --gemini --copilot
    registered [dir]/web as web
    AGENTS.md: written
    CLAUDE.md: written
    GEMINI.md: written
    .github/copilot-instructions.md: written
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    $ init --check
    AGENTS.md: as it should be
    CLAUDE.md: as it should be
    GEMINI.md: as it should be
    .github/copilot-instructions.md: as it should be
    $ init
    [dir]/web is registered; its list is web
    AGENTS.md: is up to date
    CLAUDE.md: is up to date
    GEMINI.md: is up to date
    .github/copilot-instructions.md: is up to date
    $ init --remove --dry-run
    AGENTS.md: would be removed: it holds nothing else
    CLAUDE.md: would be removed: it holds nothing else
    GEMINI.md: would be removed: it holds nothing else
    .github/copilot-instructions.md: would be removed: it holds nothing else
    $ init --remove
    AGENTS.md: removed: it held nothing else
    CLAUDE.md: removed: it held nothing else
    GEMINI.md: removed: it held nothing else
    .github/copilot-instructions.md: removed: it held nothing else
    $ init --remove
    no block of ours is in [dir]/web
    $ init --check --quiet
    exit 1
    AGENTS.md
    $ init --check --json
    exit 1
    {"schema":"flagpost.instruction_files/1","path":"[dir]/web","registered":true,"ok":false,"files":[{"file":"AGENTS.md","standing":"missing","ok":false}]}
    "#);
    for name in FILES {
        assert!(!file(&world, name).exists(), "{name}");
    }
}

#[test]
fn in_json() {
    let world = world();
    transcript!(world, @r#"
    $ init --dry-run --json
    {"schema":"flagpost.repository/1","id":null,"name":null,"path":"[dir]/web","home":"[dir]/home/.flagpost","created":true,"files":[{"file":"AGENTS.md","done":"created"}],"clients":[],"dry_run":true}
    $ init --claude --json
    {"schema":"flagpost.repository/1","id":"[repo]","name":"web","path":"[dir]/web","home":"[dir]/home/.flagpost","created":true,"files":[{"file":"AGENTS.md","done":"created"},{"file":"CLAUDE.md","done":"created"}],"clients":[],"dry_run":false}
    $ init --check --json
    {"schema":"flagpost.instruction_files/1","path":"[dir]/web","registered":true,"ok":true,"files":[{"file":"AGENTS.md","standing":"current","ok":true},{"file":"CLAUDE.md","standing":"current","ok":true}]}
    $ init --remove --claude --json
    {"schema":"flagpost.instructions_removed/1","path":"[dir]/web","dry_run":false,"files":[{"file":"CLAUDE.md","done":"deleted"}]}
    $ init --no-instructions --json
    {"schema":"flagpost.repository/1","id":"[repo]","name":"web","path":"[dir]/web","home":"[dir]/home/.flagpost","created":false,"files":[],"clients":[],"dry_run":false}
    $ init --no-instructions --check
    [dir]/web is registered
    "#);
}

/// A block that says something else now needs a greater version beside it.
#[test]
fn the_blocks_as_they_stand() {
    let world = world();
    world.ok(["init", "--claude", "--gemini", "--copilot"]);
    let marks = FILES.map(|name| text(&world, name).lines().next().unwrap().to_owned());
    assert_snapshot!(marks.join("\n"), @"
    <!-- flagpost:begin v1 02f05a47 -->
    <!-- flagpost:begin v1 141c3f5e -->
    <!-- flagpost:begin v1 c669c3cd -->
    <!-- flagpost:begin v1 02f05a47 -->
    ");
    assert_snapshot!(text(&world, "CLAUDE.md").lines().nth(1).unwrap(), @"@AGENTS.md");
    assert_snapshot!(text(&world, "GEMINI.md").lines().nth(1).unwrap(), @"@./AGENTS.md");
    assert_eq!(text(&world, "AGENTS.md"), text(&world, FILES[3]));
}

#[test]
fn who_told_of_the_bridge_once_goes_on_telling_of_it() {
    let world = world();
    world.ok(["init", "--copilot"]);
    let plain = text(&world, "AGENTS.md");
    transcript!(world, @r#"
    $ init --bridge --check
    exit 1
    AGENTS.md: its block is outdated
    .github/copilot-instructions.md: its block is outdated
    next: flagpost init --bridge
    $ init --bridge
    [dir]/web is registered; its list is web
    AGENTS.md: block brought up to date
    .github/copilot-instructions.md: block brought up to date
    $ init
    [dir]/web is registered; its list is web
    AGENTS.md: is up to date
    .github/copilot-instructions.md: is up to date
    $ init --check
    AGENTS.md: as it should be
    .github/copilot-instructions.md: as it should be
    "#);
    let told = text(&world, "AGENTS.md");
    assert_eq!(text(&world, FILES[3]), told);
    assert!(told.contains(world.ok(["bridge", "snippet"]).trim_end()));
    world.ok(["init", "--remove"]);
    world.ok(["init"]);
    assert_eq!(text(&world, "AGENTS.md"), plain);
}

#[test]
fn the_rest_of_a_file_comes_back_byte_for_byte() {
    let world = world();
    let path = file(&world, "AGENTS.md");
    for was in [
        &b"# Mine\n"[..],
        b"# Mine",
        b"",
        b"\n\n",
        b"one\r\ntwo\r\n",
        b"one\r\ntwo",
        b"\xef\xbb\xbf# Mine\n",
        b"Latin-1: \xe4\n",
    ] {
        for mode in [0o644, 0o600, 0o664] {
            fs::write(&path, was).unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            world.ok(["init"]);
            let with = fs::read(&path).unwrap();
            assert!(with.starts_with(was) && with.len() > was.len());
            if was.ends_with(b"\r\n") {
                assert_eq!(
                    with.split(|b| *b == b'\n')
                        .filter(|l| !l.ends_with(b"\r"))
                        .count(),
                    1
                );
            }
            world.ok(["init"]);
            assert_eq!(fs::read(&path).unwrap(), with, "twice is once");
            let now = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(now, mode);
            world.ok(["init", "--remove"]);
            assert_eq!(fs::read(&path).unwrap(), was);
        }
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn an_old_block_is_replaced_and_a_newer_one_kept() {
    let world = world();
    world.ok(["init"]);
    let current = text(&world, "AGENTS.md");
    // "old\n" as version 0 wrote it.
    let old =
        "# Mine\n\n<!-- flagpost:begin v0 a7a65b54 -->\nold\n<!-- flagpost:end -->\n\n# More\n";
    fs::write(file(&world, "AGENTS.md"), old).unwrap();
    transcript!(world, @r#"
    $ init --check
    exit 1
    AGENTS.md: its block is outdated
    next: flagpost init
    $ init --dry-run
    [dir]/web is registered; its list is web
    AGENTS.md: block would be brought up to date
    $ init
    [dir]/web is registered; its list is web
    AGENTS.md: block brought up to date
    $ init --check
    AGENTS.md: as it should be
    "#);
    assert_eq!(
        text(&world, "AGENTS.md"),
        format!("# Mine\n\n{current}\n# More\n")
    );
    let newer = old.replace("v0", "v999");
    fs::write(file(&world, "AGENTS.md"), &newer).unwrap();
    transcript!(world, @r#"
    $ init
    [dir]/web is registered; its list is web
    AGENTS.md: block of a later Flagpost kept
    $ init --check
    AGENTS.md: as it should be
    "#);
    assert_eq!(text(&world, "AGENTS.md"), newer);
}

#[test]
fn words_between_the_markers_are_never_lost() {
    let world = world();
    world.ok(["init", "--claude"]);
    let edited = text(&world, "AGENTS.md").replace(
        "\n- `flagpost instructions`",
        "\n- and mind the gap\n- `flagpost instructions`",
    );
    fs::write(file(&world, "AGENTS.md"), &edited).unwrap();
    transcript!(world, @r#"
    $ init
    [dir]/web is registered; its list is web
    AGENTS.md: changed block kept
    CLAUDE.md: is up to date
    2> flagpost: somebody changed the flagpost block in line 1 of AGENTS.md; it stays as it is, and a later version will not replace it
    $ init --json
    {"schema":"flagpost.repository/1","id":"[repo]","name":"web","path":"[dir]/web","home":"[dir]/home/.flagpost","created":false,"files":[{"file":"AGENTS.md","done":"kept_edited"},{"file":"CLAUDE.md","done":"unchanged"}],"clients":[],"dry_run":false}
    2> flagpost: somebody changed the flagpost block in line 1 of AGENTS.md; it stays as it is, and a later version will not replace it
    $ init --check
    exit 1
    AGENTS.md: somebody changed its block, which 'flagpost init' leaves alone
    CLAUDE.md: as it should be
    $ init --remove
    exit 4
    2> flagpost: somebody changed the flagpost block in line 1 of AGENTS.md, which stays as it is
    2>   hint: move those words out of the block with an editor, and try again
    $ init --remove --json
    exit 4
    {"schema":"flagpost.error/1","kind":"conflict","exit_code":4,"message":"somebody changed the flagpost block in line 1 of AGENTS.md, which stays as it is","hint":"move those words out of the block with an editor, and try again","causes":[]}
    $ init --remove --dry-run
    exit 4
    2> flagpost: somebody changed the flagpost block in line 1 of AGENTS.md, which stays as it is
    2>   hint: move those words out of the block with an editor, and try again
    "#);
    assert_eq!(text(&world, "AGENTS.md"), edited);
    assert!(
        file(&world, "CLAUDE.md").exists(),
        "a refusal changes nothing at all"
    );
}

#[test]
fn what_has_no_clear_place_is_refused_and_nothing_is_registered() {
    let world = world();
    let path = file(&world, "AGENTS.md");
    let begin = "<!-- flagpost:begin v1 00000000 -->";
    let mut told = String::new();
    for muddle in [
        format!("a\n{begin}\nb\n"),
        format!("a\n{begin}\n{begin}\n<!-- flagpost:end -->\n"),
        "<!-- flagpost:end -->\n".to_owned(),
        format!("{begin}\nx\n<!-- flagpost:end --> mine\n"),
    ] {
        fs::write(&path, &muddle).unwrap();
        for line in ["init", "init --remove", "init --check"] {
            let answer = world.transcript(line);
            let answer = answer.split_once('\n').unwrap().1.to_owned();
            told += &if line == "init" {
                answer.clone()
            } else {
                String::new()
            };
            assert!(told.ends_with(&answer), "{line}: {answer}");
            assert_eq!(text(&world, "AGENTS.md"), muddle);
        }
    }
    assert_snapshot!(told, @r#"
    exit 6
    2> flagpost: [dir]/web/AGENTS.md is malformed: the flagpost block that begins in line 2 has no end; put '<!-- flagpost:end -->' where it ends
    2>   hint: it is left as it is; mend it with an editor
    exit 6
    2> flagpost: [dir]/web/AGENTS.md is malformed: two flagpost blocks, in lines 2 and 3; leave one of them
    2>   hint: it is left as it is; mend it with an editor
    exit 6
    2> flagpost: [dir]/web/AGENTS.md is malformed: line 1 ends a flagpost block that begins nowhere; take that line out
    2>   hint: it is left as it is; mend it with an editor
    exit 6
    2> flagpost: [dir]/web/AGENTS.md is malformed: the flagpost marker in line 3 is not as it was written
    2>   hint: it is left as it is; mend it with an editor
    "#);
    fs::write(&path, b"\xff\xfea\0").unwrap();
    fs::remove_dir_all(world.home()).ok();
    transcript!(world, @r#"
    $ init
    exit 6
    2> flagpost: [dir]/web/AGENTS.md is malformed: it is UTF-16, and what Flagpost would write is UTF-8
    2>   hint: it is left as it is; mend it with an editor
    "#);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    transcript!(world, @r#"
    $ init
    exit 6
    2> flagpost: cannot read [dir]/web/AGENTS.md: not a regular file
    $ init --json
    exit 6
    {"schema":"flagpost.error/1","kind":"invalid","exit_code":6,"message":"cannot read [dir]/web/AGENTS.md","hint":null,"causes":["not a regular file"]}
    "#);
    assert!(!world.home().exists(), "a refusal registers nothing");
    transcript!(world, @r#"
    $ init --no-instructions
    registered [dir]/web as web
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    "#);
}

#[test]
fn a_script_may_say_that_nothing_is_to_be_asked() {
    let world = world();
    transcript!(world, @r#"
    $ init --no-instructions --yes
    registered [dir]/web as web
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    "#);
}

#[test]
fn links_are_followed_within_the_repository() {
    let world = world();
    fs::write(file(&world, "CLAUDE.md"), "# Mine\n").unwrap();
    symlink("CLAUDE.md", file(&world, "AGENTS.md")).unwrap();
    transcript!(world, @r#"
    $ init --claude
    registered [dir]/web as web
    AGENTS.md: block added
    CLAUDE.md: is up to date
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    $ init --check --claude
    AGENTS.md: as it should be
    CLAUDE.md: as it should be
    "#);
    assert!(
        fs::symlink_metadata(file(&world, "AGENTS.md"))
            .unwrap()
            .is_symlink()
    );
    assert!(text(&world, "CLAUDE.md").starts_with("# Mine\n\n<!-- flagpost"));
    transcript!(world, @r#"
    $ init --remove
    AGENTS.md: block taken out
    "#);
    assert_eq!(text(&world, "CLAUDE.md"), "# Mine\n");

    let elsewhere = world.outside().join("elsewhere.md");
    fs::write(&elsewhere, "theirs").unwrap();
    let point_to = |target: &str| {
        fs::remove_file(file(&world, "AGENTS.md")).unwrap();
        symlink(target, file(&world, "AGENTS.md")).unwrap();
    };
    point_to("../elsewhere.md");
    transcript!(world, @r#"
    $ init
    exit 6
    2> flagpost: [dir]/web/AGENTS.md leads outside [dir]/web
    2>   hint: what leads out of there is not followed: put what it names in its place
    $ init --remove
    no block of ours is in [dir]/web
    "#);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "theirs");
    point_to("nowhere.md");
    transcript!(world, @r#"
    $ init
    exit 3
    2> flagpost: cannot resolve [dir]/web/AGENTS.md: No such file or directory (os error 2)
    "#);
    fs::remove_file(file(&world, "AGENTS.md")).unwrap();
    symlink("..", file(&world, ".github")).unwrap();
    transcript!(world, @r#"
    $ init --copilot
    exit 6
    2> flagpost: [dir]/web/.github leads outside [dir]/web
    2>   hint: what leads out of there is not followed: put what it names in its place
    "#);
    assert!(!world.outside().join("copilot-instructions.md").exists());
}

/// Several agents begin at once, each with its own `init`.
#[test]
fn many_at_once_write_one_block() {
    let world = world();
    for was in [None, Some("# Mine\n")] {
        let path = file(&world, "AGENTS.md");
        if let Some(was) = was {
            fs::write(&path, was).unwrap();
        }
        let mut children: Vec<_> = (0..8)
            .map(|_| {
                let mut command = world.command();
                command.args(["init", "--claude"]);
                command.stdout(std::process::Stdio::null());
                command.spawn().unwrap()
            })
            .collect();
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
        let now = text(&world, "AGENTS.md");
        assert!(now.starts_with(was.unwrap_or_default()));
        assert_eq!(now.matches("flagpost:begin").count(), 1, "{now}");
        assert_eq!(text(&world, "CLAUDE.md").lines().count(), 3);
        world.ok(["init", "--remove"]);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), was);
    }
}

#[test]
fn an_import_of_ones_own_is_enough() {
    let world = world();
    fs::write(file(&world, "CLAUDE.md"), "# Mine\n\n@AGENTS.md\n").unwrap();
    fs::write(file(&world, "GEMINI.md"), "# Mine\n").unwrap();
    transcript!(world, @r#"
    $ init --claude
    registered [dir]/web as web
    AGENTS.md: written
    CLAUDE.md: is up to date
    GEMINI.md: does not import AGENTS.md; 'flagpost init --gemini' makes it
    no agent's program is on PATH: 'flagpost doctor --agents' lists those that Flagpost knows
    next: flagpost import PLAN.md, or flagpost add 'What is to be done'
    then: flagpost run --agent CMD
    $ init --check --claude --gemini
    exit 1
    AGENTS.md: as it should be
    CLAUDE.md: as it should be
    GEMINI.md: has no flagpost block
    next: flagpost init --claude --gemini
    "#);
    assert_eq!(text(&world, "CLAUDE.md"), "# Mine\n\n@AGENTS.md\n");
    assert_eq!(text(&world, "GEMINI.md"), "# Mine\n");
}

#[test]
fn a_file_that_was_not_asked_for_is_in_nobodys_way() {
    let world = world();
    fs::write(file(&world, "CLAUDE.md"), b"\xff\xfea\0").unwrap();
    fs::create_dir(file(&world, "GEMINI.md")).unwrap();
    fs::write(file(&world, ".github"), "a file").unwrap();
    for line in ["init", "init --check", "init --remove"] {
        world.ok(line.split(' '));
    }
    assert_eq!(world.flagpost(["init", "--gemini"]).code, 6);
    assert_eq!(world.flagpost(["init", "--copilot"]).code, 1);
}

#[test]
fn from_below_the_top_and_in_a_linked_worktree() {
    let world = world();
    let git = |args: &[&str]| {
        let ran = world.command_of("git").args(args).status().unwrap();
        assert!(ran.success());
    };
    git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
    git(&["worktree", "add", "--quiet", "../linked"]);
    let below = world.outside().join("linked/src");
    fs::create_dir(&below).unwrap();
    let ran = world.run(world.command().arg("init").current_dir(&below));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(world.outside().join("linked/AGENTS.md").exists());
    assert!(!file(&world, "AGENTS.md").exists());
    assert!(!below.join("AGENTS.md").exists());
}

#[test]
fn options_that_contradict_each_other() {
    let world = world();
    for args in [
        ["--check", "--remove"],
        ["--check", "--dry-run"],
        ["--no-instructions", "--claude"],
        ["--no-instructions", "--remove"],
    ] {
        exits(world.flagpost([&["init"], &args[..]].concat()), 2);
    }
}
