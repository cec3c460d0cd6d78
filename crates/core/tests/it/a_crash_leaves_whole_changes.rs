//! The power goes at any moment of any operation, or one step of it fails. What was acknowledged
//! is on disk and in the history once; what was not is whole with its line, or taken back.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use flagpost_core::{
    Error, Home, List, Repository, Result, claims, doctor,
    history::{Kind, Line},
    plans::{self, ImportMode},
    tasks::{self, Fields, Move},
};
use flagpost_disk::{dialects::markdown_plan, fsx};
use flagpost_model::{
    TaskId, Token,
    intake::{Format, assemble},
    plan::Graph,
    task::{Ending, Task},
};
use flagpost_testkit::power::{DiskStep, Fault, PowerFs, every_crash, every_fault};

use jiff::SignedDuration;

use crate::{
    account,
    machines::{self, Mode},
    world::{
        self, World, act, add, edges_of, finish, id, ids, power, subject, tasks_of, terms, worker,
    },
};

/// 1 is done, 2 waits for it, 3 is free, 4 is claimed and 5 begun by W1, 6 waits for 5, and 7 was
/// written by a foreign program.
fn setup() -> PowerFs {
    let fs = power();
    let world = World::simulated(&fs);
    let list = world.list();
    add(&list, "Done", &[]);
    add(&list, "Follows", &[1]);
    add(&list, "Free", &[]);
    add(&list, "Claimed", &[]);
    add(&list, "Begun", &[]);
    add(&list, "Waits", &[5]);
    tasks::act(&list, &act("W9", None), &id(1), finish(Ending::Completed)).unwrap();
    claims::claim(&list, &terms("W1"), &id(4)).unwrap();
    claims::start(&list, &terms("W1"), None, &id(5)).unwrap();
    let foreign = br#"{"id": "7", "subject": "Foreign", "status": "pending", "extra": 1}"#;
    fsx::replace(&fs, &world.path("7.json"), foreign).unwrap();
    fs.settle();
    fs
}

/// What the disk and its history hold.
#[derive(Debug, Clone, PartialEq)]
struct Picture {
    tasks: BTreeMap<TaskId, Task>,
    edges: Vec<(TaskId, TaskId)>,
    lines: Vec<Line>,
}

fn picture(fs: &PowerFs) -> Picture {
    let world = World::simulated(fs);
    Picture {
        tasks: tasks_of(&world.list()),
        edges: edges_of(&world.list()),
        lines: world.history(),
    }
}

