//! A list's name is the fleet's: what else has it here is not mixed with the list.

use std::{fs, path::PathBuf};

use flagpost_core::{Error, List, Repository, order::OrderRefusal, tasks};

use super::{Fleet3, Node};
use crate::world::{subject, worker};
use flagpost_testkit::scratch::scratch;

/// The shared repository, as a machine has it.
fn shared(fleet: &Fleet3) -> Repository {
    Repository {
        id: fleet.stream.repo.clone(),
        name: "repo".parse().unwrap(),
        top: PathBuf::from("/"),
    }
}

fn list<'n>(node: &'n Node, name: &str, of: &Repository) -> Result<List<'n>, Error> {
    List::open_or_create(&node.home, &name.parse().unwrap(), of)
}

fn add(list: &List<'_>, text: &str) {
    tasks::add(list, &worker("ann"), &subject(text), &[]).unwrap();
}

fn subjects(node: &Node, name: &str) -> Vec<String> {
    let list = List::open(&node.home, &name.parse().unwrap()).unwrap();
    let tasks = list.load().unwrap().outlines.into_iter();
    tasks.map(|it| it.subject.to_string()).collect()
}

#[test]
fn a_list_whose_name_is_another_ones_here_waits_until_that_has_another() {
    let fleet = Fleet3::new();
    let [a, b, c] = fleet.nodes();
    let place = scratch();
    let own = Repository::register(&b.home, place.path(), &worker("ann")).unwrap();
    add(&list(b, "backlog", &own).unwrap(), "Ours");
    // Some other program's, of no repository.
    let loose = b.home.root().join("tasks/loose");
    fs::create_dir_all(&loose).unwrap();
    let task = r#"{"id": "1", "subject": "Loose", "status": "pending"}"#;
    fs::write(loose.join("1.json"), task).unwrap();
    // What a crash leaves of a list is in nobody's way.
    fs::create_dir_all(b.home.root().join("tasks/empty")).unwrap();

    for name in ["empty", "backlog", "loose"] {
        add(&list(a, name, &shared(&fleet)).unwrap(), "Of the fleet");
    }
    c.follow();
    assert_eq!(subjects(c, "backlog"), ["Of the fleet"]);
    for (name, whose) in [("backlog", "Ours"), ("loose", "Loose")] {
        let refusal = b.try_follow().unwrap_err();
        assert!(
            matches!(&refusal, Error::Order(OrderRefusal::ListHere { list, dir, .. })
                if list.as_str() == name && dir.ends_with(name)),
            "{refusal:?}"
        );
        assert_eq!(subjects(b, name), [whose], "nothing is mixed");
        let dir = b.home.root().join("tasks").join(name);
        fs::rename(&dir, dir.with_file_name(format!("{name}-own"))).unwrap();
    }
    b.follow();
    assert_eq!(subjects(b, "loose"), ["Of the fleet"]);
    assert_eq!(subjects(b, "empty"), ["Of the fleet"]);
    let own_list = List::open(&b.home, &"backlog-own".parse().unwrap()).unwrap();
    assert_eq!(own_list.repository().unwrap(), own.id);
    add(&own_list, "Goes on");
    assert_eq!(subjects(b, "backlog-own"), ["Ours", "Goes on"]);
}

#[test]
fn a_list_is_not_made_under_a_name_that_another_repository_of_the_fleet_has() {
    let fleet = Fleet3::new();
    let a = &fleet.nodes()[0];
    fleet.stream.has_elsewhere("backlog");
    let refused = list(a, "backlog", &shared(&fleet));
    fails!(refused, Error::Order(OrderRefusal::ListThere { .. }));
    assert!(!a.home.root().join("tasks/backlog").exists());
    list(a, "other", &shared(&fleet)).unwrap();
}
