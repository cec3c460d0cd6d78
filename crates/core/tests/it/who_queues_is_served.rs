//! Claimers who queue for a list are served by the one who has it; each gets what it would have found
//! itself, whatever stands in the files in which they tell each other.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use flagpost_core::{
    Error, Home, List, Result, SystemClock,
    claims::{self, Claimed},
    history::Line,
    tasks::{self, Move, UndoMode},
};
use flagpost_disk::fsx::{self, Flock, Fs, Lock, Rank, RealFs};
use flagpost_model::{TaskId, task::Ending};
use flagpost_testkit::{
    patience::patience,
    power::{PowerFs, every_crash, every_fault},
    race::found,
    scratch::scratch,
};
use serde_json::{Value, json};

use crate::{
    account,
    child::CHILDREN,
    world::{World, act, add, finish, id, power, simulated_home, terms, worker},
};

/// A list of eight: 5 is urgent, 6 waits for 1.
fn eight() -> World {
    let world = World::real();
    for id in 1..=8 {
        let priority = if id == 5 { "critical" } else { "high" };
        let waits = if id == 6 { "\"1\"" } else { "" };
        world.put(
            &format!("{id}.json"),
            format!(
                r#"{{"id": "{id}", "subject": "Task {id}", "status": "pending",
                "blockedBy": [{waits}], "metadata": {{"priority": "{priority}"}}}}"#
            ),
        );
    }
    world
}

/// The list's lock, held by somebody who is busy.
fn busy(world: &World) -> Lock {
    let path = world.path(".lock");
    let (fs, now) = (world.home.fs(), world.home.now());
    fsx::lock(fs, &path, Rank::List, patience(), now).unwrap()
}

/// Another claimer, with a home of its own as another process has it.
fn claimer(place: &Path, name: &str) -> thread::JoinHandle<Result<Claimed>> {
    let (root, terms) = (place.join("home"), terms(name));
    thread::spawn(move || {
        let home = Home::new(root, Arc::new(RealFs), Arc::new(SystemClock));
        let list = List::open(&home, &"repo".parse().unwrap())?;
        claims::claim_next(&list, &terms)
    })
}

/// The files of those who queue, once there are so many, each with what it says.
fn queue(world: &World, count: usize) -> Vec<PathBuf> {
    let dir = world.path(".queue");
    found("so many queue", || {
        let names = world.home.fs().names(&dir).unwrap_or_default();
        let said = |path: &PathBuf| std::fs::read(path).is_ok_and(|it| it.starts_with(b"{"));
        let paths: Vec<_> = names.iter().map(|it| dir.join(it)).filter(said).collect();
        (paths.len() == count).then_some(paths)
    })
}

fn claim(world: &World) -> Result<TaskId> {
    Ok(claims::claim_next(&world.list(), &terms("W1"))?.task.id)
}

/// How each change that claimed was one: who claimed what.
fn changes(world: &World) -> Vec<Vec<(String, u64)>> {
    let mut changes: Vec<(u64, Vec<(String, u64)>)> = Vec::new();
    for line in world.history() {
        let entry = line.entry;
        let (Some(actor), Some(task)) = (entry.actor, entry.task) else {
            continue;
        };
        let op = entry.detail.get("op").and_then(Value::as_u64);
        let op = op.unwrap_or(line.n);
        let one = (actor.to_string(), task.number().unwrap());
        match changes.last_mut().filter(|(last, _)| *last == op) {
            Some((_, lines)) => lines.push(one),
            None => changes.push((op, vec![one])),
        }
    }
    changes.into_iter().map(|(_, lines)| lines).collect()
}

#[test]
fn all_who_queue_are_served_by_one_change_each_by_name() {
    let world = eight();
    let lock = busy(&world);
    let names = ["W1", "W2", "W3", "W4"];
    let claimers = names.map(|name| claimer(world.place(), name));
    queue(&world, 4);
    drop(lock);
    let claimed = claimers.map(|it| it.join().unwrap().unwrap());
    for (name, it) in names.iter().zip(&claimed) {
        assert_eq!(it.claim.by.as_str(), *name);
        assert_eq!(world.list().task(&it.task.id).unwrap().task, it.task);
    }
    let tasks: BTreeSet<_> = claimed.iter().map(|it| it.task.id.number()).collect();
    assert_eq!(
        tasks,
        [1, 2, 3, 5].map(Some).into(),
        "in the order of the list"
    );
    let changes = changes(&world);
    let [change] = changes.as_slice() else {
        panic!("{changes:?}");
    };
    assert_eq!(change[0].1, 5, "the urgent one first");
    for line in world.history().iter().filter(|it| it.entry.task.is_some()) {
        assert_eq!(line.entry.detail["token"], line.n, "a token is its line");
    }
    assert!(queue(&world, 0).is_empty());
    account::agrees(&world);
}

