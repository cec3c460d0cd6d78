//! Searching: in everything, within a scope, by kinds, whatever is typed.

use flagpost_core::{
    index::{self, SearchRequest, SearchResult, SearchScope},
    relay::retention,
    tasks,
};
use flagpost_model::search::{self, SearchKind};
use proptest::prelude::*;

use crate::{
    relay::{mail, propose, register, report},
    world::{World, add, worker},
};

fn find(world: &World, text: &str, kinds: &[SearchKind]) -> SearchResult {
    let wanted = SearchRequest {
        text,
        scope: SearchScope::Everything,
        kinds,
        limit: 0,
    };
    index::ask(&world.home, |index| index.search(&wanted)).unwrap()
}

fn places(found: &SearchResult) -> Vec<String> {
    let place = |hit: &index::Hit| format!("{} {}", hit.thing, hit.place);
    found.hits.iter().map(place).collect()
}

#[test]
fn in_tasks_mail_sessions_and_history() {
    let world = World::simple_clock();
    register(&world, &["W1"]);
    let w1 = mail(&world, "W1");
    add(&world.list(), "Mend the grammar", &[]);
    tasks::note(
        &world.list(),
        &worker("ann"),
        &[crate::world::id(1)],
        "see the GRAMMAR",
    )
    .unwrap();
    propose(&w1, "# Please\n\nmend the grammar");
    report(&w1, "the grammar is mended");
    let session = world
        .repository
        .top
        .join(".claude/sessions/exec-session-20260513-142500");
    std::fs::create_dir_all(session.join("logs")).unwrap();
    std::fs::write(session.join("task_log.md"), "| 1 | Mend the grammar |").unwrap();
    std::fs::write(session.join("logs/task-1.log"), "grammar: ok").unwrap();
    let found = find(&world, "Grammar", &[]);
    assert_eq!(found.total, found.hits.len());
    assert_eq!(
        places(&found)[..6],
        [
            "1 subject",
            "1 note",
            "W1/inbox/0001 body",
            "W1/outbox/0001 body",
            "exec-session-20260513-142500/logs/task-1.log text",
            "exec-session-20260513-142500/task_log.md text",
        ]
    );
    let told = find(&world, "task.created", &[SearchKind::History]);
    assert_eq!(told.total, 1);
    std::fs::remove_dir_all(session).unwrap();
    assert_eq!(find(&world, "grammar", &[SearchKind::Session]).total, 0);
}

#[test]
fn in_the_archive() {
    let world = World::simple_clock();
    register(&world, &["W1"]);
    let w1 = mail(&world, "W1");
    for number in 1..=retention::KEEP + 2 {
        report(&w1, &format!("word{number} is said"));
    }
    assert_eq!(
        places(&find(&world, "word1 is", &[SearchKind::Report])),
        ["W1/outbox/0001 body"]
    );
    for number in 1..=2 {
        let seq = crate::relay::seq(number);
        flagpost_core::relay::reports::read(&w1, &worker("ann"), None, seq).unwrap();
    }
    retention::archive(&w1, &worker("ann"), false).unwrap();
    assert_eq!(
        places(&find(&world, "word1 is", &[SearchKind::Report])),
        ["W1/outbox/0001 (2026-05) body"]
    );
    let total = "SELECT count(*), max(id) FROM messages";
    let all = retention::KEEP + 2;
    assert_eq!(super::sql(&world.home, total), [format!("{all}|{all}")]);
}

#[test]
fn nothing_that_is_typed_is_an_operator() {
    let world = World::simple_clock();
    add(&world.list(), "say \"AND NOT\" to a* (b) ^c: col:x -y", &[]);
    for text in [
        "\"and not\"",
        "to a*",
        "* (b)",
        ") ^c",
        "col:x",
        " -y",
        "c: col",
        "'",
        "NEAR(",
        "\" OR \"",
    ] {
        let expected = usize::from(!["'", "NEAR(", "\" OR \""].contains(&text));
        assert_eq!(
            find(&world, text, &[SearchKind::Task]).total,
            expected,
            "{text}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// The words narrow what is looked at and lose nothing.
    #[test]
    fn what_stands_in_a_text_is_found(
        texts in prop::collection::vec("[aAbB1 _.éßK\"-]{1,14}", 1..12),
        wanted in prop::collection::vec("[aAbB1 _.éßK\"-]{1,5}", 20),
    ) {
        let world = World::simple_clock();
        for text in texts.iter().filter(|text| !text.trim().is_empty()) {
            add(&world.list(), text, &[]);
        }
        for wanted in wanted.iter().filter(|text| !text.trim().is_empty()) {
            let tasks = crate::world::tasks_of(&world.list());
            let there = tasks.values().filter(|task| search::spot(&task.subject, wanted).is_some());
            let found = find(&world, wanted, &[SearchKind::Task]);
            prop_assert_eq!(found.total, there.count(), "{:?}", wanted);
        }
    }
}
