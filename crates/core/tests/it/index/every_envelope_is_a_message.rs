//! The `messages` table: its columns, its order, its times.

use flagpost_core::relay::{briefs, deliver, reports};
use flagpost_model::{
    envelope::{Direction, Extras},
    message::Subject,
};
use flagpost_testkit::patience::patience;
use jiff::SignedDuration;

use super::{MESSAGES, sql};
use crate::{
    messages::{Side, done, words},
    relay::{draft, mail, proposal, propose, put, ratify, register, report, seq},
    world::{World, worker},
};

fn threaded(subject: &str, thread: &str, party: Option<&str>) -> Extras {
    Extras {
        subject: Some(subject.to_owned()),
        thread_id: Some(thread.to_owned()),
        party: party.map(str::to_owned),
        ..Extras::default()
    }
}

#[test]
fn the_seeds_question_is_answered_in_its_order() {
    let world = World::simple_clock();
    register(&world, &["W1", "W2"]);
    let (w1, w2) = (mail(&world, "W1"), mail(&world, "W2"));
    let mut task = proposal("{\"bead_id\": \"7\"}");
    task.extras = threaded("TASK", "epic-1", Some("ann"));
    briefs::propose(&w1, &worker("ann"), task).unwrap();
    ratify(&w1, 1);
    // A clock that is set back does not turn question and answer round.
    world.pass(SignedDuration::from_hours(-1));
    deliver::ack(&w1, &worker("W1"), seq(1)).unwrap();
    let mut done = draft("{\"bead_id\": \"7\", \"summary\": \"parsed\"}");
    done.extras = threaded("DONE", "epic-1", None);
    reports::publish(&w1, &worker("W1"), done).unwrap();
    propose(&w2, "Something else");
    assert_eq!(
        sql(
            &world.home,
            "SELECT * FROM messages WHERE thread_id = 'epic-1' ORDER BY id"
        ),
        [
            "1|TASK|ann|W1|{\"bead_id\": \"7\"}|epic-1|2026-05-13 14:25:00|2026-05-13 13:25:00",
            "2|DONE|W1|orchestrator|{\"bead_id\": \"7\", \"summary\": \"parsed\"}|epic-1|2026-05-13 13:25:00|NULL",
        ]
    );
    assert_eq!(
        sql(&world.home, "SELECT * FROM messages WHERE id = 3"),
        ["3|DISPATCH_BRIEF|controller|W2|Something else||2026-05-13 13:25:00|NULL"]
    );
    reports::read(&w1, &worker("orchestrator"), None, seq(1)).unwrap();
    assert_eq!(
        sql(
            &world.home,
            "SELECT id, acked_at FROM messages WHERE to_id = 'orchestrator'"
        ),
        ["2|2026-05-13 13:25:00"]
    );
}

#[test]
fn the_table_is_the_seeds() {
    let world = World::simple_clock();
    assert_eq!(
        sql(
            &world.home,
            "SELECT name, type, \"notnull\", pk, dflt_value FROM pragma_table_info('messages')"
        ),
        [
            "id|INTEGER|0|1|NULL",
            "subject|TEXT|1|0|NULL",
            "from_id|TEXT|1|0|NULL",
            "to_id|TEXT|1|0|NULL",
            "body|TEXT|0|0|NULL",
            "thread_id|TEXT|0|0|NULL",
            "created_at|DATETIME|0|0|CURRENT_TIMESTAMP",
            "acked_at|DATETIME|0|0|NULL",
        ]
    );
}

#[test]
fn trap_30_null_in_body_or_thread() {
    let world = World::simple_clock();
    register(&world, &["W1"]);
    let w1 = mail(&world, "W1");
    propose(&w1, "no thread");
    report(&w1, "no thread either");
    let said = "{\"seq\": 2, \"version\": 1, \"kind\": \"freeform\", \
        \"produced_at\": \"2026-05-13T14:30:00Z\", \"worker_id\": \"W1\", \"ticket_id\": null, \
        \"claude_session_id\": \"s\", \"body\": \"\", \
        \"idempotency_key\": \"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU\"}";
    put(&w1, Direction::Outbox, "0002.json", said);
    assert_eq!(
        sql(
            &world.home,
            "SELECT id, body, thread_id FROM messages ORDER BY id"
        ),
        ["1|no thread|", "2|no thread either|", "3||"]
    );
    let nulls = "SELECT count(*) FROM messages WHERE body IS NULL OR thread_id IS NULL";
    assert_eq!(sql(&world.home, nulls), ["0"]);
}

