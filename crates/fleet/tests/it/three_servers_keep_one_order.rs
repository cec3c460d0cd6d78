//! Three servers: what two of them have is there, whichever one is asked or lost.

use flagpost_fleet::{AppendError, RepoStream};
use flagpost_testkit::{
    nats::{NatsServer, Storage},
    patience::patience,
    race::until,
};

use crate::world::{World, say};

#[test]
fn a_change_outlives_the_server_that_took_it() {
    let Some(mut world) = World::three(2, Storage::Memory) else {
        return;
    };
    let repo = world.share();
    let (mine, theirs) = (world.open(0, &repo), world.open(1, &repo));
    assert_eq!(say(&mine, world.id(0), 0, "first"), Ok(1));
    let mut reader = theirs.read_from(1).unwrap();
    assert_eq!(reader.next(patience()).unwrap().unwrap().body, b"first");

    let mut seq = 1;
    for server in 0..3 {
        let lost = match server {
            0 => &mut world.server,
            other => &mut world.beside[other - 1],
        };
        lost.kill();
        until("the others take a change", || {
            say(&mine, world.id(0), seq, "more").is_ok()
                // One that nobody knew of may have come through.
                || mine.get(seq + 1).is_ok_and(|it| it.is_some())
        });
        seq += 1;
        assert_eq!(reader.next(patience()).unwrap().unwrap().seq, seq);
        let lost = match server {
            0 => &mut world.server,
            other => &mut world.beside[other - 1],
        };
        lost.restart();
    }

    // Without two of them nobody else was first: the change before is still on its way.
    let alone = RepoStream::open(&world.hasty_hub(0), &repo).unwrap();
    world.beside.iter_mut().for_each(NatsServer::kill);
    for _ in 0..3 {
        let said = say(&alone, world.id(0), seq, "alone");
        let is_open = matches!(
            said,
            Err(AppendError::Unknown | AppendError::Unreachable { .. })
        );
        assert!(is_open, "{said:?}");
    }
}
