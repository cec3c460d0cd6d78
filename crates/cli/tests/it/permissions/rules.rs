//! Rules spare the operator a question: those of the policy as it was accepted, and what a run is allowed.

use std::{fs, path::PathBuf};

use flagpost_testkit::{background::Background, race::until, sealed::World};
use serde_json::{Value, json};

use super::{asks, decision, told, waiting, wants, with_workers};
use crate::{cockpit::terminal::Terminal, exits};

fn policy(world: &World) -> PathBuf {
    world.kept().join("policy.toml")
}

fn accept(world: &World, text: &str) {
    fs::write(policy(world), text).unwrap();
    world.ok(["policy", "accept", "--yes"]);
}

/// A client's hook that a rule answers.
fn is_answered(world: &World, worker: &str, sent: &Value) -> (String, String) {
    let mut hook = world.command();
    hook.env("FLAGPOST_WORKER", worker);
    hook.args(["hook", "permission-request", "--agent", "claude"]);
    decision(Background::fed(&mut hook, sent.to_string().as_bytes()))
}

fn allowed() -> (String, String) {
    ("allow".to_owned(), String::new())
}

/// The last line of the history about a permission.
fn last(world: &World) -> Value {
    let lines = world.history().into_iter().rev();
    let mut lines = lines.filter(|it| it["kind"].as_str().unwrap().starts_with("permission."));
    lines.next().unwrap()
}

#[test]
fn an_accepted_rule_answers_and_is_on_record() {
    let world = with_workers();
    accept(
        &world,
        "[[allow]]\ninput = \"npm *\"\nworker = \"W1\"\n\n[[deny]]\ninput = \"git push*\"\n",
    );
    assert_eq!(
        is_answered(&world, "W1", &wants(&world, "W1", "npm ci && npm test")),
        allowed()
    );
    tells!(last(&world), {"kind": "permission.allowed", "actor": "policy"});
    tells!(last(&world)["detail"], {"rule": "npm *", "via": "policy"});
    let denied = "A rule of the operator's denies this: git push*".to_owned();
    let pushes = wants(&world, "W2", "npm ci; git push");
    assert_eq!(
        is_answered(&world, "W2", &pushes),
        ("deny".to_owned(), denied)
    );
    assert_eq!(told(&world), ["asked", "allowed", "asked", "denied"]);
    let (_, shown) = world.json(["permission", "list", "--all"]);
    tells!(shown["requests"][0], {"verdict": "allowed"});
    tells!(shown["requests"][0]["decision"], {"by": "policy", "rule": "npm *"});
    // Another worker, and what goes beyond the rule, is for a person.
    for (worker, command) in [
        ("W2", "npm ci"),
        ("W1", "npm ci > ../x"),
        ("W1", "npm ci; ls"),
    ] {
        let hook = asks(&world, worker, &wants(&world, worker, command));
        world.ok(["deny", &waiting(&world)[0].to_string(), "no"]);
        assert_eq!(decision(hook).0, "deny", "{command}");
    }
}

/// An operator with twenty requests on the screen writes a rule.
#[test]
fn a_policy_decides_on_what_waits_as_soon_as_it_is_accepted() {
    let world = with_workers();
    let hooks = ["npm ci", "git push", "ls"].map(|command| {
        let sent = wants(&world, "W1", command);
        asks(&world, "W1", &sent)
    });
    fs::write(
        policy(&world),
        "[[allow]]\ninput = \"npm *\"\n\n[[deny]]\ninput = \"git push*\"\n",
    )
    .unwrap();
    let said = world.ok(["policy", "accept", "--yes"]);
    assert!(
        said.contains("its rules decided 2 waiting requests"),
        "{said}"
    );
    let [ci, push, ls] = hooks;
    assert_eq!(decision(ci), allowed());
    assert_eq!(decision(push).0, "deny");
    tells!(last(&world)["detail"], {"rule": "git push*", "via": "policy"});
    world.ok(["deny", &waiting(&world)[0].to_string(), "no"]);
    assert_eq!(decision(ls).0, "deny");
}

