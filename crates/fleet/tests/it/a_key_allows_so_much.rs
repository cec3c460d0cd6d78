//! A machine speaks under its own name, and for the gate only where it may; what it may not is said at
//! once.

use std::time::Duration;

use flagpost_fleet::{
    AppendError, Change, FleetError, FleetRecord, Hub, Lane, LiveMachine, MachineRecord, Replicas,
    RepoStream, Seed,
};
use flagpost_model::MachineId;
use flagpost_testkit::{patience::patience, race::ended};
use jiff::Timestamp;
use serde_json::json;

use crate::world::{World, headers, say};

fn try_as(world: &World, stream: &RepoStream, machine: &MachineId, lane: Lane) -> bool {
    let change = Change {
        machine,
        lane,
        headers: headers(1),
        body: b"x",
    };
    let after = stream.last().unwrap().map_or(0, |last| last.seq);
    match stream.append(after, &change) {
        Ok(_) => true,
        Err(AppendError::NotAllowed { subject }) => {
            assert!(subject.contains(machine.as_str()), "{subject}");
            false
        }
        Err(error) => panic!("{error}\n{}", world.server.log()),
    }
}

#[test]
fn a_machine_speaks_under_its_own_name_only() {
    let Some(world) = World::start(2) else { return };
    let repo = world.share();
    let (decides, builds) = (world.open(0, &repo), world.open(1, &repo));
    let (m0, m1) = (world.id(0), world.id(1));
    for (stream, machine, lane, allowed) in [
        (&decides, m0, Lane::Own, true),
        (&decides, m0, Lane::Gate, true),
        (&decides, m1, Lane::Own, false),
        (&decides, m1, Lane::Gate, false),
        (&builds, m1, Lane::Own, true),
        (&builds, m1, Lane::Gate, false),
        (&builds, m0, Lane::Own, false),
        (&builds, m0, Lane::Gate, false),
    ] {
        assert_eq!(
            try_as(&world, stream, machine, lane),
            allowed,
            "{machine} {lane:?}"
        );
    }
}

#[test]
fn a_machine_is_told_whether_its_key_may_decide() {
    let Some(world) = World::start(2) else { return };
    for (machine, may) in [(0, true), (1, false)] {
        let id = world.id(machine);
        assert_eq!(world.hub(machine).may_decide(id).unwrap(), Some(may));
    }
    assert_eq!(world.admin().may_decide(world.id(1)).unwrap(), Some(true));
}

