//! The signs of life of workers, from machine to machine.
//!
//! Owns which signs are a machine's own: one that it heard from another is not given as its own, or a worker
//! that has ended would be kept alive by those who heard of it. So is none that was there before this
//! machine began to listen. No line of a history tells of them.

use std::collections::BTreeMap;

use flagpost_core::{
    Home,
    relay::{Fleet, workers},
};
use flagpost_model::{MachineId, RepoId, WorkerId};
use jiff::Timestamp;

use crate::live::LiveMachine;

/// When workers were seen last, by repository.
pub(crate) type Seen = BTreeMap<RepoId, BTreeMap<WorkerId, Timestamp>>;

/// What this machine knows of the workers on all machines.
#[derive(Debug, Default)]
pub(crate) struct WorkerSigns {
    heard: Seen,
}

impl WorkerSigns {
    /// Those that were given here, in these repositories.
    pub(crate) fn own(&mut self, home: &Home, repos: &[RepoId]) -> Seen {
        let mut own = Seen::new();
        for repo in repos {
            // Mail that cannot be read is told where it is used.
            let mut seen = workers::signs(&Fleet::of(home, repo)).unwrap_or_default();
            let heard = self.heard.entry(repo.clone());
            let heard = heard.or_insert_with(|| seen.clone());
            seen.retain(|worker, at| heard.get(worker).is_none_or(|heard| *at > *heard));
            own.insert(repo.clone(), seen);
        }
        own
    }

    /// Writes down here what was seen on other machines.
    pub(crate) fn hear(
        &mut self,
        home: &Home,
        own: &MachineId,
        repos: &[RepoId],
        signs: &[(MachineId, LiveMachine)],
    ) {
        let others = signs.iter().filter(|(machine, _)| machine != own);
        let seen = others.flat_map(|(_, sign)| &sign.workers);
        for (repo, workers) in seen.filter(|(repo, _)| repos.contains(repo)) {
            let fleet = Fleet::of(home, repo);
            for (worker, at) in workers {
                // A machine whose clock is ahead says no more than that it is alive.
                let at = (*at).min(home.now());
                let heard = self.heard.entry(repo.clone()).or_default();
                let last = heard.entry(worker.clone()).or_insert(at);
                *last = (*last).max(at);
                // One that is not here yet, or cannot be written, is heard of again with the next sign.
                let _ = fleet
                    .mail(worker)
                    .and_then(|mail| workers::seen_elsewhere(&mail, at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flagpost_core::{
        Repository,
        relay::{Mail, workers::Traits},
    };
    use flagpost_testkit::scratch::scratch;
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_sign_that_was_heard_is_not_given_as_ones_own() {
        let place = scratch();
        let home = Home::at(place.path().join("home"));
        let by = "operator".parse().unwrap();
        let repo = Repository::register(&home, place.path(), &by).unwrap().id;
        let (fleet, w1) = (Fleet::of(&home, &repo), "W1".parse().unwrap());
        workers::register(&fleet, &by, &w1, Traits::default()).unwrap();
        let mail = fleet.mail(&w1).unwrap();

        let repos = [repo.clone()];
        let mut signs = WorkerSigns::default();
        let own = |signs: &mut WorkerSigns| signs.own(&home, &repos)[&repo].get(&w1).copied();
        beat(&mail);
        assert_eq!(
            own(&mut signs),
            None,
            "it was seen before, nobody knows where"
        );
        beat(&mail);
        let seen = own(&mut signs).expect("it was seen here");
        let sign = LiveMachine {
            applied: [].into(),
            workers: [(repo.clone(), [(w1.clone(), seen)].into())].into(),
            since: seen,
        };
        let machine = |id: &str| -> MachineId { id.parse().unwrap() };
        let (here, there) = (machine("aaaaaaaa"), machine("bbbbbbbb"));

        signs.hear(&home, &here, &repos, &[(here.clone(), sign.clone())]);
        assert_eq!(
            own(&mut signs),
            Some(seen),
            "a machine does not hear itself"
        );
        workers::falls_silent(&mail).unwrap();
        assert_eq!(own(&mut signs), None);
        signs.hear(&home, &here, &repos, &[(there, sign)]);
        let last = workers::show(&mail).unwrap().worker.last_seen.unwrap();
        assert!(last > seen - SignedDuration::from_secs(1), "{last}");
        assert_eq!(own(&mut signs), None, "it was seen there");
        beat(&mail);
        assert!(own(&mut signs) > Some(seen), "and here again");
    }

    /// A sign of life that is later than all before it.
    fn beat(mail: &Mail<'_>) {
        std::thread::sleep(std::time::Duration::from_millis(2));
        workers::heartbeat(mail, Traits::default()).unwrap();
    }
}