#[test]
fn a_rule_that_nobody_accepted_allows_nothing() {
    let world = with_workers();
    for (text, is_told) in [
        ("[[allow]]\ninput = \"*\"\n", "has not accepted it"),
        (
            "[[allow]]\nworker = \"*\"\n",
            "it lacks input, exactly or tool",
        ),
    ] {
        fs::write(policy(&world), text).unwrap();
        let hook = asks(&world, "W1", &wants(&world, "W1", "npm test"));
        let status = exits(world.flagpost(["status"]), 0);
        assert!(status.stderr.contains(is_told), "{status}");
        let n = waiting(&world)[0].to_string();
        // Nor is it accepted along with a rule of the operator's own.
        let always = world.flagpost(["allow", &n, "--always", "--yes"]);
        assert_ne!(always.code, 0, "{always}");
        world.ok(["deny", &n]);
        assert_eq!(decision(hook).0, "deny");
    }
}

#[test]
fn what_is_allowed_always_asks_nobody_the_next_time() {
    let world = with_workers();
    let hooks = ["W1", "W2"].map(|it| asks(&world, it, &wants(&world, it, "npm test")));
    let other = asks(&world, "W2", &wants(&world, "W2", "npm test; ls"));
    let n = waiting(&world)[0].to_string();
    let (_, shown) = world.json(["permission", "show", &n]);
    assert_eq!(shown["always"], "[[allow]]\ninput = \"npm test\"\n");
    // Nobody is there to be asked.
    exits(world.flagpost(["allow", &n, "--always"]), 2);
    let ran = exits(world.flagpost(["allow", &n, "--always", "--yes"]), 0);
    assert!(
        ran.stderr.contains("[[allow]]\ninput = \"npm test\""),
        "{ran}"
    );
    for hook in hooks {
        assert_eq!(decision(hook), allowed());
    }
    let text = fs::read_to_string(policy(&world)).unwrap();
    assert_eq!(text, "[[allow]]\ninput = \"npm test\"\n");
    assert_eq!(
        is_answered(&world, "W1", &wants(&world, "W1", "npm test")),
        allowed()
    );
    // The second rule stands below the first one, and is the whole line.
    let n = waiting(&world)[0].to_string();
    world.ok(["allow", &n, "--always", "--yes"]);
    assert_eq!(decision(other), allowed());
    let text = fs::read_to_string(policy(&world)).unwrap();
    assert!(
        text.ends_with("\n\n[[allow]]\nexactly = \"npm test; ls\"\n"),
        "{text}"
    );
    assert_eq!(
        is_answered(&world, "W1", &wants(&world, "W1", "npm test; ls")),
        allowed()
    );
}

#[test]
fn the_cockpit_shows_the_rule_before_it_is_added() {
    let world = with_workers();
    let hook = asks(&world, "W1", &wants(&world, "W1", "npm test"));
    let terminal = or_skip!(Terminal::with_cockpit(&world, 100, 24));
    terminal.shows("by this rule:");
    terminal.shows("input = \"npm test\"");
    terminal.shows("end of body");
    terminal.keys(&["a"]);
    terminal.shows("add the rule that is shown, and accept that?");
    terminal.keys(&["y"]);
    assert_eq!(decision(hook), allowed());
    terminal.shows("nothing needs you");
    let text = fs::read_to_string(policy(&world)).unwrap();
    assert_eq!(text, "[[allow]]\ninput = \"npm test\"\n");
    tells!(last(&world)["detail"], {"via": "cockpit"});
}

#[test]
fn the_homes_policy_is_copied_before_a_rule_is_added() {
    let world = with_workers();
    let home = world.home().join("policy.toml");
    let text = "# Mine\n[[ask]]\ninput = \"npm publish*\"\n";
    fs::write(&home, text).unwrap();
    let hooks = ["npm publish", "npm test"].map(|it| asks(&world, "W1", &wants(&world, "W1", it)));
    let [publish, test] = waiting(&world)[..] else {
        panic!("two requests")
    };
    let refused = exits(
        world.flagpost(["allow", &publish.to_string(), "--always", "--yes"]),
        4,
    );
    assert!(
        refused.stderr.contains("whatever a rule allows"),
        "{refused}"
    );
    world.ok(["allow", &test.to_string(), "--always", "--yes"]);
    assert_eq!(fs::read_to_string(&home).unwrap(), text);
    let own = fs::read_to_string(policy(&world)).unwrap();
    assert_eq!(own, format!("{text}\n[[allow]]\ninput = \"npm test\"\n"));
    world.ok(["allow", &publish.to_string()]);
    for hook in hooks {
        assert_eq!(decision(hook), allowed());
    }
}

