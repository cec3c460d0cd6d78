//! What an agent finds when it begins: variables, directory, group, prompt.

use insta::assert_snapshot;

use crate::{exits, run_stage::Stage};

#[test]
fn an_agent_knows_its_task_and_nothing_of_the_agent_that_started_the_run() {
    let mut stage = Stage::of_equal(1);
    stage.world.set("CLAUDECODE", "1");
    stage.world.set("CLAUDE_CODE_ENTRYPOINT", "cli");
    stage.world.set("CLAUDE_CODE_SSE_PORT", "4711");
    stage.world.set("CLAUDE_CODE_OAUTH_TOKEN", "kept");
    stage.world.set("CLAUDE_CONFIG_DIR", "/kept");
    stage.world.set("GIT_INDEX_FILE", "/nowhere");
    let deep = stage.world.repository().join("src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let agent = stage.agent(
        r#"
        env | grep -E '^(FLAGPOST_|CLAUDE|GIT_INDEX)' | grep -vE 'CLOCK|_BIN=' | sort > "$place/env"
        case $FLAGPOST_BIN in /*) "$FLAGPOST_BIN" --version > /dev/null ;; *) mark relative ;; esac || mark no-bin
        pwd -P > "$place/pwd"
        flagpost show --json > "$place/show" || echo "not on PATH" >> "$place/env"
        read -r _ _ _ _ group _ < "/proc/$$/stat"
        [ "$group" = "$$" ] && [ "$group" != "$(awk '{ print $5 }' /proc/$PPID/stat)" ] && mark own-group"#,
    );
    let mut command = stage.world.command();
    command
        .current_dir(&deep)
        .args(["--list", "web", "run", "--agent", &agent]);
    exits(stage.world.run(&mut command), 0);
    assert_snapshot!(stage.world.redact(&stage.left("env")), @r#"
    CLAUDE_CODE_OAUTH_TOKEN=kept
    CLAUDE_CONFIG_DIR=/kept
    FLAGPOST_ATTEMPT=1
    FLAGPOST_HOME=[dir]/home/.flagpost
    FLAGPOST_LIST=web
    FLAGPOST_REPORT=[dir]/home/.flagpost/live/[repo]/exec-session-20260513-142500/1-1/out/report.md
    FLAGPOST_SESSION=exec-session-20260513-142500
    FLAGPOST_SESSION_DIR=[dir]/web/.claude/sessions/__live_session__
    FLAGPOST_SLOT=1
    FLAGPOST_TASK=1
    FLAGPOST_TOKEN=5
    FLAGPOST_WORKER=run-1
    "#);
    let top = stage.world.repository().canonicalize().unwrap();
    assert_eq!(stage.left("pwd").trim(), top.to_str().unwrap());
    assert!(stage.marked("own-group") && !stage.marked("relative") && !stage.marked("no-bin"));
    let shown: serde_json::Value = serde_json::from_str(&stage.left("show")).unwrap();
    assert_eq!(shown["id"], "1");
}

/// One odd entry is no reason to find nothing.
#[test]
fn a_search_path_that_is_not_utf8_is_searched_and_passed_on() {
    use std::os::unix::ffi::OsStringExt;
    let mut stage = Stage::of_equal(1);
    let mut path = b"/odd\xff:".to_vec();
    path.extend(std::env::var_os("PATH").unwrap().into_vec());
    stage.world.set("PATH", std::ffi::OsString::from_vec(path));
    exits(stage.run(r#"printf '%s' "$PATH" > "$place/path""#, &[]), 0);
    let left = std::fs::read(stage.place.join("path")).unwrap();
    assert!(left.starts_with(b"/odd\xff:"));
}

#[test]
fn a_prompt_comes_on_stdin_or_in_a_file() {
    let stage = Stage::of_equal(1);
    let agent = stage.agent(
        r#"cat > "$place/stdin"; printf '%s' "$1" > "$place/name"; cat "$1" > "$place/file""#,
    );
    let on_stdin = format!("{agent} /dev/null");
    stage.world.ok(["run", "--agent", &on_stdin]);
    assert!(stage.left("stdin").starts_with("# Task 1: Task 1\n"));
    stage.world.ok(["task", "reopen", "1"]);
    let in_file = format!("{agent} {{prompt_file}}");
    stage.world.ok(["run", "--agent", &in_file]);
    assert_eq!(stage.left("stdin"), "");
    assert!(stage.left("name").ends_with("/prompts/task-1-attempt-1.md"));
    assert!(stage.left("file").starts_with("# Task 1: Task 1\n"));
}

#[test]
fn a_path_that_a_shell_would_take_apart_is_refused_before_anything_starts() {
    let stage = Stage::of_equal(1);
    let place = stage.world.outside().join("my web");
    let in_place = |args: &[&str]| {
        let mut command = stage.world.command();
        stage.world.run(command.current_dir(&place).args(args))
    };
    std::fs::create_dir(&place).unwrap();
    let mut git = stage.world.command_of("git");
    assert_eq!(
        stage
            .world
            .run(git.args(["init", "-q"]).current_dir(&place))
            .code,
        0
    );
    exits(in_place(&["add", "Task", "--list", "blank"]), 0);
    let run = |agent| in_place(&["run", "--list", "blank", "--agent", agent]);
    let refused = exits(run("sh -c 'cat {prompt_file}'"), 2);
    assert_snapshot!(refused.stderr, @r#"
    flagpost: the agent's command line "sh -c 'cat {prompt_file}'" puts the prompt's path into a shell's script, and the shell would not read it as one word: [dir]/my web/.claude/sessions/__live_session__
      hint: give it to the script as a word: sh -c 'cat "$1"' sh {prompt_file}
    "#);
    assert!(!place.join(".claude").exists());
    exits(run("sh -c 'grep Task \"$1\"' sh {prompt_file}"), 0);
    // Where nothing can be taken apart, a script may hold the path, as often as it likes.
    let ran = stage.world.flagpost([
        "run",
        "--agent",
        "sh -c 'cat {prompt_file} | cmp - {prompt_file}'",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
}

#[test]
fn a_prompt_says_what_is_to_be_done_and_how_to_report() {
    let stage = Stage::new(
        "- [ ] Choose a format\n\n  Any will do.\n\n- [ ] Write the parser (after: 1)\n\n  Of the format.\n\n  - with tests\n",
    );
    let ran = stage.run(
        r#"if [ $task = 1 ]; then
            printf '## Key Decisions\n- The format is TOML.\n' > "$notes"
            report PASS "It is TOML."
        else cat > "$place/prompt"; fi"#,
        &[],
    );
    assert_eq!(ran.code, 0, "{ran}");
    assert_snapshot!(stage.world.redact(&stage.left("prompt")), @r#"
    # Task 2: Write the parser

    You are worker run-1, and this task is yours alone. Attempt 1/3.

    ## What is to be done

    Of the format.

    - with tests

    ## What the tasks before yours did

    ### Task 1: Choose a format

    ```text
    It is TOML.
    ```

    ## What is known so far

    ```text
    ## Key Decisions
    - The format is TOML.

    ## Task History
    ### Task [1]: Choose a format - PASS
    - It is TOML.
    ```

    ## How to report

    Before you end, write your report into `$FLAGPOST_REPORT`, which is [dir]/home/.flagpost/live/[repo]/exec-session-20260513-142500/2-1/out/report.md:

    ```markdown
    status: PASS

    ## Summary
    What you did, in a few lines.

    ## Files Modified
    - src/parser.rs

    ## Issues
    None
    ```

    The status is PASS, PARTIAL (some of it works) or FAIL. In place of the file you may run one of:

    ```sh
    "$FLAGPOST_BIN" done 'what you did'
    "$FLAGPOST_BIN" fail 'why it does not work'
    "$FLAGPOST_BIN" stuck 'your question'
    ```

    `stuck` asks the operator. Ask it instead of guessing, and end: the task goes on with the answer. Without a report your exit code counts: 0 is PASS.

    What the tasks after yours should know, write as list items under `## Project Patterns`, `## Key Decisions`, `## Known Issues` or `## File Map` into [dir]/home/.flagpost/live/[repo]/exec-session-20260513-142500/2-1/out/context.md.
    "#);
}

#[test]
fn a_blocker_that_only_its_own_file_names_is_told_of() {
    let stage = Stage::new("- [ ] Choose a format\n- [ ] Write the reader\n");
    let path = stage.world.list("web").join("1.json");
    let mut task = stage.task("1");
    task["blocks"] = serde_json::json!(["2"]);
    std::fs::write(&path, task.to_string()).unwrap();
    exits(stage.run(r#"report PASS "It is TOML.""#, &[]), 0);
    let prompt = stage.session_file("prompts/task-2-attempt-1.md");
    let told = "### Task 1: Choose a format\n\n```text\nIt is TOML.\n```";
    assert!(prompt.contains(told), "{prompt}");
}
