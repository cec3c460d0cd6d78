//! A stream that promises something else than it must is not used.

use flagpost_fleet::{FleetError, Replicas, RepoStream};
use flagpost_model::RepoId;
use flagpost_testkit::nats::Storage;
use serde_json::{Value, json};

use crate::world::World;

/// Asks as the administrator, past everything that this crate does.
fn api(world: &World, verb: &str, stream: &str, body: &Value) -> Value {
    let to = world.invitation(&world.admin);
    world.runtime.block_on(async {
        let options = async_nats::ConnectOptions::with_nkey(world.admin.reveal().to_owned());
        let client = options.connect(to.to_string()).await.unwrap();
        let subject = format!("$JS.API.STREAM.{verb}.{stream}");
        let answer = client
            .request(subject, body.to_string().into())
            .await
            .unwrap();
        serde_json::from_slice(&answer.payload).unwrap()
    })
}

#[test]
fn one_that_was_changed_is_refused_with_the_setting_named() {
    // Each stream reserves its bytes.
    let Some(world) = World::with(1, 1 << 40, Storage::Memory) else {
        return;
    };
    for (key, value) in [
        ("discard", json!("old")),
        ("allow_direct", json!(false)),
        ("max_age", json!(3_600_000_000_000_u64)),
        ("max_msgs", json!(100)),
        ("max_msg_size", json!(1000)),
        ("allow_atomic", json!(true)),
        ("subjects", json!(["fp.x.*"])),
    ] {
        let repo = world.share();
        let name = format!("FP_{repo}");
        let mut config = api(&world, "INFO", &name, &json!({}))["config"].clone();
        config[key] = value.clone();
        let updated = api(&world, "UPDATE", &name, &config);
        assert!(updated.get("error").is_none(), "{key}: {updated}");
        let refused = RepoStream::open(&world.hub(0), &repo).unwrap_err();
        let FleetError::Configuration { key: named, .. } = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(named, key);
    }
}

#[test]
fn one_that_is_not_there_is_said_to_be_gone() {
    let Some(world) = World::start(1) else { return };
    let repo: RepoId = "absent".parse().unwrap();
    let gone = RepoStream::open(&world.hub(0), &repo).unwrap_err();
    assert!(matches!(gone, FleetError::Gone { .. }), "{gone:?}");
    let dotted: RepoId = "a.b".parse().unwrap();
    let refused = RepoStream::create(&world.admin(), &dotted, Replicas::One).unwrap_err();
    assert!(
        matches!(refused, FleetError::Malformed { .. }),
        "{refused:?}"
    );
}

#[test]
fn making_it_twice_makes_one() {
    let Some(world) = World::start(1) else { return };
    let repo = world.share();
    RepoStream::create(&world.admin(), &repo, Replicas::One).unwrap();
}

#[test]
fn a_small_server_gives_what_it_has() {
    let Some(world) = World::with(1, 3 << 30, Storage::Memory) else {
        return;
    };
    let mut sizes = Vec::new();
    let full = loop {
        let repo: RepoId = format!("r{}", sizes.len()).parse().unwrap();
        if let Err(error) = RepoStream::create(&world.admin(), &repo, Replicas::One) {
            break error;
        }
        world.open(0, &repo);
        let info = api(&world, "INFO", &format!("FP_{repo}"), &json!({}));
        sizes.push(info["config"]["max_bytes"].as_u64().unwrap());
    };
    println!("{sizes:?}, then {full}");
    assert!(matches!(full, FleetError::Refused { .. }), "{full:?}");
    assert!(
        sizes[0] >= 1 << 30 && sizes.iter().sum::<u64>() <= 3 << 30,
        "{sizes:?}"
    );
    assert!(sizes.iter().all(|bytes| *bytes >= 64 << 20), "{sizes:?}");
}

#[test]
fn a_server_says_whether_it_syncs_each_message() {
    for (interval, always) in [("always", true), ("2m", false)] {
        let asked = format!("sync_interval: {interval}");
        let change = |text: String| text.replace("sync_interval: always", &asked);
        let Some(world) = World::configured(1, 1 << 30, Storage::Memory, change) else {
            return;
        };
        assert_eq!(world.hub(0).syncs_always().unwrap(), always, "{interval}");
        assert_eq!(world.admin().syncs_always().unwrap(), always, "{interval}");
    }
}
