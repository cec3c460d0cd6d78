//! Random operations by several workers, with right, missing and stale tokens and a moving clock:
//! the same answers and the same list as a second, simpler opinion on the rules.

use std::collections::{BTreeMap, BTreeSet};

use flagpost_core::{
    Error, List, claims,
    tasks::{self, Move, observe},
};
use flagpost_model::{
    Refusal, Token,
    plan::Graph,
    task::{Ending, Task},
};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::{
    account,
    second_opinion::{Answer, Hold, Item, SecondOpinion},
    world::{World, act, finish, id, ids, subject, tasks_of, terms, worker},
};

/// Which token a caller shows.
#[derive(Debug, Clone, Copy)]
enum Shown {
    None,
    /// That of the task's claim, if there is one.
    Right,
    /// Any that was ever given out.
    Old(usize),
}

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<u64>),
    Claim(u8, u64),
    ClaimNext(u8),
    Start(u8, u64, Shown),
    Renew(u8, u64, Shown),
    Finish(u8, u64, Shown, Ending),
    Release(u8, u64, Shown, bool),
    Reopen(u8, u64, Shown),
    Cancel(u8, u64, Shown),
    Remove(u8, u64),
    Link(u64, u64),
    Unlink(u64, u64),
    Pass(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let who = || 1..4_u8;
    let task = || 1..8_u64;
    let shown = || {
        prop_oneof![
            3 => Just(Shown::None),
            4 => Just(Shown::Right),
            2 => any::<usize>().prop_map(Shown::Old),
        ]
    };
    let ending = prop_oneof![
        3 => Just(Ending::Completed),
        1 => Just(Ending::Failed),
        1 => Just(Ending::Stuck),
    ];
    prop_oneof![
        4 => prop::collection::vec(task(), 0..3).prop_map(Step::Add),
        4 => (who(), task()).prop_map(|(who, id)| Step::Claim(who, id)),
        3 => who().prop_map(Step::ClaimNext),
        4 => (who(), task(), shown()).prop_map(|(who, id, it)| Step::Start(who, id, it)),
        2 => (who(), task(), shown()).prop_map(|(who, id, it)| Step::Renew(who, id, it)),
        6 => (who(), task(), shown(), ending).prop_map(|(who, id, it, how)| Step::Finish(who, id, it, how)),
        2 => (who(), task(), shown(), any::<bool>()).prop_map(|(who, id, it, force)| Step::Release(who, id, it, force)),
        2 => (who(), task(), shown()).prop_map(|(who, id, it)| Step::Reopen(who, id, it)),
        1 => (who(), task(), shown()).prop_map(|(who, id, it)| Step::Cancel(who, id, it)),
        1 => (who(), task()).prop_map(|(who, id)| Step::Remove(who, id)),
        3 => (task(), task()).prop_map(|(id, on)| Step::Link(id, on)),
        2 => (task(), task()).prop_map(|(id, on)| Step::Unlink(id, on)),
        3 => (-10..20_i64).prop_map(Step::Pass),
    ]
}

/// The product's answer in the words of the second opinion.
fn word<T>(answer: Result<T, Error>) -> Answer<T> {
    answer.map_err(|error| match error {
        Error::KeptLate(_) => "late",
        Error::NotFound { .. } => "missing",
        Error::NothingReady { .. } => "nothing",
        Error::Refused(refusal) => match refusal {
            Refusal::Held { .. } => "held",
            Refusal::AlreadyYours { .. } => "yours",
            Refusal::StaleToken { .. } | Refusal::UnknownToken { .. } => "stale",
            Refusal::NotClaimed { .. } => "unclaimed",
            Refusal::WrongState { .. } => "wrong",
            Refusal::Blocked { .. } => "blocked",
            Refusal::Cycle { .. } => "cycle",
            Refusal::UnknownBlocker { .. } => "unknown",
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    })
}

struct Trial<'w> {
    world: &'w World,
    list: List<'w>,
    start: Timestamp,
    opinion: SecondOpinion,
    given: Vec<u64>,
}

