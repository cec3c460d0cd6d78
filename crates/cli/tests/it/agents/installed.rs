//! Hooks that a person installed, in real clients: they fire beside those of others, and an uninstallation
//! leaves no trace of them.

use std::fs;

use flagpost_testkit::{clients::Client, model_server::Step};

use super::{for_clients, person::Person};

for_clients! {
    claude Claude: installed_hooks_fire_beside_those_of_others_and_leave_no_trace;
    codex Codex: installed_hooks_fire_beside_those_of_others_and_leave_no_trace;
    gemini Gemini: installed_hooks_fire_beside_those_of_others_and_leave_no_trace;
}

/// Where a client has its settings in a repository, and what others wrote there, in their way; `@` is a
/// command of theirs.
fn of_others(client: Client) -> (&'static str, &'static str) {
    match client {
        Client::Claude => (
            ".claude/settings.local.json",
            "{ \"env\" : {\"MINE\":\"1\"},\r\n\t\"hooks\":{ \"Stop\" : [{\"hooks\":[ @ ]}],\r\n\
             \"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[@]}], \"SessionStart\":[{ \"hooks\": [@] }] } }",
        ),
        Client::Codex => (
            ".codex/hooks.json",
            "{\"hooks\" : {\n\n \"Stop\":[ {\"hooks\" : [ @ ] } ],\n  \"SessionStart\" : [{\"hooks\":[@,\n@]}]}\n}",
        ),
        Client::Gemini => (
            ".gemini/settings.json",
            "\n{\"ui\" :{\"hideTips\":true},\"hooks\":{\"AfterAgent\":[{\"hooks\":[@]}],\n\n\
             \"SessionStart\" : [ {\"hooks\" : [ @ ] } ]\t}}\n\n",
        ),
        other => panic!("{other} is not tried"),
    }
}

fn installed_hooks_fire_beside_those_of_others_and_leave_no_trace(client: Client) {
    let person = or_skip!(Person::with(client));
    let world = person.world();
    let (file, theirs) = of_others(client);
    let fired = world.outside().join("fired");
    let command = format!(
        "{{\"type\" : \"command\",\"command\":\"echo theirs >> {}\"}}",
        fired.display()
    );
    let theirs = theirs.replace('@', &command);
    let file = world.repository().join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, &theirs).unwrap();
    let of = ["--agent", client.as_str()];
    world.ok([&["hooks", "install", "--deny-reserved"][..], &of].concat());
    let now = fs::read_to_string(&file).unwrap();
    assert!(now.contains(&*command), "{now}");
    person.trusts_hooks();
    person.stage.script(9, [Step::text("Said.")]);
    let ran = person.asks("# Task 9: Say so", &[("FLAGPOST_WORKER", "W3")]);
    let heard = person.stage.heard(9);
    assert!(
        heard[0].contains("You are worker W3"),
        "{}\n{ran}",
        heard[0]
    );
    let of_others = fs::read_to_string(&fired).unwrap_or_default();
    assert!(of_others.lines().count() >= 2, "{of_others}\n{ran}");
    // The client itself changed nothing in it.
    assert_eq!(fs::read_to_string(&file).unwrap(), now);
    world.ok([&["hooks", "uninstall"][..], &of].concat());
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    // It is silent from then on.
    person.stage.script(8, [Step::text("Said.")]);
    person.asks("# Task 8: Say so", &[("FLAGPOST_WORKER", "W3")]);
    let heard = person.stage.heard(8);
    assert!(!heard[0].contains("You are worker W3"), "{}", heard[0]);
}
