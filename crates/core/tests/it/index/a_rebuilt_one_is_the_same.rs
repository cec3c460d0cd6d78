//! Whatever happens, and however often the index was asked meanwhile: what it holds is what one that
//! is built from the files alone holds, row by row.

use std::path::PathBuf;

use flagpost_core::{
    Repository, index,
    relay::{Fleet, Mail, briefs, deliver, reports, retention},
    tasks,
};
use flagpost_model::envelope::Direction::{Inbox, Outbox};
use jiff::SignedDuration;
use proptest::prelude::*;

use super::{MESSAGES, sql};
use crate::{
    relay::{draft, propose, put, ratify, seq},
    world::{World, add, id, worker},
};

#[derive(Debug, Clone)]
enum Step {
    Ask,
    Propose(usize),
    Decide(usize, u64),
    Ack(usize, u64),
    Report(usize),
    Read(usize, u64),
    /// Somebody writes a report by hand, with a time of their own.
    ByHand(usize, u64, i64),
    /// Somebody touches a flag by hand.
    Flag(usize, u64),
    /// Somebody changes a report in place.
    Rewrite(usize, u64),
    Remove(usize, u64),
    /// As an archival that was cut short behind the body.
    HalfArchive(usize, u64),
    Archive(usize),
    AddTask,
    Note(u64),
    RemoveTask(u64),
    /// A line that comes to light after its report, or tells of none and is taken back by the next.
    Tell(usize, u64),
    /// A history that comes from a backup.
    CutHistory,
    Pass(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let who = || 0..3_usize;
    let number = || 1..6_u64;
    prop_oneof![
        6 => Just(Step::Ask),
        5 => who().prop_map(Step::Propose),
        2 => (who(), number()).prop_map(|(who, seq)| Step::Decide(who, seq)),
        3 => (who(), number()).prop_map(|(who, seq)| Step::Ack(who, seq)),
        4 => who().prop_map(Step::Report),
        2 => (who(), number()).prop_map(|(who, seq)| Step::Read(who, seq)),
        2 => (who(), 1..9_u64, -9000..9000_i64).prop_map(|(who, seq, at)| Step::ByHand(who, seq, at)),
        1 => (who(), number()).prop_map(|(who, seq)| Step::Flag(who, seq)),
        1 => (who(), number()).prop_map(|(who, seq)| Step::Rewrite(who, seq)),
        1 => (who(), number()).prop_map(|(who, seq)| Step::Remove(who, seq)),
        1 => (who(), number()).prop_map(|(who, seq)| Step::HalfArchive(who, seq)),
        1 => who().prop_map(Step::Archive),
        2 => Just(Step::AddTask),
        2 => number().prop_map(Step::Note),
        1 => number().prop_map(Step::RemoveTask),
        3 => (0..2_usize, 1..9_u64).prop_map(|(who, seq)| Step::Tell(who, seq)),
        1 => Just(Step::CutHistory),
        3 => (-7200..7200_i64).prop_map(Step::Pass),
    ]
}

/// Two workers of one repository, and one of another in the same home.
struct Ground {
    world: World,
    other: Repository,
}

impl Ground {
    fn new() -> Self {
        let world = World::simple_clock();
        // Ahead of the times of its files, so that a stamp that is the same is believed.
        world.pass(SignedDuration::from_hours(24 * 400));
        let top = world.place().join("other");
        std::fs::create_dir(&top).unwrap();
        let other = Repository::register(&world.home, &top, &worker("ann")).unwrap();
        crate::relay::register(&world, &["W1", "W2"]);
        let traits = flagpost_core::relay::workers::Traits::default();
        let fleet = Fleet::of(&world.home, &other.id);
        flagpost_core::relay::workers::register(&fleet, &worker("ann"), &worker("W1"), traits)
            .unwrap();
        Self { world, other }
    }

    fn mail(&self, who: usize) -> Mail<'_> {
        match who {
            0 => self.world.fleet().mail(&worker("W1")).unwrap(),
            1 => self.world.fleet().mail(&worker("W2")).unwrap(),
            _ => Fleet::of(&self.world.home, &self.other.id)
                .mail(&worker("W1"))
                .unwrap(),
        }
    }

    fn outbox(&self, who: usize, number: u64) -> PathBuf {
        let dir = self.mail(who).dir(Outbox);
        dir.join(format!("{number:04}.json"))
    }

