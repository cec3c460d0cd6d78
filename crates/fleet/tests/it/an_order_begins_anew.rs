//! An order whose server lost it, or that has grown long, begins anew: nobody loses what was acknowledged, and
//! nobody hears it twice.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use flagpost_core::{
    Error, List,
    order::{self, BasePart, OrderRefusal},
    tasks::{self, Fields},
};
use flagpost_fleet::{
    AppendError, Begun, Behind, Change, ChangeHeaders, FleetError, Lane, MachineRecord, Numbers,
    Replicas, RepoRecord, RepoStream, ShareError, WIRE, compact, keep_up, ordered, restore,
};
use flagpost_testkit::{patience::patience, race::until};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    a_reader_misses_nothing::delete,
    machines_share_a_repository::{Fleet, Node, add, fleet, followed, name, record},
    world::{World, headers, say},
};

fn try_to_add(node: &Node, text: &str) -> Result<(), Error> {
    let fields = Fields {
        subject: Some(text.to_owned()),
        ..Fields::default()
    };
    tasks::add(&node.list(), &name("ann"), &fields, &[]).map(|_| ())
}

fn restored(node: &Node, behind: Behind) -> Result<Begun, ShareError> {
    restore(&node.plain, &node.repository(), &name("ann"), behind)
}

fn compacted(node: &Node) -> Result<Begun, ShareError> {
    compact(&node.plain, &node.repository(), &name("ann"))
}

/// Why nothing can be added. What was on its way as the server died is nobody's to know.
fn frozen(node: &Node) -> String {
    for _ in 0..3 {
        match try_to_add(node, "Nowhere") {
            Err(Error::Order(OrderRefusal::Frozen { reason, .. })) => return reason,
            Err(Error::Order(OrderRefusal::Unsettled { .. })) => {}
            other => panic!("{other:?}"),
        }
    }
    // A process of its own knows of nothing that was on its way.
    let home = ordered(node.plain.clone(), |_| ());
    let list = List::open(&home, &node.repository().name).unwrap();
    match tasks::add(
        &list,
        &name("ann"),
        &Fields {
            subject: Some("Nowhere".to_owned()),
            ..Fields::default()
        },
        &[],
    ) {
        Err(Error::Order(OrderRefusal::Frozen { reason, .. })) => reason,
        other => panic!("{other:?}"),
    }
}

fn last(node: &Node) -> u64 {
    order::last(&node.plain, &node.repository().id).unwrap()
}

/// Asks as the administrator, past everything that this crate does.
fn ask(world: &World, subject: &str, body: &Value) -> Value {
    let to = world.invitation(&world.admin);
    world.runtime.block_on(async {
        let options = async_nats::ConnectOptions::with_nkey(world.admin.reveal().to_owned());
        let client = options.connect(to.to_string()).await.unwrap();
        let answer = client.request(subject.to_owned(), body.to_string().into());
        let answer: Value = serde_json::from_slice(&answer.await.unwrap().payload).unwrap();
        assert_eq!(answer.get("error"), None, "{subject}: {answer}");
        answer
    })
}

/// The texts that lie in the quarantine of a directory.
fn quarantined(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir.join("quarantine")) else {
        return Vec::new();
    };
    let paths = entries.map(|it| it.unwrap().path());
    let copies = paths.filter(|it| !it.to_string_lossy().ends_with(".reason.txt"));
    copies.map(|it| fs::read_to_string(it).unwrap()).collect()
}

#[test]
fn what_a_server_lost_is_restored_from_the_files() {
    let Some(mut fleet) = fleet(3) else { return };
    let refused = restored(&fleet.nodes[0], Behind::Refuse);
    assert!(matches!(refused, Err(ShareError::Whole { .. })));
    let refused = restored(&fleet.nodes[1], Behind::Refuse);
    assert!(matches!(refused, Err(ShareError::NotFounder)));
    followed(&fleet, || drop(add(&fleet.nodes[1], "Four")));

    fleet.world.server.restart_empty();
    let [a, b, _] = &fleet.nodes[..] else {
        panic!()
    };
    let reason = frozen(b);
    assert!(reason.contains("flagpost fleet restore"), "{reason}");
    assert_eq!(b.tasks().len(), 4);
    let begun = restored(a, Behind::Refuse).unwrap();
    assert_eq!((begun.n, begun.epoch), (last(a), 2));
    followed(&fleet, || {
        for node in &fleet.nodes {
            add(node, "After");
        }
        // Each says anew who it is.
        let known = fleet.world.admin().fleet().unwrap();
        until("all are known again", || {
            known.all::<MachineRecord>().unwrap().len() == 3
        });
    });
    assert_eq!(a.tasks().len(), 7);
    let refused = restored(a, Behind::Refuse);
    assert!(matches!(refused, Err(ShareError::Whole { .. })));
}

