//! A reader gets each message once and in order, through lost connections, or hears why not.

use std::time::Duration;

use flagpost_fleet::{FleetError, Replicas, RepoStream};
use flagpost_model::RepoId;
use flagpost_testkit::{patience::patience, race::found};

use crate::world::{World, say};

pub fn delete(world: &World, repo: &RepoId) {
    let to = world.invitation(&world.admin);
    world.runtime.block_on(async {
        let options = async_nats::ConnectOptions::with_nkey(world.admin.reveal().to_owned());
        let client = options.connect(to.to_string()).await.unwrap();
        let subject = format!("$JS.API.STREAM.DELETE.FP_{repo}");
        client.request(subject, "".into()).await.unwrap();
    });
}

#[test]
fn it_waits_for_what_is_to_come() {
    let Some(world) = World::start(2) else { return };
    let repo = world.share();
    let (here, there) = (world.open(0, &repo), world.open(1, &repo));
    let mut reader = there.read_from(1).unwrap();
    assert_eq!(reader.next(Duration::from_millis(50)).unwrap(), None);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for after in 0..50 {
                say(&here, world.id(0), after, "x").unwrap();
            }
        });
        for seq in 1..=50 {
            assert_eq!(reader.next_seq(), seq);
            let read = reader.next(patience()).unwrap().unwrap();
            assert_eq!(read.seq, seq);
        }
    });
    let mut later = there.read_from(49).unwrap();
    assert_eq!(later.next(patience()).unwrap().unwrap().seq, 49);
}

#[test]
fn it_goes_on_where_it_was_when_the_server_comes_back() {
    let Some(mut world) = World::start(2) else {
        return;
    };
    let repo = world.share();
    let (here, there) = (world.open(0, &repo), world.open(1, &repo));
    let mut reader = there.read_from(1).unwrap();
    for round in 0..3 {
        let after = round * 2;
        say(&here, world.id(0), after, "x").unwrap();
        assert_eq!(reader.next(patience()).unwrap().unwrap().seq, after + 1);
        world.server.restart();
        say(&here, world.id(0), after + 1, "x").unwrap();
        assert_eq!(reader.next(patience()).unwrap().unwrap().seq, after + 2);
    }
}

#[test]
fn without_a_server_it_says_so_and_goes_on_later() {
    let Some(mut world) = World::start(1) else {
        return;
    };
    let repo = world.share();
    let stream = world.open(0, &repo);
    say(&stream, world.id(0), 0, "x").unwrap();
    let mut reader = stream.read_from(1).unwrap();
    reader.next(patience()).unwrap().unwrap();
    world.server.kill();
    let alone = reader.next(Duration::from_millis(200)).unwrap_err();
    assert!(matches!(alone, FleetError::Unreachable { .. }), "{alone:?}");
    world.server.restart();
    say(&stream, world.id(0), 1, "x").unwrap();
    assert_eq!(reader.next(patience()).unwrap().unwrap().seq, 2);
}

#[test]
fn of_a_server_that_hangs_it_says_so_in_time() {
    let Some(mut world) = World::start(1) else {
        return;
    };
    let repo = world.share();
    let stream = world.open(0, &repo);
    let mut reader = stream.read_from(1).unwrap();
    assert_eq!(reader.next(Duration::from_millis(50)).unwrap(), None);
    world.server.stop();
    // That nothing comes is no news for a while; the server is silent longer than it ever is.
    let silent = found("it is noticed", || {
        match reader.next(Duration::from_secs(1)) {
            Ok(None) => None,
            Ok(Some(read)) => panic!("{read:?}"),
            Err(error) => Some(error),
        }
    });
    assert!(
        matches!(silent, FleetError::Unreachable { .. }),
        "{silent:?}"
    );
    world.server.cont();
    say(&stream, world.id(0), 0, "x").unwrap();
    assert_eq!(reader.next(patience()).unwrap().unwrap().seq, 1);
}

#[test]
fn a_stream_that_is_gone_or_made_anew_or_shorter_is_an_error() {
    let Some(world) = World::start(1) else { return };
    let repo = world.share();
    let stream = world.open(0, &repo);
    for after in 0..3 {
        say(&stream, world.id(0), after, "x").unwrap();
    }
    let shorter = stream.read_from(5).unwrap_err();
    assert!(
        matches!(
            shorter,
            FleetError::Shorter {
                first: 1,
                last: 3,
                wanted: 5,
                ..
            }
        ),
        "{shorter:?}"
    );

    let mut reader = stream.read_from(4).unwrap();
    assert_eq!(reader.next(Duration::from_millis(50)).unwrap(), None);
    delete(&world, &repo);
    let gone = reader.next(patience()).unwrap_err();
    assert!(matches!(gone, FleetError::Gone { .. }), "{gone:?}");
    let refused = say(&stream, world.id(0), 3, "x").unwrap_err();
    assert!(refused.to_string().contains("is not there"), "{refused:?}");

    RepoStream::create(&world.admin(), &repo, Replicas::One).unwrap();
    let replaced = reader.next(patience()).unwrap_err();
    assert!(
        matches!(replaced, FleetError::Replaced { .. }),
        "{replaced:?}"
    );
}

#[test]
fn a_message_that_no_machine_may_have_sent_is_malformed_and_read_past_by_nobody() {
    let Some(world) = World::start(1) else { return };
    let repo = world.share();
    let stream = world.open(0, &repo);
    say(&stream, world.id(0), 0, "x").unwrap();
    let to = world.invitation(&world.admin);
    world.runtime.block_on(async {
        let options = async_nats::ConnectOptions::with_nkey(world.admin.reveal().to_owned());
        let client = options.connect(to.to_string()).await.unwrap();
        client
            .request(format!("fp.{repo}.NOBODY"), "x".into())
            .await
            .unwrap();
    });
    let mut reader = stream.read_from(1).unwrap();
    reader.next(patience()).unwrap().unwrap();
    for _ in 0..2 {
        let malformed = reader.next(patience()).unwrap_err();
        assert!(
            matches!(malformed, FleetError::Malformed { .. }),
            "{malformed:?}"
        );
    }
    assert!(matches!(stream.get(2), Err(FleetError::Malformed { .. })));
    assert_eq!(reader.next_seq(), 2);
}