type Operation<'o> = &'o dyn Fn(&List<'_>) -> Result<()>;

/// Runs the operation; a late result that was kept is acknowledged too.
fn run(fs: &PowerFs, operation: Operation<'_>) -> Result<()> {
    let home = world::simulated_home(fs);
    let list = List::open(&home, &"repo".parse().unwrap())?;
    match operation(&list) {
        Err(Error::KeptLate(_)) => Ok(()),
        other => other,
    }
}

/// Tries an operation whose lines are all about `about`, against every crash and every fault.
fn survives(about: u64, operation: Operation<'_>) {
    survives_after(setup, about, operation);
}

fn survives_after(setup: fn() -> PowerFs, about: u64, operation: Operation<'_>) {
    for mode in Mode::ALL {
        survives_in(mode, setup, about, operation);
    }
}

fn survives_in(mode: Mode, setup: fn() -> PowerFs, about: u64, operation: Operation<'_>) {
    let setup = || machines::arranged(mode, setup);
    let fs = setup();
    let before = picture(&fs);
    run(&fs, operation).unwrap();
    let after = picture(&fs);
    let added = after.lines.len() - before.lines.len();
    assert!(added > 0, "it was recorded");
    let check = |fs: &PowerFs, answer: &Result<()>| {
        go_on(fs, &before);
        let now = picture(fs);
        machines::others_hold_the_same(fs);
        let voided = account::voided(&now.lines);
        let told = &after.lines[before.lines.len()..];
        // Each setup has another repository.
        let same = |a: &Line, b: &Line| a.n == b.n && a.entry == b.entry;
        let is_told = |line: &Line| now.lines.iter().filter(|it| same(it, line)).count();
        let stands = told
            .iter()
            .all(|line| is_told(line) == 1 && !voided.contains(&line.n));
        assert!(told.iter().all(|line| is_told(line) <= 1), "told twice");
        assert!(stands || answer.is_err(), "acknowledged and not recorded");
        let expected = if stands { &after } else { &before };
        let there = now.tasks.get(&id(about)).filter(|it| it.subject != PROBE);
        let is_link = told.iter().any(is_about_a_link);
        assert!(
            is_link || there == expected.tasks.get(&id(about)),
            "{there:?}"
        );
        let known = |edges: &[(TaskId, TaskId)]| -> Vec<_> {
            let probe = |id: &TaskId| now.tasks.get(id).is_some_and(|it| it.subject == PROBE);
            edges
                .iter()
                .filter(|(a, b)| !probe(a) && !probe(b))
                .cloned()
                .collect()
        };
        assert_eq!(known(&now.edges), expected.edges);
        for (id, task) in &now.tasks {
            let [old, new] = [&before, &after].map(|it| it.tasks.get(id));
            let is_whole = Some(task) == old || Some(task) == new || task.subject == PROBE;
            assert!(is_whole, "{id} is neither old nor new");
            assert!(answer.is_err() || Some(task) == new || task.subject == PROBE);
        }
    };
    every_crash(setup, |fs| run(fs, operation), check);
    every_fault(setup, |fs| run(fs, operation), check);
}

/// One of the two files of a link is enough for it to hold, and the line stands if it holds.
fn is_about_a_link(line: &Line) -> bool {
    matches!(line.entry.kind, Kind::TaskLinked | Kind::TaskUnlinked)
}

const PROBE: &str = "The next operation";

/// After whatever happened the next operations work, reuse neither id nor token, and leave list
/// and history in agreement.
fn go_on(fs: &PowerFs, before: &Picture) {
    let world = World::simulated(fs);
    let list = world.list();
    let loaded = list.load().unwrap();
    assert!(loaded.skipped.is_empty(), "{:?}", loaded.skipped);
    let lines = world.history();
    let used: BTreeSet<TaskId> = lines
        .iter()
        .filter_map(|line| line.entry.task.clone())
        .chain(loaded.outlines.iter().map(|it| it.id.clone()))
        .collect();
    let probe = tasks::add(&list, &worker("W5"), &subject(PROBE), &[])
        .unwrap()
        .id;
    assert!(!used.contains(&probe), "{probe} was given out before");
    account::agrees(&world);
    let claim = claims::claim(&list, &terms("W5"), &probe).unwrap().claim;
    let mut tokens = account::tokens(&lines);
    tokens.extend(account::tokens(&before.lines));
    assert!(tokens.into_iter().all(|token| claim.token > Token(token)));
    account::agrees(&world);
}

fn token_of(list: &List<'_>, task: u64) -> Option<Token> {
    Some(list.task(&id(task)).unwrap().task.state.claim()?.token)
}

fn moved(list: &List<'_>, name: &str, task: u64, event: Move) -> Result<()> {
    let token = token_of(list, task);
    tasks::act(list, &act(name, token), &id(task), event).map(drop)
}

#[test]
fn of_adding() {
    survives(8, &|list| {
        tasks::add(list, &worker("operator"), &subject("New"), &ids(&[3, 7])).map(drop)
    });
}

/// Whoever made the home, the repository's directory and the list was killed; the power goes after
/// another process has added a task.
#[test]
fn of_the_first_task_after_a_killed_beginning() {
    let begin = |fs: &PowerFs| -> Result<TaskId> {
        let home = world::simulated_home(fs);
        let operator = worker("operator");
        let repository = Repository::register(&home, Path::new("/repo"), &operator)?;
        let list = List::open_or_create(&home, &repository.name, &repository)?;
        Ok(tasks::add(&list, &operator, &subject("First"), &[])?.id)
    };
    for step in 1.. {
        let fs = world::empty();
        fs.fail_step(step, Fault::Broken);
        let _: Result<TaskId> = begin(&fs);
        if fs.failed().is_none() {
            break;
        }
        let added = begin(&fs).unwrap();
        for choice in fs.choices(step as u64) {
            let world = World::simulated(&fs.recovered(&choice));
            assert_eq!(world.repository.name.as_str(), "repo", "at step {step}");
            let there = &tasks_of(&world.list())[&added];
            assert_eq!(there.subject, "First", "at step {step}");
            account::agrees(&world);
        }
    }
}

#[test]
fn of_claiming() {
    survives(2, &|list| claims::claim_next(list, &terms("W2")).map(drop));
    survives(7, &|list| {
        claims::claim(list, &terms("W2"), &id(7)).map(drop)
    });
}

#[test]
fn of_starting() {
    survives(3, &|list| {
        claims::start(list, &terms("W2"), None, &id(3)).map(drop)
    });
    survives(4, &|list| {
        let token = token_of(list, 4);
        claims::start(list, &terms("W1"), token, &id(4)).map(drop)
    });
}

#[test]
fn of_finishing() {
    survives(5, &|list| moved(list, "W1", 5, finish(Ending::Completed)));
    survives(7, &|list| moved(list, "W1", 7, finish(Ending::Completed)));
}

#[test]
fn of_a_late_result() {
    survives(5, &|list| {
        let stale = act("W2", Some(Token(1)));
        tasks::act(list, &stale, &id(5), finish(Ending::Failed)).map(drop)
    });
}

#[test]
fn of_the_other_moves() {
    survives(5, &|list| moved(list, "W1", 5, finish(Ending::Stuck)));
    survives(4, &|list| {
        moved(list, "W1", 4, Move::Release { force: false })
    });
}

#[test]
fn of_editing() {
    for task in [3, 7] {
        survives(task, &|list| {
            tasks::edit(list, &worker("W2"), &id(task), &subject("Changed")).map(drop)
        });
    }
}

#[test]
fn of_linking() {
    survives(2, &|list| {
        tasks::link(list, &worker("W2"), &id(2), &[id(7)]).map(drop)
    });
}

#[test]
fn of_unlinking() {
    survives(6, &|list| {
        tasks::unlink(list, &worker("W2"), &id(6), &id(5)).map(drop)
    });
}

#[test]
fn of_removing() {
    for task in [6, 7] {
        survives(task, &|list| {
            tasks::remove(list, &worker("W2"), &id(task)).map(drop)
        });
    }
}

#[test]
fn of_a_remark() {
    for task in [3, 7] {
        survives(task, &|list| {
            tasks::note(list, &worker("W2"), &[id(task)], "Ask first").map(drop)
        });
    }
}

/// W1 was stuck over 5.
fn asked() -> PowerFs {
    let fs = setup();
    let world = World::simulated(&fs);
    moved(&world.list(), "W1", 5, finish(Ending::Stuck)).unwrap();
    fs.settle();
    fs
}

#[test]
fn of_an_answer() {
    survives_after(asked, 5, &|list| {
        tasks::answer(list, &worker("ann"), &id(5), "The first", false).map(drop)
    });
}

#[test]
fn of_measuring() {
    survives(3, &|list| {
        tasks::start_timer(list, &worker("W2"), &id(3)).map(drop)
    });
}

#[test]
fn of_undoing() {
    survives(5, &|list| {
        tasks::undo(list, &worker("W1"), tasks::UndoMode::Undo).map(drop)
    });
    survives(1, &|list| {
        tasks::undo(list, &worker("W9"), tasks::UndoMode::Undo).map(drop)
    });
}

/// A copy aside is never without its line, and a case that was cut short is taken up again.
#[test]
fn of_a_quarantine() {
    let broken = || {
        let fs = setup();
        let path = World::simulated(&fs).path("8.json");
        fsx::replace(&fs, &path, b"{").unwrap();
        fs.settle();
        fs
    };
    let look = |fs: &PowerFs| {
        let late = world::start() + SignedDuration::from_hours(1);
        let home = Home::new("/home".into(), Arc::new(fs.clone()), Arc::new(late));
        doctor::mend(&home, &worker("operator"), Vec::new());
        let list = List::open(&home, &"repo".parse().unwrap())?;
        list.load().map(|loaded| loaded.skipped.len())
    };
    let kept_and_told = |fs: &PowerFs| {
        let is_copy = |path: &Path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("8.json.") && !name.ends_with(".txt")
        };
        let copies = fs.files().keys().filter(|path| is_copy(path)).count();
        let lines = World::simulated(fs).history();
        let told = lines
            .iter()
            .filter(|line| line.entry.kind == Kind::TaskQuarantined);
        (copies, told.count())
    };
    let check = |fs: &PowerFs, _: &Result<usize>| {
        let (copies, told) = kept_and_told(fs);
        assert!(copies <= told, "kept and not told of");
        assert_eq!(look(fs).unwrap(), 1);
        let (copies, told_now) = kept_and_told(fs);
        assert_eq!(copies, 1);
        // A line that lost only its newline counts once the next one ends it.
        assert!((1..=2).contains(&told_now));
    };
    every_crash(broken, look, check);
    every_fault(broken, look, check);
}

