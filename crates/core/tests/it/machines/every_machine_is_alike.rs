//! Whatever three machines do in turn, with answers that are lost and power cuts between, each holds the
//! same in the end, and nothing that was acknowledged is missing.

use std::{collections::BTreeSet, sync::Arc};

use flagpost_core::{
    Error, Home, List, Result, claims,
    order::{self, ChangeOrigin, OrderRefusal},
    relay::{Fleet, briefs, decide, deliver, reports, workers},
    tasks,
};
use flagpost_disk::fsx;
use flagpost_model::{
    RepoId, TaskId, Token,
    decision::{Decision, Via},
    task::{Act, Ending},
};
use flagpost_testkit::{
    chance::Chance,
    power::{PowerFs, every_crash},
};

use super::{
    Answer, Kept, Mode, Stream, arranged, assert_alike, others_hold_the_same, plain_home,
    replicated,
};
use crate::{
    relay::{draft, proposal},
    world::{World, add, finish, id, power, simulated_home, subject, terms, worker},
};

/// So many fleets are tried, each with so many steps.
const FLEETS: u64 = 60;
const STEPS: u64 = 60;

/// A machine whose disk a cut may take back to what was synced.
struct Machine {
    fs: PowerFs,
    stream: Arc<Stream>,
}

impl Machine {
    fn home(&self) -> Home {
        self.stream.joined(plain_home(&self.fs), ChangeOrigin::Gate)
    }

    fn follow(&self) {
        self.stream.follow(&plain_home(&self.fs)).unwrap();
    }

    /// The power goes, and comes again. Nobody looks for what was cut short before the next one changes
    /// something.
    fn lose_power(&mut self, chance: &mut Chance) {
        let choices = self.fs.choices(chance.below(1 << 20) as u64);
        let at = chance.below(choices.len());
        self.fs = self.fs.recovered(&choices[at]);
    }
}

/// Three machines with a worker W1.
fn fleet() -> (Vec<Machine>, RepoId) {
    let fs = power();
    let world = World::simulated(&fs);
    let repo = world.repository.id.clone();
    let traits = workers::Traits::default();
    workers::register(&world.fleet(), &worker("operator"), &worker("W1"), traits).unwrap();
    let mut parts = |_: &_| Ok(());
    let base = order::share(&world.home, (&repo, 1), &worker("operator"), &mut parts).unwrap();
    let stream = Stream::after((&repo, base), Kept::Here(std::sync::Mutex::default()));
    let files = fs.files();
    let machine = || {
        let fs = PowerFs::with_dir("/home");
        for (path, bytes) in &files {
            fsx::make_dirs(&fs, path.parent().unwrap()).unwrap();
            fsx::replace(&fs, path, bytes).unwrap();
        }
        fs.settle();
        let stream = Arc::clone(&stream);
        Machine { fs, stream }
    };
    ((0..3).map(|_| machine()).collect(), repo)
}

/// What was acknowledged.
#[derive(Default)]
struct Acknowledged {
    tasks: BTreeSet<TaskId>,
    tokens: Vec<(TaskId, Token)>,
    reports: usize,
}

fn step(home: &Home, repo: &RepoId, known: &mut Acknowledged, chance: &mut Chance) -> Result<()> {
    let list = List::open(home, &"repo".parse()?)?;
    let mail = Fleet::of(home, repo).mail(&worker("W1"))?;
    let number = chance.below(1 << 40);
    let (ann, me) = (worker("ann"), worker("W1"));
    let some = |chance: &mut Chance| -> Result<TaskId> {
        let ids: Vec<TaskId> = list.load()?.outlines.into_iter().map(|it| it.id).collect();
        let at = chance.below(ids.len().max(1));
        Ok(ids.get(at).cloned().unwrap_or_else(|| TaskId::from(1)))
    };
    match chance.below(10) {
        0 | 1 => {
            let added = tasks::add(&list, &ann, &subject(&format!("Task {number}")), &[])?;
            assert!(
                known.tasks.insert(added.id.clone()),
                "{} was given twice",
                added.id
            );
        }
        2 | 3 => {
            let claimed = claims::claim_next(&list, &terms("W1"))?;
            known.tokens.push((claimed.task.id, claimed.claim.token));
        }
        4 => {
            let task = some(chance)?;
            let token = list.task(&task)?.task.state.claim().map(|it| it.token);
            let act = Act {
                actor: me,
                token,
                at: jiff::Timestamp::UNIX_EPOCH,
            };
            tasks::act(&list, &act, &task, finish(Ending::Completed))?;
        }
        5 => drop(tasks::edit(
            &list,
            &ann,
            &some(chance)?,
            &subject("Changed"),
        )?),
        6 => drop(tasks::remove(&list, &ann, &some(chance)?)?),
        7 => drop(briefs::propose(
            &mail,
            &ann,
            proposal(&format!("Do {number}")),
        )?),
        8 => {
            let (letters, _) = briefs::list(&mail)?;
            let waits = letters
                .iter()
                .find(|it| it.stage == briefs::BriefStatus::Pending);
            if let Some(letter) = waits {
                let wish = decide::DecisionRequest::new(Decision::Ratified, Via::Cli);
                decide::decide(&mail, &ann, Some(letter.brief.seq), &wish)?;
            } else if let Some(offer) = deliver::next(&mail, &me)? {
                deliver::ack(&mail, &me, offer.brief.seq)?;
            }
        }
        _ => {
            reports::publish(&mail, &me, draft(&format!("Report {number}")))?;
            known.reports += 1;
        }
    }
    Ok(())
}

