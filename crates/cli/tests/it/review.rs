//! `review`, `approve`, `return` and `land --review`: a person sees the work before it lands.

use flagpost_testkit::{race::until, table};
use serde_json::Value;

use crate::{
    daemon::{Daemon, ask},
    exits,
    land_yard::{Yard, branch},
    run_stage::Stage,
    says,
};

/// Where each branch of the queue stands.
fn states(yard: &Yard) -> Vec<(String, String)> {
    let told = yard.world.json(["review"]).1;
    let branches = told["branches"].as_array().unwrap();
    let word = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
    branches
        .iter()
        .map(|it| (word(it, "task"), word(it, "state")))
        .collect()
}

fn stands(task: &str, state: &str) -> (String, String) {
    (task.to_owned(), state.to_owned())
}

/// A yard whose repository lands only what was approved.
fn reviewed(tasks: usize) -> Yard {
    let yard = Yard::of(tasks);
    yard.world.ok(["config", "set", "land.review", "true"]);
    yard
}

fn tip(yard: &Yard, task: usize) -> String {
    yard.git(&["rev-parse", &branch(task)])
}

#[test]
fn only_what_a_person_approved_lands_and_a_later_commit_asks_again() {
    let yard = reviewed(3);
    let ran = exits(yard.land(&[]), 0);
    assert!(ran.stdout.contains("to review 1, 2, 3"), "{ran}");
    yard.world.ok(["approve", "1", "2"]);
    yard.branch(2, &branch(2), |yard| yard.write("more", "later\n"));
    let expected = [
        stands("1", "queued"),
        stands("2", "unapproved"),
        stands("3", "unapproved"),
    ];
    assert_eq!(states(&yard), expected);
    exits(yard.land(&[]), 0);
    yard.assert_landed([1]);
    says(yard.land(&["2"]), 4, &["task 2", "your approval"]);
    yard.world.ok(["approve", "2"]);
    exits(yard.land(&[]), 0);
    yard.assert_landed([1, 2]);
}

#[test]
fn a_landing_can_ask_for_approvals_where_the_setting_does_not() {
    let yard = Yard::of(2);
    yard.world.ok(["approve", "2"]);
    exits(yard.land(&["--review"]), 0);
    yard.assert_landed([2]);
    exits(yard.land(&[]), 0);
    yard.assert_landed([1, 2]);
}

#[test]
fn to_approve_twice_is_to_approve_once_and_an_undone_return_leaves_the_approval() {
    let yard = reviewed(1);
    let told = yard.world.ok(["approve", "1", "1"]);
    assert_eq!(told.matches("approved 1 ").count(), 1, "{told}");
    yard.world.ok(["return", "1", "no"]);
    yard.world.ok(["undo"]);
    assert_eq!(states(&yard), [stands("1", "queued")]);
    let before = yard.world.history().len();
    yard.world.ok(["approve", "1"]);
    assert_eq!(yard.world.history().len(), before);
    yard.world.ok(["undo"]);
    assert_eq!(states(&yard), [stands("1", "unapproved")]);
}

#[test]
fn what_was_approved_as_it_is_has_not_changed_since_it_passed() {
    let yard = Yard::of(1);
    let passed = format!("refs/flagpost/passed/{}", &branch(1)["flagpost/".len()..]);
    yard.git(&["update-ref", &passed, &tip(&yard, 1)]);
    yard.branch(1, &branch(1), |yard| yard.write("more", "later\n"));
    assert_eq!(states(&yard), [stands("1", "changed")]);
    yard.world.ok(["approve", "1"]);
    assert_eq!(states(&yard), [stands("1", "queued")]);
}

#[test]
fn work_that_builds_on_what_nobody_approved_waits_for_it() {
    let yard = reviewed(2);
    yard.world.ok(["task", "dep", "add", "2", "1"]);
    yard.branch(2, &branch(1), |yard| yard.write("file-2", "2\n"));
    yard.world.ok(["approve", "2"]);
    let expected = [stands("1", "unapproved"), stands("2", "waits")];
    assert_eq!(states(&yard), expected);
    exits(yard.land(&[]), 1);
    yard.assert_landed([]);
    yard.world.ok(["approve", "1"]);
    exits(yard.land(&[]), 0);
    yard.assert_landed([1, 2]);
}

