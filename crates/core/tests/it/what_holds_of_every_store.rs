//! What holds of a list, wherever its tasks are: in files of their own, in files that several machines
//! share, or in the table of a coordination directory. One suite, run on all.

use std::fs;

use flagpost_core::{
    Error, List, claims, coordination,
    history::Kind,
    tasks::{self, Fields, Labels, Move, Parts, UndoMode},
};
use flagpost_disk as disk;
use flagpost_model::{
    Refusal, TaskId, Token,
    task::{
        Effort,
        Ending::{Completed, Failed, Stuck},
        Priority, State, StateName, Task,
    },
};
use jiff::SignedDuration;
use serde_json::json;

use crate::{
    machines,
    world::{World, act, edges_of, finish, next_of, subject, tasks_of, terms, worker},
};

/// Runs a test on a list of each sort, in a world of its own.
fn on_all(test: impl Fn(&World, &List<'_>)) {
    let world = World::real();
    test(&world, &world.list());
    let (world, others_hold_the_same) = machines::of_two(World::real());
    test(&world, &world.list());
    others_hold_the_same();
    let world = World::real();
    test(&world, &table(&world));
}

/// The table of a new coordination directory as a list.
fn table(world: &World) -> List<'_> {
    let dir = world.place().join("repo/.coordination");
    let directory = coordination::init(&world.home, &dir, "Build it", None).unwrap();
    List::of_table(&world.home, directory).unwrap()
}

fn add(list: &List<'_>, text: &str, after: &[&TaskId]) -> TaskId {
    let after: Vec<TaskId> = after.iter().map(|it| (*it).clone()).collect();
    let added = tasks::add(list, &worker("ann"), &subject(text), &after);
    added.unwrap().id
}

fn claim(list: &List<'_>, by: &str, id: &TaskId) -> Token {
    claims::claim(list, &terms(by), id).unwrap().claim.token
}

fn state(list: &List<'_>, id: &TaskId) -> StateName {
    list.task(id).unwrap().task.state.name()
}