const PLAN: &str = "
1. [ ] Last of all (after: 2, 3) {uid: last}
2. [x] Ready made {uid: made}
3. [ ] In between (after: 2) {uid: between}
";

fn import(list: &List<'_>) -> Result<()> {
    let plan = assemble(Format::Markdown, markdown_plan::parse(PLAN).unwrap().into()).unwrap();
    plans::import(list, &worker("operator"), &plan, ImportMode::Import).map(drop)
}

/// An import is many files. Of one that was not acknowledged any tasks may be there, each with its
/// line, and importing again makes it whole.
#[test]
fn of_importing() {
    let before = picture(&setup());
    let check = |fs: &PowerFs, answer: &Result<()>| {
        go_on(fs, &before);
        let world = World::simulated(fs);
        let list = world.list();
        let planned = |list: &List<'_>| -> Vec<Task> {
            let all = tasks_of(list).into_values();
            all.filter(|task| task.uid.is_some()).collect()
        };
        assert!(answer.is_err() || planned(&list).len() == 3);
        import(&list).unwrap();
        account::agrees(&world);
        let planned = planned(&list);
        let uids: BTreeSet<_> = planned
            .iter()
            .filter_map(|task| task.uid.as_deref())
            .collect();
        assert_eq!((planned.len(), uids.len()), (3, 3), "each once");
        let outlines = list.load().unwrap().outlines;
        let graph = Graph::new(&outlines);
        assert_eq!(graph.unknown(), []);
        for task in &planned {
            let waits = graph.blockers(&task.id).count();
            let expected = match task.uid.as_deref() {
                Some("last") => 2,
                Some("between") => 1,
                _ => 0,
            };
            assert_eq!(waits, expected, "{:?}", task.uid);
        }
        let lines = world.history().len();
        import(&list).unwrap();
        assert_eq!(world.history().len(), lines, "it is whole");
    };
    every_crash(setup, |fs| run(fs, &import), check);
    every_fault(setup, |fs| run(fs, &import), check);
}

