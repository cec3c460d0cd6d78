//! Three machines with homes and clones of their own, and one real server: what one does the others have.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use flagpost_core::{
    Error, Home, List, Repository, claims,
    claims::Terms,
    order::{self, OrderRefusal},
    relay::{
        Fleet as Workers, Mail,
        briefs::{self, NewBrief},
        decide::{self, DecisionRequest},
        deliver,
        workers::{self, Traits},
    },
    tasks::{self, Fields},
};
use flagpost_fleet::{
    FleetRecord, Joined, MachineRecord, Membership, Replicas, ShareError, WIRE, join, keep_up,
    ordered, share,
};
use flagpost_model::{
    TaskId, WorkerId,
    decision::{Decision, Via},
    envelope::{BriefKind, Extras},
    task::{DEFAULT_LEASE, Task},
};
use flagpost_testkit::{
    race::{found, until},
    scratch::scratch,
};
use tempfile::TempDir;

use crate::world::World;

/// A machine with a home and a clone.
pub struct Node {
    _place: TempDir,
    /// In no order.
    pub plain: Home,
    pub home: Home,
    clone: PathBuf,
}

impl Node {
    fn at(place: TempDir, clone: PathBuf) -> Self {
        let plain = Home::at(place.path().join("home"));
        Self {
            _place: place,
            home: ordered(plain.clone(), |what| eprintln!("{what}")),
            plain,
            clone,
        }
    }

    pub fn repository(&self) -> Repository {
        Repository::find(&self.home, &self.clone).unwrap().unwrap()
    }

    pub fn list(&self) -> List<'_> {
        List::open(&self.home, &self.repository().name).unwrap()
    }

    fn mail(&self, worker: &str) -> Mail<'_> {
        let workers = Workers::of(&self.home, &self.repository().id);
        workers.mail(&name(worker)).unwrap()
    }

    pub fn history(&self) -> String {
        let dir = self.home.repository_dir(&self.repository().id);
        fs::read_to_string(dir.join("history.jsonl")).unwrap()
    }

    pub fn tasks(&self) -> Vec<Task> {
        let list = self.list();
        let outlines = list.load().unwrap().outlines;
        let mut tasks: Vec<Task> = outlines
            .iter()
            .map(|it| list.task(&it.id).unwrap().task)
            .collect();
        tasks.sort_by(|a, b| a.id.cmp(&b.id));
        tasks
    }
}

/// A fleet whose first machine founded it and decides.
pub struct Fleet {
    pub world: World,
    pub nodes: Vec<Node>,
}

pub fn name(text: &str) -> WorkerId {
    text.parse().unwrap()
}

fn git(dir: &Path, args: &[&str]) {
    let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let done = Command::new("git")
        .current_dir(dir)
        .args(author)
        .args(args)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

pub fn record() -> MachineRecord {
    MachineRecord {
        host: "box".to_owned(),
        flagpost: "0".to_owned(),
        wire: WIRE,
        joined: jiff::Timestamp::UNIX_EPOCH,
        left: None,
    }
}

/// With so many tasks from before it was shared.
pub fn fleet(tasks: usize) -> Option<Fleet> {
    let world = World::start(3)?;
    let record_of_fleet = FleetRecord {
        name: "team".to_owned(),
        epoch: 1,
        wire_min: 1,
        replicas: Replicas::One,
    };
    world.admin().found(&record_of_fleet).unwrap();
    let place = scratch();
    let clone = place.path().join("repo");
    fs::create_dir(&clone).unwrap();
    git(&clone, &["init", "--quiet"]);
    git(
        &clone,
        &["commit", "--quiet", "--allow-empty", "-m", "first"],
    );
    let first = Node::at(place, clone.clone());
    let repository = Repository::register(&first.home, &clone, &name("ann")).unwrap();
    List::open_or_create(&first.home, &repository.name, &repository).unwrap();
    for number in 1..=tasks {
        add(&first, &format!("Task {number}"));
    }
    let invitation = world.invitation(&world.machines[0].seed);
    let admin = Some(world.admin.clone());
    Membership::of(invitation, admin)
        .unwrap()
        .write(&first.home)
        .unwrap();
    share(&first.plain, &repository, &name("ann")).unwrap();
    let mut nodes = vec![first];
    for machine in 1..3 {
        let place = scratch();
        git(
            place.path(),
            &["clone", "--quiet", clone.to_str().unwrap(), "repo"],
        );
        let node = Node::at(place, PathBuf::new());
        let clone = node._place.path().join("repo");
        let node = Node { clone, ..node };
        let Joined { repository, .. } = join_as(&world, machine, &node).unwrap();
        assert!(repository.is_some());
        nodes.push(node);
    }
    Some(Fleet { world, nodes })
}

fn join_as(world: &World, machine: usize, node: &Node) -> Result<Joined, ShareError> {
    let invitation = world.invitation(&world.machines[machine].seed);
    join(&node.plain, &invitation, &record(), &node.clone)
}

pub fn add(node: &Node, text: &str) -> TaskId {
    let fields = Fields {
        subject: Some(text.to_owned()),
        ..Fields::default()
    };
    tasks::add(&node.list(), &name("ann"), &fields, &[])
        .unwrap()
        .id
}

pub fn terms(worker: &str) -> Terms {
    Terms {
        actor: name(worker),
        lease: DEFAULT_LEASE,
        session: None,
    }
}

/// Does something while each machine follows, and waits until all have the same.
pub fn followed(fleet: &Fleet, work: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for node in &fleet.nodes {
            let (home, stop) = (&node.plain, &stop);
            scope.spawn(move || keep_up(home, &record(), stop, &|what| eprintln!("{what}")));
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            work();
            until("all have the same history", || {
                let all: BTreeSet<String> = fleet.nodes.iter().map(Node::history).collect();
                all.len() == 1
            });
        }));
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
    });
    let first = fleet.nodes[0].tasks();
    for other in &fleet.nodes[1..] {
        assert_eq!(other.tasks(), first);
    }
}