#[test]
fn returned_work_is_pending_with_the_words_and_the_line_that_they_are_about() {
    let yard = reviewed(1);
    // A line is meant as it was shown: with the target's changes.
    yard.branch(1, "main", |yard| yard.write("shared", "base\nours\n"));
    let (code, task) = yard.world.json([
        "return",
        "1",
        "Say it shorter",
        "--line",
        "shared:2 Name whose",
    ]);
    assert_eq!(code, 0, "{task}");
    assert_eq!(task["state"], "pending");
    let refused = &task["landing"]["refused"];
    let why = "Say it shorter\n\nshared:2\n> ours\nName whose";
    assert_eq!(refused["why"], why);
    assert_eq!(refused["times"], 0);
    assert_eq!(states(&yard), [stands("1", "refused")]);
    let told = yard.world.history();
    let line = told
        .iter()
        .rfind(|it| it["kind"] == "land.returned")
        .unwrap();
    assert_eq!(line["detail"]["why"], why);
    exits(yard.land(&[]), 0);
    yard.assert_landed([]);
}

#[test]
fn what_cannot_be_decided_is_refused_with_words_and_changes_nothing() {
    let yard = reviewed(2);
    yard.world.ok(["add", "Open"]);
    yard.world.ok(["approve", "2"]);
    exits(yard.land(&[]), 0);
    let before = yard.world.history().len();
    let short = &tip(&yard, 1)[..10];
    let rows: [(&str, &[&str], i32, &[&str]); 10] = [
        (
            "another commit",
            &["approve", "1", "--commit", "0123456789"],
            4,
            &["you saw 0123456789", "diff 1"],
        ),
        (
            "another commit, returned",
            &["return", "1", "x", "--commit", "0123456789"],
            4,
            &["you saw 0123456789", "diff 1"],
        ),
        (
            "no commit",
            &["approve", "1", "--commit", "main"],
            2,
            &["seven digits"],
        ),
        (
            "one commit of two",
            &["approve", "1", "2", "--commit", short],
            2,
            &["one task"],
        ),
        ("what has landed", &["approve", "2"], 4, &["on main since"]),
        (
            "a task that is not done",
            &["return", "3", "x"],
            4,
            &["pending"],
        ),
        (
            "no words",
            &["return", "1"],
            2,
            &["what is to be different"],
        ),
        (
            "no line",
            &["return", "1", "--line", "file-1"],
            2,
            &["PATH:LINE"],
        ),
        (
            "no such line",
            &["return", "1", "--line", "file-1:7 x"],
            6,
            &["file-1:7", "ends with line 1"],
        ),
        (
            "no such file",
            &["return", "1", "--line", "nothing:1 x"],
            6,
            &["nothing:1", "no such file"],
        ),
    ];
    table::each(rows.map(|row| (row.0, row)), |(_, args, code, words)| {
        says(yard.world.flagpost(args), code, words);
    });
    assert_eq!(yard.world.history().len(), before);
}

#[test]
fn an_agent_approves_nothing_by_any_way_it_has() {
    let yard = reviewed(2);
    for args in [&["approve", "1"][..], &["return", "1", "x"]] {
        let mut agent = yard.world.command();
        agent.env("FLAGPOST_WORKER", "W1").args(args);
        says(yard.world.run(&mut agent), 4, &["reviews no work"]);
        let mut client = yard.world.command();
        client.env("CLAUDECODE", "1").args(args);
        says(yard.world.run(&mut client), 4, &["reviews no work"]);
    }
    // The task's file is anybody's, and says nothing that the history does not.
    let list = yard.world.list("web");
    let path = list.join("1.json");
    let mut task: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    task["metadata"]["flagpost"]["approved"] = serde_json::json!({
        "commit": tip(&yard, 1), "by": "ann", "at": "2026-05-13T14:25:00Z"
    });
    std::fs::write(&path, task.to_string()).unwrap();
    let expected = [stands("1", "unapproved"), stands("2", "unapproved")];
    assert_eq!(states(&yard), expected);
    // What a person took back stays so, though somebody puts the file back that said otherwise.
    for (at, task, take_back) in [(0, "1", &["return", "1", "no"][..]), (1, "2", &["undo"])] {
        let path = list.join(format!("{task}.json"));
        yard.world.ok(["approve", task]);
        let approved = std::fs::read(&path).unwrap();
        yard.world.ok(take_back.iter().copied());
        std::fs::write(&path, approved).unwrap();
        assert_eq!(
            states(&yard)[at],
            stands(task, "unapproved"),
            "{take_back:?}"
        );
    }
    // Nor does the environment of whoever lands.
    let mut land = yard.world.command();
    land.env("FLAGPOST_LAND_REVIEW", "false")
        .args(["land", "--yes"]);
    exits(yard.world.run(&mut land), 0);
    yard.assert_landed([]);
}

#[test]
fn a_landing_from_a_screen_names_at_once_what_keeps_a_task_from_it() {
    let yard = reviewed(1);
    let _daemon = Daemon(&yard.world);
    yard.world.ok(["up"]);
    let told = ask(
        &yard.world,
        "POST /v1/landing?list=web",
        r#"{"tasks":["1"]}"#,
    );
    assert_eq!(told["kind"], "conflict", "{told}");
    let why = told["message"].as_str().unwrap();
    assert!(why.contains("it waits for your approval"), "{told}");
}

