//! The smoke test of the relay, its steps with the cockpit as the client.

use flagpost_testkit::{background::Background, race::until};

use super::{
    stage::{decided, propose, until_decided},
    terminal::Terminal,
};
use crate::{
    daemon::{Daemon, kill_daemon},
    fleet::{Fleet, Way},
};

const WORKERS: usize = 11;

/// Lets everything through that the inbox lists, by its keys.
fn let_all_through(fleet: &Fleet, terminal: &Terminal<'_>, before: usize) {
    for worker in &fleet.workers {
        propose(fleet, worker, &format!("Do the work of {worker}"));
    }
    terminal.shows(&format!("Inbox({WORKERS})"));
    terminal.keys(&["4"]).shows("as delivered");
    // Each is read to its end first.
    terminal.types(&format!("g{}Y", "j".repeat(WORKERS - 1)));
    terminal.shows(&format!("approve these {WORKERS}"));
    terminal.keys(&["y"]);
    until_decided(fleet, before + WORKERS);
    terminal.shows("nothing needs you");
}

fn reports(fleet: &Fleet) -> usize {
    let is_report = |line: &&serde_json::Value| line["kind"] == "worker.paste_back";
    fleet.history().iter().filter(is_report).count()
}

#[test]
fn what_the_cockpit_lets_through_reaches_eleven_workers_with_and_without_a_daemon() {
    let fleet = Fleet::of(WORKERS);
    let terminal = or_skip!(Terminal::open(&fleet.world, 120, 40));
    let ways = [Way::Poller, Way::Waiting].into_iter().cycle();
    let workers = fleet.workers.iter().zip(ways);
    let _running: Vec<Background> = workers
        .map(|(worker, way)| fleet.work(worker, way))
        .collect();
    let _daemon = Daemon(&fleet.world);
    fleet.world.ok(["up"]);
    terminal.cockpit();
    terminal.shows("live");
    let_all_through(&fleet, &terminal, 0);
    for worker in &fleet.workers {
        let flag = std::fs::metadata(fleet.inbox(worker).join("0001.ratified")).unwrap();
        assert_eq!(flag.len(), 0, "{worker}");
    }
    until("each has reported", || reports(&fleet) >= WORKERS);
    terminal.keys(&["1"]).until("each report is seen", |it| {
        it.matches("1 reports").count() >= WORKERS
    });
    kill_daemon(&fleet.world);
    terminal.shows("files");
    let_all_through(&fleet, &terminal, WORKERS);
    until("each has reported again", || reports(&fleet) >= 2 * WORKERS);
    let via = decided(&fleet);
    assert!(
        via.iter().all(|line| line["detail"]["via"] == "cockpit"),
        "{via:?}"
    );
}
