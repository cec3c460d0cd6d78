//! What a killed run left with its workers: it stays with whoever goes on from it, and is taken back
//! where nobody does, so that no task is done twice.

use std::fs::{self, File};

use flagpost_testkit::race::until;
use serde_json::Value;

use crate::{
    messages_by_agents::listed,
    run_residents::{crew, killed, now, run, stage, success, with_subject},
    run_stage::Stage,
};

const ALL: [&str; 2] = ["--workers", "W1,W2"];
const W1: [&str; 2] = ["--workers", "W1"];

/// Two workers whom a run gave a task each before it was killed, once W2 did this.
fn left(by_w2: impl Fn(&Stage)) -> Stage {
    let stage = stage("- [ ] One\n- [ ] Two\n", &["W1", "W2"]);
    let runner = run(&stage.world, &ALL).spawn().unwrap();
    until("both have a task", || {
        let tasks = with_subject(&stage, "TASK");
        tasks.iter().filter(|it| it["state"] == "new").count() == 2
    });
    by_w2(&stage);
    killed(runner);
    stage
}

/// The messages that are open, as `W2/inbox/1 offer`.
fn open(stage: &Stage) -> Vec<String> {
    let open = now(&stage.world, &["msg", "unacked", "--json"]);
    let open: Value = serde_json::from_str(&open).unwrap();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let each = open["messages"].as_array().unwrap().iter();
    each.map(|it| format!("{} {}", text(&it["message"]["place"]), text(&it["next"])))
        .collect()
}

fn state_of(stage: &Stage, place: &str) -> Value {
    let mut all = listed(&stage.world).into_iter();
    let seen = all.find(|it| it["message"]["place"] == place);
    seen.unwrap()["state"].clone()
}

#[test]
fn what_was_let_through_stays_so_though_its_marks_are_removed() {
    let stage = left(|_| ());
    let inbox = stage.mail().join("W2/inbox");
    for mark in [".0001.decision.json", "0001.ratified"] {
        fs::remove_file(inbox.join(mark)).unwrap();
    }
    assert_eq!(open(&stage), ["W1/inbox/1 offer", "W2/inbox/1 offer"]);
}

/// A run that has W1 alone does what was W2's as well, and takes that back.
fn w1_does_all(stage: &Stage) {
    let _crew = crew(stage, &["W1"], &["cat"]);
    assert!(success(run(&stage.world, &W1).spawn().unwrap()));
    assert_eq!(stage.states(2), ["completed"; 2]);
    assert_eq!(state_of(stage, "W2/inbox/1"), "withdrawn");
    assert_eq!(open(stage), [""; 0]);
}

#[test]
fn what_waits_for_a_worker_that_the_next_run_does_not_have_goes_to_another() {
    let stage = left(|_| ());
    w1_does_all(&stage);
}

#[test]
fn what_a_silent_worker_had_goes_to_another() {
    let stage = left(|stage| {
        let long_ago = |args: &[&str]| {
            let mut command = stage.world.command();
            let ran = stage
                .world
                .run(command.env("FLAGPOST_CLOCK", "-2h").args(args));
            assert_eq!(ran.code, 0, "{ran}");
            ran.stdout
        };
        let place = long_ago(&["msg", "recv", "--as", "W2", "--lease", "1h", "--quiet"]);
        long_ago(&["msg", "ack", place.trim(), "--as", "W2"]);
    });
    assert_eq!(open(&stage), ["W1/inbox/1 offer", "W2/inbox/1 reassign"]);
    w1_does_all(&stage);
}

#[test]
fn what_somebody_did_meanwhile_is_taken_back() {
    let stage = left(|_| ());
    now(&stage.world, &["session", "recover"]);
    assert_eq!(open(&stage), ["W1/inbox/1 offer", "W2/inbox/1 offer"]);
    now(&stage.world, &["claim", "2"]);
    now(&stage.world, &["done", "2", "Did it myself"]);
    now(&stage.world, &["session", "recover"]);
    assert_eq!(open(&stage), ["W1/inbox/1 offer"]);
    assert_eq!(state_of(&stage, "W2/inbox/1"), "withdrawn");
}

/// One worker that has a question about its task when the run is killed; the question's place.
fn asked() -> (Stage, String) {
    let stage = stage("- [ ] One\n", &["W1"]);
    let runner = run(&stage.world, &W1).spawn().unwrap();
    let take = ["msg", "recv", "--wait", "--as", "W1", "--quiet"];
    now(&stage.world, &take);
    let ask = "msg send --as W1 --subject STUCK --task 1 --needs guidance how? --quiet";
    let ask: Vec<&str> = ask.split(' ').collect();
    let place = now(&stage.world, &ask).trim().to_owned();
    until("the run heard it", || state_of(&stage, &place) == "acked");
    killed(runner);
    (stage, place)
}

fn is_shown(stage: &Stage) -> bool {
    now(&stage.world, &["status"]).contains("W1 asks: how?")
}

#[test]
fn a_question_is_shown_until_it_is_answered_whichever_run_has_the_task() {
    let (stage, place) = asked();
    assert!(is_shown(&stage), "while no run lives");
    let told = stage.place.join("told");
    for n in 0..2 {
        let mut again = run(&stage.world, &W1);
        let again = again.stderr(File::create(&told).unwrap()).spawn().unwrap();
        until("the run itself tells of it", || {
            let told = fs::read_to_string(&told).unwrap();
            told.contains("W1 1 waits for your word") && told.contains("how?")
        });
        assert!(is_shown(&stage), "by run {n}");
        killed(again);
    }
    now(&stage.world, &["session", "recover"]);
    assert_eq!(stage.state("1"), "pending");
    assert!(is_shown(&stage), "once its task was given back");
    now(&stage.world, &["answer", "1", "so"]);
    assert!(!is_shown(&stage));
    for asked in ["1", &place] {
        let again = stage.world.flagpost(["answer", asked, "so"]);
        assert_eq!(again.code, 4, "{again}");
    }
    let mut last = run(&stage.world, &W1);
    let last = last.stderr(File::create(&told).unwrap()).spawn().unwrap();
    until("it is W1's", || stage.state("1") == "in_progress");
    let done = ["msg", "send", "--as", "W1", "--subject", "DONE", "--task"];
    now(&stage.world, &[&done[..], &["1", "did it"]].concat());
    assert!(success(last));
    let told = fs::read_to_string(&told).unwrap();
    assert!(!told.contains("waits for your word"), "{told}");
}

#[test]
fn who_does_not_have_the_task_any_more_does_not_ask() {
    let (stage, _) = asked();
    now(&stage.world, &["session", "recover"]);
    assert!(is_shown(&stage));
    now(&stage.world, &["claim", "1"]);
    assert!(!is_shown(&stage), "somebody else has it");
    now(&stage.world, &["done", "1", "Did it myself"]);
    assert!(!is_shown(&stage));
}
