//! Hooks in the settings of clients: put in, looked at, taken out, and what becomes of the rest of a file.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use flagpost_testkit::sealed::World;
use serde_json::json;

use crate::{bad_homes::Mounted, exits, is_root, says, world, world_without_repository};

/// A world whose repository is registered.
fn registered() -> World {
    let world = world();
    world.ok(["init", "--yes"]);
    world
}

/// Claude Code's settings in the repository, with this in them.
fn settings(world: &World, text: impl AsRef<[u8]>) -> PathBuf {
    let file = world.repository().join(".claude/settings.local.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    file
}

/// The names in a directory, in order.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

const THEIRS: &str = "{\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}\n}\n";

#[test]
fn settings_full_of_others_hooks_are_left_as_they_were_found() {
    let world = registered();
    let file = settings(&world, THEIRS);
    let install = ["hooks", "install", "--agent", "claude", "--deny-reserved"];
    world.ok(install);
    let installed = fs::read_to_string(&file).unwrap();
    assert!(installed.contains("say done"), "{installed}");
    let (code, again) = world.json(install);
    assert_eq!((code, &again["changed"]), (0, &json!(false)));
    assert_eq!(fs::read_to_string(&file).unwrap(), installed);
    let (_, status) = world.json(["hooks", "status", "--agent", "claude"]);
    let states = status["hooks"].as_array().unwrap();
    assert!(
        states.iter().all(|it| it["state"] == "installed"),
        "{status}"
    );
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), THEIRS);
    // What somebody else changed meanwhile stays changed.
    world.ok(install);
    let changed = fs::read_to_string(&file).unwrap().replace("opus", "sonnet");
    fs::write(&file, changed).unwrap();
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    let left = fs::read_to_string(&file).unwrap();
    assert!(
        left.contains("sonnet") && left.contains("say done") && !left.contains("flagpost"),
        "{left}"
    );
    assert_eq!(names(file.parent().unwrap()), ["settings.local.json"]);
}

#[test]
fn the_copy_of_settings_that_may_hold_a_key_is_in_the_home_and_the_users_alone() {
    let world = registered();
    let file = settings(&world, THEIRS);
    world.ok(["hooks", "install", "--agent", "claude"]);
    assert_eq!(names(file.parent().unwrap()), ["settings.local.json"]);
    let copies = world.home().join("client-settings");
    let [copy] = &names(&copies)[..] else {
        panic!("{copies:?}");
    };
    let mode = fs::metadata(copies.join(copy))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(names(&copies), [""; 0]);
}

/// How each hook of a client stands, once.
fn states(world: &World, client: &str) -> BTreeSet<String> {
    let (_, status) = world.json(["hooks", "status", "--agent", client]);
    let hooks = status["hooks"].as_array().unwrap().iter();
    hooks
        .map(|it| it["state"].as_str().unwrap().to_owned())
        .collect()
}

