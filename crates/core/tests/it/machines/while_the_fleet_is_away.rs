//! What an agent says of what it holds while nobody of the fleet can be reached: kept, told later in its
//! order and once, and nothing of this machine goes before it.

use std::{cell::RefCell, fs, path::PathBuf};

use flagpost_core::{
    Error, Home, Result, claims,
    operations::{
        self, Arguments, Caller, CallerPlace, EntryOutcome, Identity,
        Operation::{
            self, BriefAck, BriefPropose, MessageSend, ReportSend, TaskAdd, TaskClaim, TaskDone,
            TaskEdit, TaskFail, TaskNote, TaskRenew, TaskStuck,
        },
        Parameter,
    },
    order::{self, OrderRefusal},
    relay::{briefs, decide, deliver, reports},
    tasks::{self, Move},
};
use flagpost_model::{
    Refusal, TaskId,
    decision::{Decision, Via},
    message::Speaker,
    task::{Origin, StateName},
};
use flagpost_testkit::power::{PowerFs, every_crash, every_fault};
use serde_json::{Value, json};

use super::{
    Answer, Fleet3, Mode, Node, arranged, away, others_hold_the_same, plain_home, replicated,
};
use crate::{
    messages::task as task_words,
    relay::{proposal, register, seq},
    world::{World, act, add as add_to, power, simulated_home, subject, terms, worker},
};

/// Asks for an operation as every face does that has a table of them.
fn ask(node: &Node, who: &str, operation: Operation, said: Value) -> Result<EntryOutcome> {
    ask_in(&node.home, who, operation, said)
}

fn ask_in(home: &Home, who: &str, operation: Operation, said: Value) -> Result<EntryOutcome> {
    let speaker = Speaker {
        name: worker(who),
        by: None,
    };
    let identity = Identity::of(&speaker, Origin::Agent);
    let caller = Caller::new(home, identity, Via::Mcp, CallerPlace::Nowhere);
    let entry = operations::entry(operation).unwrap();
    let parameters: Vec<&'static Parameter> = entry.parameters.iter().collect();
    let Value::Object(mut said) = said else {
        panic!("{said}")
    };
    if parameters.iter().any(|it| it.name == "list") {
        said.insert("list".to_owned(), "repo".into());
    }
    let said = Arguments::read(&parameters, Vec::new(), said)?;
    entry.carry_out(&caller, &said)
}

/// Says it while the fleet is away: it is kept.
fn keep(node: &Node, who: &str, operation: Operation, said: Value) {
    node.stream.go_away();
    let kept = ask(node, who, operation, said);
    node.stream.come_back();
    let Ok(EntryOutcome::Kept(answer)) = &kept else {
        panic!("{kept:?}")
    };
    assert_eq!(answer["schema"], "flagpost.kept/1");
    assert_eq!(answer["operation"], operation.name());
    assert_eq!(answer["note"], "kept; the fleet has not heard it yet");
}

fn kept(node: &Node) -> usize {
    order::kept(&node.home, &node.stream.repo).unwrap()
}

fn tell(node: &Node) -> Vec<String> {
    operations::tell(&node.home, &node.stream.repo).unwrap()
}

fn outgoing(node: &Node) -> PathBuf {
    node.history_path().with_file_name("outgoing")
}

/// The kinds of the lines that tell of kept reports, in their order.
fn told(node: &Node) -> Vec<String> {
    let lines = node.history().into_iter();
    let lines = lines.filter(|line| line.entry.detail.contains_key("kept"));
    lines
        .map(|line| line.entry.kind.as_str().to_owned())
        .collect()
}

/// A task that `W3` has claimed on this machine, and the token.
fn claimed(node: &Node, text: &str) -> (TaskId, u64) {
    let task = add_to(&node.list(), text, &[]).id;
    let claimed = claims::claim(&node.list(), &terms("W3"), &task).unwrap();
    (task, claimed.claim.token.0)
}

