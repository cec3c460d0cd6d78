//! The history: numbers, lines, torn ends.

use std::io::{Seek, SeekFrom, Write};

use flagpost_core::{
    Error, claims,
    history::{History, HistoryFilter, Kind, Tail},
    relay::{Fleet, fleet},
    tasks::{self, Move},
};
use flagpost_model::{
    Token,
    task::{Ending, StateName},
};
use flagpost_testkit::table;

use crate::{
    account,
    world::{World, act, add, finish, id, subject, terms, worker},
};

fn last_byte_is_newline(world: &World) -> bool {
    std::fs::read(world.history_path())
        .unwrap()
        .ends_with(b"\n")
}

fn append(world: &World, bytes: &[u8]) {
    let mut all = std::fs::read(world.history_path()).unwrap();
    all.extend(bytes);
    std::fs::write(world.history_path(), all).unwrap();
}

#[test]
fn trap_08_lost_transitions() {
    let world = World::real();
    let list = world.list();
    let task = add(&list, "Quick work", &[]).id;
    // The clock stands still: it all happens within the same millisecond.
    let claim = claims::claim(&list, &terms("W1"), &task).unwrap().claim;
    let w1 = act("W1", Some(claim.token));
    tasks::act(&list, &w1, &task, Move::Start).unwrap();
    tasks::act(&list, &w1, &task, finish(Ending::Completed)).unwrap();
    let lines = world.history();
    let steps: Vec<_> = lines
        .iter()
        .filter(|line| line.entry.task.as_ref() == Some(&task))
        .map(|line| (line.entry.kind.as_str(), line.entry.from, line.entry.to))
        .collect();
    use StateName::{Claimed, Completed, InProgress, Pending};
    assert_eq!(
        steps,
        [
            ("task.created", None, Some(Pending)),
            ("task.claimed", Some(Pending), Some(Claimed)),
            ("task.started", Some(Claimed), Some(InProgress)),
            ("task.completed", Some(InProgress), Some(Completed)),
        ]
    );
    account::agrees(&world);
}

#[test]
fn starting_again_tells_where_the_task_was() {
    let world = World::with_tasks(&["Begun twice"]);
    let list = world.list();
    claims::start(&list, &terms("W1"), None, &id(1)).unwrap();
    claims::start(&list, &terms("W1"), None, &id(1)).unwrap();
    let last = world.history().pop().unwrap().entry;
    assert_eq!(last.kind, Kind::TaskStarted);
    assert_eq!(last.from, Some(StateName::InProgress));
    account::agrees(&world);
}

#[test]
fn a_refusal_leaves_no_line() {
    let world = World::with_tasks(&["Mine"]);
    let list = world.list();
    claims::claim(&list, &terms("W1"), &id(1)).unwrap();
    let before = world.history();
    assert!(claims::claim(&list, &terms("W2"), &id(1)).is_err());
    assert!(claims::claim_next(&list, &terms("W2")).is_err());
    assert!(tasks::act(&list, &act("W2", None), &id(1), Move::Renew).is_err());
    assert!(tasks::link(&list, &worker("W2"), &id(1), &[id(9)]).is_err());
    tasks::unlink(&list, &worker("W2"), &id(1), &id(9)).unwrap();
    tasks::edit(&list, &worker("W2"), &id(1), &subject("Mine")).unwrap();
    assert_eq!(world.history(), before);
}

#[test]
fn a_torn_last_line_is_skipped_and_ended() {
    for torn in [
        &b"{\"n\": 3, \"at\": \"2026-05"[..],
        b"\0\0\0\0\0\0\0\0",
        b"\xff\xfe",
        b"{}",
        b"7",
    ] {
        let world = World::with_tasks(&["Before the crash"]);
        append(&world, torn);
        assert_eq!(world.history().len(), 2);
        add(&world.list(), "After the crash", &[]);
        add(&world.list(), "And so on", &[]);
        assert!(last_byte_is_newline(&world));
        account::agrees(&world);
        assert_eq!(world.history().len(), 4);
    }
}