#[test]
fn a_restore_that_was_cut_short_is_done_again() {
    let Some(fleet) = fleet(3) else { return };
    let Fleet { world, nodes } = &fleet;
    let [a, b, c] = &nodes[..] else { panic!() };
    let repo = a.repository().id;
    let stream = format!("FP_{repo}");
    let config = ask(world, &format!("$JS.API.STREAM.INFO.{stream}"), &json!({}))["config"].clone();
    // It was removed, and the next one not made.
    let records = world.admin().fleet().unwrap();
    let mut record = records.get::<RepoRecord>(&repo).unwrap().unwrap();
    record.epoch = 2;
    let text = serde_json::to_value(&record).unwrap();
    ask(world, &format!("$KV.FP_fleet.repo.{repo}"), &text);
    ask(
        world,
        &format!("$JS.API.STREAM.DELETE.{stream}"),
        &json!({}),
    );
    let waits = try_to_add(b, "Too soon");
    assert!(
        matches!(waits, Err(Error::Order(OrderRefusal::Unreachable { .. }))),
        "{waits:?}"
    );
    assert_eq!(restored(a, Behind::Refuse).unwrap().epoch, 3);
    followed(&fleet, || drop(add(b, "In the third")));

    // The next one was made, and has a part of its base.
    ask(
        world,
        &format!("$JS.API.STREAM.DELETE.{stream}"),
        &json!({}),
    );
    let mut half = config;
    half["first_seq"] = json!((4_u64 << 40) + 1);
    ask(world, &format!("$JS.API.STREAM.CREATE.{stream}"), &half);
    let half = RepoStream::open(&world.admin(), &repo).unwrap();
    let mut one = |part: &BasePart| {
        assert!(part.is_first() && !part.is_last());
        let headers = ChangeHeaders {
            wire: WIRE,
            numbers: Numbers::new(1, 1).unwrap(),
            op: Uuid::now_v7(),
            epoch: 4,
        };
        let change = Change {
            machine: world.id(0),
            lane: Lane::Own,
            headers,
            body: &part.to_bytes(),
        };
        half.append(4 << 40, &change).unwrap();
        Err(Error::Order(OrderRefusal::Unsettled { repo: repo.clone() }))
    };
    order::share(&a.plain, (&repo, 4), &name("ann"), &mut one).unwrap_err();
    let waits = try_to_add(c, "Too soon");
    assert!(
        matches!(waits, Err(Error::Order(OrderRefusal::Unreachable { .. }))),
        "{waits:?}"
    );
    assert_eq!(restored(a, Behind::Refuse).unwrap().epoch, 5);
    add(c, "In the fifth");
    followed(&fleet, || {});
    assert_eq!(b.tasks().len(), 5);
}