fn set_of(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn status_tells_why_an_installed_hook_is_not_called() {
    let mut world = registered();
    let own = Path::new(env!("CARGO_BIN_EXE_flagpost")).parent().unwrap();
    world.set("PATH", own);
    world.ok(["hooks", "install", "--agent", "claude", "--deny-reserved"]);
    assert_eq!(states(&world, "claude"), set_of(&["installed"]));
    let file = world.repository().join(".claude/settings.local.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    assert_eq!(states(&world, "claude"), set_of(&["disabled"]));
    let other = world.outside().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("flagpost"), "").unwrap();
    world.set("PATH", std::env::join_paths([&*other, own]).unwrap());
    assert_eq!(states(&world, "claude"), set_of(&["shadowed"]));
    world.set("PATH", "/nowhere");
    assert_eq!(states(&world, "claude"), set_of(&["stale"]));
}

#[test]
fn a_file_that_the_client_itself_does_not_read_is_told_of() {
    let world = registered();
    settings(&world, "{\n  // mine\n  \"model\": \"opus\"\n}\n");
    let words = "claude does not read";
    let ran = world.flagpost(["hooks", "install", "--agent", "claude"]);
    assert!(ran.code == 0 && ran.stderr.contains(words), "{ran}");
    let ran = world.flagpost(["hooks", "status", "--agent", "claude"]);
    assert!(ran.code == 0 && ran.stderr.contains(words), "{ran}");
    let unread = set_of(&["missing", "unread"]);
    assert_eq!(states(&world, "claude"), unread);
}

#[test]
fn codex_trusts_a_hook_once_its_user_said_so() {
    let world = registered();
    world.ok(["hooks", "install", "--agent", "codex", "--deny-reserved"]);
    assert_eq!(states(&world, "codex"), set_of(&["untrusted"]));
    let hooks = world.repository().join(".codex/hooks.json");
    let hooks = hooks.canonicalize().unwrap().display().to_string();
    let own = world.outside().join("home/.codex");
    fs::create_dir_all(&own).unwrap();
    let trust = |event: &str| {
        format!("[hooks.state.\"{hooks}:{event}:0:0\"]\ntrusted_hash = \"sha256:00\"\n")
    };
    let some = [trust("stop"), trust("pre_tool_use")].concat();
    fs::write(own.join("config.toml"), some).unwrap();
    assert_eq!(states(&world, "codex"), set_of(&["installed", "untrusted"]));
    let events = [
        "session_start",
        "user_prompt_submit",
        "pre_tool_use",
        "post_tool_use",
        "stop",
        "session_end",
    ];
    fs::write(own.join("config.toml"), events.map(trust).concat()).unwrap();
    assert_eq!(states(&world, "codex"), set_of(&["installed"]));
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let world = registered();
    for (client, file) in [
        ("claude", ".claude/settings.local.json"),
        ("codex", ".codex/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/hooks.json"),
        ("opencode", ".opencode/plugin/flagpost.js"),
    ] {
        world.ok(["hooks", "install", "--agent", client]);
        assert!(world.repository().join(file).is_file(), "{file}");
        world.ok(["hooks", "uninstall", "--agent", client]);
        assert!(!world.repository().join(file).exists(), "{file}");
        let (code, again) = world.json(["hooks", "uninstall", "--agent", client]);
        assert_eq!((code, &again["changed"]), (0, &json!(false)), "{client}");
    }
}

#[test]
fn settings_that_cannot_be_changed_are_refused_and_stay() {
    let world = registered();
    let file = world.repository().join(".claude/settings.local.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for bad in ["{", "[]", "{\"hooks\": []}", "not json"] {
        fs::write(&file, bad).unwrap();
        says(
            world.flagpost(["hooks", "install", "--agent", "claude"]),
            6,
            &["settings.local.json", "left as it is"],
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), bad);
    }
    assert_eq!(
        world
            .flagpost(["hooks", "install", "--agent", "aider"])
            .code,
        6
    );
    assert_eq!(world.flagpost(["hooks", "install"]).code, 2);
    // A link stays one.
    let real = world.outside().join("dotfiles.json");
    fs::write(&real, "{}\n").unwrap();
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&real, &file).unwrap();
    world.ok(["hooks", "install", "--agent", "claude", "--yes"]);
    assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("flagpost"));
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
    let printed = world.ok(["hooks", "install", "--agent", "claude", "--print"]);
    assert!(printed.contains("PostToolBatch"), "{printed}");
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
}

