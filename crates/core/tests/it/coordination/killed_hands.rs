//! Processes that change one table die wherever they are: no row is lost, none is there twice, and the
//! table is whole at every moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use flagpost_core::{
    Error, Home, List, claims,
    coordination::{self, CoordActor, Directory},
    history::Kind,
    tasks,
};
use flagpost_model::{TaskId, Token, coordination::CoordResult, task::Ending};
use flagpost_testkit::{chance::Chance, race::ChildRole};
use jiff::SignedDuration;
use serde_json::Value;

use super::{add, begin, draft};
use crate::{
    account,
    child::CHILDREN,
    world::{World, act, finish, subject, terms, worker},
};

/// The directory's own verbs, and those of a list.
const VERBS: &str = "work on the table";
const LIST: &str = "work on the table as a list";

const ROUNDS: usize = 6;

/// The part of one process: adds, claims and completes until it is killed.
pub fn work(part: &ChildRole, home: &Home) {
    let directory = directory(home, part.place());
    let me = worker(&me());
    for n in 0.. {
        let added = coordination::add(&directory, &me, &[draft(&format!("{me} {n}"))]).unwrap();
        part.report(format!("added {}", added[0].id));
        let claimed = match coordination::claim(&directory, &me, None) {
            Err(Error::Idle { .. }) => continue,
            claimed => claimed.unwrap(),
        };
        let (id, token) = (claimed.task.id, claimed.token);
        part.report(format!("claimed {id} {}", token.unwrap()));
        let hand = CoordActor { actor: &me, token };
        coordination::start(&directory, &hand, &id).unwrap();
        coordination::complete(&directory, &hand, &id, &CoordResult::default()).unwrap();
        part.report(format!("done {id}"));
    }
}

/// The same by the verbs of a list.
pub fn work_as_a_list(part: &ChildRole, home: &Home) {
    let list = List::of_table(home, directory(home, part.place())).unwrap();
    let me = me();
    for n in 0.. {
        let added = tasks::add(&list, &worker(&me), &subject(&format!("{me} {n}")), &[]);
        part.report(format!("added {}", added.unwrap().id));
        let claimed = match claims::claim_next(&list, &terms(&me)) {
            Err(Error::NothingReady { .. }) => continue,
            claimed => claimed.unwrap(),
        };
        let (id, token) = (claimed.task.id, claimed.claim.token);
        part.report(format!("claimed {id} {token}"));
        let act = act(&me, Some(token));
        claims::start(&list, &terms(&me), Some(token), &id).unwrap();
        tasks::act(&list, &act, &id, finish(Ending::Completed)).unwrap();
        part.report(format!("done {id}"));
    }
}

/// Each process is a worker of its own.
fn me() -> String {
    format!("P{}", std::process::id())
}

fn directory<'h>(home: &'h Home, place: &Path) -> Directory<'h> {
    Directory::open(home, &place.join("repo/.coordination")).unwrap()
}

/// What those who were killed had said.
#[derive(Default)]
struct Told {
    added: Vec<TaskId>,
    claimed: BTreeMap<TaskId, Token>,
    done: Vec<TaskId>,
}

impl Told {
    fn hear(&mut self, reports: &[String]) {
        for report in reports {
            let words: Vec<&str> = report.split(' ').collect();
            let id: TaskId = words[1].parse().unwrap();
            match words[0] {
                "added" => self.added.push(id),
                "done" => self.done.push(id),
                _ => {
                    let token = words[2].parse().unwrap();
                    let twice = self.claimed.insert(id, token);
                    assert_eq!(twice, None, "claimed twice");
                }
            }
        }
    }
}

/// The descriptions of all rows, by id, as any program reads them that takes no lock.
fn rows(place: &Path) -> BTreeMap<String, String> {
    let bytes = fs::read(place.join("repo/.coordination/tasks.json")).unwrap();
    let table: Value = serde_json::from_slice(&bytes).expect("the table is whole");
    let all = table["tasks"].as_array().unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows: BTreeMap<_, _> = all
        .iter()
        .map(|row| (text(row, "id"), text(row, "description")))
        .collect();
    assert_eq!(rows.len(), all.len(), "each id once");
    let words: BTreeSet<_> = rows.values().collect();
    assert_eq!(words.len(), all.len(), "each task once");
    rows
}

#[test]
fn no_row_is_lost_and_none_is_there_twice() {
    let mut chance = Chance::of(11);
    let world = World::real();
    let place = world.place();
    begin(&world.home, &place.join("repo"));
    let (mut told, mut killed) = (Told::default(), 0);
    let mut seen = rows(place);
    for _ in 0..ROUNDS {
        let workers: Vec<_> = [VERBS, LIST, VERBS, LIST]
            .map(|role| CHILDREN.start(role, place))
            .into_iter()
            .collect();
        for worker in workers {
            let heard = 1 + chance.below(12);
            let mut reports: Vec<String> = (0..heard).map_while(|_| worker.next_report()).collect();
            // It goes on meanwhile: it dies wherever it happens to be.
            reports.extend(worker.kill());
            told.hear(&reports);
            killed += 1;
            let now = rows(place);
            assert!(
                seen.iter().all(|(id, text)| now.get(id) == Some(text)),
                "no row goes"
            );
            seen = now;
        }
    }
    world.catch_up();
    let directory = directory(&world.home, place);
    // Whoever comes next takes back what never appeared.
    told.added.push(add(&directory, "The next one").unwrap());

    let look = directory.look().unwrap();
    assert_eq!(look.skipped, []);
    let rows = &look.board.tasks;
    let all: BTreeSet<&TaskId> = rows.iter().map(|it| &it.id).collect();
    let added: BTreeSet<&TaskId> = told.added.iter().collect();
    assert_eq!(added.len(), told.added.len(), "an id was given twice");
    assert!(added.is_subset(&all), "acknowledged and lost");
    assert!(
        all.len() - added.len() <= killed,
        "each died in one change at most"
    );
    for (id, token) in &told.claimed {
        let row = look.board.task(id).unwrap();
        let its = row.claim.as_ref().and_then(|it| it.token());
        assert_eq!(its, Some(*token));
    }
    for id in &told.done {
        let row = look.board.task(id).unwrap();
        assert!(row.completed_at.is_some(), "{id} is done no more");
        assert!(directory.path(&format!("results/{id}.md")).exists());
    }

    let lines = world.history();
    for (kind, expected) in [(Kind::TaskCreated, all), (Kind::TaskCompleted, done(rows))] {
        let lines = account::standing(&lines).into_iter();
        let lines = lines.filter(|line| line.entry.kind == kind);
        let ids: Vec<&TaskId> = lines.filter_map(|it| it.entry.task.as_ref()).collect();
        assert_eq!(ids.len(), expected.len(), "{kind:?}");
        assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), expected);
    }

    // The dead hold nothing for longer than a lease.
    world.pass(SignedDuration::from_mins(16));
    let open = rows.len() - done(rows).len();
    for _ in 0..open {
        coordination::claim(&directory, &worker("W1"), None).unwrap();
    }
}

fn done(rows: &[flagpost_model::coordination::CoordTask]) -> BTreeSet<&TaskId> {
    let done = rows.iter().filter(|it| it.completed_at.is_some());
    done.map(|it| &it.id).collect()
}
