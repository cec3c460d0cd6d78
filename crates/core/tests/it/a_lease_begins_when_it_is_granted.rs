//! A lease begins when it is granted, however long others were waited for before.

use std::{fs::File, sync::Arc, thread, time::Duration};

use flagpost_core::{
    claims::{self, Terms},
    order::{NumberedChange, OrderRefusal, Sequencer},
    reservations::Reservations,
};
use flagpost_model::{
    ListId, RepoId,
    reservation::{ReservationMode, ReservationRequest},
};
use flagpost_testkit::table;
use jiff::{SignedDuration, Timestamp};

use crate::world::{World, id, terms, worker};

const LEASE: SignedDuration = SignedDuration::from_hours(1);
const WAIT: SignedDuration = SignedDuration::from_mins(30);

/// Takes a lease; when it ends.
type Take = fn(&World) -> Timestamp;

/// The order of a machine that is in no fleet: nothing of an unshared repository is its business.
#[derive(Debug)]
struct NoFleet;

impl Sequencer for NoFleet {
    fn publish(&self, _: &NumberedChange) -> Result<(), OrderRefusal> {
        unreachable!()
    }

    fn time(&self, own: Timestamp) -> Timestamp {
        own
    }

    fn name_list(&self, _: &RepoId, _: &ListId) -> Result<(), OrderRefusal> {
        unreachable!()
    }

    fn catch_up(&self, _: &RepoId) -> flagpost_core::Result<()> {
        unreachable!()
    }
}

#[test]
fn whoever_has_the_history_meanwhile() {
    let rows: [(&str, Take); 2] = [
        ("of a claim", |world| {
            let terms = Terms {
                lease: LEASE,
                ..terms("W1")
            };
            let claimed = claims::claim(&world.list(), &terms, &id(1)).unwrap();
            claimed.claim.expires_at
        }),
        ("of a reservation", |world| {
            let wanted = ReservationRequest {
                path: "src/**".parse().unwrap(),
                holder: worker("W1"),
                mode: ReservationMode::Exclusive,
                task: None,
                reason: None,
            };
            let reservations = Reservations::of(&world.home, &world.repository.id);
            reservations.add(vec![wanted], LEASE).unwrap()[0].until
        }),
    ];
    table::each(rows, |take| {
        let mut world = World::with_tasks(&["One"]);
        // As every command has one, whether its machine is in a fleet or not.
        world.home = world
            .home
            .clone()
            .ordered(Arc::new(NoFleet), |_, _| Ok(Vec::new()));
        let began = world.home.now();
        let dir = world.home.repository_dir(&world.repository.id);
        let lock = File::options().append(true).open(dir.join(".history.lock"));
        let lock = lock.unwrap();
        lock.lock().unwrap();
        let ends = thread::scope(|scope| {
            let taking = scope.spawn(|| take(&world));
            // So long it waits at least, unless it is slow to begin: then it begins when it is granted all the more.
            thread::sleep(Duration::from_secs(1));
            world.pass(WAIT);
            lock.unlock().unwrap();
            taking.join().unwrap()
        });
        assert!(ends >= began + WAIT + LEASE, "{ends}");
    });
}
