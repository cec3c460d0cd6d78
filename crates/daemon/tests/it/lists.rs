//! The tasks of a list, told as they change: which differ, whoever changed them.

use std::{collections::BTreeMap, fs};

use flagpost_core::{List, claims, tasks};
use flagpost_model::{WorkerId, task::DEFAULT_LEASE};
use serde_json::Value;

use crate::{
    listening::Listening,
    served::{Place, Served},
};

const LISTS: &str = "/v1/events?with=outlines";

fn ann() -> WorkerId {
    WorkerId::operator()
}

fn list(place: &Place) -> List<'_> {
    let repository = place.repository();
    List::open_or_create(&place.home, &repository.name, &repository).unwrap()
}

fn add(list: &List<'_>, subject: &str, after: &[&str]) -> String {
    let fields = tasks::Fields {
        subject: Some(subject.to_owned()),
        ..tasks::Fields::default()
    };
    let after: Vec<_> = after.iter().map(|id| id.parse().unwrap()).collect();
    let task = tasks::add(list, &ann(), &fields, &after).unwrap();
    task.id.to_string()
}

fn terms() -> claims::Terms {
    claims::Terms {
        actor: ann(),
        lease: DEFAULT_LEASE,
        session: None,
    }
}

/// What somebody knows who only listens: the tasks by id.
struct Known {
    listening: Listening,
    tasks: BTreeMap<String, Value>,
}

impl Known {
    fn of(served: &Served) -> Self {
        let mut known = Self {
            listening: Listening::to(served, LISTS),
            tasks: BTreeMap::new(),
        };
        let state = known.listening.next();
        assert_eq!(state.name, "daemon.resync");
        for list in state.data["repositories"][0]["lists"].as_array().unwrap() {
            known.take(&list["tasks"]);
        }
        known
    }

    fn take(&mut self, tasks: &Value) -> Vec<String> {
        let tasks = tasks.as_array().unwrap();
        let ids = tasks.iter().map(|task| {
            let id = task["id"].as_str().unwrap().to_owned();
            self.tasks.insert(id.clone(), task.clone());
            id
        });
        ids.collect()
    }

    /// The next change of a list: the tasks that it tells of, and those that are gone.
    fn change(&mut self) -> (Vec<String>, Vec<String>) {
        loop {
            let event = self.listening.next();
            if event.name != "list.changed" {
                continue;
            }
            assert_eq!(
                (event.id.as_str(), &event.data["list"]),
                ("", &"web".into())
            );
            let removed = event.data["removed"].as_array().unwrap().iter();
            let removed: Vec<String> = removed.map(|it| it.as_str().unwrap().to_owned()).collect();
            let changed = self.take(&event.data["tasks"]);
            self.tasks.retain(|id, _| !removed.contains(id));
            return (changed, removed);
        }
    }

    /// Listens until this holds of the tasks.
    fn until(&mut self, holds: impl Fn(&BTreeMap<String, Value>) -> bool) {
        while !holds(&self.tasks) {
            self.change();
        }
    }
}

#[test]
fn whoever_listens_knows_each_task_as_it_is_now() {
    let place = Place::new();
    let web = list(&place);
    let lexer = add(&web, "Write the lexer", &[]);
    let parser = add(&web, "Write the parser", &[&lexer]);
    let served = place.serve();
    let mut known = Known::of(&served);
    assert_eq!(known.tasks[&lexer]["ready"], true);
    assert_eq!(known.tasks[&parser]["ready"], false);
    assert_eq!(
        known.tasks[&parser]["waits_for"],
        serde_json::json!([lexer])
    );

    let docs = add(&web, "Write the docs", &[]);
    assert_eq!(known.change(), (vec![docs.clone()], vec![]));
    let claim = claims::claim_next(&web, &terms()).unwrap().claim;
    known.until(|tasks| tasks[&lexer]["state"] == "claimed");
    assert_eq!(known.tasks[&lexer]["ready"], false);
    let token = format!(r#"{{"token":{}}}"#, claim.token);
    let done = served.post(&format!("/v1/tasks/web/{lexer}/done?as=operator"), &token);
    assert_eq!(done.status, 200, "{done:?}");
    known.until(|tasks| tasks[&parser]["ready"] == true);
    assert_eq!(known.tasks[&lexer]["state"], "completed");
    assert!(known.tasks[&lexer]["ended_at"].is_string());
}

#[test]
fn a_task_that_a_foreign_hand_changes_is_told_and_its_neighbours_are_not() {
    let place = Place::new();
    let web = list(&place);
    for n in 0..100 {
        add(&web, &format!("Task {n}"), &[]);
    }
    let served = place.serve();
    let mut known = Known::of(&served);
    assert_eq!(known.tasks.len(), 100);
    let file = web.dir().join("7.json");
    let text = fs::read_to_string(&file).unwrap();
    // In one step: a look at half a file would find none.
    let beside = web.dir().join(".7.foreign");
    fs::write(&beside, text.replace("Task 6", "Told otherwise")).unwrap();
    fs::rename(&beside, &file).unwrap();
    assert_eq!(known.change(), (vec!["7".to_owned()], vec![]));
    assert_eq!(known.tasks["7"]["subject"], "Told otherwise");
    fs::remove_file(&file).unwrap();
    assert_eq!(known.change(), (vec![], vec!["7".to_owned()]));
}

#[test]
fn the_keys_are_in_the_order_in_which_tasks_are_claimed() {
    let place = Place::new();
    let web = list(&place);
    for n in 0..12 {
        add(&web, &format!("Task {n}"), &[]);
    }
    let last = tasks::Fields {
        priority: Some(Some("high".parse().unwrap())),
        ..tasks::Fields::default()
    };
    tasks::edit(&web, &ann(), &"11".parse().unwrap(), &last).unwrap();
    let served = place.serve();
    let known = Known::of(&served);
    let mut by_key: Vec<&Value> = known.tasks.values().collect();
    by_key.sort_by_key(|task| task["key"].as_str().unwrap());
    for task in by_key {
        let claimed = claims::claim_next(&web, &terms()).unwrap();
        assert_eq!(task["id"], claimed.task.id.as_str());
    }
}

#[test]
fn what_else_can_be_told_with_the_transitions_is_refused() {
    let place = Place::new();
    let served = place.serve();
    assert_eq!(served.get("/v1/events?with=everything").status, 422);
}
