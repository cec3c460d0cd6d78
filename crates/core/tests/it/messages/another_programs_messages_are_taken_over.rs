//! An import of another program's message database: each row once, the source untouched.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use flagpost_core::{
    history::Kind,
    messages::{self, ForeignMessages, ImportedMessages, RowOutcome},
};
use flagpost_model::message::{MessageStatus, foreign::MessageRow};
use rusqlite::Connection;

use super::Side;
use crate::{
    index::sql,
    relay::{mail, propose, register},
    world::{World, power, start, worker},
};

/// The seed's table.
const TABLE: &str = "CREATE TABLE messages(
    id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, from_id TEXT NOT NULL,
    to_id TEXT NOT NULL, body TEXT, thread_id TEXT,
    created_at DATETIME DEFAULT CURRENT_TIMESTAMP, acked_at DATETIME);";

const ROWS: &str = r#"INSERT INTO messages(subject, from_id, to_id, body, thread_id, created_at, acked_at) VALUES
    ('TASK', 'orchestrator', 'wt-1', '{"bead_id":"b1","title":"Parse","prompt":"Parse it"}', 'epic-1', '2026-05-01 10:00:00', '2026-05-01 10:00:02'),
    ('PROGRESS', 'wt-1', 'orchestrator', '{"bead_id":"b1","percent":50,"status":"half"}', 'epic-1', '2026-05-01 10:05:00', NULL),
    ('DONE', 'wt-1', 'orchestrator', '{"bead_id":"b1","summary":"Parsed"}', 'epic-1', '2026-05-01 10:09:00', '2026-05-01 10:09:30'),
    ('TASK', 'orchestrator', 'wt-2', '{"bead_id":"b2","title":"Print","prompt":"Print it"}', 'epic-1', '2026-05-01 10:10:00', NULL),
    ('HEARTBEAT', 'wt-2', 'orchestrator', NULL, NULL, '2026-05-01 10:11:00', NULL),
    ('TASK', 'orchestrator', '../wt', 'x', NULL, '2026-05-01 10:12:00', NULL),
    ('NOTE', 'orchestrator', 'wt-2', 'x', NULL, 'yesterday', NULL);"#;

fn import(world: &World, path: &Path, dry_run: bool) -> ImportedMessages {
    let source = messages::read(&world.home, path).unwrap();
    messages::import(&world.fleet(), &worker("ann"), &source, dry_run).unwrap()
}

fn fates(imported: &ImportedMessages) -> Vec<RowOutcome> {
    imported.rows.iter().map(|(_, fate)| *fate).collect()
}

/// What lies in a directory, byte by byte.
fn content(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|it| it.unwrap());
    let read = files.map(|it| {
        let name = it.file_name().into_string().unwrap();
        (name, fs::read(it.path()).unwrap())
    });
    read.collect()
}

const SEEN: [&str; 5] = [
    r#"1|TASK|orchestrator|wt-1|{"bead_id":"b1","title":"Parse","prompt":"Parse it"}|epic-1|2026-05-01 10:00:00|2026-05-01 10:00:02"#,
    r#"2|PROGRESS|wt-1|orchestrator|{"bead_id":"b1","percent":50,"status":"half"}|epic-1|2026-05-01 10:05:00|NULL"#,
    r#"3|DONE|wt-1|orchestrator|{"bead_id":"b1","summary":"Parsed"}|epic-1|2026-05-01 10:09:00|2026-05-01 10:09:30"#,
    r#"4|TASK|orchestrator|wt-2|{"bead_id":"b2","title":"Print","prompt":"Print it"}|epic-1|2026-05-01 10:10:00|NULL"#,
    "5|HEARTBEAT|wt-2|orchestrator|||2026-05-01 10:11:00|NULL",
];