impl Trial<'_> {
    fn name(who: u8) -> String {
        format!("W{who}")
    }

    fn token(&self, id: u64, shown: Shown) -> Option<u64> {
        match shown {
            Shown::None => None,
            Shown::Right => Some(self.opinion.items.get(&id)?.hold?.token),
            Shown::Old(any) => self.given.get(any % self.given.len().max(1)).copied(),
        }
    }

    fn given(&mut self, who: u8, id: u64, token: Token) {
        assert!(self.given.iter().all(|old| *old < token.0), "tokens grow");
        self.given.push(token.0);
        self.opinion.claimed(who, id, token.0);
    }

    fn act(&self, who: u8, on: u64, token: Option<u64>, event: Move) -> Answer {
        let by = act(&Self::name(who), token.map(Token));
        word(tasks::act(&self.list, &by, &id(on), event).map(drop))
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Add(ref after) => {
                let fields = subject("Something");
                let added = tasks::add(&self.list, &worker("W1"), &fields, &ids(after));
                let number = word(added).map(|task| task.id.number().unwrap());
                assert_eq!(number, self.opinion.add(after));
            }
            Step::Claim(who, on) => {
                let answer = word(claims::claim(&self.list, &terms(&Self::name(who)), &id(on)));
                let token = answer.map(|it| it.claim.token);
                assert_eq!(token.map(drop), self.opinion.may_claim(who, on));
                token
                    .into_iter()
                    .for_each(|token| self.given(who, on, token));
            }
            Step::ClaimNext(who) => {
                let answer = word(claims::claim_next(&self.list, &terms(&Self::name(who))));
                let got = answer.map(|it| (it.task.id.number().unwrap(), it.claim.token));
                assert_eq!(got.map(|it| it.0), self.opinion.next().ok_or("nothing"));
                got.into_iter()
                    .for_each(|(on, token)| self.given(who, on, token));
            }
            Step::Start(who, on, shown) => {
                let token = self.token(on, shown);
                let claims = self.opinion.start_claims(who, on, token);
                let (terms, given) = (terms(&Self::name(who)), token.map(Token));
                let answer = word(claims::start(&self.list, &terms, given, &id(on)));
                let got = answer.map(|it| it.claim.token);
                if claims {
                    assert_eq!(got.map(drop), self.opinion.may_claim(who, on));
                    got.into_iter().for_each(|token| self.given(who, on, token));
                }
                if !claims || got.is_ok() {
                    assert_eq!(got.map(drop), self.opinion.start(who, on, token));
                }
            }
            Step::Renew(who, on, shown) => {
                let token = self.token(on, shown);
                let answer = self.act(who, on, token, Move::Renew);
                assert_eq!(answer, self.opinion.renew(who, on, token));
            }
            Step::Finish(who, on, shown, how) => {
                let token = self.token(on, shown);
                let answer = self.act(who, on, token, finish(how));
                assert_eq!(answer, self.opinion.finish(who, on, token, how.as_str()));
            }
            Step::Release(who, on, shown, force) => {
                let token = self.token(on, shown);
                let answer = self.act(who, on, token, Move::Release { force });
                assert_eq!(answer, self.opinion.release(who, on, token, force));
            }
            Step::Reopen(who, on, shown) => {
                let token = self.token(on, shown);
                let answer = self.act(who, on, token, Move::Reopen);
                assert_eq!(answer, self.opinion.reopen(on, token));
            }
            Step::Cancel(who, on, shown) => {
                let token = self.token(on, shown);
                let answer = self.act(who, on, token, Move::Cancel);
                assert_eq!(answer, self.opinion.cancel(who, on, token));
            }
            Step::Remove(who, on) => {
                let answer = tasks::remove(&self.list, &worker(&Self::name(who)), &id(on));
                assert_eq!(word(answer.map(drop)), self.opinion.remove(who, on));
            }
            Step::Link(from, on) => {
                let answer = tasks::link(&self.list, &worker("W1"), &id(from), &[id(on)]);
                assert_eq!(word(answer.map(drop)), self.opinion.link(from, on));
            }
            Step::Unlink(from, on) => {
                let answer = tasks::unlink(&self.list, &worker("W1"), &id(from), &id(on));
                assert_eq!(word(answer.map(drop)), self.opinion.unlink(from, on));
            }
            Step::Pass(minutes) => {
                self.world.pass(SignedDuration::from_mins(minutes));
                self.opinion.now += minutes;
            }
        }
    }

    fn item(&self, task: &Task) -> Item {
        let number = |name: &str| name.strip_prefix('W').unwrap().parse().unwrap();
        Item {
            state: task.state.name().as_str(),
            hold: task.state.claim().map(|claim| Hold {
                who: number(claim.by.as_str()),
                token: claim.token.0,
                until: claim.expires_at.duration_since(self.start).as_mins(),
            }),
            waits_for: task
                .blocked_by
                .iter()
                .filter_map(|it| it.number())
                .collect(),
            late: task
                .late
                .iter()
                .map(|it| {
                    (
                        number(it.by.as_str()),
                        it.token.map(|it| it.0),
                        it.ending.as_str(),
                    )
                })
                .collect(),
        }
    }

    fn compare(&self) {
        let tasks = tasks_of(&self.list);
        let items: BTreeMap<u64, Item> = tasks
            .values()
            .map(|task| (task.id.number().unwrap(), self.item(task)))
            .collect();
        assert_eq!(items, self.opinion.items);
        for task in tasks.values() {
            let waiting = tasks.values().filter(|it| it.blocked_by.contains(&task.id));
            let waiting: BTreeSet<_> = waiting.map(|it| it.id.clone()).collect();
            let blocks: BTreeSet<_> = task.blocks.iter().cloned().collect();
            assert_eq!(blocks, waiting, "mirrored");
        }
        let outlines = self.list.load().unwrap().outlines;
        assert_eq!(Graph::new(&outlines).cycle(), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_done(steps in prop::collection::vec(step(), 1..60)) {
        let world = World::real();
        let mut trial = Trial {
            world: &world,
            list: world.list(),
            start: world.home.now(),
            opinion: SecondOpinion::default(),
            given: Vec::new(),
        };
        let watch = || observe::TaskWatch::begin(&world.home, &world.repository.id).unwrap();
        let mut watched = watch();
        let foreign = |it: &mut observe::TaskWatch| it.look(&world.home, &world.repository.id).unwrap();
        for step in &steps {
            trial.take(step);
            trial.compare();
            prop_assert_eq!(foreign(&mut watched), 0);
        }
        // Nor does it look foreign to whoever was away meanwhile.
        prop_assert_eq!(foreign(&mut watch()), 0);
        account::agrees(&world);
    }
}
