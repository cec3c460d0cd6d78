//! Bodies, order, leases, speakers and recovery, by tables.

use jiff::SignedDuration;

use super::*;
use crate::decision::Decision;

fn at(minute: i64) -> Timestamp {
    let start: Timestamp = "2026-05-13T14:00:00Z".parse().unwrap();
    start + SignedDuration::from_mins(minute)
}

fn w(name: &str) -> WorkerId {
    name.parse().unwrap()
}

fn place(text: &str) -> MessageAddress {
    text.parse().unwrap()
}

/// A message at a place, said at a minute.
fn message(at_place: &str, subject: Subject, body: &str, minute: i64) -> Message {
    let place = place(at_place);
    let worker = place.worker.to_string();
    let (from, to) = match place.direction {
        Direction::Inbox => (ORCHESTRATOR.to_owned(), worker),
        Direction::Outbox => (worker, ORCHESTRATOR.to_owned()),
    };
    Message {
        id: None,
        subject: Some(subject),
        word: None,
        kind: "freeform",
        from,
        to,
        by: None,
        thread: Some("epic-1".to_owned()),
        answers: None,
        at: at(minute),
        body: body.to_owned(),
        place,
    }
}

#[test]
fn a_message_has_the_word_that_its_writer_gave_it() {
    let done = message("W1/outbox/1", Subject::Done, DONE, 0);
    assert_eq!(done.title(), "DONE");
    let named = |word: &str| {
        other_word(&Extras {
            subject: Some(word.to_owned()),
            ..Extras::default()
        })
    };
    assert_eq!(named("DONE"), None);
    assert_eq!(named(""), None);
    let foreign = Message {
        subject: None,
        word: named("WEIRD"),
        ..done
    };
    assert_eq!(foreign.title(), "WEIRD");
    let plain = Message {
        word: None,
        ..foreign
    };
    assert_eq!(plain.title(), "freeform");
}

const DONE: &str = r#"{"bead_id":"b1","summary":"Did it"}"#;
const TASK: &str = r#"{"bead_id":"b1","prompt":"Do it"}"#;

fn stuck(needs: &str) -> String {
    format!(r#"{{"bead_id":"b1","reason":"why","needs":"{needs}"}}"#)
}

#[test]
fn the_seeds_bodies_are_read() {
    let task = r#"{"bead_id": "wt-1", "title": "Parser", "prompt": "Write it", "bead_num": 1,
        "total": 5, "prior_summaries": ["Lexer written"], "x": 1}"#;
    let Ok(Body::Task(body)) = Body::parse(Subject::Task, task) else {
        panic!("no task");
    };
    assert_eq!((body.bead_num, body.total), (Some(1), Some(5)));
    assert_eq!(body.prior_summaries, ["Lexer written"]);
    let done = r#"{"bead_id": "b", "commit_hash": "", "summary": "Done"}"#;
    let body = Body::parse(Subject::Done, done).unwrap();
    assert_eq!(
        body.to_text(),
        "{\n  \"bead_id\": \"b\",\n  \"summary\": \"Done\"\n}\n"
    );
    assert_eq!(body.words(), "task b: Done\n");
    let progress =
        r#"{"task_id": "b", "percent": 50, "status": "running tests", "files": ["a.rs"]}"#;
    let body = Body::parse(Subject::Progress, progress).unwrap();
    assert_eq!(
        (body.task(), body.line()),
        (Some("b"), "b: 50 % running tests".to_owned())
    );
    assert_eq!(body.words(), "task b: 50 % running tests\n- a.rs\n");
    let stuck =
        r#"{"bead_id": "b", "reason": "No lexer", "needs": "dependency", "depends_on": "a"}"#;
    let body = Body::parse(Subject::Stuck, stuck).unwrap();
    assert_eq!(
        body.words(),
        "task b: No lexer\n\nneeds dependency on task a\n"
    );
    assert_eq!(
        Body::parse(Subject::Query, " a?\n"),
        Ok(Body::Text(" a?\n".to_owned())),
        "words stay as they are"
    );
}