#[test]
fn a_file_that_nobody_else_changed_is_as_it_was_found_to_the_byte() {
    let world = registered();
    let plain = &["install"][..];
    let twice = &["install", "install --deny-reserved"];
    let back = &["install --deny-reserved", "install"];
    for theirs in [
        "{ \"a\" : 1 }",
        "{}",
        "{\n}\n",
        "",
        "\n",
        "// nothing yet\n",
        "{\n  // mine\n  \"a\": 1, /* and mine */\n}\n",
        THEIRS,
        "{\"hooks\" : {}}",
        "{\"hooks\":{\"Stop\":[ ],\"Mine\":[1]},\"a\":[1,\n2]}",
        "{\r\n\t\"a\" : 1,\r\n}\r\n",
        "\u{feff}{ \"a\" : 1 }\n",
    ] {
        for installations in [plain, twice, back] {
            let file = settings(&world, theirs);
            for installation in installations {
                let words = format!("hooks {installation} --agent claude");
                world.ok(words.split(' '));
                let now = fs::read_to_string(&file).unwrap();
                assert!(now.contains("hook stop --agent claude"), "{theirs}: {now}");
                assert_eq!(now.contains('\u{feff}'), theirs.contains('\u{feff}'));
            }
            world.ok(["hooks", "uninstall", "--agent", "claude"]);
            let left = fs::read_to_string(&file).unwrap();
            assert_eq!(left, theirs, "{installations:?}");
        }
    }
}

#[test]
fn a_file_that_somebody_changed_meanwhile_keeps_the_change() {
    let world = registered();
    let file = settings(&world, "{ \"a\" : 1 }");
    world.ok(["hooks", "install", "--agent", "claude"]);
    let changed = fs::read_to_string(&file).unwrap().replace("1", "2");
    fs::write(&file, changed).unwrap();
    world.ok(["hooks", "install", "--agent", "claude", "--deny-reserved"]);
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    let left: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(left, json!({"a": 2}));
    // A file that was not there, and has something of others now.
    fs::remove_file(&file).unwrap();
    world.ok(["hooks", "install", "--agent", "claude"]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen('{', "{\"b\": 3,", 1)).unwrap();
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    let left: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(left, json!({"b": 3}));
}

#[test]
fn files_that_lie_beside_the_settings_are_nobodys_but_their_owners() {
    let world = registered();
    let file = settings(&world, "{ \"a\" : 1 }");
    let own = file.with_extension("json.flagpost-backup");
    fs::write(&own, "mine").unwrap();
    world.ok(["hooks", "install", "--agent", "claude"]);
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&own).unwrap(), "mine");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ \"a\" : 1 }");
}

#[test]
fn settings_behind_a_link_that_leads_nowhere_are_told_of() {
    let world = registered();
    let file = settings(&world, "");
    fs::remove_file(&file).unwrap();
    for target in [world.outside().join("gone.json"), file.clone()] {
        std::os::unix::fs::symlink(&target, &file).unwrap();
        for verb in ["install", "status", "uninstall"] {
            let ran = exits(world.flagpost(["hooks", verb, "--agent", "claude"]), 6);
            let name = target.file_name().unwrap().display();
            let words = format!("/{name}, which cannot be followed (");
            assert!(ran.stderr.contains("it is a link to"), "{ran}");
            assert!(ran.stderr.contains(&words), "{ran}");
        }
        assert!(fs::symlink_metadata(&file).unwrap().is_symlink());
        fs::remove_file(&file).unwrap();
    }
    assert!(!world.outside().join("gone.json").exists());
}

#[test]
fn settings_that_a_link_leads_to_are_changed_only_where_somebody_agrees() {
    let world = registered();
    let top = world.repository();
    let other = world.outside().join("other");
    fs::create_dir(&other).unwrap();
    let file = other.join("settings.local.json");
    let opencode = other.join("plugin/flagpost.js");
    let user = world.home().parent().unwrap().join(".claude");
    for (link, client, scope, file) in [
        (top.join(".claude"), "claude", "--project", &file),
        (top.join(".opencode"), "opencode", "--project", &opencode),
        (user, "claude", "--user", &other.join("settings.json")),
    ] {
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let install = ["hooks", "install", "--agent", client, scope];
        let ran = exits(world.flagpost(install), 2);
        let place = file.strip_prefix(world.outside()).unwrap();
        let words = format!("a link leads to [dir]/{}", place.display());
        for words in [&words, "nobody is there to confirm", "--yes does not ask"] {
            assert!(ran.stderr.contains(words), "{ran}");
        }
        assert!(!file.exists(), "{client}");
        world.ok([&install[..], &["--yes"]].concat());
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains("lagpost"), "{text}");
        world.ok(["hooks", "uninstall", "--agent", client, scope]);
        assert!(!file.exists(), "{client}");
        assert!(link.is_symlink());
    }
}

