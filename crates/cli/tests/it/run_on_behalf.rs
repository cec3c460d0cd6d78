//! A run speaks the messages of a resident worker for the processes that it starts.

use flagpost_testkit::background::kill;
use rustix::process::Signal;
use serde_json::Value;

use crate::{
    exits,
    messages_by_agents::listed,
    run_stage::{Stage, lines},
    says,
};

/// What the messages about the run say: subject, from, to, and the state of each.
fn said(stage: &Stage) -> Vec<String> {
    let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let line = |seen: &Value| {
        let message = &seen["message"];
        let of = |key: &str| word(&message[key]);
        let data = &message["data"];
        let words = ["title", "summary", "reason", "status"].map(|key| word(&data[key]));
        format!(
            "{} {} {} {} {}: {}",
            word(&seen["state"]),
            of("subject"),
            of("from"),
            of("by"),
            word(&data["bead_id"]),
            words.concat()
        )
    };
    listed(&stage.world).iter().map(line).collect()
}

#[test]
fn the_thread_of_a_run_reads_the_same_for_both_kinds_of_worker() {
    let stage = Stage::new("- [ ] Parse\n- [ ] Print (after: 1)\n");
    exits(stage.run("report PASS \"did it\"", &[]), 0);
    assert_eq!(
        said(&stage),
        [
            "acked TASK orchestrator ann 1: Parse",
            "acked DONE run-1 orchestrator 1: did it",
            "acked TASK orchestrator ann 2: Print",
            "acked DONE run-1 orchestrator 2: did it",
        ]
    );
    let session = stage.archived();
    let thread = session.file_name().unwrap().to_str().unwrap();
    let (code, told) = stage.world.json(["msg", "thread", thread]);
    let told = told["messages"].as_array().unwrap();
    assert_eq!((code, told.len()), (0, 4));
    let prior = &told[2]["message"]["data"]["prior_summaries"];
    assert_eq!(prior[0], "1: did it");
    assert_eq!(stage.world.ok(["msg", "unacked", "--quiet"]), "");
    // Nobody of it is on the fleet any more.
    assert_eq!(stage.world.ok(["worker", "list", "--quiet"]), "");
    let sql = "SELECT subject, from_id, to_id, acked_at IS NULL AS open FROM messages ORDER BY id";
    let rows = stage.world.ok(["index", "sql", sql]);
    assert!(
        rows.contains("DONE     run-1         orchestrator  0"),
        "{rows}"
    );
}

#[test]
fn what_did_not_pass_is_stuck_and_each_attempt_has_a_task_of_its_own() {
    let stage = Stage::new("- [ ] One\n");
    exits(stage.run("echo broken; exit 3", &["--retries", "2"]), 1);
    let said = said(&stage);
    let subjects: Vec<&str> = said
        .iter()
        .map(|it| it.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(subjects, ["TASK", "STUCK", "TASK", "STUCK"]);
    assert!(said[1].contains("it exited with code 3"), "{said:?}");
    let stuck = &listed(&stage.world)[1]["message"]["data"];
    assert_eq!(stuck["needs"], "abort");
    let again = &listed(&stage.world)[2]["message"]["data"]["prompt"];
    assert!(again.as_str().unwrap().contains("it exited with code 3"));
}

#[test]
fn a_process_may_speak_for_itself() {
    let agent = r#"case $FLAGPOST_TASK in
        1) flagpost msg send --subject PROGRESS --task 1 "half of it" --quiet
           flagpost msg send --subject DONE --task 1 "all of it" --quiet ;;
        2) flagpost msg send --subject STUCK --task 2 --needs guidance "which one?" --quiet ;;
        3) flagpost msg send --subject STUCK --task 3 --needs abort "no way" --quiet ;;
        4) test -e "$PLACE/first" && exit 0
           : > "$PLACE/first"
           flagpost msg send --subject STUCK --task 4 --needs dependency --depends-on 5 "after it" --quiet ;;
    esac"#;
    let stage = Stage::of_equal(5);
    let agent = agent.replace("$PLACE", stage.place.to_str().unwrap());
    let ran = stage.run(&agent, &["--max-parallel", "1", "--retries", "1"]);
    assert_eq!(ran.code, 1, "{ran}");
    let states = ["completed", "stuck", "failed", "completed", "completed"];
    assert_eq!(stage.states(5), states);
    let of = |id: &str| stage.task(id)["metadata"]["flagpost"]["result"]["text"].clone();
    assert_eq!(of("1"), "all of it");
    assert_eq!(of("2"), "which one?");
    assert_eq!(stage.task("4")["blockedBy"][0], "5");
    let all = listed(&stage.world);
    assert!(all.iter().all(|it| it["state"] == "acked"), "{all:?}");
    let subjects = |subject: &str| {
        let of = |it: &&Value| it["message"]["subject"] == subject;
        all.iter().filter(of).count()
    };
    // Of the five one was given out twice, and nothing was said twice.
    assert_eq!(
        ["TASK", "DONE", "STUCK", "PROGRESS"].map(subjects),
        [6, 3, 3, 1]
    );
}

