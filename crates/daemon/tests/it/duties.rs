//! What the daemon does by itself.

use std::{fs, time::Duration};

use flagpost_core::{
    List,
    history::{History, Kind, Line},
    policy,
    relay::{
        Fleet, Mail,
        briefs::{self, BriefStatus},
        workers::{self, Traits},
    },
    slash,
    tasks::{self, Fields},
};
use flagpost_model::{Seq, WorkerId, decision::Via, envelope::Direction};
use flagpost_testkit::race::until;
use serde_json::{Value, json};

use crate::{listening::Listening, served::Place};

fn ann() -> WorkerId {
    "ann".parse().unwrap()
}

fn w1(place: &Place) -> Mail<'_> {
    let worker: WorkerId = "W1".parse().unwrap();
    let fleet = Fleet::of(&place.home, &place.repository().id);
    if fleet.mail(&worker).is_err() {
        workers::register(&fleet, &ann(), &worker, Traits::default()).unwrap();
    }
    fleet.mail(&worker).unwrap()
}

fn lines(place: &Place) -> Vec<Line> {
    let history = History::of(&place.home, &place.repository().id);
    history.since(0).unwrap()
}

fn told(place: &Place, kind: &Kind) -> usize {
    lines(place)
        .iter()
        .filter(|it| it.entry.kind == *kind)
        .count()
}

/// Says in the home's policy that flags by hand count.
fn accept_foreign_flags(place: &Place) {
    let policy = place.home.root().join("policy.toml");
    fs::write(policy, "foreign_flags = \"accept\"\n").unwrap();
    let (home, repo) = (&place.home, place.repository().id);
    let seen = policy::there(home, &repo).unwrap().unwrap();
    policy::accept(home, &repo, &WorkerId::operator(), &seen).unwrap();
}

/// A whole brief and a report of this number, as a script puts them there.
fn by_hand(mail: &Mail<'_>, seq: u64) {
    let (inbox, outbox) = (mail.dir(Direction::Inbox), mail.dir(Direction::Outbox));
    let key = flagpost_model::envelope::Key::of("Do it.\n");
    let sidecar = json!({
        "seq": seq, "version": 1, "kind": "dispatch_brief", "submitted_at": "2026-05-13T14:25:00Z",
        "controller_session_id": "script", "target_worker": "W1", "target_ticket": "7",
        "expires_at": null, "summary": "Do it.", "in_reply_to": null, "idempotency_key": key.as_str(),
    });
    let report = json!({
        "seq": seq, "version": 1, "kind": "freeform", "produced_at": "2026-05-13T14:25:00Z",
        "worker_id": "W1", "ticket_id": null, "claude_session_id": "", "body": "Do it.\n",
        "pr_number": null, "next_action": null, "in_reply_to": null, "idempotency_key": key.as_str(),
    });
    let put = |path: std::path::PathBuf, text: String| {
        let passing = path.with_file_name(".tmp");
        fs::write(&passing, text).unwrap();
        fs::rename(passing, path).unwrap();
    };
    put(
        inbox.join(format!("{seq:04}.brief.meta.json")),
        sidecar.to_string(),
    );
    put(inbox.join(format!("{seq:04}.brief")), "Do it.\n".to_owned());
    put(outbox.join(format!("{seq:04}.json")), report.to_string());
}

fn field<'v>(data: &'v Value, key: &str) -> &'v Value {
    &data["line"][key]
}