#[test]
fn what_is_said_of_work_and_mail_is_told_in_its_order_and_once() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    a.register("W3");
    for body in ["Do it", &task_words("b1")] {
        briefs::propose(&a.mail("W3"), &worker("lead"), proposal(body)).unwrap();
    }
    let wish = decide::DecisionRequest::new(Decision::Ratified, Via::Cli);
    decide::decide(&a.mail("W3"), &worker("ann"), Some(seq(1)), &wish).unwrap();
    deliver::next(&a.mail("W3"), &worker("W3"))
        .unwrap()
        .unwrap();
    let (first, token) = claimed(a, "First");
    let (second, other) = claimed(a, "Second");
    let (third, last) = claimed(a, "Third");
    let before = a.replicated();
    keep(a, "W3", BriefAck, json!({"seq": 1}));
    keep(a, "W3", ReportSend, json!({"text": "Half of it"}));
    let progress = json!({"subject": "PROGRESS", "body": r#"{"bead_id":"b1","status":"half"}"#});
    keep(a, "W3", MessageSend, progress);
    let done = json!({"id": first, "token": token, "text": "Written"});
    keep(a, "W3", TaskDone, done.clone());
    // The same again is a retry.
    keep(a, "W3", TaskDone, done);
    keep(
        a,
        "W3",
        TaskFail,
        json!({"id": second, "token": other, "text": "No"}),
    );
    keep(
        a,
        "W3",
        TaskStuck,
        json!({"id": third, "token": last, "text": "Which?"}),
    );
    assert_eq!(a.replicated(), before, "nobody heard of it yet");
    assert_eq!((kept(a), kept(b)), (6, 0));

    assert!(tell(a).is_empty());
    assert_eq!(kept(a), 0);
    let lines = [
        "worker.read",
        "worker.paste_back",
        "worker.paste_back",
        "message.sent",
        "task.completed",
        "task.failed",
        "task.stuck",
    ];
    assert_eq!(told(a), lines);
    assert!(tell(a).is_empty());
    fleet.all_alike();
    assert_eq!(told(b), lines);
    let state = |id: &TaskId| b.list().task(id).unwrap().task.state.name();
    assert_eq!(
        [&first, &second, &third].map(state),
        [StateName::Completed, StateName::Failed, StateName::Stuck]
    );
    assert_eq!(reports::list(&b.mail("W3")).unwrap().0.len(), 2);
}

#[test]
fn whatever_this_machine_changes_next_comes_after_it() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    let (task, token) = claimed(a, "First");
    keep(a, "W3", TaskDone, json!({"id": task, "token": token}));
    // While nobody hears it, nothing goes before it.
    fleet.stream.go_away();
    let refused = tasks::add(&a.list(), &worker("ann"), &subject("Second"), &[]);
    fails!(refused, Error::Order(OrderRefusal::Unreachable { .. }));
    fleet.stream.come_back();
    b.follow();
    add_to(&b.list(), "Of another machine", &[]);
    add_to(&a.list(), "Second", &[]);
    assert_eq!(kept(a), 0);
    let kinds: Vec<String> = a
        .history()
        .iter()
        .rev()
        .take(3)
        .map(|line| line.entry.kind.as_str().to_owned())
        .collect();
    assert_eq!(kinds, ["task.created", "task.completed", "task.created"]);
    fleet.all_alike();
}

#[test]
fn what_the_rules_refuse_is_refused_at_once_and_other_operations_as_ever() {
    let fleet = Fleet3::new();
    let a = &fleet.nodes()[0];
    a.register("W3");
    let (task, token) = claimed(a, "First");
    let free = add_to(&a.list(), "Nobody's", &[]).id;
    fleet.stream.go_away();
    let done = |who: &str, said: Value| ask(a, who, TaskDone, said).unwrap_err();
    let stale = done(
        "W3",
        json!({"id": task, "token": token - 1, "text": "Late"}),
    );
    assert!(
        matches!(stale, Error::Refused(Refusal::StaleToken { .. })),
        "{stale:?}"
    );
    let others = done("W4", json!({"id": task, "text": "Mine"}));
    assert!(
        matches!(others, Error::Refused(Refusal::Held { .. })),
        "{others:?}"
    );
    let unknown = done("W3", json!({"id": "99", "text": "What?"}));
    assert!(matches!(unknown, Error::NotFound { .. }), "{unknown:?}");
    let is_away = |error: &Error| matches!(error, Error::Order(OrderRefusal::Unreachable { .. }));
    // Another machine may have taken it meanwhile.
    let unclaimed = done("W3", json!({"id": free}));
    assert!(is_away(&unclaimed), "{unclaimed:?}");
    for (operation, said) in [
        (TaskAdd, json!({"subject": "New"})),
        (TaskClaim, json!({"id": free})),
        (TaskEdit, json!({"id": free, "subject": "Other"})),
        (TaskNote, json!({"id": task, "text": "Remark"})),
        (TaskRenew, json!({"id": task, "token": token})),
        (BriefPropose, json!({"worker": "W3", "text": "Do"})),
        (MessageSend, json!({"subject": "QUERY", "body": "Which?"})),
    ] {
        let refused = ask(a, "W3", operation, said).unwrap_err();
        assert!(is_away(&refused), "{operation}: {refused:?}");
    }
    assert_eq!(kept(a), 0);
}