/// The crash came between the last byte of the line and its newline.
#[test]
fn a_last_line_that_lacks_only_its_newline_keeps_its_number() {
    let world = World::with_tasks(&["Before the crash"]);
    let list = world.list();
    let mut line = world.history().pop().unwrap();
    line.n = 3;
    line.entry.kind = Kind::TaskClaimed;
    line.entry.detail.insert("token".to_owned(), 3.into());
    line.entry.detail.insert("rev".to_owned(), 2.into());
    append(&world, line.to_json().to_string().as_bytes());
    let claimed = claims::claim(&list, &terms("W1"), &id(1)).unwrap();
    assert!(claimed.claim.token > Token(3));
    assert_eq!(
        account::voided(&world.history())
            .into_iter()
            .collect::<Vec<_>>(),
        [3]
    );
    account::agrees(&world);
}

#[test]
fn a_line_longer_than_the_first_look_at_the_end_is_found() {
    let world = World::real();
    let list = world.list();
    add(&list, &"x".repeat(10_000), &[]);
    tasks::edit(&list, &worker("W1"), &id(1), &subject(&"y".repeat(10_000))).unwrap();
    add(&list, "Two", &[]);
    account::agrees(&world);
}

#[test]
fn however_long_a_history_is_no_more_than_its_last_change_is_read() {
    let world = World::real();
    let list = world.list();
    let all: Vec<_> = (1..=40)
        .map(|n| add(&list, &format!("Task {n}"), &[]).id)
        .collect();
    let before = std::fs::read(world.history_path()).unwrap().len();
    tasks::note(&list, &worker("W1"), &all, &"x".repeat(400)).unwrap();
    let history = std::fs::read(world.history_path()).unwrap();
    let change = &history[before..];
    assert!(change.len() > 8 << 10, "more than one look at the end");
    // Before it a hole of more bytes than are ever read whole.
    let mut file = std::fs::File::create(world.history_path()).unwrap();
    file.seek(SeekFrom::Start(9 << 30)).unwrap();
    file.write_all(&[b"\n", change].concat()).unwrap();
    assert_eq!(add(&list, "The next one", &[]).id, id(41));
}