#[test]
fn what_somebody_put_there_by_hand_stands_where_its_time_is() {
    let world = World::simple_clock();
    register(&world, &["W1"]);
    let w1 = mail(&world, "W1");
    report(&w1, "first");
    world.pass(SignedDuration::from_hours(2));
    report(&w1, "third");
    assert_eq!(sql(&world.home, MESSAGES).len(), 2);
    let said = "{\"seq\": 9, \"version\": 1, \"kind\": \"freeform\", \
        \"produced_at\": \"2026-05-13T15:25:00Z\", \"worker_id\": \"W1\", \"ticket_id\": null, \
        \"claude_session_id\": \"s\", \"body\": \"second\", \
        \"idempotency_key\": \"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU\"}";
    put(&w1, Direction::Outbox, "0009.json", said);
    let bodies = "SELECT id, subject, body FROM messages ORDER BY id";
    assert_eq!(
        sql(&world.home, bodies),
        [
            "1|CYCLE_REPORT|first",
            "2|FREEFORM|second",
            "3|CYCLE_REPORT|third"
        ]
    );
    std::fs::remove_file(w1.dir(Direction::Outbox).join("0009.json")).unwrap();
    assert_eq!(
        sql(&world.home, bodies),
        ["1|CYCLE_REPORT|first", "2|CYCLE_REPORT|third"]
    );
}

#[test]
fn a_malformed_envelope_is_reported_and_hides_no_other() {
    let world = World::simple_clock();
    register(&world, &["W1"]);
    let w1 = mail(&world, "W1");
    report(&w1, "good");
    put(&w1, Direction::Outbox, "0002.json", "{");
    put(&w1, Direction::Inbox, "0001.brief", "half a brief");
    for _ in 0..2 {
        let (bodies, faults) = flagpost_core::index::ask(&world.home, |index| {
            Ok((
                index.sql("SELECT body FROM messages", 0, patience())?,
                index.faults().to_vec(),
            ))
        })
        .unwrap();
        assert_eq!(super::lines(&bodies), ["good"]);
        let files: Vec<_> = faults.iter().filter_map(|it| it.file.as_deref()).collect();
        assert_eq!(files, ["W1/outbox/0002.json"]);
    }
}

#[test]
fn a_message_is_acked_when_its_recipient_has_it() {
    let world = World::simple_clock();
    register(&world, &["W1"]);
    let (orchestrator, w1) = (Side::of(&world, "orchestrator"), Side::of(&world, "W1"));
    let minute = || world.pass(SignedDuration::from_mins(1));
    orchestrator.give("W1", "b1");
    minute();
    w1.receive().unwrap();
    minute();
    w1.ack("W1/inbox/1").unwrap();
    minute();
    w1.send(words(
        Subject::Progress,
        r#"{"bead_id":"b1","status":"half"}"#,
    ));
    w1.send(words(Subject::Done, &done("b1")));
    minute();
    // Received is acknowledged where nobody has to acknowledge it, and only there.
    orchestrator.receive().unwrap();
    orchestrator.receive().unwrap();
    assert_eq!(
        sql(
            &world.home,
            "SELECT subject, from_id, to_id, created_at, acked_at FROM messages \
             WHERE thread_id = 'epic-1' ORDER BY id"
        ),
        [
            "TASK|orchestrator|W1|2026-05-13 14:25:00|2026-05-13 14:27:00",
            "PROGRESS|W1|orchestrator|2026-05-13 14:28:00|2026-05-13 14:29:00",
            "DONE|W1|orchestrator|2026-05-13 14:28:00|NULL",
        ]
    );
    minute();
    orchestrator.ack("W1/outbox/2").unwrap();
    assert_eq!(
        sql(
            &world.home,
            "SELECT acked_at FROM messages WHERE subject = 'DONE'"
        ),
        ["2026-05-13 14:30:00"]
    );
}