#[test]
fn while_an_order_is_made_short_no_change_is_lost_and_none_comes_twice() {
    let Some(fleet) = fleet(0) else { return };
    let [a, b, c] = &fleet.nodes[..] else {
        panic!()
    };
    let acknowledged = Mutex::new(BTreeSet::new());
    let is_over = AtomicBool::new(false);
    let count = || acknowledged.lock().unwrap().len();
    followed(&fleet, || {
        thread::scope(|scope| {
            for (at, node) in [b, c].into_iter().enumerate() {
                let (acknowledged, is_over) = (&acknowledged, &is_over);
                scope.spawn(move || {
                    for number in 0.. {
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        let text = format!("Task {number} of machine {at}");
                        match try_to_add(node, &text) {
                            Ok(()) => drop(acknowledged.lock().unwrap().insert(text)),
                            // The last on a machine so busy that the moment between two orders lasts.
                            Err(Error::Order(
                                OrderRefusal::Overtaken { .. }
                                | OrderRefusal::Unsettled { .. }
                                | OrderRefusal::Unreachable { .. },
                            )) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                for epoch in [2, 3] {
                    let before = count();
                    until("both append", || count() > before + 10);
                    let begun = compacted(a).unwrap();
                    assert_eq!(begun.epoch, epoch);
                }
                let before = count();
                until("they go on", || count() > before + 10);
            }));
            is_over.store(true, Ordering::Relaxed);
            if let Err(panic) = done {
                std::panic::resume_unwind(panic);
            }
        });
    });
    let tasks = a.tasks();
    for text in acknowledged.lock().unwrap().iter() {
        let times = tasks.iter().filter(|it| it.subject == *text).count();
        assert_eq!(times, 1, "{text}");
    }
    eprintln!("{} acknowledged, {} there", count(), tasks.len());
}

/// The server tells of the first change of the new order, and whoever reads has not looked what became of theirs.
#[test]
fn whoever_reads_on_where_an_order_ended_hears_that_another_began() {
    let Some(world) = World::start(1) else { return };
    let repo = world.share();
    let stream = world.open(0, &repo);
    say(&stream, world.id(0), 0, "first").unwrap();
    let mut reader = stream.read_from(2).unwrap();
    assert_eq!(reader.next(Duration::from_millis(50)).unwrap(), None);
    let api =
        |verb: &str, body: &Value| ask(&world, &format!("$JS.API.STREAM.{verb}.FP_{repo}"), body);
    let mut config = api("INFO", &Value::Null)["config"].clone();
    delete(&world, &repo);
    config["first_seq"] = json!((2_u64 << 40) + 1);
    api("CREATE", &config);
    let change = Change {
        machine: world.id(0),
        lane: Lane::Own,
        headers: ChangeHeaders {
            epoch: 2,
            ..headers(1)
        },
        body: b"second",
    };
    let begun = world.open(0, &repo);
    begun.append(2 << 40, &change).unwrap();
    let replaced = reader.next(patience()).unwrap_err();
    assert!(
        matches!(replaced, FleetError::Replaced { .. }),
        "{replaced:?}"
    );
}

#[test]
fn whoever_appends_to_an_order_that_has_ended_is_overtaken() {
    let Some(world) = World::start(1) else { return };
    let repo = world.share();
    let stream = world.open(0, &repo);
    assert_eq!(say(&stream, world.id(0), 0, "first"), Ok(1));
    RepoStream::open(&world.admin(), &repo)
        .unwrap()
        .seal()
        .unwrap();
    let late = say(&stream, world.id(0), 1, "late");
    assert_eq!(late, Err(AppendError::Overtaken));
}

#[test]
fn a_machine_that_slept_meanwhile_catches_up() {
    let Some(fleet) = fleet(3) else { return };
    let [a, b, c] = &fleet.nodes[..] else {
        panic!()
    };
    let removed = add(b, "Removed meanwhile");
    add(c, "It knows of this");
    tasks::remove(&b.list(), &name("ann"), &removed).unwrap();
    add(b, "Meanwhile");
    let begun = compacted(a).unwrap();
    assert_eq!((begun.n, begun.epoch), (last(a), 2));
    add(b, "After it");
    // A verb does it, and what follows.
    add(c, "Awake");
    followed(&fleet, || {});
    assert_eq!(c.tasks().len(), 7);
    let again = compacted(a).unwrap();
    assert_eq!(again.epoch, 3);
    followed(&fleet, || {});
}

#[test]
fn what_only_one_machine_has_is_put_aside_there_if_anybody_wants_so() {
    let Some(mut fleet) = fleet(2) else { return };
    add(&fleet.nodes[1], "Only here");
    let repo = fleet.nodes[0].repository().id;
    let beyond = last(&fleet.nodes[1]);
    fleet.world.server.restart_empty();
    let [a, b, _] = &fleet.nodes[..] else {
        panic!()
    };
    let stop = AtomicBool::new(false);
    let told = Mutex::new(String::new());
    let tell = |what: String| told.lock().unwrap().push_str(&format!("{what}\n"));
    let refused = thread::scope(|scope| {
        let (stop, tell) = (&stop, &tell);
        scope.spawn(move || keep_up(&b.plain, &record(), stop, tell));
        let refused = restored(a, Behind::Refuse);
        let begun = restored(a, Behind::Accept);
        until("it has taken it over", || {
            order::epoch(&b.plain, &repo).is_ok_and(|it| it == 2)
        });
        stop.store(true, Ordering::Relaxed);
        assert_eq!(begun.unwrap().epoch, 2);
        refused
    });
    match refused {
        Err(ShareError::Behind { theirs, ours, .. }) => {
            assert_eq!((theirs, ours), (beyond, last(a)));
        }
        other => panic!("{other:?}"),
    }
    let told = told.into_inner().unwrap();
    assert!(told.contains("a copy lies in quarantine"), "{told}");
    let lines = quarantined(&b.plain.repository_dir(&repo));
    assert!(
        lines.len() == 1 && lines[0].contains("task.created"),
        "{lines:?}"
    );
    let files = quarantined(b.list().dir());
    assert!(
        files.len() == 1 && files[0].contains("Only here"),
        "{files:?}"
    );
    assert_eq!(b.tasks(), a.tasks());
    add(b, "Again");
    followed(&fleet, || {});
}

#[test]
fn an_older_order_than_the_known_one_is_not_believed() {
    let Some(mut fleet) = fleet(1) else { return };
    compacted(&fleet.nodes[0]).unwrap();
    followed(&fleet, || drop(add(&fleet.nodes[1], "In the second")));
    fleet.world.server.restart_empty();
    let world = &fleet.world;
    let repo = fleet.nodes[0].repository().id;
    let admin = world.admin();
    let old = RepoStream::create(&admin, &repo, Replicas::One).unwrap();
    say(&old, world.id(0), 0, "older").unwrap();
    let before = fleet.nodes[1].history();
    let reason = frozen(&fleet.nodes[1]);
    assert!(reason.contains("an older order"), "{reason}");
    assert_eq!(fleet.nodes[1].history(), before);
    assert_eq!(restored(&fleet.nodes[0], Behind::Refuse).unwrap().epoch, 3);
    add(&fleet.nodes[1], "Here");
    followed(&fleet, || {});
}