/// What a policy denies is not known while it does not count as it was accepted.
#[test]
fn nothing_is_decided_by_rules_while_the_accepted_policy_is_changed_or_gone() {
    let mut world = with_workers();
    world.set("FLAGPOST_GATE_WAIT", "50ms");
    let accepted = "[[deny]]\ninput = \"git push*\"\n";
    accept(&world, accepted);
    world.ok(["add", "Push it"]);
    let sent = world.outside().join("sent.json");
    fs::write(&sent, wants(&world, "", "git push").to_string()).unwrap();
    let hook = "\"$FLAGPOST_BIN\" hook permission-request --agent claude";
    let script = format!("{hook} < {0} > {0}.answer", sent.display());
    let agent = format!("sh -c '{script}; printf \"status: PASS\\n\" > \"$FLAGPOST_REPORT\"'");
    let answered = |world: &World| {
        world.ok(["reopen", "1"]);
        exits(
            world.flagpost(["run", "--agent", &agent, "--allow", "git *"]),
            0,
        );
        fs::read_to_string(sent.with_extension("json.answer")).unwrap()
    };
    world.ok(["cancel", "1"]);
    for (text, is_told) in [
        (Some(accepted), ""),
        (
            Some("[[deny]]\ninput = \"git pull*\"\n"),
            "has not accepted it",
        ),
        (Some("broken"), "is malformed: line 1: "),
        (None, "the one that the operator accepted is gone"),
    ] {
        match text {
            Some(text) => fs::write(policy(&world), text).unwrap(),
            None => fs::remove_file(policy(&world)).unwrap(),
        }
        let answer = answered(&world);
        let expected = match is_told {
            "" => "A rule of the operator's denies this",
            _ => "Nobody decided in time",
        };
        assert!(answer.contains(expected), "{text:?}: {answer}");
        let status = exits(world.flagpost(["status"]), 0);
        assert!(status.stderr.contains(is_told), "{text:?}: {status}");
    }
    // Its going is accepted, too; then the run's rule decides.
    world.ok(["policy", "accept", "--yes"]);
    assert!(answered(&world).contains("\"allow\""));
    let status = exits(world.flagpost(["status"]), 0);
    assert!(!status.stderr.contains("policy"), "{status}");
}

#[test]
fn nobody_decides_under_the_name_of_a_worker() {
    let world = with_workers();
    let hook = asks(&world, "W1", &wants(&world, "W1", "npm test"));
    let n = waiting(&world)[0].to_string();
    fs::write(policy(&world), "[[allow]]\ninput = \"npm test\"\n").unwrap();
    for words in [
        &["allow", &n][..],
        &["deny", &n],
        &["policy", "accept", "--yes"],
        &["run", "--agent", "true", "--allow", "npm test"],
    ] {
        let refused = exits(world.flagpost([words, &["--as", "W1"]].concat()), 4);
        assert!(
            refused.stderr.contains("only the operator does"),
            "{refused}"
        );
    }
    world.ok(["allow", &n, "--as", "bob"]);
    assert_eq!(decision(hook), allowed());
    tells!(last(&world), {"actor": "bob"});
}

#[test]
fn a_path_is_where_its_links_lead() {
    let world = with_workers();
    let top = world.repository();
    fs::create_dir(top.join("src")).unwrap();
    std::os::unix::fs::symlink(world.outside(), top.join("src/away")).unwrap();
    std::os::unix::fs::symlink("nowhere", top.join("src/later")).unwrap();
    fs::create_dir_all(top.join("sub/src")).unwrap();
    fs::create_dir_all(top.join("deep/er")).unwrap();
    std::os::unix::fs::symlink("deep/er", top.join("link")).unwrap();
    accept(
        &world,
        "[[allow]]\ntool = \"Write\"\ninput = \"{src,deep}/*\"\n[[deny]]\ntool = \"Write\"\ninput = \"src/secret*\"\n",
    );
    let writes = |path: &str| {
        let mut sent = wants(&world, "W1", "");
        sent["tool_name"] = "Write".into();
        sent["tool_input"] = json!({"file_path": top.join(path), "content": "x"});
        sent
    };
    assert_eq!(
        is_answered(&world, "W1", &writes("src/deep/new.rs")),
        allowed()
    );
    assert_eq!(
        is_answered(&world, "W1", &writes("x/../src/new.rs")),
        allowed()
    );
    // Wherever its client stands.
    let mut from_below = writes("src/new.rs");
    from_below["cwd"] = json!(top.join("sub"));
    assert_eq!(is_answered(&world, "W1", &from_below), allowed());
    from_below["tool_input"]["file_path"] = json!(top.join("src/secret.rs"));
    assert_eq!(is_answered(&world, "W1", &from_below).0, "deny");
    for path in [
        "src/away/x",
        "src/later",
        "src/../x",
        "/etc/src/x",
        "sub/src/x",
        "link/../x",
    ] {
        let hook = asks(&world, "W1", &writes(path));
        world.ok(["deny", &waiting(&world)[0].to_string()]);
        assert_eq!(decision(hook).0, "deny", "{path}");
    }
}