    /// What cannot be done just now is refused, and that is as good.
    fn take(&self, step: &Step, turn: usize) {
        let world = &self.world;
        match *step {
            Step::Ask => {
                sql(&world.home, MESSAGES);
            }
            Step::Propose(who) => {
                propose(&self.mail(who), &format!("brief {turn}"));
            }
            Step::Decide(who, number) => {
                let mail = self.mail(who);
                if briefs::newest_pending(&mail).ok() == Some(seq(number)) {
                    ratify(&mail, number);
                }
            }
            Step::Ack(who, number) => {
                drop(deliver::ack(&self.mail(who), &worker("W1"), seq(number)))
            }
            Step::Report(who) => {
                let draft = draft(&format!("report {turn}"));
                reports::publish(&self.mail(who), &worker("W1"), draft).unwrap();
            }
            Step::Read(who, number) => {
                drop(reports::read(
                    &self.mail(who),
                    &worker("ann"),
                    None,
                    seq(number),
                ));
            }
            Step::ByHand(who, number, seconds) => {
                if !self.outbox(who, number).exists() {
                    let at = crate::world::start() + SignedDuration::from_secs(seconds);
                    let (id, name) = (self.mail(who).worker().clone(), format!("{number:04}.json"));
                    let said = format!(
                        "{{\"seq\": {number}, \"version\": 1, \"kind\": \"freeform\", \
                         \"produced_at\": \"{at}\", \"worker_id\": \"{id}\", \"ticket_id\": null, \
                         \"claude_session_id\": \"s\", \"body\": \"by hand {turn}\", \
                         \"idempotency_key\": \"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU\"}}"
                    );
                    put(&self.mail(who), Outbox, &name, said);
                }
            }
            Step::Flag(who, number) => {
                put(&self.mail(who), Outbox, &format!("{number:04}.read"), "");
            }
            Step::Rewrite(who, number) => {
                let path = self.outbox(who, number);
                if let Ok(text) = std::fs::read_to_string(&path) {
                    let again = text.replace("\"body\": \"", &format!("\"body\": \"again {turn} "));
                    std::fs::write(&path, again).unwrap();
                }
            }
            Step::Remove(who, number) => drop(std::fs::remove_file(self.outbox(who, number))),
            Step::HalfArchive(who, number) => {
                let (inbox, name) = (self.mail(who).dir(Inbox), format!("{number:04}.brief"));
                let to = inbox.with_file_name("archive").join("2026-05/inbox");
                std::fs::create_dir_all(&to).unwrap();
                drop(std::fs::rename(inbox.join(&name), to.join(&name)));
            }
            Step::Archive(who) => {
                drop(retention::archive(&self.mail(who), &worker("ann"), false));
            }
            Step::AddTask => drop(add(&world.list(), &format!("task {turn}"), &[])),
            Step::Note(number) => drop(tasks::note(
                &world.list(),
                &worker("ann"),
                &[id(number)],
                &format!("note {turn}"),
            )),
            Step::RemoveTask(number) => {
                drop(std::fs::remove_file(world.path(&format!("{number}.json"))));
            }
            Step::Tell(who, number) => {
                let last = world.history().last().unwrap().n;
                let (n, at, repo) = (last + 1, world.home.now(), &world.repository.id);
                let worker = self.mail(who).worker().clone();
                let line = format!(
                    "{{\"n\":{n},\"at\":\"{at}\",\"repo\":\"{repo}\",\
                     \"kind\":\"worker.paste_back\",\"worker\":\"{worker}\",\"seq\":{number}}}\n"
                );
                let text = std::fs::read_to_string(world.history_path()).unwrap();
                std::fs::write(world.history_path(), text + &line).unwrap();
            }
            Step::CutHistory => {
                let text = std::fs::read_to_string(world.history_path()).unwrap();
                let half: Vec<&str> = text.lines().collect();
                let half = &half[..half.len().div_ceil(2)];
                std::fs::write(world.history_path(), half.join("\n") + "\n").unwrap();
            }
            Step::Pass(seconds) => world.pass(SignedDuration::from_secs(seconds)),
        }
    }

    /// Everything that a reader can see.
    fn seen(&self) -> Vec<Vec<String>> {
        let questions = [
            MESSAGES,
            "SELECT kind, scope, name, at, field, n, text FROM passage ORDER BY 1, 2, 3, 4, 5, 6, 7",
            "SELECT repo, worker, direction, seq, month, kind, ticket, uuid, at, flagged, n, moment, \
             acked, message FROM envelope ORDER BY message",
            "SELECT list, task, subject, state, owner FROM task ORDER BY 1, 2",
            "SELECT repo, n, at, kind, actor, worker, seq, list, task, line FROM history ORDER BY 1, 2",
            "SELECT path, scope FROM place ORDER BY 1",
            "SELECT repo, offset, tail, latest FROM cursor ORDER BY 1",
            "SELECT count(*) FROM words WHERE words MATCH 'brief OR report OR task OR note'",
            "SELECT seq FROM sqlite_sequence",
        ];
        let home = &self.world.home;
        questions
            .iter()
            .map(|question| sql(home, question))
            .collect()
    }
}

/// Takes these steps, and compares what is seen then with what is seen after a rebuild.
fn seen_and_rebuilt(steps: &[Step]) -> [Vec<Vec<String>>; 2] {
    let ground = Ground::new();
    for (turn, step) in steps.iter().enumerate() {
        ground.take(step, turn);
    }
    let seen = ground.seen();
    index::rebuild(&ground.world.home).unwrap();
    [seen, ground.seen()]
}

#[test]
fn after_the_last_message_is_gone() {
    use Step::{Ask, Remove, Report};
    for steps in [
        vec![Report(1), Ask, Remove(1, 1)],
        vec![Report(1), Report(1), Ask, Remove(1, 2)],
        vec![Report(1), Report(1), Ask, Remove(1, 1)],
        vec![Report(1), Ask, Remove(1, 1), Ask, Report(1)],
    ] {
        let [seen, rebuilt] = seen_and_rebuilt(&steps);
        assert_eq!(seen, rebuilt, "{steps:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn row_by_row(steps in prop::collection::vec(step(), 1..30)) {
        let [seen, rebuilt] = seen_and_rebuilt(&steps);
        prop_assert_eq!(seen, rebuilt);
    }
}
