//! What happens is told to everybody who listens: once, in order, and none before it is there.

use std::{fs, thread};

use flagpost_core::{
    List,
    claims::{self, Terms},
    history::{Entry, History, Kind},
    relay::{
        Fleet, briefs,
        decide::{self, DecisionRequest},
        deliver,
        liveness::LivenessWatch,
        workers::{self, Traits},
    },
    slash,
    tasks::{self, Fields, Move, Parts},
};
use flagpost_daemon::WatchMode;
use flagpost_model::{
    Seq, TaskId, WorkerId,
    decision::{Decision, Via},
    task::{Act, DEFAULT_LEASE, Ending},
};
use flagpost_testkit::race::until;

use crate::{listening::Listening, served::Place};

fn ann() -> WorkerId {
    "ann".parse().unwrap()
}

fn w1() -> WorkerId {
    "W1".parse().unwrap()
}

fn fleet(place: &Place) -> Fleet<'_> {
    Fleet::of(&place.home, &place.repository().id)
}

fn register(place: &Place) {
    workers::register(&fleet(place), &ann(), &w1(), Traits::default()).unwrap();
}

/// Registers it, and the history tells that it has given a sign of life.
fn register_live(place: &Place) {
    register(place);
    let fleet = fleet(place);
    workers::heartbeat(&fleet.mail(&w1()).unwrap(), Traits::default()).unwrap();
    let mut watch = LivenessWatch::begin(&fleet).unwrap();
    assert_eq!(watch.look(&fleet, &ann()).unwrap(), 1);
}

fn propose(place: &Place, ticket: u64) -> Seq {
    let ticket = ticket.to_string().parse().unwrap();
    let proposal = slash::dispatch(&ticket, format!("Do #{ticket:?}\n"));
    let mail = fleet(place).mail(&w1()).unwrap();
    briefs::propose(&mail, &ann(), proposal).unwrap().brief.seq
}

fn add(list: &List<'_>) -> TaskId {
    let fields = Fields {
        subject: Some("Write the parser".to_owned()),
        ..Fields::default()
    };
    tasks::add(list, &ann(), &fields, &[]).unwrap().id
}

/// So many transitions at once.
fn hurry(place: &Place, count: usize) {
    let entry = Entry::new(Kind::TaskEdited).detail("text", "x".repeat(1000));
    let history = History::of(&place.home, &place.repository().id);
    let entries = vec![entry; count];
    history.record(&ann(), place.home.now(), entries).unwrap();
}

fn list(place: &Place) -> List<'_> {
    let repository = place.repository();
    List::open_or_create(&place.home, &repository.name, &repository).unwrap()
}

fn last(place: &Place) -> u64 {
    let history = History::of(&place.home, &place.repository().id);
    history.since(0).unwrap().last().unwrap().n
}

#[test]
fn the_state_comes_first_and_then_each_transition_by_its_number() {
    let place = Place::new();
    register_live(&place);
    propose(&place, 1);
    let served = place.serve();
    let mut all = Listening::to(&served, "/v1/events?repo=web");
    let mut mail = Listening::to(&served, "/v1/relay/inbox/events?repo=web");
    for listening in [&mut all, &mut mail] {
        let state = listening.next();
        assert_eq!(state.name, "daemon.resync");
        assert_eq!(state.data["reason"], "fresh");
        assert_eq!(state.id, last(&place).to_string());
        let web = &state.data["repositories"][0];
        assert_eq!(web["workers"][0]["id"], "W1");
        assert_eq!(web["briefs"][0]["ticket"], "1");
        assert_eq!(web["n"], last(&place));
    }
    add(&list(&place));
    let seq = propose(&place, 2);
    let box_of = fleet(&place).mail(&w1()).unwrap();
    let wish = DecisionRequest::new(Decision::Ratified, Via::Cli);
    decide::decide(&box_of, &ann(), Some(seq), &wish).unwrap();
    deliver::next(&box_of, &w1()).unwrap().unwrap();
    deliver::ack(&box_of, &w1(), seq).unwrap();
    let of_mail = [
        "controller.brief_proposed",
        "relay.decided",
        "relay.delivered",
        "worker.read",
    ];
    assert_eq!(mail.names(4), of_mail);
    assert_eq!(all.next().name, "task.created");
    assert_eq!(all.names(4), of_mail);
    let seq = propose(&place, 3);
    let event = all.next();
    assert_eq!(event.id, last(&place).to_string());
    assert_eq!(event.data["event"], "controller.brief_proposed");
    assert_eq!(event.data["line"]["seq"], seq.get());
    assert_eq!(event.data["line"]["worker"], "W1");
}