#[test]
fn an_agent_adds_no_rule() {
    let world = with_workers();
    let hook = asks(&world, "W1", &wants(&world, "W1", "npm test"));
    let n = waiting(&world)[0].to_string();
    for words in [
        &["allow", &n, "--always", "--yes"][..],
        &["policy", "accept", "--yes"],
        &["run", "--agent", "true", "--allow", "*"],
    ] {
        let mut command = world.command();
        command.env("FLAGPOST_WORKER", "W1").args(words);
        let denied = exits(world.run(&mut command), 4);
        assert!(denied.stderr.contains("only the operator does"), "{denied}");
    }
    // A line of the history that is none of a run's rules opens nothing.
    let mut again = world.command();
    again.env("FLAGPOST_WORKER", "W1").env("FLAGPOST_RULES", &n);
    again.args(["hook", "permission-request", "--agent", "claude"]);
    let sent = wants(&world, "W1", "npm ci").to_string();
    let again = Background::fed(&mut again, sent.as_bytes());
    until("the request to wait", || waiting(&world).len() == 2);
    for n in waiting(&world) {
        world.ok(["deny", &n.to_string()]);
    }
    assert_eq!(
        (decision(hook).0, decision(again).0),
        ("deny".to_owned(), "deny".to_owned())
    );
    assert!(!policy(&world).exists());
}

#[test]
fn a_run_is_allowed_something_while_it_lasts() {
    let mut world = with_workers();
    world.ok(["add", "Test it"]);
    let sent = wants(&world, "agent-1", "npm ci && npm test").to_string();
    fs::write(world.outside().join("sent.json"), sent).unwrap();
    let script = "\"$FLAGPOST_BIN\" hook permission-request --agent claude \
                  < ../outside/sent.json > ../outside/answered.json; \
                  echo \"$FLAGPOST_RULES\" > ../outside/rules";
    let script = script.replace("../outside", world.outside().to_str().unwrap());
    let agent = format!("sh -c '{script}; printf \"status: PASS\\n\" > \"$FLAGPOST_REPORT\"'");
    let words = [
        "run", "--agent", &agent, "--allow", "npm test", "--allow", "npm ci",
    ];
    exits(world.flagpost(words), 0);
    let outside = world.outside().to_owned();
    let read = |name: &str| fs::read_to_string(outside.join(name)).unwrap();
    let answered: Value = serde_json::from_str(&read("answered.json")).unwrap();
    tells!(answered["hookSpecificOutput"]["decision"], {"behavior": "allow"});
    assert_eq!(told(&world), ["rules", "asked", "allowed"]);
    tells!(last(&world)["detail"], {"via": "run", "rule": "npm ci; npm test"});
    let line = world
        .history()
        .into_iter()
        .find(|it| it["kind"] == "permission.rules");
    let line = line.unwrap();
    assert_eq!(read("rules").trim(), line["n"].to_string());
    assert_eq!(line["detail"]["allow"], json!(["npm test", "npm ci"]));
    // Nobody is allowed it once the run is over.
    let mut late = world.command();
    late.envs([
        ("FLAGPOST_WORKER", "W1"),
        ("FLAGPOST_RULES", read("rules").trim()),
    ]);
    late.args(["hook", "permission-request", "--agent", "claude"]);
    let late = Background::fed(&mut late, read("sent.json").as_bytes());
    until("the request to wait", || waiting(&world).len() == 1);
    world.ok(["deny", &waiting(&world)[0].to_string()]);
    assert_eq!(decision(late).0, "deny");
    // Nor is the next run.
    world.ok(["add", "Test it again"]);
    world.set("FLAGPOST_GATE_WAIT", "50ms");
    world.set("FLAGPOST_RULES", line["n"].to_string());
    exits(world.flagpost(["run", "--agent", &agent]), 0);
    assert_eq!(read("rules").trim(), "");
    let answered: Value = serde_json::from_str(&read("answered.json")).unwrap();
    tells!(answered["hookSpecificOutput"]["decision"], {"behavior": "deny"});
}