#[test]
fn each_takes_back_only_their_own() {
    let world = eight();
    let lock = busy(&world);
    let claimers = ["W1", "W2", "W3"].map(|name| claimer(world.place(), name));
    queue(&world, 3);
    drop(lock);
    let [_, second, _] = claimers.map(|it| it.join().unwrap().unwrap());
    let list = world.list();
    let undone = tasks::undo(&list, &worker("W2"), UndoMode::Undo).unwrap();
    let tasks: Vec<_> = undone.tasks.iter().map(|it| &it.id).collect();
    assert_eq!(tasks, [&second.task.id]);
    let held = |number| list.task(&id(number)).unwrap().task.state.claim().is_some();
    assert_eq!((1..=8).filter(|it| held(*it)).count(), 2);
    let again = tasks::undo(&list, &worker("W2"), UndoMode::Undo).unwrap_err();
    assert!(matches!(again, Error::NothingToUndo { .. }), "{again}");
    account::agrees(&world);
}

#[test]
fn the_last_of_ones_own_is_taken_back_first() {
    let world = eight();
    let lock = busy(&world);
    let claimers = ["W1", "W1", "W1"].map(|name| claimer(world.place(), name));
    queue(&world, 3);
    drop(lock);
    let mut claimed = claimers.map(|it| it.join().unwrap().unwrap());
    claimed.sort_by_key(|it| it.claim.token);
    assert_eq!(changes(&world).len(), 1);
    for last in claimed.iter().rev() {
        let undone = tasks::undo(&world.list(), &worker("W1"), UndoMode::Undo).unwrap();
        assert_eq!((undone.n, undone.tasks.len()), (last.claim.token.0, 1));
        assert_eq!(undone.tasks[0].id, last.task.id);
    }
    assert_eq!(holders(&world).len(), 0);
    account::agrees(&world);
}

#[test]
fn what_changed_before_one_asked_is_heard() {
    let world = eight();
    let list = world.list();
    assert_eq!(claim(&world).unwrap(), id(5));
    // A foreign program writes in place: 4 becomes urgent, and 2 blocks 1 as only 2 says.
    world.put(
        "4.json",
        r#"{"id": "4", "subject": "x", "metadata": {"priority": "critical"}}"#,
    );
    world.put(
        "2.json",
        r#"{"id": "2", "subject": "x", "blocks": ["1"], "metadata": {"priority": "high"}}"#,
    );
    assert_eq!(claim(&world).unwrap(), id(4));
    assert_eq!(claim(&world).unwrap(), id(2), "1 waits for it");
    let force = Move::Release { force: true };
    tasks::act(&list, &act("W1", None), &id(5), force).unwrap();
    assert_eq!(claim(&world).unwrap(), id(5), "given back");
    assert_eq!(claim(&world).unwrap(), id(3));
}

#[test]
fn who_waits_gets_what_came_while_it_waited() {
    let world = eight();
    let lock = busy(&world);
    let claimer = claimer(world.place(), "W2");
    queue(&world, 1);
    let urgent =
        r#"{"id": "9", "subject": "x", "metadata": {"priority": "critical"}, "status": "pending"}"#;
    world.put("9.json", urgent);
    std::fs::remove_file(world.path("5.json")).unwrap();
    drop(lock);
    assert_eq!(claimer.join().unwrap().unwrap().task.id, id(9));
}