#[test]
fn whoever_is_told_of_a_brief_finds_both_its_files() {
    let place = Place::new();
    register(&place);
    let served = place.serve();
    let mut mail = Listening::to(&served, "/v1/relay/inbox/events");
    mail.next();
    thread::scope(|scope| {
        scope.spawn(|| (1..=50).for_each(|n| assert_eq!(propose(&place, n).get(), n)));
        let box_of = fleet(&place).mail(&w1()).unwrap();
        for n in 1..=50 {
            let event = mail.next();
            assert_eq!(event.data["line"]["seq"], n);
            briefs::show(&box_of, Seq::try_from(n).unwrap()).unwrap();
        }
    });
}

#[test]
fn trap_08_lost_transitions() {
    let place = Place::new();
    let list = list(&place);
    let task = add(&list);
    let served = place.serve();
    let mut all = Listening::to(&served, "/v1/events");
    all.next();
    let terms = Terms {
        actor: w1(),
        lease: DEFAULT_LEASE,
        session: None,
    };
    let claim = claims::claim(&list, &terms, &task).unwrap().claim;
    let act = Act {
        actor: w1(),
        token: Some(claim.token),
        at: place.home.now(),
    };
    tasks::act(&list, &act, &task, Move::Start).unwrap();
    let done = Move::Finish {
        ending: Ending::Completed,
        text: "Done".to_owned(),
        parts: Parts::MustBeDone,
    };
    tasks::act(&list, &act, &task, done).unwrap();
    let steps: Vec<_> = (0..3).map(|_| all.next()).collect();
    let to: Vec<_> = steps
        .iter()
        .map(|it| it.data["line"]["to"].clone())
        .collect();
    assert_eq!(to, ["claimed", "in_progress", "completed"]);
    assert!(steps.iter().all(|it| it.name == "task.updated"));
}

#[test]
fn whoever_comes_again_is_told_what_it_missed_also_by_the_next_daemon() {
    let place = Place::new();
    register(&place);
    let served = place.serve();
    let mut mail = Listening::to(&served, "/v1/relay/inbox/events?repo=web");
    mail.next();
    propose(&place, 1);
    let had = mail.next().id;
    drop(mail);
    propose(&place, 2);
    let mut again = Listening::after(&served, "/v1/relay/inbox/events?repo=web", Some(&had));
    assert_eq!(again.next().data["line"]["seq"], 2);
    drop(served);
    assert!(again.ends());
    // Nobody runs, and things go on.
    propose(&place, 3);
    let served = place.serve();
    propose(&place, 4);
    for path in ["/v1/relay/inbox/events", "/v1/relay/inbox/events?repo=web"] {
        let mut again = Listening::after(&served, path, Some(&had));
        let seqs: Vec<_> = (0..3)
            .map(|_| again.next().data["line"]["seq"].clone())
            .collect();
        assert_eq!(seqs, [2, 3, 4]);
    }
    let mut asked = Listening::to(&served, &format!("/v1/events?repo=web&since={had}"));
    assert_eq!(asked.next().data["line"]["seq"], 2);
}

#[test]
fn several_repositories_are_told_of_in_one_stream_and_new_ones_too() {
    let place = Place::new();
    place.register("api");
    let served = place.serve();
    let mut all = Listening::to(&served, "/v1/events");
    assert_eq!(all.next().data["repositories"].as_array().unwrap().len(), 2);
    register(&place);
    let told = all.next();
    assert_eq!(told.name, "worker.state");
    let late = place.register("late");
    let event = all.next();
    assert_eq!(event.line().0, "repository.registered");
    assert_eq!(event.data["line"]["repo"], late.id.as_str());
    // From the middle, each by itself.
    let mut again = Listening::after(&served, "/v1/events", Some(&told.id));
    assert_eq!(again.next().data["line"]["repo"], late.id.as_str());
    propose(&place, 1);
    assert_eq!(again.next().name, "controller.brief_proposed");
}

#[test]
fn a_slow_listener_holds_up_nobody_and_is_given_the_state_at_last() {
    let place = Place::new();
    let served = place.serve();
    let mut slow = Listening::to(&served, "/v1/events");
    let mut quick = Listening::to(&served, "/v1/events");
    for listening in [&mut slow, &mut quick] {
        assert_eq!(listening.next().data["reason"], "fresh");
    }
    for _ in 0..24 {
        hurry(&place, 500);
        for name in quick.names(500) {
            assert_eq!(name, "task.updated");
        }
    }
    let mut told = 0;
    let state = loop {
        let event = slow.next();
        if event.name == "daemon.resync" {
            break event;
        }
        told += 1;
    };
    println!("{told} events were on their way");
    assert_eq!(state.data["reason"], "behind");
    assert_eq!(
        state.id,
        format!("{}:{}", place.repository().id, last(&place))
    );
    hurry(&place, 1);
    assert_eq!(slow.next().line(), ("task.edited".to_owned(), last(&place)));
}