#[test]
fn a_damaged_last_line_gives_its_number_to_no_other() {
    let world = World::with_tasks(&["One"]);
    let list = world.list();
    let path = world.history_path();
    let text = std::fs::read_to_string(&path).unwrap();
    let damaged = text.replace("task.created\"", "task.created");
    assert_ne!(damaged, text);
    std::fs::write(&path, &damaged).unwrap();
    let refused = tasks::add(&list, &worker("W1"), &subject("Two"), &[]);
    assert!(refused.unwrap_err().to_string().contains("doctor"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    // What a crash cut off was never acknowledged.
    std::fs::write(&path, format!("{text}{{\"n\":3,\"at\":\"20")).unwrap();
    add(&list, "Two", &[]);
    assert_eq!(world.history().last().unwrap().n, 3);
}

#[test]
fn an_end_that_is_no_line_is_named_by_every_reader_with_its_place() {
    let world = World::with_tasks(&["a"]);
    let (list, history) = (world.list(), History::of(&world.home, &world.repository.id));
    let mut tail = Tail::at_end(&history).unwrap();
    let whole = std::fs::metadata(world.history_path()).unwrap().len();
    append(&world, &vec![0; 5 << 20]);
    let all = HistoryFilter::default();
    let mails = Fleet::of(&world.home, &world.repository.id);
    table::each(
        [
            ("all of it", history.since(0).map(drop)),
            ("the last lines", history.latest(&all, 5).map(drop)),
            ("who begins to listen", Tail::at_end(&history).map(drop)),
            ("who listens on", tail.read_on(&history).map(drop)),
            ("who looks for briefs", fleet::pending(&mails).map(drop)),
            (
                "who writes",
                claims::claim(&list, &terms("W1"), &id(1)).map(drop),
            ),
        ],
        |read: Result<(), Error>| {
            let error = read.unwrap_err().to_string();
            let words = format!("is damaged from byte {whole} on");
            assert!(error.ends_with(&words), "{error}");
        },
    );
}

/// A crash may leave a part of a long line.
#[test]
fn a_long_line_that_a_crash_cut_off_is_no_damage() {
    for rest in [&[b'x'; 3 << 20][..], &[0; 1 << 10]] {
        let world = World::with_tasks(&["a"]);
        append(&world, rest);
        let history = History::of(&world.home, &world.repository.id);
        let before = history.latest(&HistoryFilter::default(), 9).unwrap().end;
        claims::claim(&world.list(), &terms("W1"), &id(1)).unwrap();
        let after = history.latest(&HistoryFilter::default(), 9).unwrap().end;
        assert_eq!(after, before + 1);
    }
}

#[test]
fn an_unreadable_history_is_refused_and_never_restarted() {
    let unreadable: [&[u8]; 3] = [b"garbage\n", b"{\"n\": 1}\n[]\n", b"\0\n"];
    for content in unreadable {
        let world = World::with_tasks(&["Before"]);
        let list = world.list();
        std::fs::write(world.history_path(), content).unwrap();
        let answer = tasks::add(&list, &worker("W1"), &subject("After"), &[]);
        let error = answer.unwrap_err().to_string();
        assert!(error.contains("history.jsonl is malformed"), "{error}");
        assert_eq!(std::fs::read(world.history_path()).unwrap(), content);
        assert_eq!(list.load().unwrap().outlines.len(), 1);
    }
}

#[test]
fn a_history_that_is_no_file_is_refused() {
    let world = World::with_tasks(&["Before"]);
    let list = world.list();
    std::fs::remove_file(world.history_path()).unwrap();
    std::fs::create_dir(world.history_path()).unwrap();
    let answer = tasks::add(&list, &worker("W1"), &subject("After"), &[]);
    assert!(matches!(answer, Err(Error::Disk(_))), "{answer:?}");
    assert_eq!(list.load().unwrap().outlines.len(), 1);
}

/// Its lines are ours, but hands can reach them: no number of theirs may stop us.
#[test]
fn absurd_numbers_are_an_error_and_no_panic() {
    for (n, op) in [
        (7, 0),
        (u64::MAX, u64::MAX),
        (u64::MAX - 1, 3),
        (9, u64::MAX),
    ] {
        let world = World::with_tasks(&["Before"]);
        let list = world.list();
        let mut line = world.history().pop().unwrap();
        line.n = n;
        line.entry.detail.insert("op".to_owned(), op.into());
        append(&world, format!("{}\n", line.to_json()).as_bytes());
        let answer = tasks::add(&list, &worker("W1"), &subject("After"), &[]);
        assert_eq!(answer.is_ok(), n < 100, "{answer:?}");
    }
}

/// A session's or a quarantine's line must not hide a change that never appeared.
#[test]
fn a_line_that_is_about_no_task_looks_at_the_change_before_it_too() {
    let world = World::with_tasks(&["Before"]);
    let mut line = world.history().pop().unwrap();
    line.n = 3;
    line.entry.kind = Kind::TaskClaimed;
    line.entry.detail.insert("rev".to_owned(), 2.into());
    append(&world, format!("{}\n", line.to_json()).as_bytes());
    let history = flagpost_core::history::History::of(&world.home, &world.repository.id);
    let entry = flagpost_core::history::Entry::new(Kind::SessionStarted);
    history
        .record(&worker("operator"), world.home.now(), vec![entry])
        .unwrap();
    let kinds: Vec<_> = world
        .history()
        .into_iter()
        .map(|it| it.entry.kind)
        .collect();
    assert_eq!(kinds[3..], [Kind::Void, Kind::SessionStarted]);
    account::agrees(&world);
}

/// The next writer dies while it takes back a change of several lines.
#[test]
fn a_crash_among_the_voids_leaves_the_rest_to_the_next_writer() {
    let world = World::real();
    let list = world.list();
    let created = add(&list, "Before", &[]).id;
    for n in 3..=5 {
        let mut line = world.history().remove(1);
        line.n = n;
        line.entry.kind = Kind::TaskEdited;
        line.entry.task = Some(created.clone());
        line.entry.detail.insert("rev".to_owned(), 2.into());
        line.entry.detail.insert("op".to_owned(), 3.into());
        append(&world, format!("{}\n", line.to_json()).as_bytes());
    }
    let intact = std::fs::read(world.history_path()).unwrap();
    add(&list, "The writer that dies", &[]);
    let whole = std::fs::read(world.history_path()).unwrap();
    std::fs::remove_file(world.path("2.json")).unwrap();
    let first_void = whole[intact.len()..].iter().position(|byte| *byte == b'\n');
    let cut = intact.len() + first_void.unwrap() + 1;
    std::fs::write(world.history_path(), &whole[..cut]).unwrap();
    add(&list, "The next one", &[]);
    let voided: Vec<_> = account::voided(&world.history()).into_iter().collect();
    assert_eq!(voided, [3, 4, 5]);
    let voids = world
        .history()
        .into_iter()
        .filter(|it| it.entry.kind == Kind::Void);
    assert_eq!(voids.count(), 3, "each once");
    account::agrees(&world);
}