#[test]
fn a_task_without_a_prompt_is_still_that_task() {
    for (text, title) in [
        (r#"{"bead_id":"b1","title":"Parse"}"#, "Parse"),
        (
            r#"{"bead_id":"b1","title":"Parse","prompt":"","bead_num":1,"total":5}"#,
            "Parse",
        ),
        (r#"{"bead_id":"b1"}"#, "b1"),
    ] {
        let body = Body::parse(Subject::Task, text).unwrap();
        assert_eq!((body.task(), body.title().as_str()), (Some("b1"), title));
        assert!(!body.to_text().contains("prompt"), "{}", body.to_text());
    }
}

#[test]
fn a_commit_may_have_any_name_of_gits_or_none() {
    for commit in ["HEAD", "v1.2", "main~3", "abc"] {
        let text = format!(r#"{{"bead_id":"b","summary":"x","commit_hash":"{commit}"}}"#);
        let Ok(Body::Done(body)) = Body::parse(Subject::Done, &text) else {
            panic!("{commit} is refused");
        };
        assert_eq!(body.commit_hash.as_deref(), Some(commit));
    }
}

#[test]
fn plain_words_are_what_their_subject_says_most_by() {
    for (subject, line) in [
        (Subject::Task, "do it now"),
        (Subject::Done, "do it now"),
        (Subject::Stuck, "needs guidance: do it now"),
        (Subject::Progress, "do it now"),
    ] {
        let body = Body::parse(subject, "do it now\n").unwrap();
        assert_eq!(
            (body.task(), body.line().as_str()),
            (None, line),
            "{subject}"
        );
        assert_eq!(body.about("b1").line(), format!("b1: {line}"));
    }
}

#[test]
fn a_subject_is_one_in_whatever_case() {
    assert_eq!(Subject::named("done"), Some(Subject::Done));
    assert_eq!(Subject::named(" Task"), Some(Subject::Task));
    assert_eq!(Subject::named("NOISE"), None);
}

#[test]
fn a_body_that_is_refused_names_the_field_and_what_is_allowed() {
    use Subject::{Done, Progress, Query, Stuck, Task};
    for (subject, body, told) in [
        (Task, "", "it says nothing"),
        (Query, " \n", "it says nothing"),
        (Task, "[]", "it must be a JSON object"),
        (Done, "{", "it must be a JSON object: EOF"),
        (Task, "{}", "bead_id is missing: the id of the task"),
        (Task, r#"{"bead_id":7}"#, "bead_id must be a text"),
        (
            Task,
            r#"{"bead_id":" ","prompt":"x"}"#,
            "bead_id is missing",
        ),
        (
            Task,
            r#"{"bead_id":"a","task_id":"b"}"#,
            "bead_id and task_id differ",
        ),
        (
            Task,
            r#"{"bead_id":"a","prompt":"x","bead_num":3,"total":2}"#,
            "bead_num must be a whole number from 1 to 2",
        ),
        (
            Task,
            r#"{"bead_id":"a","prompt":"x","total":0}"#,
            "total must be a whole number from 1 on",
        ),
        (
            Task,
            r#"{"bead_id":"a","prompt":"x","prior_summaries":["a",1]}"#,
            "prior_summaries must be a list of texts",
        ),
        (
            Done,
            r#"{"bead_id":"a"}"#,
            "summary is missing: what was done",
        ),
        (
            Stuck,
            r#"{"bead_id":"a","reason":"x"}"#,
            "needs is missing: guidance, dependency or abort",
        ),
        (
            Stuck,
            r#"{"bead_id":"a","reason":"x","needs":"help"}"#,
            "needs: \"help\" is none of guidance, dependency, abort",
        ),
        (
            Stuck,
            r#"{"bead_id":"a","reason":"x","needs":"abort","depends_on":"b"}"#,
            "depends_on goes with needs dependency only",
        ),
        (
            Progress,
            r#"{"bead_id":"a","status":"x","percent":101}"#,
            "percent must be a whole number from 0 to 100",
        ),
        (
            Progress,
            r#"{"bead_id":"a","status":"x","percent":0.5}"#,
            "percent must be",
        ),
        (
            Progress,
            r#"{"bead_id":"a","status":"x","files":"a.rs"}"#,
            "files must be a list",
        ),
    ] {
        let error = Body::parse(subject, body).unwrap_err().to_string();
        let begin = format!("the body of a {subject}: {told}");
        assert!(error.starts_with(&begin), "{body}: {error}");
    }
}

#[test]
fn places_are_read_as_they_are_written() {
    for text in ["W1/inbox/7", "a.b/outbox/12345"] {
        assert_eq!(place(text).to_string(), text);
    }
    for bad in [
        "",
        "W1",
        "W1/7",
        "W1/in/7",
        "../inbox/7",
        "W1/inbox/0",
        "W1/inbox/7/8",
    ] {
        assert!(bad.parse::<MessageAddress>().is_err(), "{bad:?}");
    }
}

#[test]
fn messages_are_in_order_whatever_the_clock_said() {
    let mut all = vec![
        message("W1/inbox/1", Subject::Task, TASK, 10),
        message("W1/inbox/2", Subject::Task, TASK, 5),
        message("W2/inbox/1", Subject::Task, TASK, 11),
        message("W1/outbox/1", Subject::Done, DONE, 1),
        message("W2/outbox/1", Subject::Done, DONE, 12),
    ];
    all[3].answers = Some(place("W1/inbox/1"));
    let order = |all: Vec<Message>| -> Vec<String> {
        in_order(all)
            .iter()
            .map(|it| it.place.to_string())
            .collect()
    };
    let expected = [
        "W1/inbox/1",
        "W1/outbox/1",
        "W1/inbox/2",
        "W2/inbox/1",
        "W2/outbox/1",
    ];
    assert_eq!(order(all.clone()), expected);
    all.reverse();
    assert_eq!(order(all.clone()), expected, "however they came");
    let answered = all.iter_mut().find(|it| it.place == place("W1/inbox/1"));
    answered.unwrap().answers = Some(place("W1/outbox/1"));
    assert_eq!(order(all).len(), 5, "a circle loses nothing");
}

#[test]
fn a_lease_ends_and_is_renewed_in_time() {
    let lease = Lease::new(&w("W1"), 0, at(0), LEASE);
    assert_eq!((lease.count, lease.until), (1, at(5)));
    for (minute, live, renewed) in [
        (0, true, None),
        (1, true, None),
        (2, true, Some(at(7))),
        (4, true, Some(at(9))),
        (5, false, None),
        (9, false, None),
    ] {
        assert_eq!(lease.is_live(at(minute)), live, "{minute}");
        let until = lease.renewed(at(minute)).map(|it| it.until);
        assert_eq!(until, renewed, "{minute}");
    }
    assert_eq!(Lease::new(&w("W1"), lease.count, at(6), LEASE).count, 2);
}

#[test]
fn trap_29_only_the_operator_speaks_in_anothers_name_and_visibly() {
    let said = |asked: &str, agent: &str| {
        let name = |text: &str| (!text.is_empty()).then(|| w(text));
        let speaker = speaker(name(asked), name(agent), w("ann"));
        speaker.map(|it| match it.by {
            Some(by) => format!("{} by {by}", it.name),
            None => it.name.to_string(),
        })
    };
    for (asked, agent, expected) in [
        ("", "", Some("ann")),
        ("ann", "", Some("ann")),
        ("W1", "", Some("W1 by ann")),
        ("", "W1", Some("W1")),
        ("W1", "W1", Some("W1")),
        ("W2", "W1", None),
        ("W1", "orchestrator", None),
        ("orchestrator", "W1", None),
    ] {
        assert_eq!(
            said(asked, agent).ok().as_deref(),
            expected,
            "{asked} {agent}"
        );
    }
}

#[test]
fn each_side_says_what_is_its_to_say() {
    use Subject::{Done, Progress, Query, Reply, Stuck, Task};
    for (role, allowed) in [
        (Role::Worker, &[Done, Stuck, Progress, Query, Reply][..]),
        (Role::Controller, &[Task, Query, Reply][..]),
    ] {
        for subject in Subject::ALL {
            let may = may_send(*subject, &w("W1"), role).is_ok();
            assert_eq!(may, allowed.contains(subject), "{role:?} {subject}");
        }
    }
}

#[test]
fn trap_29_only_the_recipient_acknowledges() {
    let brief = message("W1/inbox/1", Subject::Task, TASK, 0);
    let report = message("W1/outbox/1", Subject::Done, DONE, 0);
    for (who, of_brief, of_report) in [
        ("W1", true, false),
        ("W2", false, false),
        ("orchestrator", false, true),
        ("ann", false, false),
    ] {
        assert_eq!(may_ack(&brief, &w(who)).is_ok(), of_brief, "{who}");
        assert_eq!(may_ack(&report, &w(who)).is_ok(), of_report, "{who}");
    }
}

#[test]
fn a_task_is_open_until_it_is_done_and_again_once_its_question_is_answered() {
    let task = message("W1/inbox/1", Subject::Task, TASK, 0);
    let question = message("W1/outbox/1", Subject::Stuck, &stuck("guidance"), 1);
    let mut reply = message("W1/inbox/2", Subject::Reply, "This way", 2);
    reply.answers = Some(question.place.clone());
    let mut chat = reply.clone();
    chat.answers = None;
    let done = message("W1/outbox/2", Subject::Done, DONE, 3);
    let mut elsewhere = done.clone();
    elsewhere.thread = None;
    let by_another = message("W2/outbox/1", Subject::Done, DONE, 3);
    let mut of_another = done.clone();
    of_another.answers = Some(place("W1/inbox/9"));
    let guidance = TaskReply::Stuck(Needs::Guidance);
    for (later, expected) in [
        (vec![], TaskReply::None),
        (vec![&done], TaskReply::Done),
        (vec![&question], guidance),
        (vec![&question, &chat], guidance),
        (vec![&question, &reply], TaskReply::None),
        (vec![&question, &reply, &done], TaskReply::Done),
        (vec![&elsewhere], TaskReply::None),
        (vec![&by_another], TaskReply::None),
        (vec![&of_another], TaskReply::None),
    ] {
        assert_eq!(answer(&task, later.iter().copied()), expected, "{later:?}");
    }
    // The same task given again is not done by what was said before, unless that names it.
    let mut again = message("W1/inbox/3", Subject::Task, TASK, 9);
    assert_eq!(answer(&again, [&done]), TaskReply::None);
    let mut named = done.clone();
    named.answers = Some(again.place.clone());
    assert_eq!(
        answer(&again, [&named]),
        TaskReply::Done,
        "whatever the clock said"
    );
    again.at = done.at;
    assert_eq!(answer(&again, [&done]), TaskReply::Done);
}

#[test]
fn a_question_is_the_last_word_about_its_task_and_no_other() {
    let task = message("W1/inbox/1", Subject::Task, TASK, 0);
    let ask = message("W1/outbox/1", Subject::Stuck, &stuck("guidance"), 1);
    let anew = message("W1/outbox/2", Subject::Stuck, &stuck("guidance"), 2);
    let gives_up = message("W1/outbox/2", Subject::Stuck, &stuck("abort"), 2);
    let done = message("W1/outbox/2", Subject::Done, DONE, 2);
    let mut of_another_run = ask.clone();
    of_another_run.thread = Some("epic-2".to_owned());
    let by_another = message("W2/outbox/1", Subject::Stuck, &stuck("guidance"), 1);
    let mut about_another = done.clone();
    about_another.body = DONE.replace("b1", "b2");
    for (said, expected) in [
        (vec![], None),
        (vec![&ask], Some(&ask)),
        (vec![&ask, &anew], Some(&anew)),
        (vec![&ask, &about_another], Some(&ask)),
        (vec![&ask, &gives_up], None),
        (vec![&ask, &done], None),
        (vec![&of_another_run], None),
        (vec![&by_another], None),
    ] {
        assert_eq!(question(&task, said.iter().copied()), expected, "{said:?}");
    }
    let given_again = message("W1/inbox/2", Subject::Task, TASK, 9);
    assert_eq!(question(&given_again, [&ask]), None);
}

#[test]
fn trap_28_recovery_offers_processes_and_reassigns() {
    use TaskReply::{Done, None as Open, Stuck};
    let task = message("W1/inbox/1", Subject::Task, TASK, 0);
    let reply = message("W1/inbox/2", Subject::Reply, "So", 0);
    let done = message("W1/outbox/1", Subject::Done, DONE, 0);
    let progress = message("W1/outbox/2", Subject::Progress, "{}", 0);
    let lease = Lease::new(&w("W1"), 0, at(0), LEASE);
    let (abort, asks) = (Stuck(Needs::Abort), Stuck(Needs::Guidance));
    let (no, yes) = (Option::None, Some(Decision::Ratified));
    let rejected = Some(Decision::Rejected);
    for (message, decision, acked, lease, answer, minute, expected) in [
        // Not let through, or let through and not given out.
        (&task, no, false, None, Open, 0, NextStep::Decide),
        (&task, yes, false, None, Open, 0, NextStep::Offer),
        (&reply, yes, false, None, Open, 0, NextStep::Offer),
        // Given out, and not acknowledged in time.
        (&task, yes, false, Some(&lease), Open, 4, NextStep::Await),
        (&task, yes, false, Some(&lease), Open, 5, NextStep::Offer),
        // Acknowledged: its worker's while the lease holds.
        (&task, yes, true, Some(&lease), Open, 4, NextStep::Await),
        (&task, yes, true, Some(&lease), Open, 5, NextStep::Reassign),
        (&task, yes, true, None, Open, 0, NextStep::Reassign),
        (&task, yes, true, Some(&lease), Done, 9, NextStep::Nothing),
        (&task, yes, true, Some(&lease), abort, 9, NextStep::Nothing),
        // Answered: its worker has it, whether or not it said so.
        (&task, yes, false, None, Done, 0, NextStep::Nothing),
        (&task, yes, false, Some(&lease), Done, 4, NextStep::Nothing),
        (&task, yes, false, Some(&lease), abort, 9, NextStep::Nothing),
        (&task, yes, false, None, asks, 0, NextStep::Nothing),
        (&task, no, false, None, Done, 0, NextStep::Decide),
        (&task, rejected, false, None, Open, 0, NextStep::Offer),
        (&task, rejected, true, None, Open, 9, NextStep::Nothing),
        (&reply, yes, true, Some(&lease), Open, 9, NextStep::Nothing),
        // What the orchestrator never dealt with, or died over.
        (&done, no, false, None, Open, 0, NextStep::Process),
        (&done, no, false, Some(&lease), Open, 4, NextStep::Await),
        (&done, no, false, Some(&lease), Open, 5, NextStep::Process),
        (&done, no, true, None, Open, 0, NextStep::Nothing),
        (&progress, no, false, None, Open, 0, NextStep::Nothing),
    ] {
        let marks = |withdrawn| MessageMarks {
            decided: message.place.direction == Direction::Outbox || decision.is_some(),
            acked,
            withdrawn,
        };
        let facts = |withdrawn| Facts {
            message,
            decision,
            state: MessageStatus::of(marks(withdrawn), lease, at(minute)),
            lease,
            answer,
        };
        let said = step(&facts(false), at(minute));
        assert_eq!(said, expected, "{:?} {minute}", facts(false));
        // What was taken back concerns nobody, however far it was.
        assert_eq!(step(&facts(true), at(minute)), NextStep::Nothing);
    }
}

#[test]
fn what_a_run_left_stays_with_its_worker_waits_or_is_taken_back() {
    use Leftover::{Over, Stays, TakenBack};
    use TaskReply::{Done, None as Open, Stuck};
    let (asks, abort) = (Stuck(Needs::Guidance), Stuck(Needs::Abort));
    let undecided = TakenBack("its run was over before it was approved");
    let over = TakenBack("its task is over");
    for (next, answer, wanted, unwanted) in [
        (NextStep::Decide, Open, undecided, undecided),
        (NextStep::Offer, Open, Stays(Left::Waiting), over),
        (NextStep::Await, Open, Stays(Left::InHand), over),
        (NextStep::Reassign, Open, Stays(Left::LetGo), over),
        (NextStep::Nothing, asks, Stays(Left::InHand), over),
        (NextStep::Nothing, abort, Over, Over),
        (NextStep::Nothing, Done, Over, Over),
        // It was taken back, or rejected.
        (NextStep::Nothing, Open, Over, Over),
    ] {
        let said = [true, false].map(|is_wanted| leftover(next, answer, is_wanted));
        assert_eq!(said, [wanted, unwanted], "{next} {answer:?}");
    }
}

#[test]
fn trap_29_a_second_done_repeats_the_first_whatever_its_words() {
    let first = message("W1/outbox/1", Subject::Done, DONE, 0);
    let other_words = r#"{"task_id":"b1","summary":"Did it better"}"#;
    let second = message("W1/outbox/2", Subject::Done, other_words, 60);
    assert!(repeats(&second, &first));
    let change = |change: fn(&mut Message)| {
        let mut other = second.clone();
        change(&mut other);
        repeats(&other, &first)
    };
    assert!(!change(|it| it.thread = None));
    assert!(!change(|it| it.answers = Some(place("W1/inbox/2"))));
    assert!(!change(|it| it.subject = Some(Subject::Progress)));
    assert!(!change(|it| it.place = place("W2/outbox/2")));
    assert!(!change(|it| it.body = DONE.replace("b1", "b2")));
}
