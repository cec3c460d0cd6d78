//! A server that is cut off from the other two: it answers nothing, or what was true before, and whoever
//! comes to it goes to another one.

use flagpost_fleet::{AppendError, RepoStream};
use flagpost_testkit::{nats::Storage, passage::PassageState, patience::patience, race::until};

use crate::world::{World, say};

#[test]
fn whoever_comes_to_a_server_that_is_alone_goes_on_at_another() {
    for cut in [PassageState::Silent, PassageState::Closed] {
        let Some(world) = World::three(3, Storage::Memory) else {
            return;
        };
        let repo = world.share();
        let known = world.open(0, &repo);
        assert_eq!(say(&known, world.id(0), 0, "first"), Ok(1));
        let idle = world.open(2, &repo);
        let mut reader = known.read_from(1).unwrap();
        let ways = world.ways.as_ref().unwrap();
        // Every machine comes to this one first.
        ways.set_alone(0, cut);
        let mut seq = 1;
        until("the other two take a change", || {
            let said = say(&known, world.id(0), seq, "more");
            assert!(!matches!(said, Err(AppendError::Refused(_))), "{said:?}");
            said.is_ok() || known.get(seq + 1).is_ok_and(|it| it.is_some())
        });
        seq += 1;
        // A machine that comes now, as each verb does.
        let stream = RepoStream::open(&world.hub(1), &repo).unwrap();
        assert_eq!(
            stream.end_with((1, seq)).unwrap().last.map(|it| it.seq),
            Some(seq)
        );
        assert_eq!(say(&stream, world.id(1), seq, "from another"), Ok(seq + 1));
        // One that never left it asks for what only the others have.
        if cut == PassageState::Closed {
            assert_eq!(idle.get(seq), Ok(None));
        }
        assert_eq!(idle.get_there(seq).map(|it| it.seq), Ok(seq));
        for expected in 1..=seq + 1 {
            let next = reader.next(patience()).unwrap().unwrap();
            assert_eq!(next.seq, expected);
        }
    }
}