#[test]
fn where_less_is_ready_than_wait_the_rest_hear_it() {
    let world = World::with_tasks(&["One", "Two"]);
    let lock = busy(&world);
    let claimers = ["W1", "W2", "W3", "W4"].map(|name| claimer(world.place(), name));
    queue(&world, 4);
    drop(lock);
    let answers = claimers.map(|it| it.join().unwrap());
    let (claimed, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!(claimed.len(), 2);
    for answer in refused {
        assert!(matches!(answer, Err(Error::NothingReady { .. })));
    }
    account::agrees(&world);
}

#[test]
fn where_nothing_is_ready_one_looks_for_all() {
    let world = World::with_tasks(&["One"]);
    claim(&world).unwrap();
    std::fs::create_dir(world.path(".queue")).unwrap();
    let path = world.path(".queue/2");
    let text = format!("{}\n", wish(&world.home, "W9"));
    let _held = place(world.home.fs(), &path, &text);
    assert!(matches!(claim(&world), Err(Error::NothingReady { .. })));
    let told = std::fs::read_to_string(&path).unwrap();
    let (_, answer) = told.split_once('\n').unwrap();
    assert_eq!(answer.trim_end(), "\"nothing_ready\"\ndurable");
}

#[test]
fn who_is_told_that_nothing_is_ready_believes_it() {
    let world = eight();
    let lock = busy(&world);
    let claimer = claimer(world.place(), "W2");
    let [path] = queue(&world, 1).try_into().unwrap();
    let said = std::fs::read_to_string(&path).unwrap();
    let said = format!("{}\n\"nothing_ready\"\ndurable\n", said.trim_end());
    std::fs::write(&path, said).unwrap();
    fails!(claimer.join().unwrap(), Error::NothingReady { .. });
    drop(lock);
}

/// What a claimer of this name says in its file.
fn wish(home: &Home, name: &str) -> Value {
    json!({
        "version": 2, "home": home.root(), "actor": name, "by": null, "lease": "PT15M", "session": null,
    })
}

/// A file in the queue, held as a living claimer holds it.
fn place(fs: &dyn Fs, path: &Path, text: &str) -> Box<dyn Flock> {
    let mut held = fsx::try_hold(fs, path).unwrap().unwrap();
    held.sign(text).unwrap();
    held
}

fn holders(world: &World) -> Vec<String> {
    let list = world.list();
    let ids = list.ids().unwrap().into_iter();
    let claims = ids.filter_map(|id| list.task(&id).unwrap().task.state.claim().cloned());
    let mut names: Vec<_> = claims.map(|it| it.by.to_string()).collect();
    names.sort();
    names
}

#[test]
fn nobody_is_served_who_is_not_there_any_more() {
    let world = eight();
    std::fs::create_dir(world.path(".queue")).unwrap();
    let (dead, alive) = (world.path(".queue/1"), world.path(".queue/2"));
    let text = |name| format!("{}\n", wish(&world.home, name));
    drop(place(world.home.fs(), &dead, &text("W8")));
    let held = place(world.home.fs(), &alive, &text("W9"));
    assert_eq!(claim(&world).unwrap(), id(5));
    assert_eq!(holders(&world), ["W1", "W9"]);
    assert_eq!(
        std::fs::read_to_string(&dead).unwrap().trim(),
        "",
        "cleared"
    );
    let told = std::fs::read_to_string(&alive).unwrap();
    let (_, given) = told.split_once('\n').unwrap();
    assert_eq!(
        given.trim_end(),
        "{\"claim\":{\"task\":\"1\",\"token\":3}}\ndurable"
    );
    // It was served, and is not again.
    assert_eq!(claim(&world).unwrap(), id(2));
    assert_eq!(holders(&world), ["W1", "W1", "W9"]);
    drop(held);
    account::agrees(&world);
}

#[test]
fn the_hand_behind_a_name_is_on_record() {
    let world = eight();
    std::fs::create_dir(world.path(".queue")).unwrap();
    let mut wish = wish(&world.home, "W9");
    wish["by"] = json!("operator");
    let path = world.path(".queue/1");
    let held = place(world.home.fs(), &path, &format!("{wish}\n"));
    claim(&world).unwrap();
    drop(held);
    let lines = world.history();
    let told = |name: &str| {
        let of = |line: &&Line| {
            line.entry
                .actor
                .as_ref()
                .is_some_and(|it| it.as_str() == name)
        };
        let line = lines.iter().find(of).unwrap();
        line.entry.detail.get("by").cloned()
    };
    assert_eq!((told("W1"), told("W9")), (None, Some(json!("operator"))));
}

#[test]
fn whatever_is_in_the_queue() {
    let world = eight();
    let fs = world.home.fs();
    std::fs::create_dir(world.path(".queue")).unwrap();
    let good = wish(&world.home, "W9");
    let with = |key: &str, value: Value| {
        let mut wish = good.clone();
        wish[key] = value;
        format!("{wish}\n").into_bytes()
    };
    let texts: Vec<Vec<u8>> = vec![
        Vec::new(),
        good.to_string().into_bytes()[..90].to_vec(),
        b"\n\n\n".to_vec(),
        vec![0xff; 300],
        vec![b'9'; 50_000],
        with("version", json!(1)),
        with("home", json!("/elsewhere")),
        with("actor", json!("../../etc")),
        with("lease", json!("soon")),
        with("unheard_of", json!(1)),
    ];
    let mut held = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        let path = world.path(&format!(".queue/{n}"));
        held.push(fsx::try_hold(fs, &path).unwrap().unwrap());
        std::fs::write(&path, text).unwrap();
    }
    std::fs::create_dir(world.path(".queue/20")).unwrap();
    let precious = world.place().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, world.path(".queue/21")).unwrap();
    assert_eq!(claim(&world).unwrap(), id(5));
    assert_eq!(holders(&world), ["W1"]);
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn what_is_no_claimers_file_stays() {
    let world = eight();
    let elsewhere = world.place().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("1"), "precious").unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.path(".queue")).unwrap();
    assert_eq!(claim(&world).unwrap(), id(5));
    assert!(elsewhere.join("1").exists());
    std::fs::remove_file(world.path(".queue")).unwrap();
    std::fs::create_dir(world.path(".queue")).unwrap();
    world.put(".queue/notes", "precious");
    let text = format!("{}\n", wish(&world.home, "W9"));
    world.put(".queue/77", &text);
    assert_eq!(claim(&world).unwrap(), id(1));
    let said = |name: &str| std::fs::read_to_string(world.path(name)).unwrap();
    assert_eq!(
        (said(".queue/notes").as_str(), said(".queue/77")),
        ("precious", text)
    );
}