#[test]
fn what_others_do_by_hand_is_told_and_recorded_once() {
    let place = Place::new();
    accept_foreign_flags(&place);
    let mail = w1(&place);
    let served = place.serve();
    let mut stream = Listening::to(&served, "/v1/relay/inbox/events");
    stream.next();
    by_hand(&mail, 2);
    let mut names: Vec<String> = Vec::new();
    for _ in 0..2 {
        let event = stream.next();
        assert_eq!(field(&event.data, "seq"), 2);
        assert_eq!(field(&event.data, "detail")["observed"], true);
        names.push(event.name);
    }
    names.sort();
    assert_eq!(names, ["controller.brief_proposed", "worker.paste_back"]);
    let inbox = mail.dir(Direction::Inbox);
    fs::write(inbox.join("0002.ratified"), "").unwrap();
    let event = stream.next();
    assert_eq!(event.name, "relay.decided");
    assert_eq!(field(&event.data, "detail")["via"], Via::External.as_str());
    assert_eq!(field(&event.data, "detail")["observed"], true);
    fs::write(inbox.join("0002.read"), "").unwrap();
    let event = stream.next();
    assert_eq!(
        (event.name.as_str(), field(&event.data, "actor")),
        ("worker.read", &"W1".into())
    );
    // Ours are recorded by whoever makes them, and by nobody else; nor is anything told twice.
    let ticket = "9".parse().unwrap();
    let ours = slash::dispatch(&ticket, "Ours.\n".to_owned());
    briefs::propose(&mail, &ann(), ours).unwrap();
    assert_eq!(
        field(&stream.next().data, "detail")["observed"],
        Value::Null
    );
    drop(served);
    let before = lines(&place).len();
    let served = place.serve();
    let mut again = Listening::to(&served, "/v1/relay/inbox/events");
    again.next();
    by_hand(&mail, 9);
    again.next();
    again.next();
    assert_eq!(lines(&place).len(), before + 2);
    assert_eq!(told(&place, &Kind::BriefRead), 1);
    let letter = briefs::show(&mail, Seq::try_from(2).unwrap()).unwrap();
    assert!(
        matches!(letter.stage, BriefStatus::Read(_)),
        "{:?}",
        letter.stage
    );
}

#[test]
fn what_others_did_while_no_daemon_ran_is_recorded_by_the_next_one() {
    let place = Place::new();
    accept_foreign_flags(&place);
    let mail = w1(&place);
    let ticket = "9".parse().unwrap();
    let ours = slash::dispatch(&ticket, "Ours.\n".to_owned());
    briefs::propose(&mail, &ann(), ours).unwrap();
    by_hand(&mail, 2);
    let inbox = mail.dir(Direction::Inbox);
    fs::write(inbox.join("0002.ratified"), "").unwrap();
    fs::write(inbox.join("0002.read"), "").unwrap();
    let recorded = || -> Vec<String> {
        let all = lines(&place).into_iter();
        let observed = all.filter(|it| it.entry.detail.get("observed") == Some(&true.into()));
        let mut kinds: Vec<String> = observed
            .map(|it| it.entry.kind.as_str().to_owned())
            .collect();
        kinds.sort();
        kinds
    };
    let served = place.serve();
    until("four are recorded", || recorded().len() >= 4);
    assert_eq!(
        recorded(),
        [
            "relay.brief_proposed",
            "relay.decided",
            "worker.paste_back",
            "worker.read"
        ]
    );
    drop(served);
    by_hand(&mail, 3);
    let last = lines(&place).last().unwrap().n;
    let served = place.serve();
    // Whoever comes again is told of it, too.
    let mut stream = Listening::to(&served, &format!("/v1/events?repo=web&since={last}"));
    for _ in 0..2 {
        assert_eq!(field(&stream.next().data, "seq"), 3);
    }
    drop(stream);
    drop(served);
    let before = lines(&place).len();
    let served = place.serve();
    // There is nothing more to tell: by then everything was looked at.
    by_hand(&mail, 4);
    until("the next is recorded", || lines(&place).len() >= before + 2);
    drop(served);
    assert_eq!(recorded().len(), 8, "{:#?}", lines(&place));
}

#[test]
fn a_worker_that_falls_silent_is_told_of_and_so_is_its_return() {
    let place = Place::new();
    let mail = w1(&place);
    let silent = |at: &str| {
        let path = mail.dir(Direction::Inbox).with_file_name("worker.json");
        let text = fs::read_to_string(&path).unwrap();
        let mut worker: Value = serde_json::from_str(&text).unwrap();
        worker["last_seen"] = at.into();
        fs::write(&path, worker.to_string()).unwrap();
    };
    let served = place.serve();
    let mut stream = Listening::to(&served, "/v1/events?repo=web&since=0");
    let mut next = || loop {
        let event = stream.next();
        if event.name == "worker.state" {
            return event.data["line"]["detail"]["liveness"].clone();
        }
    };
    // That it joined is no sign of life.
    assert_eq!(next(), Value::Null);
    workers::heartbeat(&mail, Traits::default()).unwrap();
    assert_eq!(next(), "heartbeat");
    drop(served);
    silent("2026-05-13T14:25:00Z");
    let _next = place.serve();
    until("that it fell silent while nobody watched is told", || {
        told(&place, &Kind::WorkerLiveness) == 2
    });
    workers::heartbeat(&mail, Traits::default()).unwrap();
    until("so is its return", || {
        told(&place, &Kind::WorkerLiveness) == 3
    });
}