#[test]
fn each_row_once_and_what_was_acked_stays_acked() {
    let world = World::simple_clock();
    let dir = world.place().join("theirs");
    fs::create_dir(&dir).unwrap();
    let path = dir.join("messages.db");
    // Its writer lives, and what it wrote lies in the log beside the file.
    let theirs = Connection::open(&path).unwrap();
    theirs
        .query_row("PRAGMA journal_mode = wal", [], |_| Ok(()))
        .unwrap();
    theirs.execute_batch(&format!("{TABLE}{ROWS}")).unwrap();
    let before = content(&dir);
    assert!(before["messages.db-wal"].len() > 1000);

    let planned = import(&world, &path, true);
    assert_eq!(fates(&planned), [RowOutcome::Added; 5]);
    assert!(world.fleet().mails().unwrap().is_empty());

    let imported = import(&world, &path, false);
    assert_eq!(fates(&imported), [RowOutcome::Added; 5]);
    assert_eq!(imported.workers, [worker("wt-1"), worker("wt-2")]);
    let skipped: Vec<_> = imported.skipped.iter().map(|it| &*it.name).collect();
    assert_eq!(skipped, ["row 7", "row 6"]);
    assert_eq!(sql(&world.home, "SELECT * FROM messages ORDER BY id"), SEEN);
    assert_eq!(
        fates(&import(&world, &path, false)),
        [RowOutcome::Unchanged; 5]
    );

    // No flag, no delivery: what nobody there had acknowledged waits for the operator.
    assert!(Side::of(&world, "wt-2").receive().is_none());
    let orchestrator = Side::of(&world, "orchestrator");
    let steps = orchestrator.steps();
    assert!(
        !steps.iter().any(|it| it.starts_with("wt-1/inbox")),
        "{steps:?}"
    );

    assert_eq!(content(&dir), before);
    theirs
        .execute_batch("UPDATE messages SET acked_at = '2026-05-02 08:00:00' WHERE id = 4")
        .unwrap();
    let again = fates(&import(&world, &path, false));
    assert_eq!((again[3], again.len()), (RowOutcome::Acked, 5));
    assert_eq!(
        sql(
            &world.home,
            "SELECT id, acked_at FROM messages WHERE id = 4"
        ),
        ["4|2026-05-02 08:00:00"]
    );
    let left = fs::read_dir(world.home.root()).unwrap();
    let mut names = left.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert!(names.all(|name| !name.contains("import.db")));
}

#[test]
fn a_task_that_comes_with_its_done_is_settled() {
    settled(&World::simple_clock());
}

#[test]
fn so_is_one_that_stands_behind_a_newer_brief() {
    let world = World::simple_clock();
    register(&world, &["wt-1"]);
    propose(&mail(&world, "wt-1"), "Newer");
    settled(&world);
}