fn refusal<T: std::fmt::Debug>(answer: Result<T, Error>) -> Refusal {
    match answer {
        Err(Error::Refused(refusal) | Error::KeptLate(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_goes_its_way_and_every_step_is_told() {
    on_all(|world, list| {
        let id = add(list, "Write it", &[]);
        assert_eq!(state(list, &id), StateName::Pending);
        let claimed = claims::claim_next(list, &terms("W1")).unwrap();
        assert_eq!((&claimed.task.id, claimed.task.attempts), (&id, 1));
        let token = claimed.claim.token;
        let act = act("W1", Some(token));
        let started = tasks::act(list, &act, &id, Move::Start).unwrap();
        let held = started.state.claim().unwrap();
        assert_eq!((held.token, held.by.as_str()), (token, "W1"));
        let done = tasks::act(list, &act, &id, finish(Completed)).unwrap();
        let result = done.result.clone().unwrap();
        assert_eq!(
            (result.text.as_str(), result.token),
            ("what came of it", Some(token))
        );
        assert_eq!(
            (done.owner.as_deref(), &done.state),
            (Some("W1"), &State::Completed)
        );
        assert_eq!(list.task(&id).unwrap().task, done);
        let told: Vec<Kind> = world
            .history()
            .into_iter()
            .map(|it| it.entry.kind)
            .collect();
        let ours = [
            Kind::TaskCreated,
            Kind::TaskClaimed,
            Kind::TaskStarted,
            Kind::TaskCompleted,
        ];
        assert_eq!(told.last_chunk(), Some(&ours));
    });
}

#[test]
fn a_task_has_one_holder_and_a_stale_token_changes_nothing() {
    on_all(|_, list| {
        let id = add(list, "Write it", &[]);
        let token = claim(list, "W1", &id);
        let again = |by| refusal(claims::claim(list, &terms(by), &id));
        assert!(matches!(again("W2"), Refusal::Held { .. }));
        assert!(matches!(again("W1"), Refusal::AlreadyYours { .. }));
        assert!(matches!(
            claims::claim_next(list, &terms("W2")),
            Err(Error::NothingReady { .. })
        ));
        let stale = act("W1", Some(Token(token.0 - 1)));
        let refused = tasks::act(list, &stale, &id, finish(Completed));
        assert!(matches!(refusal(refused), Refusal::StaleToken { .. }));
        let task = list.task(&id).unwrap().task;
        assert_eq!(
            (task.state.name(), task.late.len()),
            (StateName::Claimed, 1)
        );
        assert_eq!(task.late[0].text, "what came of it");
    });
}

#[test]
fn a_silent_holder_loses_its_task_and_one_that_speaks_keeps_it() {
    on_all(|world, list| {
        let id = add(list, "Write it", &[]);
        let first = claim(list, "W1", &id);
        for speak in [0, 1] {
            world.pass(SignedDuration::from_mins(14));
            assert!(claims::claim(list, &terms("W2"), &id).is_err());
            match speak {
                0 => drop(tasks::act(list, &act("W1", Some(first)), &id, Move::Renew).unwrap()),
                _ => {
                    drop(tasks::edit(list, &worker("W1"), &id, &subject("Write it well")).unwrap())
                }
            }
        }
        world.pass(SignedDuration::from_mins(16));
        assert_eq!(
            state(list, &id),
            StateName::Claimed,
            "nothing happens by itself"
        );
        let second = claim(list, "W2", &id);
        assert!(second > first);
        let late = tasks::act(list, &act("W1", Some(first)), &id, finish(Completed));
        fails!(late, Error::KeptLate(Refusal::StaleToken { .. }));
        assert_eq!(
            list.task(&id).unwrap().task.state.claim().unwrap().token,
            second
        );
    });
}

#[test]
fn every_field_is_there_again() {
    on_all(|_, list| {
        let (part, id) = (add(list, "The whole", &[]), add(list, "Write it", &[]));
        let fields = Fields {
            subject: Some("Write all of it".to_owned()),
            description: Some("First line.\n\n- and\n- so on\n".to_owned()),
            active_form: Some("Writing".to_owned()),
            complexity: Some("M".to_owned()),
            group: Some("auth".to_owned()),
            project: Some("web".to_owned()),
            tags: Labels::Set(vec!["api".to_owned(), "db".to_owned()]),
            due: Some(Some("2026-12-01".parse().unwrap())),
            not_before: Some(Some("2026-11-01T00:00:00Z".parse().unwrap())),
            parent: Some(Some(part.clone())),
            estimate: Some(Some(Effort::from_minutes(90))),
            uid: Some("plan/3".to_owned()),
            metadata: vec![
                ("files".to_owned(), Some(json!(["a.rs"]))),
                ("hints".to_owned(), Some(json!("look here"))),
                ("state".to_owned(), Some(json!({"theirs": [1]}))),
            ],
            ..Fields::default()
        };
        for priority in Priority::ALL.iter().copied().map(Some).chain([None]) {
            let fields = Fields {
                priority: Some(priority),
                ..fields.clone()
            };
            let mut expected: Task = list.task(&id).unwrap().task;
            let edited = tasks::edit(list, &worker("ann"), &id, &fields).unwrap();
            assert_eq!(list.task(&id).unwrap().task, edited);
            assert_eq!(
                (edited.priority, edited.uid.as_deref()),
                (priority, Some("plan/3"))
            );
            expected.rev = edited.rev;
            expected.subject.clone_from(&edited.subject);
            assert_eq!(edited.description, fields.description.clone().unwrap());
            assert_eq!(
                (edited.active_form.as_str(), &edited.tags),
                ("Writing", &vec!["api".to_owned(), "db".to_owned()])
            );
            assert_eq!(
                (edited.due, edited.not_before),
                (fields.due.unwrap(), fields.not_before.unwrap())
            );
            assert_eq!(
                (edited.parent, edited.estimate),
                (Some(part.clone()), fields.estimate.unwrap())
            );
            let told: Vec<_> = fields
                .metadata
                .iter()
                .map(|(key, it)| (key, it.as_ref().unwrap()))
                .collect();
            assert_eq!(
                edited
                    .metadata
                    .iter()
                    .collect::<std::collections::BTreeMap<_, _>>(),
                told.into_iter().collect()
            );
        }
        let nothing = Fields {
            description: Some(String::new()),
            complexity: Some(String::new()),
            uid: Some(String::new()),
            tags: Labels::Set(Vec::new()),
            due: Some(None),
            not_before: Some(None),
            parent: Some(None),
            estimate: Some(None),
            metadata: ["files", "hints", "state"]
                .map(|it| (it.to_owned(), None))
                .to_vec(),
            ..Fields::default()
        };
        let bare = tasks::edit(list, &worker("ann"), &id, &nothing).unwrap();
        assert!(bare.tags.is_empty() && bare.metadata.is_empty() && bare.uid.is_none());
        assert_eq!(
            (bare.description.as_str(), bare.due, bare.not_before),
            ("", None, None)
        );
        let noted = tasks::note(
            list,
            &worker("W3"),
            std::slice::from_ref(&id),
            "Mind the gap",
        )
        .unwrap();
        assert_eq!(noted[0].notes[0].text, "Mind the gap");
        let added = list.task(&id).unwrap().task.provenance.unwrap();
        assert_eq!(added.by.as_str(), "ann");
    });
}

#[test]
fn what_waits_is_not_given_out_and_nothing_waits_for_itself() {
    on_all(|_, list| {
        let first = add(list, "First", &[]);
        let second = add(list, "Second", &[&first]);
        let third = add(list, "Third", &[]);
        tasks::link(list, &worker("ann"), &third, std::slice::from_ref(&second)).unwrap();
        assert_eq!(
            edges_of(list),
            [
                (second.clone(), first.clone()),
                (third.clone(), second.clone())
            ]
        );
        let all = tasks_of(list);
        assert_eq!(all[&first].blocks, std::slice::from_ref(&second));
        let circle = tasks::link(list, &worker("ann"), &first, std::slice::from_ref(&third));
        assert!(matches!(refusal(circle), Refusal::Cycle { .. }));
        assert!(matches!(
            refusal(claims::claim(list, &terms("W1"), &second)),
            Refusal::Blocked { .. }
        ));
        let token = claim(list, "W1", &first);
        tasks::act(list, &act("W1", Some(token)), &first, finish(Completed)).unwrap();
        let next = claims::claim_next(list, &terms("W1")).unwrap();
        assert_eq!(next.task.id, second);
        tasks::unlink(list, &worker("ann"), &third, &second).unwrap();
        assert_eq!(next_of(list, "W2"), third);
    });
}

#[test]
fn a_task_is_given_back_given_up_dropped_and_taken_up_again() {
    on_all(|_, list| {
        let id = add(list, "Write it", &[]);
        let hold = || act("W1", Some(claim(list, "W1", &id)));
        let go = |act: &flagpost_model::task::Act, to| tasks::act(list, act, &id, to).unwrap();
        let back = go(&hold(), Move::Release { force: false });
        assert_eq!((&back.state, &back.owner), (&State::Pending, &None));
        for (ending, name) in [(Failed, StateName::Failed), (Stuck, StateName::Stuck)] {
            let over = go(&hold(), finish(ending));
            let result = over.result.clone().unwrap();
            assert_eq!((over.state.name(), result.ending), (name, ending));
            assert_eq!(result.text, "what came of it");
            assert!(claims::claim(list, &terms("W1"), &id).is_err());
            let open = go(&act("ann", None), Move::Reopen);
            assert_eq!((&open.state, &open.owner), (&State::Pending, &None));
        }
        go(&hold(), finish(Stuck));
        let answered = tasks::answer(list, &worker("ann"), &id, "The first", false).unwrap();
        let open = list.task(&id).unwrap().task;
        assert_eq!((&open.state, &open.owner), (&State::Pending, &None));
        let (asked, answer) = open.answered().next().unwrap();
        assert_eq!((asked, &*answer.text), (&answered.question, "The first"));
        assert_eq!(asked.text, "what came of it");
        let dropped = go(&act("ann", None), Move::Cancel);
        assert_eq!(dropped.state, State::Cancelled);
        go(&act("ann", None), Move::Reopen);
        let refused = tasks::act(list, &act("ann", None), &id, finish(Failed));
        assert!(matches!(refusal(refused), Refusal::NotClaimed { .. }));
        // Whoever has done it need not have said so before.
        let done = go(&act("ann", None), finish(Completed));
        assert_eq!(
            (done.state, done.owner.as_deref()),
            (State::Completed, Some("ann"))
        );
    });
}

#[test]
fn several_change_together_or_not_at_all() {
    on_all(|world, list| {
        let ids = ["One", "Two", "Three"].map(|it| add(list, it, &[]));
        claim(list, "W1", &ids[1]);
        let before = (tasks_of(list), world.history().len());
        let all = tasks::act_all(list, &act("ann", None), &ids, Move::Cancel);
        assert!(matches!(refusal(all), Refusal::Held { .. }));
        assert_eq!((tasks_of(list), world.history().len()), before);
        let group = Fields {
            group: Some("auth".to_owned()),
            ..Fields::default()
        };
        tasks::edit_all(list, &worker("ann"), &ids, &group).unwrap();
        let all = tasks_of(list);
        assert!(all.values().all(|it| it.group.as_deref() == Some("auth")));
        assert_eq!(world.history().len(), before.1 + 3);
    });
}

#[test]
fn parts_come_before_the_whole() {
    on_all(|_, list| {
        let whole = add(list, "The whole", &[]);
        let part = Fields {
            parent: Some(Some(whole.clone())),
            ..subject("A part")
        };
        tasks::add(list, &worker("ann"), &part, &[]).unwrap();
        let ann = act("ann", None);
        let early = tasks::act(list, &ann, &whole, finish(Completed));
        assert!(matches!(refusal(early), Refusal::OpenParts { .. }));
        let knows_better = Move::Finish {
            ending: Completed,
            text: String::new(),
            parts: Parts::MayBeOpen,
        };
        tasks::act(list, &ann, &whole, knows_better).unwrap();
    });
}

#[test]
fn the_last_change_is_taken_back_unless_somebody_built_on_it() {
    on_all(|_, list| {
        let id = add(list, "Write it", &[]);
        let before = list.task(&id).unwrap();
        tasks::edit(list, &worker("bob"), &id, &subject("Write it all")).unwrap();
        let undone = tasks::undo(list, &worker("bob"), UndoMode::Undo).unwrap();
        assert_eq!(undone.tasks[0].subject, "Write it");
        claim(list, "W1", &id);
        tasks::undo(list, &worker("W1"), UndoMode::Undo).unwrap();
        let after = list.task(&id).unwrap();
        assert_eq!(after.task.state, State::Pending);
        assert_eq!(after.fingerprint(), before.fingerprint());
        tasks::edit(list, &worker("bob"), &id, &subject("Other words")).unwrap();
        claim(list, "W1", &id);
        let late = tasks::undo(list, &worker("bob"), UndoMode::Undo);
        assert!(matches!(refusal(late), Refusal::BuiltOn { .. }));
    });
}

#[test]
fn a_timer_runs_and_stops() {
    on_all(|world, list| {
        let (one, two) = (add(list, "One", &[]), add(list, "Two", &[]));
        tasks::start_timer(list, &worker("ann"), &one).unwrap();
        world.pass(SignedDuration::from_mins(5));
        let started = tasks::start_timer(list, &worker("ann"), &two).unwrap();
        assert_eq!(started.stopped[0].tracked.minutes(), 5);
        world.pass(SignedDuration::from_mins(2));
        let stopped = tasks::stop_timer(list, &worker("ann"), None).unwrap();
        assert_eq!((&stopped[0].id, stopped[0].tracked.minutes()), (&two, 2));
    });
}

#[test]
fn what_others_wrote_beside_it_stays() {
    on_all(|_, list| {
        let id = add(list, "Write it", &[]);
        let path = match list.dir().join("tasks.json") {
            table if table.exists() => table,
            _ => list.dir().join(format!("{id}.json")),
        };
        let text = fs::read_to_string(&path).unwrap();
        let own = format!("\"id\": \"{id}\",");
        fs::write(
            &path,
            text.replace(&own, &format!("{own}\n \"theirs\": {{\"a\": [1.50]}},")),
        )
        .unwrap();
        let token = claim(list, "W1", &id);
        tasks::edit(list, &worker("W1"), &id, &subject("Other words")).unwrap();
        tasks::act(list, &act("W1", Some(token)), &id, finish(Completed)).unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("1.50"));
        let file = list.task(&id).unwrap();
        assert_eq!(file.raw()["theirs"].to_string(), r#"{"a":[1.50]}"#);
    });
}

#[test]
fn one_that_is_none_hides_no_neighbour_and_is_not_written_over() {
    on_all(|_, list| {
        let id = add(list, "Write it", &[]);
        let (path, broken) = match list.dir().join("tasks.json") {
            table if table.exists() => {
                let text = fs::read_to_string(&table).unwrap();
                let row = "\"tasks\": [\n    {\"id\": 7, \"status\": []},";
                (table, text.replace("\"tasks\": [", row))
            }
            table => (table.with_file_name("7.json"), "{".to_owned()),
        };
        fs::write(&path, broken).unwrap();
        let loaded = list.load().unwrap();
        assert_eq!((loaded.outlines.len(), loaded.skipped.len()), (1, 1));
        claim(list, "W1", &id);
        assert_eq!(list.load().unwrap().skipped.len(), 1);
        let seven = "7".parse().unwrap();
        let missing = list.task(&seven);
        assert!(matches!(
            missing,
            Err(Error::NotFound { .. } | Error::Disk(disk::Error::Malformed { .. }))
        ));
    });
}