#[test]
fn what_nobody_knows_to_have_happened_is_not_kept() {
    let fleet = Fleet3::new();
    let a = &fleet.nodes()[0];
    let (task, token) = claimed(a, "First");
    fleet.stream.answers(&[Answer::Lost]);
    let done = json!({"id": task, "token": token});
    let unsettled = ask(a, "W3", TaskDone, done);
    fails!(unsettled, Error::Order(OrderRefusal::Unsettled { .. }));
    assert_eq!(kept(a), 0);
}

#[test]
fn a_result_whose_claim_another_one_took_is_a_late_one() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    let (task, token) = claimed(a, "First");
    keep(
        a,
        "W3",
        TaskDone,
        json!({"id": task, "token": token, "text": "Mine"}),
    );
    // Meanwhile somebody took it from its holder, and another one has it.
    b.follow();
    let by = act("ann", None);
    tasks::act(&b.list(), &by, &task, Move::Release { force: true }).unwrap();
    claims::claim(&b.list(), &terms("W9"), &task).unwrap();
    assert!(tell(a).is_empty());
    assert_eq!(told(a), ["task.late_result"]);
    fleet.all_alike();
    let task = b.list().task(&task).unwrap().task;
    assert_eq!(task.state.name(), StateName::Claimed);
    assert_eq!(task.late.len(), 1);
    assert_eq!(task.late[0].text, "Mine");
}

#[test]
fn one_that_is_refused_for_good_is_put_aside_and_the_next_are_told() {
    let fleet = Fleet3::new();
    let [a, b, _] = fleet.nodes();
    let (gone, token) = claimed(a, "First");
    let (task, other) = claimed(a, "Second");
    keep(
        a,
        "W3",
        TaskDone,
        json!({"id": gone, "token": token, "text": "Mine"}),
    );
    keep(a, "W3", TaskDone, json!({"id": task, "token": other}));
    fs::write(outgoing(a).join("000000.json"), "{\"form\": 1, \"id\"").unwrap();
    b.follow();
    let by = act("ann", None);
    tasks::act(&b.list(), &by, &gone, Move::Release { force: true }).unwrap();
    tasks::remove(&b.list(), &worker("ann"), &gone).unwrap();
    let aside = tell(a);
    assert_eq!(aside.len(), 2, "{aside:?}");
    assert!(aside[0].contains("cannot be read"), "{aside:?}");
    assert!(aside[1].contains("there is no task"), "{aside:?}");
    assert_eq!(told(a), ["task.completed"]);
    let left = flagpost_disk::fsx::kept(a.home.fs(), &outgoing(a)).unwrap();
    assert_eq!(left.len(), 2);
    let text = fs::read_to_string(&left[1].copy).unwrap();
    assert!(text.contains("Mine"), "{text}");
    fleet.all_alike();
}

#[test]
fn what_a_newer_version_kept_waits_for_it_and_says_so() {
    let fleet = Fleet3::new();
    let a = &fleet.nodes()[0];
    let (task, _) = claimed(a, "First");
    fs::create_dir(outgoing(a)).unwrap();
    let file = outgoing(a).join("000001.json");
    fs::write(&file, "{\"form\": 2}").unwrap();
    let refused = tasks::edit(&a.list(), &worker("ann"), &task, &subject("Other"));
    let Err(Error::Order(OrderRefusal::Frozen { reason, .. })) = &refused else {
        panic!("{refused:?}")
    };
    assert!(
        reason.contains("newer") && reason.contains("000001.json"),
        "{reason}"
    );
    assert!(file.exists());
    assert!(a.list().task(&task).is_ok(), "it can be read");
}

