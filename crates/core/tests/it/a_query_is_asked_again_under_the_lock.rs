//! What a query selects to be changed is chosen when nobody else can change the list.

use flagpost_core::{
    Error, List, claims,
    tasks::{self, Agreed, Fields, Fitting, Move, TaskSelector, Ties},
};
use flagpost_model::{query::Query, task::Priority};

use crate::world::{World, act, add, id, subject, terms, worker};

/// The tasks of a query, seen before others changed the list.
fn seen(query: &str, ids: &[u64], agreed: Agreed) -> TaskSelector {
    TaskSelector::Fitting(Fitting {
        query: query.parse::<Query>().unwrap(),
        me: None,
        seen: ids.iter().copied().map(id).collect(),
        agreed,
    })
}

fn other(world: &World) -> List<'_> {
    let id = "later".parse().unwrap();
    List::open_or_create(&world.home, &id, &world.repository).unwrap()
}

fn high(list: &List<'_>, n: u64) {
    let fields = Fields {
        priority: Some(Some(Priority::High)),
        ..Fields::default()
    };
    tasks::edit(list, &worker("W1"), &id(n), &fields).unwrap();
}

#[test]
fn whatever_fits_by_now_is_changed() {
    let world = World::real();
    let list = world.list();
    let w2 = worker("W2");
    (1..=3).for_each(|n| drop(add(&list, &format!("Task {n}"), &[])));
    high(&list, 1);
    let which = seen("priority=high", &[1], Agreed::ToTheQuery);
    high(&list, 2);
    let changed = tasks::edit_all(&list, &w2, which, &subject("Urgent")).unwrap();
    let ids: Vec<_> = changed.iter().map(|it| it.id.to_string()).collect();
    assert_eq!(ids, ["1", "2"]);
    let which = seen("priority=low", &[3], Agreed::ToTheQuery);
    fails!(tasks::remove_all(&list, &w2, which), Error::NoneFits { .. });
}

#[test]
fn what_somebody_agreed_to_is_changed_or_nothing() {
    let world = World::real();
    let (list, other) = (world.list(), other(&world));
    let w2 = worker("W2");
    (1..=2).for_each(|n| drop(add(&list, &format!("Task {n}"), &[])));
    high(&list, 1);
    let which = || seen("priority=high", &[1], Agreed::ToWhatWasSeen);
    tasks::note(&list, &w2, which(), "seen").unwrap();
    high(&list, 2);
    let history = world.history().len();
    let refused = [
        tasks::remove_all(&list, &w2, which()).map(drop),
        tasks::act_all(&list, &act("W2", None), which(), Move::Cancel).map(drop),
    ];
    for refused in refused {
        fails!(refused, Error::OthersFit { .. });
    }
    assert_eq!(world.history().len(), history);
    let refused = tasks::relocate(&list, &other, &w2, which(), Ties::Hold);
    fails!(refused, Error::OthersFit { .. });
    assert_eq!(
        (list.ids().unwrap().len(), other.ids().unwrap().len()),
        (2, 0)
    );
}

#[test]
fn a_preview_names_every_refusal_and_changes_nothing() {
    let world = World::real();
    let list = world.list();
    (1..=3).for_each(|n| drop(add(&list, &format!("Task {n}"), &[])));
    claims::claim(&list, &terms("W1"), &id(2)).unwrap();
    let history = world.history().len();
    let ids = [id(1), id(2), id(3)];
    let previews = tasks::preview_moves(&list, &act("W2", None), &ids, &Move::Cancel).unwrap();
    let refused: Vec<_> = previews.iter().map(|it| it.refusal.is_some()).collect();
    assert_eq!(refused, [false, true, false]);
    let parent = Fields {
        parent: Some(Some(id(3))),
        uid: Some("one".to_owned()),
        ..Fields::default()
    };
    let previews = tasks::preview_edit(&list, &ids, &parent).unwrap();
    assert!(previews.iter().all(|it| it.refusal.is_some()), "one uid");
    assert_eq!(world.history().len(), history);
}