#[test]
fn what_is_not_for_it_keeps_no_listener_waiting() {
    let place = Place::new();
    register(&place);
    let served = place.serve();
    let mut mail = Listening::to(&served, "/v1/relay/inbox/events");
    mail.next();
    hurry(&place, 1000);
    propose(&place, 1);
    assert_eq!(mail.next().name, "controller.brief_proposed");
}

#[test]
fn listeners_that_vanish_leave_nothing_behind() {
    let place = Place::new();
    register(&place);
    let served = place.serve();
    // The daemon's end of a connection by its socket bears the name at which it began to listen.
    let name = served.paths.dir.join(".sock").display().to_string();
    let open = || {
        let all = fs::read_to_string("/proc/net/unix").unwrap_or_default();
        all.lines().filter(|line| line.ends_with(&name)).count()
    };
    for n in 1..=5 {
        let all: Vec<_> = (0..20)
            .map(|_| Listening::to(&served, "/v1/events"))
            .collect();
        propose(&place, n);
        assert!(open() > all.len(), "{}", open());
        drop(all);
    }
    until("the daemon has the socket alone", || open() == 1);
    let mut mail = Listening::to(&served, "/v1/relay/inbox/events");
    mail.next();
    propose(&place, 9);
    assert_eq!(mail.next().name, "controller.brief_proposed");
}

#[test]
fn where_the_system_tells_nothing_one_looks_each_second() {
    let place = Place::new();
    register(&place);
    let served = place.serve_watching(WatchMode::Polling);
    assert_eq!(
        served.get("/v1/daemon").json()["daemon"]["watching"],
        "polling"
    );
    let mut mail = Listening::to(&served, "/v1/relay/inbox/events");
    mail.next();
    propose(&place, 1);
    assert_eq!(mail.next().name, "controller.brief_proposed");
}

#[test]
fn another_history_in_its_place_is_told() {
    let place = Place::new();
    register(&place);
    let served = place.serve();
    let mut all = Listening::to(&served, "/v1/events");
    all.next();
    let repository = place.home.repository_dir(&place.repository().id);
    let path = repository.join("history.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap();
    fs::write(&path, format!("{first}\n")).unwrap();
    let event = all.next();
    assert_eq!(
        (event.name.as_str(), &event.data["reason"]),
        ("daemon.resync", &"rewritten".into())
    );
    // Neither does a number help that nobody has told yet.
    let mut ahead = Listening::after(&served, "/v1/events?repo=web", Some("99"));
    assert_eq!(ahead.next().data["reason"], "rewritten");
}

#[test]
fn what_nobody_can_listen_to_is_refused() {
    let place = Place::new();
    let served = place.serve();
    for (path, status) in [
        ("/v1/events?since=x", 422),
        ("/v1/events?since=-1", 422),
        ("/v1/events?repo=none", 404),
        ("/v1/events?since=1&since=2", 400),
        ("/api/events?taskListId=..%2F..%2Fevil", 400),
    ] {
        assert_eq!(served.get(path).status, status, "{path}");
    }
    // An open stream is as good as a read.
    let host = "Host: 127.0.0.1:[port]";
    for path in [
        "/v1/events",
        "/v1/relay/inbox/events",
        "/api/events?taskListId=web",
    ] {
        let told = served.loopback(&format!("GET {path}"), &[host], "");
        assert_eq!(told.status, 401, "{path}");
    }
}

#[test]
fn what_comes_later_is_watched_too_and_no_archive_is() {
    let place = Place::new();
    let served = place.serve();
    let mut stream = Listening::to(&served, "/v1/events");
    stream.next();
    // A repository, its workers and their mail did not exist when the watch began.
    let later = place.register("later");
    let fleet = Fleet::of(&place.home, &later.id);
    let add = |id: &str| {
        let (ann, id) = ("ann".parse().unwrap(), id.parse().unwrap());
        workers::register(&fleet, &ann, &id, workers::Traits::default()).unwrap();
    };
    add("W1");
    loop {
        if stream.next().name == "worker.state" {
            break;
        }
    }
    add("W2");
    assert_eq!(stream.next().name, "worker.state");
    let archive = fleet.dir().join("W1/archive/2026-05/inbox");
    fs::create_dir_all(&archive).unwrap();
    assert_eq!(
        served.get("/v1/daemon").json()["daemon"]["watching"],
        "events"
    );
}