#[test]
fn what_is_to_review_needs_a_person_and_a_row_says_how_it_is_settled() {
    let yard = reviewed(2);
    yard.world.ok(["approve", "2"]);
    let needs = yard.world.json(["inbox"]).1;
    let rows = needs["needs"].as_array().unwrap();
    let said: Vec<_> = rows
        .iter()
        .map(|it| (it["kind"].as_str(), it["settle_with"].as_str()))
        .collect();
    assert_eq!(said, [(Some("review"), Some("flagpost review 1"))]);
    let shown = yard.world.ok(["review", "1"]);
    for words in [
        "1 Task 1",
        "file-1 +1 -0",
        "flagpost return 1 'WORDS'",
        "state: to review",
    ] {
        assert!(shown.contains(words), "no {words:?}: {shown}");
    }
    yard.world.ok(["config", "unset", "land.review"]);
    assert_eq!(yard.world.ok(["inbox"]), "nothing needs you\n");
}

#[test]
fn a_worktree_is_opened_in_the_editor_of_its_operator() {
    let stage = Stage::of_equal(2);
    let mut commit = stage.world.command_of("git");
    commit.args(["commit", "--quiet", "--allow-empty", "-m", "Begin"]);
    exits(stage.world.run(&mut commit), 0);
    let body = r#"if [ "$task" = 1 ]; then echo x > x; fi; report PASS"#;
    exits(stage.run(body, &["--worktrees"]), 0);
    let told = stage.world.json(["open", "1"]).1;
    let outside = stage.world.outside().display().to_string();
    let dir = told["path"].as_str().unwrap().replace("[dir]", &outside);
    assert!(std::path::Path::new(&dir).join("x").exists(), "{told}");
    let left = stage.place.join("opened");
    let editor = format!(
        "sh -c 'pwd > {}; echo $0 >> {}'",
        left.display(),
        left.display()
    );
    let mut open = stage.world.command();
    open.env("VISUAL", editor).args(["open", "1"]);
    exits(stage.world.run(&mut open), 0);
    assert_eq!(stage.left("opened"), format!("{dir}\n{dir}\n"));
    let mut none = stage.world.command();
    none.env_remove("VISUAL")
        .env_remove("EDITOR")
        .args(["open", "1"]);
    says(
        stage.world.run(&mut none),
        2,
        &["no editor is known", "run.open"],
    );
    stage.world.ok(["add", "Open"]);
    says(
        stage.world.flagpost(["open", "3"]),
        3,
        &["task 3 has no worktree"],
    );
}

#[test]
fn a_brief_is_approved_by_the_name_of_its_worker() {
    let yard = Yard::of(1);
    yard.world.ok(["worker", "add", "W3"]);
    yard.world.ok(["assign", "1", "W3", "--inline", "Write it"]);
    yard.world.ok(["approve", "W3", "1"]);
    // An agent may join under any name, and stands in no task's way.
    yard.world.ok(["worker", "add", "1"]);
    says(
        yard.world.flagpost(["approve", "1"]),
        2,
        &["1 is a worker and a task", "flagpost ratify 1"],
    );
    let commit = tip(&yard, 1);
    yard.world.ok(["approve", "1", "--commit", &commit[..10]]);
    yard.world.ok(["worker", "rm", "1"]);
    says(
        yard.world.flagpost(["approve", "1", "--count-status"]),
        2,
        &["--commit COMMIT"],
    );
}

#[test]
fn work_returned_in_the_middle_of_a_run_is_done_again_by_that_run_with_the_words() {
    let stage = Stage::of_equal(2);
    let body = r#"
case $task in
    1) nth; cat > "$place/prompt-$n"; echo "$n" > "file-$n"; git add . && git commit -qm "try $n" || exit 9
       if [ "$n" = 2 ]; then mark again; fi ;;
    2) await again ;;
esac
report PASS"#;
    let run = stage.start(body, &["--max-parallel", "2"]);
    until("task 1 is completed", || stage.state("1") == "completed");
    stage.world.ok(["return", "1", "Say it in English"]);
    assert_eq!(run.end().code, 0);
    let told = stage.left("prompt-2");
    for words in [
        "## What is to be different",
        "Say it in English",
        "returned, by",
    ] {
        assert!(told.contains(words), "no {words:?}: {told}");
    }
    exits(stage.world.flagpost(["land", "--yes"]), 0);
    let work = stage.world.repository();
    assert!(work.join("file-1").exists() && work.join("file-2").exists());
}
