//! `config` on what is settled for one agent, under a name of the user's choice.

use std::fs;

use flagpost_testkit::sealed::World;
use insta::assert_snapshot;

use crate::world;

fn write(world: &World, text: &str) {
    fs::create_dir_all(world.home()).unwrap();
    fs::write(world.home().join("config.toml"), text).unwrap();
}

fn file(world: &World) -> String {
    fs::read_to_string(world.home().join("config.toml")).unwrap()
}

#[test]
fn a_name_of_ones_own_is_set_shown_and_taken_away() {
    let world = world();
    transcript!(world, @r#"
    $ config set run.agents.claude.args -- --model opus
    run.agents.claude.args = ["--model","opus"]
    $ config set run.agents.boxed.command 'box claude -p'
    run.agents.boxed.command = "box claude -p"
    $ config set run.agents.boxed.like claude
    run.agents.boxed.like = "claude"
    $ config set run.agents.boxed.env.HTTP_PROXY http://127.0.0.1:3128
    run.agents.boxed.env.HTTP_PROXY = "http://127.0.0.1:3128"
    $ config set run.agents.boxed.env.EMPTY ''
    run.agents.boxed.env.EMPTY = ""
    $ config get run.agents.claude.args
    --model
    opus
    $ config get run.agents.boxed.like --json
    {"schema":"flagpost.setting/1","key":"run.agents.boxed.like","value":"claude","hidden":false,"origin":"config.toml","default":null,"variable":null,"option":null,"about":"The client as which this agent is started, read and judged."}
    $ config get run.agents.codex.args
    exit 3
    2> flagpost: run.agents.codex.args is not set
    2>   hint: 'flagpost config set run.agents.codex.args VALUE' sets it
    $ config unset run.agents.boxed.env.EMPTY
    run.agents.boxed.env.EMPTY is taken out of the file
    $ config unset run.agents.boxed.command
    run.agents.boxed.command is taken out of the file
    $ config unset run.agents.boxed.args
    run.agents.boxed.args is not in the file
    "#);
    assert_snapshot!(file(&world), @r#"
    [run.agents.claude]
    args = ["--model", "opus"]

    [run.agents.boxed]
    like = "claude"

    [run.agents.boxed.env]
    HTTP_PROXY = "http://127.0.0.1:3128"
    "#);
    let listed = world.ok(["config", "list"]);
    let (_, of_agents) = listed.split_at(listed.find("run.agents").unwrap());
    assert_snapshot!(of_agents, @r#"
    run.agents.claude.args            config.toml  --model opus
    run.agents.boxed.env.HTTP_PROXY   config.toml  http://127.0.0.1:3128
    run.agents.boxed.like             config.toml  claude
    "#);
    // By hand too, in any spelling of TOML.
    write(
        &world,
        "run.agents.x = { args = ['-v'], env = { A = 'b' } }\n",
    );
    world.ok(["config", "set", "run.agents.x.env.B", "c"]);
    world.ok(["config", "unset", "run.agents.x.env.A"]);
    assert_snapshot!(file(&world), @r#"run.agents.x = { args = ['-v'], env = { B = "c" } }"#);
}

#[test]
fn what_is_wrong_is_named_and_what_is_meant_is_guessed() {
    let world = world();
    transcript!(world, @r#"
    $ config set run.agents.claude.arg -- --model opus
    exit 3
    2> flagpost: there is no setting run.agents.claude.arg
    2>   hint: do you mean run.agents.claude.args? 'flagpost config list' shows those there are
    $ config set run.agent.claude.args -- --model opus
    exit 3
    2> flagpost: there is no setting run.agent.claude.args
    2>   hint: do you mean run.agents.claude.args? 'flagpost config list' shows those there are
    $ config set run.agents.claude.env A=1
    exit 3
    2> flagpost: there is no setting run.agents.claude.env
    2>   hint: do you mean run.agents.claude.env.VARIABLE? 'flagpost config list' shows those there are
    $ config set run.agents.claude.environment.A 1
    exit 3
    2> flagpost: there is no setting run.agents.claude.environment.A
    2>   hint: do you mean run.agents.claude.env.A? 'flagpost config list' shows those there are
    $ config set run.agents.claude.env.A-B 1
    exit 3
    2> flagpost: there is no setting run.agents.claude.env.A-B
    2>   hint: do you mean run.agents.claude.env.VARIABLE? 'flagpost config list' shows those there are
    $ config set run.agents.gpt.5.args -- -v
    exit 3
    2> flagpost: there is no setting run.agents.gpt.5.args
    2>   hint: do you mean run.agents.gpt.args? 'flagpost config list' shows those there are
    $ config set run.agents.boxed.like cloude
    exit 6
    2> flagpost: run.agents.boxed.like: it must be claude, codex, gemini, opencode, cursor, aider or acp
    $ config set run.agents.boxed.command ''
    exit 6
    2> flagpost: run.agents.boxed.command: it must be a text that is not empty
    $ config set run.quota.reserve 51
    exit 6
    2> flagpost: run.quota.reserve: it must be a whole number of percent from 0 to 50, such as 5 or "5%"
    $ config set run.quota.reserve 7%
    run.quota.reserve = 7
    $ config set run.max_usd 0
    exit 6
    2> flagpost: run.max_usd: it must be a number above 0, such as 5 or 2.5
    $ config set run.max_usd 2.5
    run.max_usd = 2.5
    $ config set run.max_tokens 1.5
    exit 6
    2> flagpost: run.max_tokens: it must be a whole number from 1
    $ config set run.schedule asap
    exit 6
    2> flagpost: run.schedule: it must be waves or eager
    "#);
    assert_snapshot!(file(&world), @r#"
    [run]
    max_usd = 2.5
    [run.quota]
    reserve = 7
    "#);
    write(
        &world,
        "[run]\nmax_usd = 'five'\n[run.agents.x]\nargs = '--model opus'\nenvs.A = 'b'\nenv.A_TOKEN = 77\n",
    );
    transcript!(world, @r#"
    $ config get run.agents.x.args
    exit 6
    2> flagpost: [dir]/home/.flagpost/config.toml is malformed: line 4: run.agents.x.args must be words, each a text of its own, such as ["--model", "opus"]; it is '--model opus'
    2>   hint: it is left as it is; mend it with an editor
    $ config get run.max_usd
    exit 6
    2> flagpost: [dir]/home/.flagpost/config.toml is malformed: line 2: run.max_usd must be a number above 0, such as 5 or 2.5; it is 'five'
    2>   hint: it is left as it is; mend it with an editor
    $ config get run.agents.x.env.A_TOKEN
    exit 6
    2> flagpost: [dir]/home/.flagpost/config.toml is malformed: line 6: run.agents.x.env.A_TOKEN must be a text; it is something else, not shown
    2>   hint: it is left as it is; mend it with an editor
    $ config list
    exit 6
    2> flagpost: [dir]/home/.flagpost/config.toml is malformed: line 2: run.max_usd must be a number above 0, such as 5 or 2.5; it is 'five'
    2>   hint: it is left as it is; mend it with an editor
    $ config set run.max_usd 5
    run.max_usd = 5
    $ config set run.agents.x.args -- --model opus
    run.agents.x.args = ["--model","opus"]
    $ config set run.agents.x.env.A_TOKEN abc
    run.agents.x.env.A_TOKEN: set, not shown
    $ config unset run.agents.x.envs.A
    run.agents.x.envs.A is taken out of the file
    "#);
}

#[test]
fn a_value_that_is_called_like_a_secret_is_shown_to_who_asks_for_it_only() {
    let world = world();
    let name = "run.agents.claude.env.ANTHROPIC_API_KEY";
    let ran = world.feed(["config", "set", name, "-"], b"sk-ant-hush\n");
    assert_snapshot!(ran, @r#"run.agents.claude.env.ANTHROPIC_API_KEY: set, not shown"#);
    let (_, stored) = world.json(["config", "set", name, "sk-ant-hush"]);
    assert_eq!(stored["value"], serde_json::Value::Null);
    let (_, listed) = world.json(["config", "list"]);
    let listed = listed["settings"].as_array().unwrap().last().unwrap();
    tells!(listed, {"key": name, "value": null, "hidden": true});
    for told in [
        world.flagpost(["config", "list"]),
        world.flagpost(["config", "list", "--json"]),
        world.flagpost(["config", "list", "--quiet"]),
        world.flagpost(["doctor", "--json"]),
    ] {
        let told = told.to_string();
        assert!(!told.contains("hush"), "{told}");
    }
    assert_eq!(world.ok(["config", "get", name]), "sk-ant-hush\n");
}