#[test]
fn an_answer_that_was_lost_is_no_second_report() {
    // Whatever is said, and how many lines tell of it then.
    for (operation, said, lines) in [
        (TaskDone, json!({"text": "Mine"}), 1),
        (TaskFail, json!({}), 1),
        (TaskStuck, json!({"text": "Which?"}), 1),
        (ReportSend, json!({"text": "Half of it"}), 1),
        (
            MessageSend,
            json!({"subject": "PROGRESS", "body": r#"{"bead_id":"b1","status":"half"}"#}),
            2,
        ),
    ] {
        let fleet = Fleet3::new();
        let [a, b, _] = fleet.nodes();
        a.register("W3");
        let (task, token) = claimed(a, "First");
        let mut said = said;
        if operation.name().starts_with("task") {
            said["id"] = json!(task);
            said["token"] = json!(token);
        }
        keep(a, "W3", operation, said);
        fleet.stream.answers(&[Answer::Unheard]);
        let unsettled = operations::tell(&a.home, &a.stream.repo);
        fails!(unsettled, Error::Order(OrderRefusal::Unsettled { .. }));
        // Another machine reopens what was done, before this one looks again.
        b.follow();
        if operation.name().starts_with("task") {
            let by = act("ann", None);
            tasks::act(&b.list(), &by, &task, Move::Reopen).unwrap();
        }
        assert!(tell(a).is_empty());
        assert_eq!((kept(a), told(a).len()), (0, lines), "{operation}");
        fleet.all_alike();
        assert!(
            a.list().task(&task).unwrap().task.late.is_empty(),
            "{operation}"
        );
    }
}

/// A disk whose list has a task that `W3` has claimed, and the arguments of its report.
fn with_a_claim() -> (PowerFs, Value) {
    let mut said = Value::Null;
    let fs = arranged(Mode::Shared, || {
        let fs = power();
        let world = World::simulated(&fs);
        register(&world, &["W3"]);
        let task = add_to(&world.list(), "First", &[]).id;
        let claimed = claims::claim(&world.list(), &terms("W3"), &task).unwrap();
        said = json!({"id": task, "token": claimed.claim.token.0, "text": "Mine"});
        fs.settle();
        fs
    });
    (fs, said)
}

/// Keeps a report and a word of mail while the fleet is away; which of them were acknowledged.
fn keep_both(fs: &PowerFs, said: &Value) -> [bool; 2] {
    let home = away(fs, plain_home(fs));
    let done = ask_in(&home, "W3", TaskDone, said.clone());
    let report = json!({"text": "Half of it"});
    let report = ask_in(&home, "W3", ReportSend, report);
    [done, report].map(|it| matches!(it, Ok(EntryOutcome::Kept(_))))
}

/// What the history of a disk tells of kept reports, by its kinds.
fn told_on(fs: &PowerFs) -> Vec<String> {
    let all = replicated(fs);
    let history = all.iter().find(|(path, _)| path.ends_with("history.jsonl"));
    let lines = history.unwrap().1.lines();
    let told = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    told.filter(|line| line["detail"].get("kept").is_some())
        .map(|line| line["kind"].as_str().unwrap().to_owned())
        .collect()
}

fn tell_on(fs: &PowerFs) -> Result<Vec<String>> {
    let home = simulated_home(fs);
    let shared = order::shared(&home)?;
    operations::tell(&home, &shared[0])
}

#[test]
fn whatever_was_acknowledged_as_kept_is_told_after_a_power_cut() {
    let said = RefCell::new(Value::Null);
    every_crash(
        || {
            let (fs, words) = with_a_claim();
            *said.borrow_mut() = words;
            fs
        },
        |fs| keep_both(fs, &said.borrow()),
        |fs, kept| {
            tell_on(fs).unwrap();
            let told = told_on(fs);
            let lines = ["task.completed", "worker.paste_back"];
            for (line, kept) in lines.iter().zip(kept) {
                let times = told.iter().filter(|it| it == line).count();
                assert!(times <= 1 && (times == 1 || !kept), "{line}: {told:?}");
            }
            others_hold_the_same(fs);
        },
    );
}

#[test]
fn whoever_is_cut_off_while_telling_tells_it_once() {
    every_crash(
        || {
            let (fs, said) = with_a_claim();
            assert_eq!(keep_both(&fs, &said), [true; 2]);
            fs.settle();
            fs
        },
        tell_on,
        |fs, _| {
            tell_on(fs).unwrap();
            assert_eq!(told_on(fs), ["task.completed", "worker.paste_back"]);
            let home = simulated_home(fs);
            let shared = order::shared(&home).unwrap();
            assert_eq!(order::kept(&home, &shared[0]).unwrap(), 0);
            others_hold_the_same(fs);
        },
    );
}

#[test]
fn a_disk_that_fails_keeps_what_is_not_told() {
    every_fault(
        || {
            let (fs, said) = with_a_claim();
            assert_eq!(keep_both(&fs, &said), [true; 2]);
            fs.settle();
            fs
        },
        tell_on,
        |fs, _| {
            fs.run_free();
            tell_on(fs).unwrap();
            assert_eq!(told_on(fs), ["task.completed", "worker.paste_back"]);
            others_hold_the_same(fs);
        },
    );
}
