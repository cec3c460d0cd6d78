//! What a kept server was told is on disk, and what is there is never overwritten by what it is not.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, sync::atomic::AtomicBool};

use flagpost_fleet::{
    KeptServer, MachineAccess, MayDecide, PublicKey, Seed, ServerAccess, ServerError,
};
use flagpost_model::MachineId;
use flagpost_testkit::scratch::scratch;
use jiff::Timestamp;

fn key() -> PublicKey {
    Seed::generate().unwrap().public_key().unwrap()
}

fn access(number: u8, key: &PublicKey, may_decide: MayDecide) -> MachineAccess {
    MachineAccess {
        machine: MachineId::of_bits([1, 1, 1, 1, number]),
        key: key.clone(),
        may_decide,
    }
}

fn found(dir: &Path, port: u16, admin: &PublicKey) -> Result<KeptServer, ServerError> {
    let listen = ([127, 0, 0, 1], port).into();
    let access = ServerAccess::new(listen, admin.clone(), None);
    KeptServer::found(dir, &access, Timestamp::now())
}

#[test]
fn a_server_is_founded_once_and_opened_ever_after() {
    let scratch = scratch();
    let dir = scratch.path().join("fleet/server");
    assert!(KeptServer::open(&dir).unwrap().is_none());
    let (admin, machine) = (key(), key());
    let server = found(&dir, 4222, &admin).unwrap();
    let now = Timestamp::now();
    let machine = access(1, &machine, MayDecide::Yes);
    server.let_in(machine.clone(), now).unwrap();

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (name, expected) in [
        ("", 0o700),
        ("access.json", 0o600),
        ("nats.conf", 0o600),
        ("store", 0o700),
    ] {
        assert_eq!(mode(&dir.join(name)), expected, "{name:?}");
    }
    let written = fs::read_to_string(dir.join("access.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "version": 1,
            "listen": "127.0.0.1:4222",
            "admin": admin.as_str(),
            "machines": [{
                "machine": machine.machine.as_str(),
                "key": machine.key.as_str(),
                "may_decide": "yes"
            }]
        })
    );

    // The same again is no change; anything else is refused.
    found(&dir, 4222, &admin).unwrap();
    for (refused, key) in [
        (found(&dir, 4223, &admin), "listen"),
        (found(&dir, 4222, &self::key()), "admin"),
    ] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(&refused, ServerError::Otherwise { key: it, .. } if *it == key),
            "{refused:?}"
        );
    }
    assert_eq!(
        fs::read_to_string(dir.join("access.json")).unwrap(),
        written
    );
    let opened = KeptServer::open(&dir).unwrap().unwrap();
    assert_eq!(opened.access().unwrap().machines, [machine]);
    assert_eq!(opened.keeper().unwrap(), None);
}

#[test]
fn a_key_belongs_to_one_machine_and_a_machine_has_one() {
    let scratch = scratch();
    let admin = key();
    let server = found(scratch.path(), 4222, &admin).unwrap();
    let (one, two) = (key(), key());
    let let_in = |number, key: &PublicKey, may_decide| {
        server.let_in(access(number, key, may_decide), Timestamp::now())
    };
    let_in(1, &one, MayDecide::No).unwrap();
    let_in(2, &two, MayDecide::No).unwrap();
    for refused in [
        let_in(3, &admin, MayDecide::No),
        let_in(3, &one, MayDecide::No),
        let_in(1, &two, MayDecide::No),
        let_in(1, &admin, MayDecide::No),
    ] {
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, ServerError::KeyTaken { .. }),
            "{refused:?}"
        );
    }
    let refused = let_in(1, &key(), MayDecide::No).unwrap_err();
    assert!(
        matches!(refused, ServerError::OtherKey { .. }),
        "{refused:?}"
    );
    let_in(1, &one, MayDecide::Yes).unwrap();
    assert_eq!(
        server.access().unwrap().machines,
        [
            access(1, &one, MayDecide::Yes),
            access(2, &two, MayDecide::No)
        ]
    );
    let config = || fs::read_to_string(scratch.path().join("nats.conf")).unwrap();
    assert!(config().contains(one.as_str()));
    let gone = access(1, &one, MayDecide::Yes);
    let shut_out = || server.shut_out(&gone.machine, Timestamp::now()).unwrap();
    assert_eq!(shut_out(), Some(gone.clone()));
    assert_eq!(shut_out(), None);
    assert!(!config().contains(one.as_str()));
    assert!(config().contains(two.as_str()));
}

#[test]
fn a_configuration_that_was_left_behind_is_made_anew() {
    let scratch = scratch();
    let server = found(scratch.path(), 4222, &key()).unwrap();
    let machine = access(1, &key(), MayDecide::No);
    let config = scratch.path().join("nats.conf");
    let before = fs::read(&config).unwrap();
    server.let_in(machine.clone(), Timestamp::now()).unwrap();
    // As whoever dies between the two leaves it.
    fs::write(&config, before).unwrap();
    server.let_in(machine.clone(), Timestamp::now()).unwrap();
    let text = fs::read_to_string(&config).unwrap();
    assert!(text.contains(machine.key.as_str()), "{text}");
}

#[test]
fn a_broken_access_file_is_named_and_kept() {
    let scratch = scratch();
    let dir = scratch.path().join("server");
    let (admin, one) = (key(), key());
    let server = found(&dir, 4222, &admin).unwrap();
    let machine = access(1, &one, MayDecide::No);
    server.let_in(machine.clone(), Timestamp::now()).unwrap();
    let path = dir.join("access.json");
    let good = fs::read_to_string(&path).unwrap();
    let config = fs::read(dir.join("nats.conf")).unwrap();
    let entry = serde_json::to_string(&machine).unwrap();
    let twice = good.replace("\"machines\": [", &format!("\"machines\": [{entry},"));
    for bad in [
        String::new(),
        good[..good.len() / 2].to_owned(),
        good.replace("\"version\": 1", "\"version\": 2"),
        good.replace("\"version\": 1", "\"version\": 1, \"tls\": true"),
        good.replace(one.as_str(), "U123"),
        good.replace(one.as_str(), admin.as_str()),
        good.replace(":4222", ""),
        twice,
    ] {
        assert_ne!(bad, good);
        fs::write(&path, &bad).unwrap();
        let now = Timestamp::now();
        let refused = [
            found(&dir, 4222, &admin).map(drop),
            KeptServer::open(&dir).map(drop),
            server.let_in(machine.clone(), now),
            server.shut_out(&machine.machine, now).map(drop),
            server.keep(
                Path::new("/nowhere"),
                &AtomicBool::new(false),
                now,
                &mut |_| {},
            ),
        ];
        for refused in refused {
            let refused = refused.unwrap_err();
            assert!(refused.to_string().contains("access.json"), "{refused}");
            assert!(
                refused.hint().contains("left as it is"),
                "{}",
                refused.hint()
            );
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), bad);
        assert_eq!(fs::read(dir.join("nats.conf")).unwrap(), config);
    }
}
