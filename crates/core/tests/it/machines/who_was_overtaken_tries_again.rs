//! A change that another machine was faster than is made again, whichever change it is.

use std::{fs, path::Path};

use flagpost_core::{
    List, Repository, Result,
    coordination::Directory,
    doctor::{self, Fix},
    relay::{reports, retention},
    sessions::{self, SessionStatus, Sessions},
    tasks::{self, Ties},
};
use flagpost_testkit::{race::until, scratch::scratch, table};

use super::{Fleet3, Node, of_one_order::add};
use crate::{
    coordination,
    relay::{report, seq},
    sessions::{start, try_begin},
    world::{id, worker},
};

/// The shared repository, as it stands on this machine.
fn repository(node: &Node, top: &Path) -> Repository {
    Repository {
        id: node.stream.repo.clone(),
        name: "repo".parse().unwrap(),
        top: top.to_owned(),
    }
}

/// What there is before another machine is faster.
type Prepare = fn(&Node, &Repository);
/// What is done then.
type Change = fn(&Node, &Repository) -> Result<()>;

#[test]
fn whatever_is_changed_it_is_changed_all_the_same() {
    let rows: [(&str, Prepare, Change); 5] = [
        (
            "tasks are moved",
            |node, repository| {
                let other = "other".parse().unwrap();
                List::open_or_create(&node.home, &other, repository).unwrap();
            },
            |node, _| {
                let other = List::open(&node.home, &"other".parse().unwrap())?;
                let (list, ann) = (node.list(), worker("ann"));
                tasks::relocate(&list, &other, &ann, vec![id(1)].as_slice(), Ties::Hold).map(drop)
            },
        ),
        (
            "mail is archived",
            |node, _| {
                node.register("W1");
                for number in 1..=101 {
                    report(&node.mail("W1"), &format!("report {number}"));
                }
                reports::read(&node.mail("W1"), &worker("ann"), None, seq(1)).unwrap();
            },
            |node, _| {
                let archived = retention::archive(&node.mail("W1"), &worker("ann"), false)?;
                assert_eq!(archived[0].seqs, [seq(1)]);
                Ok(())
            },
        ),
        (
            "a session is recovered",
            |node, repository| {
                let list = node.list();
                let live = try_begin(&node.home, repository, &list).unwrap().live;
                start(&list, live.id(), 1);
                drop(live);
                let sessions = Sessions::of(&node.home, repository);
                until("its runner is gone", || {
                    let status = sessions.status().unwrap();
                    !matches!(status, Some((SessionStatus::Live, _)))
                });
            },
            |node, repository| {
                let sessions = Sessions::of(&node.home, repository);
                let recovered = sessions::recover(&sessions, &node.list(), &worker("ann"))?;
                assert_eq!(recovered.unwrap().tasks, [id(1)]);
                Ok(())
            },
        ),
        (
            "a coordination table's history is told",
            |node, here| {
                let repository = Repository::adopt(&node.home, &here.top, &here.id, &here.name);
                drop(coordination::begin(&node.home, &repository.unwrap().top));
            },
            |node, repository| {
                let dir = repository.top.join(".coordination");
                coordination::add(&Directory::open(&node.home, &dir)?, "Build it").map(drop)
            },
        ),
        (
            "a counter is set right",
            |node, _| fs::write(node.list().dir().join(".highwatermark"), "0\n").unwrap(),
            |node, repository| {
                let fixes = vec![Fix::Recount(repository.name.clone())];
                let mended = doctor::mend(&node.home, &worker("ann"), fixes);
                assert_eq!(mended[0].outcome.as_str(), "done", "{mended:?}");
                Ok(())
            },
        ),
    ];
    let rows = rows.map(|(name, prepare, change)| (name, (prepare, change)));
    table::each(rows, |(prepare, change)| {
        let (fleet, place) = (Fleet3::new(), scratch());
        let [here, there, _] = fleet.nodes();
        add(here, "Ours");
        let repository = repository(here, place.path());
        prepare(here, &repository);
        fleet.all_follow();
        add(there, "Theirs, and first");
        change(here, &repository).unwrap();
        fleet.all_follow();
        // An archive and a list's pointer are each machine's own.
        assert_eq!(here.history_text(), there.history_text());
    });
}