#[test]
fn and_nothing_acknowledged_is_lost() {
    for seed in 0..FLEETS {
        let mut chance = Chance::of(seed);
        let (mut machines, repo) = fleet();
        let mut known = Acknowledged::default();
        for _ in 0..STEPS {
            let at = chance.below(3);
            let machine = &mut machines[at];
            match chance.below(12) {
                0 => machine.lose_power(&mut chance),
                1 | 2 => machine.follow(),
                3 => machine.stream.answers(&[Answer::Unheard]),
                4 => machine.stream.answers(&[Answer::Lost]),
                // The power goes in the middle of it, and the machine goes on at once.
                5 => {
                    machine.fs.cut_after(chance.below(14));
                    let _: Result<()> = step(&machine.home(), &repo, &mut known, &mut chance);
                    machine.lose_power(&mut chance);
                    let _: Result<()> = step(&machine.home(), &repo, &mut known, &mut chance);
                }
                _ => {
                    let stepped = step(&machine.home(), &repo, &mut known, &mut chance);
                    if let Err(Error::Order(OrderRefusal::Frozen { reason, .. })) = stepped {
                        panic!("{reason}");
                    }
                }
            }
        }
        machines.iter().for_each(Machine::follow);
        let all: Vec<_> = machines.iter().map(|it| replicated(&it.fs)).collect();
        assert_alike(&all[0], &all[1]);
        assert_alike(&all[0], &all[2]);
        let history = all[0]
            .iter()
            .find(|(path, _)| path.ends_with("history.jsonl"));
        let history = history.unwrap().1;
        for task in &known.tasks {
            let told = format!("\"task\":\"{task}\"");
            assert!(
                history.contains(&told),
                "task {task} of fleet {seed} is in no line"
            );
        }
        for (task, token) in &known.tokens {
            let told = format!("\"token\":{}", token.0);
            let lines = history
                .lines()
                .filter(|line| line.contains("task.claimed") && line.contains(&told));
            assert_eq!(
                lines.count(),
                1,
                "claim {token:?} of {task} in fleet {seed}"
            );
        }
        let reports = history
            .lines()
            .filter(|line| line.contains("worker.paste_back"));
        assert!(
            reports.count() >= known.reports,
            "fleet {seed} lost a report"
        );
    }
}

/// A list with one task, whose next change is cut short at each step; the one after that is asked for at
/// once.
#[test]
fn who_was_cut_short_goes_on_only_once_its_files_are_whole() {
    let setup = || {
        arranged(Mode::Shared, || {
            let fs = power();
            add(&World::simulated(&fs).list(), "First", &[]);
            fs.settle();
            fs
        })
    };
    let edit = |fs: &PowerFs, text: &str| -> Result<()> {
        let home = simulated_home(fs);
        let list = List::open(&home, &"repo".parse()?)?;
        tasks::edit(&list, &worker("ann"), &id(1), &subject(text))?;
        tasks::add(&list, &worker("ann"), &subject(text), &[]).map(drop)
    };
    every_crash(
        setup,
        |fs| edit(fs, "Cut"),
        |fs, _| {
            let home = simulated_home(fs);
            let list = List::open(&home, &"repo".parse().unwrap()).unwrap();
            tasks::add(&list, &worker("ann"), &subject("Next"), &[]).unwrap();
            others_hold_the_same(fs);
        },
    );
}