#[test]
fn what_was_there_and_what_is_done_is_everywhere() {
    let Some(fleet) = fleet(3) else { return };
    let [a, b, c] = &fleet.nodes[..] else {
        panic!()
    };
    assert_eq!((b.tasks(), c.tasks()), (a.tasks(), a.tasks()));
    followed(&fleet, || {
        let task = add(b, "From another machine");
        assert_eq!(task, TaskId::from(4));
        until("it is known on the others", || {
            [a, c].iter().all(|it| it.tasks().len() == 4)
        });
        let claim = claims::claim(&c.list(), &terms("W3"), &task).unwrap().claim;
        let late = claims::claim(&a.list(), &terms("W1"), &task);
        assert!(matches!(late, Err(Error::Refused(_))), "{late:?}");
        assert!(claim.token.0 > 4);
    });
    // Joining again changes nothing, and a clone of something else is none of them.
    assert!(join_as(&fleet.world, 1, b).is_ok());
    let place = scratch();
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "--quiet"]);
    git(
        &other,
        &["commit", "--quiet", "--allow-empty", "-m", "another"],
    );
    let stranger = Node::at(place, other);
    let refused = join_as(&fleet.world, 2, &stranger);
    assert!(matches!(refused, Err(ShareError::Unknown { .. })));
    let again = share(&a.plain, &a.repository(), &name("ann"));
    assert!(matches!(again, Err(ShareError::Shared { .. })));
    let stranger = share(&b.plain, &b.repository(), &name("ann"));
    assert!(matches!(stranger, Err(ShareError::NotFounder)));
}

#[test]
fn twelve_claimers_on_three_machines_never_get_one_task_twice() {
    const TASKS: usize = 60;
    let Some(fleet) = fleet(TASKS) else { return };
    let claimed: Vec<(TaskId, u64)> = thread::scope(|scope| {
        let racers = (0..12).map(|number| {
            let node = &fleet.nodes[number % 3];
            scope.spawn(move || {
                let list = node.list();
                let terms = terms(&format!("W{number}"));
                let next = || {
                    found("a claim goes through", || {
                        match claims::claim_next(&list, &terms) {
                            Ok(it) => Some(Some((it.task.id, it.claim.token.0))),
                            Err(Error::NothingReady { .. }) => Some(None),
                            Err(Error::Order(OrderRefusal::Overtaken { .. })) => None,
                            Err(error) => panic!("{error:?}"),
                        }
                    })
                };
                std::iter::from_fn(next).collect::<Vec<_>>()
            })
        });
        let racers: Vec<_> = racers.collect();
        racers
            .into_iter()
            .flat_map(|it| it.join().unwrap())
            .collect()
    });
    let tasks: BTreeSet<&TaskId> = claimed.iter().map(|(task, _)| task).collect();
    let tokens: BTreeSet<u64> = claimed.iter().map(|(_, token)| *token).collect();
    assert_eq!(
        (claimed.len(), tasks.len(), tokens.len()),
        (TASKS, TASKS, TASKS)
    );
    followed(&fleet, || {});
}

#[test]
fn a_decision_counts_only_from_a_machine_that_may_decide() {
    let Some(fleet) = fleet(0) else { return };
    let [a, b, c] = &fleet.nodes[..] else {
        panic!()
    };
    followed(&fleet, || {
        let workers = Workers::of(&b.home, &b.repository().id);
        workers::register(&workers, &name("ann"), &name("W3"), Traits::default()).unwrap();
        until("the worker is known", || {
            Workers::of(&c.home, &c.repository().id)
                .mail(&name("W3"))
                .is_ok()
        });
        let brief = NewBrief {
            kind: BriefKind::Dispatch,
            ticket: Some("7".to_owned()),
            body: "Do it".to_owned(),
            summary: None,
            expires_at: None,
            in_reply_to: None,
            controller: None,
            extras: Extras::default(),
        };
        let seq = briefs::propose(&c.mail("W3"), &name("lead"), brief)
            .unwrap()
            .brief
            .seq;
        let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
        let refused = decide::decide(&c.mail("W3"), &name("ann"), Some(seq), &wish);
        assert!(
            matches!(refused, Err(Error::Order(OrderRefusal::NotAllowed { .. }))),
            "{refused:?}"
        );
        assert!(deliver::next(&b.mail("W3"), &name("W3")).unwrap().is_none());
        until("the brief has come", || {
            briefs::show(&a.mail("W3"), seq).is_ok()
        });
        decide::decide(&a.mail("W3"), &name("ann"), Some(seq), &wish).unwrap();
        until("the worker has it", || {
            deliver::next(&b.mail("W3"), &name("W3")).unwrap().is_some()
        });
    });
}