#[test]
fn where_the_queue_is_no_directory_each_claims_for_itself() {
    let outside = scratch();
    for is_link in [false, true] {
        let world = eight();
        if is_link {
            let nowhere = outside.path().join("nowhere");
            std::os::unix::fs::symlink(nowhere, world.path(".queue")).unwrap();
        } else {
            world.put(".queue", "a file");
        }
        let lock = busy(&world);
        let claimers = ["W1", "W2", "W3"].map(|name| claimer(world.place(), name));
        drop(lock);
        for claimer in claimers {
            claimer.join().unwrap().unwrap();
        }
        assert_eq!(holders(&world), ["W1", "W2", "W3"]);
        account::agrees(&world);
    }
}

/// Somebody waits, and whoever had the list promised it task 2 under this token.
fn promised(is_kept: bool) -> (World, Claimed) {
    let world = eight();
    let lock = busy(&world);
    let claimer = claimer(world.place(), "W2");
    let [path] = queue(&world, 1).try_into().unwrap();
    let mut said = std::fs::read_to_string(&path).unwrap();
    said = format!(
        "{}\n{{\"claim\":{{\"task\":\"2\",\"token\":77}}}}\n",
        said.trim_end()
    );
    std::fs::write(&path, said).unwrap();
    if is_kept {
        let claim = json!({
            "by": "W2", "token": 77, "at": "2026-05-13T14:25:00Z", "expires_at": "2099-05-13T14:40:00Z",
        });
        let ours = json!({"state": "claimed", "claim": claim});
        let task =
            json!({"id": "2", "subject": "x", "owner": "W2", "metadata": {"flagpost": ours}});
        world.put("2.json", task.to_string());
    }
    drop(lock);
    let claimed = claimer.join().unwrap().unwrap();
    (world, claimed)
}

#[test]
fn who_was_served_by_one_that_died_finds_its_claim() {
    let (world, claimed) = promised(true);
    assert_eq!((claimed.task.id, claimed.claim.token.0), (id(2), 77));
    assert_eq!(holders(&world), ["W2"], "and no other");
}

#[test]
fn a_promise_that_was_not_kept_is_none() {
    let (world, claimed) = promised(false);
    assert_eq!(claimed.task.id, id(5));
    assert_eq!(holders(&world), ["W2"]);
    account::agrees(&world);
}