#[test]
fn settings_that_their_owner_closed_to_changes_stay() {
    let world = registered();
    let file = settings(&world, "{ \"a\" : 1 }");
    let close = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    close(&file, 0o444);
    let refused = |verb: &str| {
        let ran = world.flagpost(["hooks", verb, "--agent", "claude"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert!(ran.stderr.contains("it is read-only"), "{ran}");
    };
    refused("install");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ \"a\" : 1 }");
    close(&file, 0o600);
    world.ok(["hooks", "install", "--agent", "claude"]);
    let installed = fs::read(&file).unwrap();
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    close(&file, 0o400);
    refused("uninstall");
    assert_eq!(fs::read(&file).unwrap(), installed);
    close(&file, 0o644);
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ \"a\" : 1 }");
}

#[test]
fn settings_in_a_read_only_directory_stay() {
    if !is_root("a read-only directory") {
        return;
    }
    let world = registered();
    let dir = world.repository().join(".claude");
    let mounted = or_skip!(Mounted::at(dir.clone(), "size=1m"));
    let file = settings(&world, THEIRS);
    let fails = |verb: &str| {
        says(
            world.flagpost(["hooks", verb, "--agent", "claude"]),
            1,
            &["settings.local.json: Read-only file system"],
        );
        assert_eq!(names(&dir), ["settings.local.json"]);
    };
    mounted.remount("ro");
    fails("install");
    assert_eq!(fs::read_to_string(&file).unwrap(), THEIRS);
    mounted.remount("rw");
    world.ok(["hooks", "install", "--agent", "claude"]);
    mounted.remount("ro");
    fails("uninstall");
    mounted.remount("rw");
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), THEIRS);
}

#[test]
fn hooks_are_installed_where_they_are_heard() {
    // A repository that nobody registered is registered with them.
    let world = world();
    says(
        world.flagpost(["hooks", "install", "--agent", "claude"]),
        0,
        &["FLAGPOST_WORKER=W1 claude", "worker join W1"],
    );
    world.ok(["worker", "add", "W1"]);
    let ran = world.flagpost(["hooks", "install", "--agent", "codex"]);
    assert!(ran.stderr.contains("codex --no-daemon"), "{ran}");
    // A guard that goes is told of.
    let install = ["hooks", "install", "--agent", "claude"];
    let freed = |args: &[&str]| world.flagpost(args).stderr.contains("refused no more");
    assert!(!freed(&[&install[..], &["--deny-reserved"]].concat()));
    assert!(freed(&install) && !freed(&install));
    // Where there is none, a hook would say nothing for ever.
    let nowhere = world_without_repository();
    for place in ["--project", "--shared"] {
        let ran = nowhere.flagpost(["hooks", "install", "--agent", "claude", place]);
        assert_eq!(ran.code, 3, "{ran}");
        assert!(ran.stderr.contains("flagpost init"), "{ran}");
    }
    assert!(!nowhere.repository().join(".claude").exists());
    nowhere.ok(["hooks", "install", "--agent", "claude", "--user"]);
    nowhere.ok(["hooks", "uninstall", "--agent", "claude", "--user"]);
    assert!(
        !nowhere
            .outside()
            .join("home/.claude/settings.json")
            .exists()
    );
}