#[test]
fn a_server_that_dies_loses_nothing_and_stops_nobody_from_reading() {
    let Some(mut fleet) = fleet(2) else { return };
    fleet.world.server.kill();
    let fields = Fields {
        subject: Some("Alone".to_owned()),
        ..Fields::default()
    };
    let node = &fleet.nodes[1];
    let refused = tasks::add(&node.list(), &name("ann"), &fields, &[]);
    assert!(
        matches!(refused, Err(Error::Order(OrderRefusal::Unreachable { .. }))),
        "{refused:?}"
    );
    assert_eq!(node.tasks().len(), 2);
    fleet.world.server.restart();
    let added: Vec<TaskId> = fleet.nodes.iter().map(|node| add(node, "After")).collect();
    let unique: BTreeSet<&TaskId> = added.iter().collect();
    assert_eq!(unique.len(), 3, "{added:?}");
    followed(&fleet, || {});
    assert_eq!(fleet.nodes[2].tasks().len(), 5);
}

#[test]
fn a_repository_that_does_not_fit_stands_still_and_says_why() {
    let Some(fleet) = fleet(1) else { return };
    followed(&fleet, || {
        add(&fleet.nodes[0], "More");
    });
    let node = &fleet.nodes[2];
    let repo = node.repository().id;
    let file = node.home.repository_dir(&repo).join("history.jsonl");
    let whole = node.history();
    let (before, last) = whole.trim_end().rsplit_once('\n').unwrap();
    let other = last.replace("\"ann\"", "\"eve\"");
    assert_ne!(other, last);
    fs::write(&file, format!("{before}\n{other}\n")).unwrap();
    let frozen = || {
        let sight = order::sight(&node.plain).unwrap();
        let standing = sight.standing()?;
        Some(standing.repository(&repo)?.frozen.clone())
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| keep_up(&node.plain, &record(), &stop, &|what| eprintln!("{what}")));
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until("it is known why", || matches!(frozen(), Some(Some(_))));
            let why = frozen().flatten().unwrap();
            assert!(why.contains("another one here"), "{why}");
            fs::write(&file, &whole).unwrap();
            until("it goes on", || frozen() == Some(None));
        }));
        stop.store(true, Ordering::Relaxed);
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn nothing_acknowledged_is_missing_or_twice_while_the_server_dies() {
    const EACH: usize = 25;
    let Some(Fleet { mut world, nodes }) = fleet(0) else {
        return;
    };
    let acknowledged = std::sync::Mutex::new(BTreeSet::new());
    let left = std::sync::atomic::AtomicUsize::new(nodes.len());
    thread::scope(|scope| {
        for (at, node) in nodes.iter().enumerate() {
            let (acknowledged, left) = (&acknowledged, &left);
            scope.spawn(move || {
                for number in 0..EACH {
                    let text = format!("Task {number} of machine {at}");
                    let fields = Fields {
                        subject: Some(text.clone()),
                        ..Fields::default()
                    };
                    match tasks::add(&node.list(), &name("ann"), &fields, &[]) {
                        Ok(_) => drop(acknowledged.lock().unwrap().insert(text)),
                        Err(Error::Order(refusal)) => {
                            let is_final = matches!(
                                refusal,
                                OrderRefusal::Frozen { .. } | OrderRefusal::NotAllowed { .. }
                            );
                            assert!(!is_final, "{refusal}");
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(150));
            world.server.kill();
            thread::sleep(Duration::from_millis(100));
            world.server.restart();
        }
        until("all have done what they could", || {
            left.load(Ordering::Relaxed) == 0
        });
    });
    let fleet = Fleet { world, nodes };
    followed(&fleet, || drop(add(&fleet.nodes[0], "The last")));
    let subjects: Vec<String> = fleet.nodes[1]
        .tasks()
        .into_iter()
        .map(|it| it.subject)
        .collect();
    let acknowledged = acknowledged.into_inner().unwrap();
    for text in &acknowledged {
        let times = subjects.iter().filter(|it| *it == text).count();
        assert_eq!(times, 1, "{text}");
    }
    eprintln!("{} of {} were acknowledged", acknowledged.len(), 3 * EACH);
    assert!(!acknowledged.is_empty());
}