#[test]
fn half_a_brief_is_told_to_nobody() {
    let place = Place::new();
    let mail = w1(&place);
    let served = place.serve();
    let mut stream = Listening::to(&served, "/v1/relay/inbox/events");
    stream.next();
    fs::write(mail.dir(Direction::Inbox).join("0001.brief"), "Half.\n").unwrap();
    by_hand(&mail, 2);
    assert_eq!(field(&stream.next().data, "seq"), 2);
    assert_eq!(field(&stream.next().data, "seq"), 2);
    assert_eq!(told(&place, &Kind::BriefProposed), 1);
}

#[test]
fn trap_34_fixed_temporary_names() {
    let place = Place::new();
    let inbox = w1(&place).dir(Direction::Inbox);
    // No process has this number, and this one is alive.
    let dead = inbox.join(".0001.brief.tmp-4194399-0123456789abcdef0123456789abcdef");
    let alive = inbox.join(format!(
        ".0001.brief.tmp-{}-0123456789abcdef0123456789abcdef",
        std::process::id()
    ));
    let young = inbox.join(".0002.brief.tmp-4194399-0123456789abcdef0123456789abcdef");
    // As other writers of the format name theirs.
    let outbox = w1(&place).dir(Direction::Outbox);
    let theirs = ["0003.brief.tmp", "0003.brief.meta.json.tmp"].map(|name| inbox.join(name));
    let theirs = [theirs.as_slice(), &[outbox.join("0003.json.tmp")]].concat();
    let stays = ["0004.brief.tmp", "notes.tmp", "0005.ratified.tmp"].map(|name| inbox.join(name));
    for path in [&dead, &alive, &young]
        .into_iter()
        .chain(&theirs)
        .chain(&stays)
    {
        fs::write(path, "half").unwrap();
    }
    let old = std::time::SystemTime::now() - Duration::from_secs(120);
    for path in [&dead, &alive]
        .into_iter()
        .chain(&theirs)
        .chain(&stays[1..])
    {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(old).unwrap();
    }
    let served = place.serve();
    until("they are gone", || {
        !dead.exists() && theirs.iter().all(|path| !path.exists())
    });
    drop(served);
    assert!(alive.exists());
    assert!(young.exists());
    assert!(stays.iter().all(|path| path.exists()));
}

#[test]
fn older_mail_is_archived_at_the_quarters_boundary() {
    let place = Place::new();
    accept_foreign_flags(&place);
    let mail = w1(&place);
    let ticket = "9".parse().unwrap();
    for n in 1..=103 {
        let proposal = slash::dispatch(&ticket, format!("Number {n}\n"));
        briefs::propose(&mail, &ann(), proposal).unwrap();
        fs::write(
            mail.dir(Direction::Inbox).join(format!("{n:04}.ratified")),
            "",
        )
        .unwrap();
        fs::write(mail.dir(Direction::Inbox).join(format!("{n:04}.read")), "").unwrap();
    }
    let note = place.home.root().join("run/quarter");
    let noted = || fs::read_to_string(&note).unwrap_or_default();
    let noted_anew = |before: &str| {
        until("somebody looks at the calendar", || noted() != before);
    };
    let first = place.serve();
    noted_anew("");
    drop(first);
    // It had no boundary behind it.
    assert_eq!(told(&place, &Kind::EnvelopesArchived), 0);
    fs::write(&note, "2020-Q1\n").unwrap();
    let second = place.serve();
    noted_anew("2020-Q1\n");
    drop(second);
    assert_eq!(told(&place, &Kind::EnvelopesArchived), 1);
    assert!(!mail.dir(Direction::Inbox).join("0003.brief").exists());
    assert!(mail.dir(Direction::Inbox).join("0004.brief").exists());
}