#[test]
fn no_claim_is_left_with_a_living_claimer_who_does_not_know_of_it() {
    let world = World::real();
    for id in 1..=240 {
        let text = format!(r#"{{"id": "{id}", "subject": "Task {id}", "status": "pending"}}"#);
        world.put(&format!("{id}.json"), text);
    }
    let mut living: Vec<_> = (0..8)
        .map(|_| CHILDREN.start("claim as a process", world.place()))
        .collect();
    let mut known = BTreeSet::new();
    let mut dead = BTreeSet::new();
    let name = |reports: &[String]| -> Option<String> {
        let name = reports.iter().find_map(|it| it.strip_prefix("I am "));
        name.map(str::to_owned)
    };
    let claims = |reports: &[String]| -> Vec<(String, u64)> {
        let claims = reports.iter().filter_map(|it| it.strip_prefix("claimed "));
        let task = |it: &str| it.split_once(' ').unwrap().0.to_owned();
        let token = |it: &str| it.split_once(' ').unwrap().1.parse().unwrap();
        claims.map(|it| (task(it), token(it))).collect()
    };
    // Each is heard of some tasks; then every other one dies wherever it happens to be.
    for n in 0..4 {
        let one = living.remove(n);
        let mut reports: Vec<_> = (0..3 + 2 * n).map_while(|_| one.next_report()).collect();
        reports.extend(one.kill());
        dead.extend(name(&reports));
        known.extend(claims(&reports));
    }
    for one in living {
        let reports: Vec<_> = std::iter::from_fn(|| one.next_report()).collect();
        known.extend(claims(&reports));
    }
    let list = world.list();
    for task in list.ids().unwrap() {
        let task = list.task(&task).unwrap().task;
        let claim = task.state.claim().expect("all are claimed");
        let is_known = known.contains(&(task.id.to_string(), claim.token.0));
        assert!(is_known || dead.contains(claim.by.as_str()), "{task:?}");
    }
    add(&list, "The next operation", &[]);
    account::agrees(&world);
}

#[test]
fn after_a_crash_or_a_fault() {
    let path = Path::new("/home/tasks/repo/.queue/1");
    let setup = || {
        let fs = power();
        let world = World::simulated(&fs);
        for text in ["One", "Two", "Three", "Four"] {
            add(&world.list(), text, &[]);
        }
        fs.make_dir(path.parent().unwrap()).unwrap();
        fs.settle();
        fs
    };
    // W2 has the list while W9 waits for it; what it was told when power was cut.
    let claim = |fs: &PowerFs| {
        let home = simulated_home(fs);
        let held = fsx::try_hold(fs, path).ok().flatten();
        let held = held.and_then(|mut held| {
            let text = format!("{}\n", wish(&home, "W9"));
            held.sign(&text).ok().map(|()| held)
        });
        let list = List::open(&home, &"repo".parse().unwrap())?;
        let answer = claims::claim_next(&list, &terms("W2")).map(|it| it.task.id);
        let told = fs.read(path, 0, 4096).unwrap_or_default();
        drop(held);
        answer.map(|id| (id, told.trim_ascii_end().ends_with(b"durable")))
    };
    let check = |fs: &PowerFs, answer: &Result<(TaskId, bool)>| {
        let world = World::simulated(fs);
        let holder = |number| {
            let task = world.list().task(&id(number)).unwrap().task;
            task.state.claim().map(|it| it.by.to_string())
        };
        if let Ok((claimed, is_told)) = answer {
            assert_eq!(*claimed, id(1));
            assert_eq!(holder(1).as_deref(), Some("W2"), "acknowledged");
            assert!(!is_told || holder(2).as_deref() == Some("W9"), "durable");
        }
        let next = (1..).find(|it| holder(*it).is_none()).unwrap();
        let got = claims::claim_next(&world.list(), &terms("W3")).unwrap();
        assert_eq!(got.task.id, id(next));
        account::agrees(&world);
    };
    every_crash(setup, claim, check);
    every_fault(setup, claim, check);
}

#[test]
fn nothing_is_given_out_that_is_held_done_or_broken() {
    let world = eight();
    let list = world.list();
    assert_eq!(claim(&world).unwrap(), id(5));
    claims::claim(&list, &terms("W1"), &id(2)).unwrap();
    tasks::act(&list, &act("W1", None), &id(2), finish(Ending::Completed)).unwrap();
    world.put("3.json", "{");
    let lock = busy(&world);
    let claimers = ["W1", "W2", "W3", "W4", "W5"].map(|name| claimer(world.place(), name));
    queue(&world, 5);
    drop(lock);
    let answers = claimers.map(|it| it.join().unwrap());
    let ids = answers.iter().flatten().map(|it| it.task.id.number());
    let ids: BTreeSet<_> = ids.collect();
    assert_eq!(ids, [1, 4, 7, 8].map(Some).into());
}