#[test]
fn a_refusal_is_told_at_once_and_the_connection_stays() {
    let Some(world) = World::start(2) else { return };
    let repo = world.share();
    // Whoever waited for an answer would wait for longer than anything is waited for.
    let hub = world.hub_within(1, patience() * 2, patience() * 4);
    let stream = RepoStream::open(&hub, &repo).unwrap();
    let other = world.id(0).clone();
    let (refused, stream) = ended("five are refused", move || {
        let refused = [(); 5].map(|()| say(&stream, &other, 0, "x"));
        (refused, stream)
    });
    for refused in refused {
        assert!(
            matches!(refused, Err(AppendError::NotAllowed { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(say(&stream, world.id(1), 0, "x"), Ok(1));
}

#[test]
fn a_machine_changes_no_stream_and_no_record_but_its_own() {
    let Some(world) = World::start(2) else { return };
    let fleet = FleetRecord {
        name: "web".to_owned(),
        epoch: 1,
        wire_min: 1,
        replicas: Replicas::One,
    };
    world.admin().found(&fleet).unwrap();
    let repo = world.share();
    let hub = world.hub(1);
    let records = hub.fleet().unwrap();
    let (m0, m1) = (world.id(0), world.id(1));
    let now = Timestamp::now();
    let record = MachineRecord {
        host: "box".to_owned(),
        flagpost: "0.1.0".to_owned(),
        wire: 1,
        joined: now,
        left: None,
    };
    let sign = LiveMachine {
        applied: [(repo.clone(), 7)].into(),
        workers: [].into(),
        since: now,
    };
    records.put_machine(m1, &record).unwrap();
    records.live().put_machine(m1, &sign).unwrap();
    assert_eq!(
        records.live().machines().unwrap(),
        [(m1.clone(), sign.clone())]
    );

    let refused = [
        records.put_machine(m0, &record),
        records.live().put_machine(m0, &sign),
        RepoStream::create(&hub, &"other".parse().unwrap(), Replicas::One).map(drop),
    ];
    for refused in refused {
        assert!(
            matches!(refused, Err(FleetError::NotAllowed { .. })),
            "{refused:?}"
        );
    }
}

/// Asks the server as a machine's key does, past everything that this crate does.
fn raw(world: &World, seed: &Seed, subject: String, body: serde_json::Value) -> bool {
    let to = world.invitation(seed);
    world.runtime.block_on(async {
        let client = async_nats::ConnectOptions::with_nkey(seed.reveal().to_owned())
            .request_timeout(Some(Duration::from_millis(400)))
            .connect(to.to_string())
            .await
            .unwrap();
        let answer = client.request(subject, body.to_string().into()).await;
        answer.is_ok_and(|it| !String::from_utf8_lossy(&it.payload).contains("\"error\""))
    })
}

#[test]
fn a_machine_wipes_nothing() {
    let Some(world) = World::start(2) else { return };
    let repo = world.share();
    assert_eq!(say(&world.open(1, &repo), world.id(1), 0, "x"), Ok(1));
    let api = |verb: &str| format!("$JS.API.STREAM.{verb}.FP_{repo}");
    for (subject, body) in [
        (api("DELETE"), json!({})),
        (api("PURGE"), json!({})),
        (api("MSG.DELETE"), json!({ "seq": 1 })),
        (
            api("UPDATE"),
            json!({ "name": format!("FP_{repo}"), "max_msgs": 0 }),
        ),
        (api("SNAPSHOT"), json!({ "deliver_subject": "_INBOX.x" })),
        (
            "$JS.API.STREAM.CREATE.KV_x".to_owned(),
            json!({ "name": "KV_x" }),
        ),
        ("$JS.API.STREAM.NAMES".to_owned(), json!({})),
    ] {
        assert!(
            !raw(&world, &world.machines[1].seed, subject.clone(), body),
            "{subject}"
        );
    }
    // Who deletes or purges is not even the administrator.
    for (subject, body) in [
        (api("PURGE"), json!({})),
        (api("MSG.DELETE"), json!({ "seq": 1 })),
    ] {
        assert!(
            !raw(&world, &world.admin, subject.clone(), body),
            "{subject}"
        );
    }
    assert!(world.open(0, &repo).last().unwrap().is_some());
}

#[test]
fn a_message_cannot_say_that_another_machine_sent_it() {
    let Some(world) = World::start(2) else { return };
    let repo = world.share();
    let machine = &world.machines[1];
    let to = world.invitation(&machine.seed);
    let mut lies = async_nats::HeaderMap::new();
    for (name, value) in [
        ("Nats-Subject", format!("fp.{repo}.{}.gate", world.id(0))),
        ("Nats-Sequence", "7".to_owned()),
        ("Nats-Time-Stamp", "2001-01-01T00:00:00Z".to_owned()),
        ("Fp-Wire", "1".to_owned()),
        ("Fp-N", "1-1".to_owned()),
        ("Fp-Op", uuid::Uuid::now_v7().to_string()),
        ("Fp-Epoch", "1".to_owned()),
    ] {
        lies.insert(name, value.as_str());
    }
    world.runtime.block_on(async {
        let options = async_nats::ConnectOptions::with_nkey(machine.seed.reveal().to_owned());
        let client = options.connect(to.to_string()).await.unwrap();
        let subject = format!("fp.{repo}.{}", machine.id);
        client
            .request_with_headers(subject, lies, "x".into())
            .await
            .unwrap();
    });
    let stream = world.open(0, &repo);
    let read = stream.get(1).unwrap().unwrap();
    assert_eq!((&read.machine, read.lane), (&machine.id, Lane::Own));
    let mut reader = stream.read_from(1).unwrap();
    assert_eq!(reader.next(patience()).unwrap(), Some(read));
}

/// A server answers under the subject that the asker names, and stores what comes under a stream's.
#[test]
fn an_answer_is_not_stored_as_another_machines_word() {
    let Some(world) = World::start(2) else { return };
    let fleet = FleetRecord {
        name: "web".to_owned(),
        epoch: 1,
        wire_min: 1,
        replicas: Replicas::One,
    };
    world.admin().found(&fleet).unwrap();
    let (repo, other) = (world.share(), world.share());
    let (m0, machine) = (world.id(0), &world.machines[1]);
    say(&world.open(1, &repo), &machine.id, 0, "forged").unwrap();
    let to = world.invitation(&machine.seed);
    let own = format!("$KV.FP_live.{}", machine.id);
    let as_others = [
        format!("fp.{repo}.{m0}"),
        format!("fp.{repo}.{m0}.gate"),
        format!("fp.{repo}.{}.gate", machine.id),
        format!("fp.{other}.{m0}"),
        format!("fp.{other}.{m0}.gate"),
        format!("$KV.FP_fleet.m.{m0}"),
        "$KV.FP_fleet.fleet".to_owned(),
    ];
    world.runtime.block_on(async {
        let options = async_nats::ConnectOptions::with_nkey(machine.seed.reveal().to_owned());
        let client = options.connect(to.to_string()).await.unwrap();
        let mut forged = async_nats::HeaderMap::new();
        for (name, value) in [("Fp-Wire", "1"), ("Fp-N", "1-1"), ("Fp-Epoch", "1")] {
            forged.insert(name, value);
        }
        forged.insert("Fp-Op", uuid::Uuid::now_v7().to_string().as_str());
        let stored = client.request_with_headers(own.clone(), forged, "forged".into());
        stored.await.unwrap();
        for reply in &as_others {
            for (subject, body) in [
                (own.clone(), "x".to_owned()),
                (format!("fp.{repo}.{}", machine.id), "x".to_owned()),
                ("$JS.API.INFO".to_owned(), String::new()),
                ("$SYS.REQ.SERVER.PING.JSZ".to_owned(), String::new()),
                ("$SYS.REQ.USER.INFO".to_owned(), String::new()),
                (format!("$JS.API.STREAM.INFO.FP_{repo}"), String::new()),
                (
                    "$JS.API.DIRECT.GET.KV_FP_live".to_owned(),
                    json!({ "last_by_subj": own }).to_string(),
                ),
                (
                    format!("$JS.API.DIRECT.GET.FP_{repo}"),
                    json!({ "seq": 1, "batch": 5 }).to_string(),
                ),
                (
                    format!("$JS.API.CONSUMER.CREATE.FP_{repo}"),
                    json!({ "stream_name": format!("FP_{repo}"),
                            "config": { "deliver_subject": reply, "ack_policy": "none" } })
                    .to_string(),
                ),
                (reply.clone(), "x".to_owned()),
                (format!("told.{reply}"), "x".to_owned()),
            ] {
                let sent = client.publish_with_reply(subject, reply.clone(), body.into());
                sent.await.unwrap();
            }
        }
        // What was sent before is done when this is answered.
        client.request(own.clone(), "x".into()).await.unwrap();
    });
    let names = |stream: &str| {
        let info = world.runtime.block_on(async {
            let options = async_nats::ConnectOptions::with_nkey(world.admin.reveal().to_owned());
            let client = options.connect(to.to_string()).await.unwrap();
            let subject = format!("$JS.API.STREAM.INFO.{stream}");
            let asked = json!({ "subjects_filter": ">" }).to_string();
            client.request(subject, asked.into()).await.unwrap().payload
        });
        let info: serde_json::Value = serde_json::from_slice(&info).unwrap();
        let subjects = info["state"]["subjects"].as_object();
        let names = subjects.map(|it| it.keys().cloned().collect::<Vec<_>>());
        names.unwrap_or_default()
    };
    assert_eq!(
        names(&format!("FP_{repo}")),
        [format!("fp.{repo}.{}", machine.id)]
    );
    assert_eq!(names(&format!("FP_{other}")), Vec::<String>::new());
    assert_eq!(names("KV_FP_fleet"), ["$KV.FP_fleet.fleet"]);
    assert_eq!(world.admin().fleet().unwrap().record().unwrap(), fleet);
}

#[test]
fn a_key_that_nobody_knows_is_let_in_nowhere() {
    let Some(world) = World::start(1) else { return };
    let stranger = world.invitation(&Seed::generate().unwrap());
    let refused = Hub::connect(&stranger, world.runtime.handle()).unwrap_err();
    assert!(
        matches!(refused, FleetError::NotAllowed { .. }),
        "{refused:?}"
    );
}