#[test]
fn the_users_own_settings_are_where_the_client_looks_for_them() {
    let mut world = registered();
    let home = world.outside().join("home");
    let elsewhere = world.outside().join("elsewhere");
    for (client, below, variable, file) in [
        ("claude", ".claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", ".codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("cursor", ".cursor", "", "hooks.json"),
        (
            "opencode",
            ".config",
            "XDG_CONFIG_HOME",
            "opencode/plugin/flagpost.js",
        ),
    ] {
        let install = ["hooks", "install", "--agent", client, "--user"];
        world.ok(install);
        assert!(home.join(below).join(file).is_file(), "{client}");
        if !variable.is_empty() {
            world.set(variable, &elsewhere);
            world.ok(install);
            assert!(elsewhere.join(file).is_file(), "{client}");
            world.ok(["hooks", "uninstall", "--agent", client, "--user"]);
            assert!(!elsewhere.join(file).exists(), "{client}");
            world.unset(variable);
        }
        world.ok(["hooks", "uninstall", "--agent", client, "--user"]);
        assert!(!home.join(below).join(file).exists(), "{client}");
    }
    world.set("FLAGPOST_HOME", world.home());
    world.set("HOME", "");
    let ran = world.flagpost(["hooks", "install", "--agent", "claude", "--user"]);
    assert_eq!(ran.code, 6, "{ran}");
    assert!(ran.stderr.contains("HOME: it is not set"), "{ran}");
}

/// Only a whole command of ours is ours, and whatever the program is called it finds its own again.
#[test]
fn a_command_that_goes_on_after_ours_is_its_owners() {
    let world = registered();
    let theirs = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"flagpost hook stop --agent claude; bell"}]}]}}"#;
    let file = settings(&world, theirs);
    world.ok(["hooks", "install", "--agent", "claude"]);
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .contains("--agent claude; bell")
    );
    world.ok(["hooks", "uninstall", "--agent", "claude"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);

    let place = world.outside().join("a hook b");
    fs::create_dir(&place).unwrap();
    let as_named = |name: &str, verb: &str| {
        let program = place.join(name);
        if !program.exists() {
            // Not by us: a program that another test begins meanwhile would have it open for writing.
            let mut copy = std::process::Command::new("cp");
            let copied = copy
                .arg(env!("CARGO_BIN_EXE_flagpost"))
                .arg(&program)
                .status();
            assert!(copied.unwrap().success());
        }
        let mut command = world.command_of(program.to_str().unwrap());
        command.env("PATH", "/usr/bin:/bin");
        world.run(command.args(["hooks", verb, "--agent", "claude"]))
    };
    for name in ["flagpost", "flagpost-0.1"] {
        assert_eq!(as_named(name, "install").code, 0);
        let installed = fs::read_to_string(&file).unwrap();
        assert!(installed.contains("a hook b"), "{installed}");
        assert_eq!(as_named(name, "uninstall").code, 0);
        assert_eq!(fs::read_to_string(&file).unwrap(), theirs, "{name}");
    }
    says(as_named("fp", "install"), 6, &["call the program flagpost"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
}

#[test]
fn the_plugin_of_opencode_refuses_edits_where_that_was_asked_for() {
    let world = registered();
    let plugin = world.repository().join(".opencode/plugin/flagpost.js");
    world.ok(["hooks", "install", "--agent", "opencode"]);
    let told = fs::read_to_string(&plugin).unwrap();
    assert!(told.contains("denyReserved = false"), "{told}");
    world.ok(["hooks", "install", "--agent", "opencode", "--deny-reserved"]);
    let denied = fs::read_to_string(&plugin).unwrap();
    assert_eq!(
        denied,
        told.replace("denyReserved = false", "denyReserved = true")
    );
    let (_, status) = world.json(["hooks", "status", "--agent", "opencode"]);
    let events = status["hooks"].as_array().unwrap().iter();
    let events: Vec<&str> = events.map(|it| it["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["session-start", "pre-tool", "batch"]);
}