#[test]
fn a_process_that_prints_is_at_work() {
    let stage = Stage::new("- [ ] One\n");
    let body = "echo first; until test -e \"$(dirname \"$0\")/go\"; do sleep 0.02; done";
    let agent = stage.agent(body);
    let mut command = stage.world.command();
    command.env("FLAGPOST_CLAIM_LEASE", "1s");
    let args = ["run", "--agent", &agent, "--json"];
    let child = command.args(args).stdout(std::process::Stdio::piped());
    let child = child.spawn().unwrap();
    flagpost_testkit::race::until("it is said", || {
        said(&stage).iter().any(|it| it.contains("PROGRESS"))
    });
    stage.mark("go");
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    let said = said(&stage);
    assert!(
        said[1].ends_with("PROGRESS run-1 orchestrator 1: first"),
        "{said:?}"
    );
    let stdout = String::from_utf8(out.stdout).unwrap();
    let events = lines(&stdout);
    let progress = events.iter().filter(|it| it["event"] == "task.said");
    // Once, however often it was looked at: nothing more was printed.
    assert_eq!(progress.count(), 1, "{events:?}");
}

#[test]
fn a_killed_run_leaves_tasks_that_the_next_one_takes_back() {
    let stage = Stage::new("- [ ] One\n- [ ] Two\n");
    let wait = "echo $$ > \"$(dirname \"$0\")/pid-$FLAGPOST_TASK\"; exec sleep 600";
    let runner = stage.start(wait, &[]);
    stage.pid("pid-1");
    stage.pid("pid-2");
    let next = |stage: &Stage| {
        let (_, open) = stage.world.json(["msg", "unacked"]);
        let all = open["messages"].as_array().unwrap().clone();
        all.iter()
            .map(|it| it["next"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(next(&stage), ["await"; 2], "their run lives");
    kill(runner.id(), Signal::KILL);
    runner.end();
    assert_eq!(next(&stage), ["reassign"; 2]);
    stage.world.ok(["session", "recover"]);
    assert_eq!(next(&stage), [""; 0]);
    exits(stage.run("report PASS", &[]), 0);
    let said = said(&stage);
    let count = |what: &str| said.iter().filter(|it| it.starts_with(what)).count();
    assert_eq!(
        [
            count("withdrawn TASK"),
            count("acked TASK"),
            count("acked DONE")
        ],
        [2, 2, 2]
    );
    let history = stage.history();
    let withdrawn = history
        .iter()
        .filter(|it| it["kind"] == "message.withdrawn");
    assert_eq!(withdrawn.count(), 2);
}

#[test]
fn no_worker_is_named_like_a_process() {
    let stage = Stage::new("- [ ] One\n");
    says(
        stage.world.flagpost(["worker", "add", "run-1"]),
        6,
        &["a run names its own processes so"],
    );
}