#[test]
fn tasks_that_others_change_by_hand() {
    let place = Place::new();
    let repository = place.repository();
    let list = List::open_or_create(&place.home, &repository.name, &repository).unwrap();
    let fields = |subject: &str| Fields {
        subject: Some(subject.to_owned()),
        ..Fields::default()
    };
    let one = tasks::add(&list, &ann(), &fields("One"), &[]).unwrap().id;
    let served = place.serve();
    let mut stream = Listening::to(&served, "/v1/events");
    stream.next();
    let path = list.dir().join("1.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"pending\"", "\"completed\"")).unwrap();
    let event = stream.next();
    assert_eq!(event.name, "task.updated", "{event:?}");
    assert_eq!(field(&event.data, "detail")["observed"], true);
    assert_eq!(field(&event.data, "to"), "completed");
    fs::write(
        list.dir().join("7.json"),
        r#"{"id":"7","subject":"Theirs"}"#,
    )
    .unwrap();
    let event = stream.next();
    assert_eq!(
        (event.name.as_str(), field(&event.data, "task")),
        ("task.created", &"7".into())
    );
    // Ours have a line of their own, and no other.
    tasks::add(&list, &ann(), &fields("Two"), &[]).unwrap();
    assert_eq!(field(&stream.next().data, "actor"), "ann");
    tasks::remove(&list, &ann(), &one).unwrap();
    assert_eq!(field(&stream.next().data, "actor"), "ann");
    fs::remove_file(list.dir().join("7.json")).unwrap();
    let event = stream.next();
    assert_eq!(
        (event.name.as_str(), field(&event.data, "task")),
        ("task.deleted", &"7".into())
    );
}

#[test]
fn tasks_that_others_changed_while_no_daemon_ran_are_told_by_the_next_one() {
    let place = Place::new();
    let repository = place.repository();
    let list = List::open_or_create(&place.home, &repository.name, &repository).unwrap();
    let fields = Fields {
        subject: Some("One".to_owned()),
        ..Fields::default()
    };
    tasks::add(&list, &ann(), &fields, &[]).unwrap();
    drop(place.serve());
    let since = lines(&place).len();
    let path = list.dir().join("1.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"pending\"", "\"completed\"")).unwrap();
    tasks::add(&list, &ann(), &fields, &[]).unwrap();
    for _ in 0..2 {
        let served = place.serve();
        let mut stream = Listening::to(&served, &format!("/v1/events?since={since}"));
        assert_eq!(field(&stream.next().data, "actor"), "ann");
        let event = stream.next();
        assert_eq!(field(&event.data, "to"), "completed");
        assert_eq!(field(&event.data, "detail")["observed"], true);
    }
    assert_eq!(lines(&place).len(), since + 2);
}

#[test]
fn a_brief_that_is_rewritten_by_hand_is_told_once_for_each_change() {
    let place = Place::new();
    let mail = w1(&place);
    let served = place.serve();
    let mut stream = Listening::to(&served, "/v1/relay/inbox/events");
    stream.next();
    let ours = slash::dispatch(&"9".parse().unwrap(), "Ours.\n".to_owned());
    briefs::propose(&mail, &ann(), ours).unwrap();
    assert_eq!(stream.next().name, "controller.brief_proposed");
    let body = mail.body_path(Seq::try_from(1).unwrap());
    // In its place, and by a rename over it.
    fs::write(&body, "Theirs.\n").unwrap();
    let event = stream.next();
    assert_eq!(event.name, "relay.changed_outside");
    assert_eq!(field(&event.data, "detail")["since"], "proposed");
    let other = body.with_file_name("0001.brief.new");
    fs::write(&other, "Theirs again.\n").unwrap();
    fs::rename(&other, &body).unwrap();
    let event = stream.next();
    assert_eq!(event.name, "relay.changed_outside");
    assert_eq!(field(&event.data, "actor"), "external");
    fs::write(&body, "Ours.\n").unwrap();
    let ours = slash::dispatch(&"10".parse().unwrap(), "More.\n".to_owned());
    briefs::propose(&mail, &ann(), ours).unwrap();
    assert_eq!(
        stream.next().name,
        "controller.brief_proposed",
        "nothing else was told"
    );
    assert_eq!(told(&place, &Kind::ChangedOutside), 2);
}