fn settled(world: &World) {
    let path = world.place().join("done.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch(TABLE).unwrap();
    let said = |subject: &str, bead: &str, minute: u32, acked: &str| {
        let (from, to) = match subject {
            "TASK" => ("orchestrator", "wt-1"),
            _ => ("wt-1", "orchestrator"),
        };
        let row = format!(
            r#"INSERT INTO messages(subject, from_id, to_id, body, thread_id, created_at, acked_at) VALUES
            ('{subject}', '{from}', '{to}', '{{"bead_id":"{bead}","title":"t","prompt":"p","summary":"s"}}',
            'epic-1', '2026-05-01 10:{minute:02}:00', {acked});"#
        );
        theirs.execute_batch(&row).unwrap();
    };
    // Done and read, done and not read, done before it was given anew, and given to nobody yet.
    said("TASK", "b1", 0, "NULL");
    said("DONE", "b1", 1, "'2026-05-01 10:02:00'");
    said("TASK", "b2", 3, "NULL");
    said("DONE", "b2", 4, "NULL");
    said("DONE", "b3", 5, "NULL");
    said("TASK", "b3", 6, "NULL");
    said("TASK", "b4", 7, "NULL");
    let waiting = || {
        let all = messages::all(&world.fleet()).unwrap().messages.into_iter();
        let open = all.filter(|it| it.state == MessageStatus::Undecided);
        let tasks = open.filter_map(|it| it.message.task());
        tasks.filter(|it| it.starts_with('b')).collect::<Vec<_>>()
    };
    import(world, &path, false);
    assert_eq!(waiting(), ["b3", "b4"]);
    let table = "SELECT count(*) FROM messages WHERE subject = 'TASK' AND acked_at IS NULL";
    assert_eq!(sql(&world.home, table), ["4"], "the table is as theirs");
    // What is done there later is settled by the next import.
    said("DONE", "b4", 8, "NULL");
    import(world, &path, false);
    assert_eq!(waiting(), ["b3"]);
}

/// Rows as a fast orchestrator writes them: all of one second, to two workers.
#[test]
fn rows_of_one_second_keep_their_order() {
    let world = World::simple_clock();
    let path = world.place().join("fast.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch(TABLE).unwrap();
    let mut said = Vec::new();
    for n in 1..=24 {
        let worker = format!("wt-{}", n % 3);
        let (subject, from, to) = match n % 4 {
            0 => ("DONE", worker.as_str(), "orchestrator"),
            _ => ("TASK", "orchestrator", worker.as_str()),
        };
        let body = format!(r#"{{"bead_id":"b{n}","title":"t","prompt":"p","summary":"s"}}"#);
        theirs
            .execute(
                "INSERT INTO messages(subject, from_id, to_id, body, thread_id, created_at) \
                 VALUES (?1, ?2, ?3, ?4, 'epic-1', '2026-05-01 10:00:00')",
                [subject, from, to, &body],
            )
            .unwrap();
        said.push(format!("b{n}"));
    }
    import(&world, &path, false);
    let tasks = |survey: messages::MessageScan| -> Vec<String> {
        let each = survey.messages.into_iter();
        each.filter_map(|it| it.message.task()).collect()
    };
    assert_eq!(
        tasks(messages::thread(&world.fleet(), "epic-1").unwrap()),
        said
    );
    assert_eq!(tasks(messages::all(&world.fleet()).unwrap()), said);
    let rows = sql(&world.home, "SELECT body FROM messages ORDER BY id");
    let numbers = rows.iter().map(|it| it.split('"').nth(3).unwrap());
    assert_eq!(numbers.collect::<Vec<_>>(), said);
}

#[test]
fn a_task_without_a_prompt_is_tied_to_its_bead() {
    let world = World::simple_clock();
    let path = world.place().join("theirs.db");
    let theirs = Connection::open(&path).unwrap();
    theirs
        .execute_batch(&format!(
            r#"{TABLE}INSERT INTO messages(subject, from_id, to_id, body, thread_id, created_at, acked_at) VALUES
            ('task', 'orchestrator', 'wt-1', '{{"bead_id":"b1","title":"Parse","bead_num":1,"total":2}}', 'epic-1', '2026-05-01 10:00:00', '2026-05-01 10:00:01'),
            ('done', 'wt-1', 'orchestrator', '{{"bead_id":"b1","commit_hash":"HEAD","summary":"Parsed"}}', 'epic-1', '2026-05-01 10:00:00', '2026-05-01 10:00:02'),
            ('TASK', 'orchestrator', 'wt-1', '{{"bead_id":"b2","title":"Print"}}', 'epic-1', '2026-05-01 10:00:03', '2026-05-01 10:00:04'),
            ('Progress', 'wt-1', 'orchestrator', 'half of it', 'epic-1', '2026-05-01 10:00:05', NULL);"#
        ))
        .unwrap();
    let imported = import(&world, &path, false);
    assert_eq!(imported.workers, [worker("wt-1")]);
    let all = messages::all(&world.fleet()).unwrap().messages;
    let told: Vec<_> = all
        .iter()
        .map(|it| (it.message.title(), it.message.line()))
        .collect();
    let told: Vec<_> = told
        .iter()
        .map(|(title, line)| (*title, line.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("TASK", "b1: Parse"),
            ("DONE", "b1: Parsed"),
            ("TASK", "b2: Print"),
            ("PROGRESS", "half of it"),
        ]
    );
    // b1 is done: only b2 is left to be given anew.
    let (open, _) = messages::unacked(&world.fleet()).unwrap();
    let left: Vec<_> = open
        .iter()
        .filter_map(|it| it.seen.message.task())
        .collect();
    assert_eq!(left, ["b2"]);
}

#[test]
fn one_that_python_made() {
    let world = World::simple_clock();
    let path = world.place().join("python.db");
    let script = "import sqlite3, sys\n\
        db = sqlite3.connect(sys.argv[1])\n\
        db.executescript(sys.argv[2])\n\
        db.commit()\n";
    let made = Command::new("python3")
        .args(["-c", script])
        .arg(&path)
        .arg(format!("{TABLE}{ROWS}"))
        .status()
        .expect("python3 is needed for this test");
    assert!(made.success());
    assert_eq!(fates(&import(&world, &path, false)), [RowOutcome::Added; 5]);
    assert_eq!(sql(&world.home, "SELECT * FROM messages ORDER BY id"), SEEN);
}

#[test]
fn a_number_that_a_foreign_hand_takes_meanwhile_costs_nothing() {
    let row = |id, subject: &str, from: &str, to: &str, acked: bool| MessageRow {
        id,
        subject: subject.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
        body: format!("message {id}"),
        thread: None,
        at: start(),
        acked: acked.then(start),
    };
    let source = ForeignMessages {
        rows: vec![
            row(1, "TASK", "orchestrator", "wt-1", true),
            row(2, "DONE", "wt-1", "orchestrator", true),
            row(3, "TASK", "orchestrator", "wt-1", false),
            row(4, "PROGRESS", "wt-1", "orchestrator", false),
        ],
        skipped: Vec::new(),
    };
    for taken in [
        "inbox/0001.brief.meta.json",
        "inbox/0002.brief.meta.json",
        "inbox/0002.brief",
        "outbox/0001.json",
        "outbox/0002.json",
    ] {
        let fs = power();
        let world = World::simulated(&fs);
        let path = world.fleet().dir().join("wt-1").join(taken);
        fs.forestall(&path, b"a foreign hand's");
        let take = || messages::import(&world.fleet(), &worker("ann"), &source, false).unwrap();
        let imported = take();
        assert_eq!(fates(&imported), [RowOutcome::Added; 4], "{taken}");
        assert_eq!(fs.files()[&path], b"a foreign hand's", "{taken}");
        let seen = messages::all(&world.fleet()).unwrap().messages;
        let mut told: Vec<(&str, bool)> = seen
            .iter()
            .map(|it| (it.message.body.as_str(), it.state == MessageStatus::Acked))
            .collect();
        told.sort_unstable();
        let expected = [
            ("message 1", true),
            ("message 2", true),
            ("message 3", false),
            ("message 4", false),
        ];
        assert_eq!(told, expected, "{taken}");
        let violations = world.history().into_iter();
        let violations = violations.filter(|it| it.entry.kind == Kind::ContractViolated);
        assert_eq!(violations.count(), 1, "{taken}");
        assert_eq!(fates(&take()), [RowOutcome::Unchanged; 4], "{taken}");
    }
}

#[test]
fn what_is_no_message_database_is_refused() {
    let world = World::simple_clock();
    let path = world.place().join("other.db");
    for content in [&b""[..], b"no database at all, and long enough to be one"] {
        fs::write(&path, content).unwrap();
        let refused = messages::read(&world.home, &path).unwrap_err();
        assert!(
            refused.to_string().contains("no message database"),
            "{refused}"
        );
    }
    assert!(messages::read(&world.home, &world.place().join("absent.db")).is_err());
}