/// The power goes again while the next operation takes back what the first one left.
#[test]
fn and_of_another_crash_after_it() {
    let edit = |list: &List<'_>| {
        let change = Fields {
            tags: flagpost_core::tasks::Labels::Set(vec!["again".to_owned()]),
            ..Fields::default()
        };
        tasks::edit(list, &worker("W2"), &id(3), &change).map(drop)
    };
    let before = picture(&setup());
    // Recorded, and nothing of it revealed.
    let interrupted = || {
        let free = setup();
        free.run_free();
        run(&free, &import).unwrap();
        let revealed =
            |step: &DiskStep| matches!(step, DiskStep::RenameNew(_, to) if to.ends_with("8.json"));
        let cut = free.steps().iter().position(revealed).unwrap();
        let fs = setup();
        fs.cut_after(cut);
        run(&fs, &import).unwrap_err();
        let choice = fs.choices(0).pop().unwrap();
        fs.recovered(&choice)
    };
    let left = World::simulated(&interrupted()).history().pop().unwrap();
    assert_eq!(left.entry.kind, Kind::ListImported, "it was recorded");
    let check = |fs: &PowerFs, _: &Result<()>| {
        go_on(fs, &before);
        let lines = World::simulated(fs).history();
        let voids: Vec<u64> = lines.iter().filter_map(|line| line.entry.voids()).collect();
        let unique: BTreeSet<_> = voids.iter().collect();
        assert_eq!(unique.len(), voids.len(), "taken back twice");
    };
    every_crash(interrupted, |fs| run(fs, &edit), check);
}
