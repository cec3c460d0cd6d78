//! Every route answers in the shape that it promises, and does what the command of its name does.

use std::{collections::BTreeSet, fs};

use flagpost_core::{
    List,
    relay::{
        Fleet, briefs,
        reports::{self, NewReport},
        workers::{self, Traits},
    },
    slash,
    tasks::{self, Fields},
};
use flagpost_disk::dialects::session::layout;
use flagpost_model::{
    WorkerId,
    decision::Decision,
    envelope::{Extras, Hash, ReportKind},
};
use serde_json::{Value, json};

use crate::{
    messages::by,
    served::{Place, Served},
};

mod kanban;
mod routes;

fn ann() -> WorkerId {
    "ann".parse().unwrap()
}

fn worker(id: &str) -> WorkerId {
    id.parse().unwrap()
}

fn propose(place: &Place, to: &str, ticket: &str, text: &str) {
    let repository = place.repository();
    let fleet = Fleet::of(&place.home, &repository.id);
    let proposal = slash::dispatch(&ticket.parse().unwrap(), text.to_owned());
    briefs::propose(&fleet.mail(&worker(to)).unwrap(), &ann(), proposal).unwrap();
}

/// Two workers, three briefs, a report, two tasks.
fn furnished() -> Place {
    let place = Place::new();
    let repository = place.repository();
    let fleet = Fleet::of(&place.home, &repository.id);
    for id in ["W1", "W2"] {
        workers::register(&fleet, &ann(), &worker(id), Traits::default()).unwrap();
        workers::heartbeat(&fleet.mail(&worker(id)).unwrap(), Traits::default()).unwrap();
    }
    propose(&place, "W1", "1", "One\n");
    propose(&place, "W1", "2", "Two\n");
    propose(&place, "W2", "3", "Three\n");
    let draft = NewReport {
        kind: ReportKind::Freeform,
        ticket: None,
        body: "Done.".to_owned(),
        pr: Some(7),
        next_action: None,
        in_reply_to: None,
        session: None,
        extras: Extras::default(),
    };
    reports::publish(&fleet.mail(&worker("W1")).unwrap(), &worker("W1"), draft).unwrap();
    let list = List::open_or_create(&place.home, &repository.name, &repository).unwrap();
    for subject in ["Write the parser", "Test it"] {
        let fields = Fields {
            subject: Some(subject.to_owned()),
            ..Fields::default()
        };
        tasks::add(&list, &ann(), &fields, &[]).unwrap();
    }
    place
}

fn got(served: &Served, path: &str) -> Value {
    let told = served.get(path);
    assert_eq!(told.status, 200, "{path}: {told:?}");
    told.json()
}

fn posted(served: &Served, path: &str, body: &Value) -> Value {
    let told = served.post(path, &body.to_string());
    assert_eq!(told.status, 200, "{path}: {told:?}");
    told.json()
}

#[test]
fn a_number_is_given_out_once() {
    let place = furnished();
    let served = place.serve();
    let path = "/v1/relay/allocate-seq?worker=W1&direction=inbox";
    let numbers: Vec<u64> = std::thread::scope(|scope| {
        let ask = || posted(&served, path, &json!({}))["seq"].as_u64().unwrap();
        let asking: Vec<_> = (0..20).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let once: BTreeSet<&u64> = numbers.iter().collect();
    assert_eq!(once.len(), 20);
    assert_eq!(once.first(), Some(&&3));
    let told = served.post("/v1/relay/allocate-seq?worker=W9&direction=inbox", "");
    assert_eq!(told.status, 404);
}

#[test]
fn decisions_over_the_interface() {
    let place = furnished();
    let served = place.serve();
    let path = "/v1/relay/outbox/ratify";
    let one = posted(&served, path, &json!({"worker": "W1", "seq": 1}));
    assert_eq!(one["decided"][0]["decision"], "ratified");
    let again = posted(&served, path, &json!({"worker": "W1", "seq": 1}));
    assert_eq!(again["decided"][0]["already"], true);
    let other = json!({"worker": "W1", "seq": 1, "decision": "rejected"});
    let told = served.post(path, &other.to_string());
    assert_eq!(
        (told.status, told.json()["kind"].clone()),
        (409, json!("conflict"))
    );

    let stale = json!({"worker": "W1", "seq": 2, "seen": Hash::of(b"Else").as_str()});
    assert_eq!(served.post(path, &stale.to_string()).status, 409);
    let seen = Hash::of(b"Two\n");
    let edit = json!({
        "worker": "W1", "seq": 2, "decision": "edited", "seen": seen.as_str(), "body": "Two!\n",
    });
    posted(&served, path, &edit);
    let letter = got(&served, "/v1/relay/inbox/W1/2");
    assert_eq!(
        (&letter["body"], &letter["stage"]),
        (&json!("Two!\n"), &json!("edited"))
    );
    assert_eq!(
        (&letter["verdict"]["via"], &letter["verdict"]["by"]),
        (&json!("api"), &json!("ann"))
    );

    let all = posted(
        &served,
        "/v1/relay/outbox/ratify?as=ben",
        &json!({"scope": "all"}),
    );
    assert_eq!(all["decided"][0]["brief"]["worker"], "W2");
    let fleet = Fleet::of(&place.home, &place.repository().id);
    let mail = fleet.mail(&worker("W2")).unwrap();
    let standing = briefs::show(&mail, 1.try_into().unwrap()).unwrap().standing;
    assert_eq!(standing.decision(), Some(Decision::Ratified));
    for bad in [
        json!({}),
        json!({"worker": "W1", "scope": "all"}),
        json!({"scope": "all", "decision": "rejected"}),
        json!({"worker": "W1", "decision": "edited"}),
        json!({"worker": "../x"}),
        json!({"worker": "W1", "seq": 0}),
        json!({"worker": "W1", "seq": "1"}),
        json!({"scope": "W{"}),
        json!({"worker": "W1", "decision": "maybe"}),
    ] {
        let told = served.post(path, &bad.to_string());
        assert!((400..500).contains(&told.status), "{bad}: {told:?}");
    }
}

#[test]
fn a_worker_that_looks_at_a_report_of_another_leaves_it_unread() {
    let place = furnished();
    let served = place.serve();
    let path = "/v1/relay/outbox/W1/1/read";
    let unread = || got(&served, "/v1/relay/outbox?unread=true")["total"].clone();
    let told = by(&served, "W2", &format!("POST {path}"), "");
    assert_eq!(told.json()["report"]["body"], "Done.", "{told:?}");
    assert_eq!(unread(), 1);
    posted(&served, path, &json!({}));
    assert_eq!(unread(), 0);
}

#[test]
fn slash_commands_over_the_interface() {
    let place = furnished();
    let served = place.serve();
    let path = "/v1/controller/dispatch";
    let say = |body: Value| posted(&served, path, &body);
    let said = say(json!({"command": "/ratify all --scope=W1"}));
    assert_eq!(
        said["lines"],
        json!(["RATIFIED #1 One → W1", "RATIFIED #2 Two → W1"])
    );
    assert_eq!(said["exit_status"], 2);
    let said = say(json!({"command": "/assign #9 W2", "text": "Nine"}));
    assert_eq!(said["lines"], json!(["ASSIGNED #9 → W2 (seq=0002)"]));
    let said = say(json!({"command": "/edit W2 1", "text": "Three, but shorter"}));
    assert_eq!(said["lines"], json!(["EDITED #3 Three, but shorter → W2"]));
    fs::write(place.top().join("brief.md"), "From a file").unwrap();
    let said = say(json!({"command": "/assign 10 W2 --brief=brief.md"}));
    assert_eq!(said["lines"], json!(["ASSIGNED #10 → W2 (seq=0003)"]));
    fs::write(place.top().join("../secret"), "x").unwrap();
    for bad in [
        json!({"command": "/assign 10 W2 --brief=../secret"}),
        json!({"command": "/assign 10 W2 --brief=/etc/hostname"}),
        json!({"command": "/assign 10 W2"}),
        json!({"command": "/fly"}),
        json!({"command": ""}),
        json!({"text": "x"}),
    ] {
        let told = served.post(path, &bad.to_string());
        assert!((400..500).contains(&told.status), "{bad}: {told:?}");
    }
}

#[test]
fn where_there_are_several_repositories_one_is_to_be_named() {
    let place = furnished();
    let served = place.serve();
    let other = place.register("other");
    let told = served.get("/v1/workers");
    assert_eq!(told.status, 409, "{told:?}");
    assert!(
        told.text.contains("other") && told.text.contains("web"),
        "{told:?}"
    );
    let id = other.id.as_str();
    for named in ["web", "we"] {
        assert_eq!(
            got(&served, &format!("/v1/workers?repo={named}"))["total"],
            2
        );
    }
    for named in ["other", id, &id[..8]] {
        assert_eq!(
            got(&served, &format!("/v1/workers?repo={named}"))["total"],
            0
        );
    }
    assert_eq!(served.get("/v1/workers?repo=none").status, 404);
    assert_eq!(served.get("/v1/workers?repo=").status, 404);
}

#[test]
fn trap_09_path_tricks() {
    let place = furnished();
    let served = place.serve();
    let list = place.home.list_dir(&"web".parse().unwrap());
    let outside = place.top().join("../outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("progress.md"), "Status: Secret").unwrap();
    let sessions = place.top().join(".claude/sessions");
    fs::create_dir_all(&sessions).unwrap();
    std::os::unix::fs::symlink(&outside, sessions.join("linked")).unwrap();
    for pointed in [
        outside.clone(),
        sessions.join("linked"),
        sessions.join("../../../outside"),
    ] {
        fs::write(
            list.join("execution_pointer.md"),
            format!("{}\n", pointed.display()),
        )
        .unwrap();
        let told = got(&served, "/api/execution-context/web");
        assert_eq!(
            told,
            json!({"executionContext": null}),
            "{}",
            pointed.display()
        );
    }
    std::os::unix::fs::symlink(&outside, list.with_file_name("evil")).unwrap();
    fs::write(list.with_file_name("file"), "no list").unwrap();
    for path in [
        "/api/tasks/..%2f..%2frun",
        "/api/tasks/..",
        "/api/tasks/%2e%2e",
        "/api/tasks/a%2fb",
        "/api/tasks/a%00b",
        "/api/execution-context/..%2fweb",
        "/v1/tasks/..%2fweb/1",
        "/v1/tasks/web/..%2f1",
        "/v1/tasks/web/%2fetc%2fpasswd",
        "/v1/tasks?list=../web",
        "/v1/workers/..",
        "/v1/workers/..%2fW1",
        "/v1/relay/inbox/..%2fW1/1",
        "/v1/sessions/..%2f..",
        "/v1/sessions/linked",
        "/v1/workers?repo=../web",
        "/api/tasks/evil",
        "/v1/tasks/file/1",
    ] {
        let told = served.get(path);
        assert!((400..500).contains(&told.status), "{path}: {told:?}");
        assert!(!told.text.contains("Secret"), "{path}: {told:?}");
    }
}

/// The description of the interface allows exactly the names that are not refused as no names.
#[test]
fn a_name_is_refused_only_where_the_description_refuses_it() {
    let place = furnished();
    let served = place.serve();
    let description = got(&served, "/v1/openapi.json");
    let shape = &description["paths"]["/api/tasks/{list}"]["get"]["parameters"][0]["schema"];
    let shape = jsonschema::draft202012::new(shape).unwrap();
    fs::write(place.home.tasks_root().join("file"), "no list").unwrap();
    let long = "x".repeat(255);
    let too_long = "日".repeat(255);
    for (name, status) in [
        ("web", 200),
        (".x", 200),
        ("x.", 200),
        ("a.b.c", 200),
        ("日本", 200),
        ("a:b", 200),
        (long.as_str(), 200),
        ("file", 200),
        // No directory of tasks is called so.
        (too_long.as_str(), 404),
        ("coord:x", 404),
        ("..", 400),
        ("..$", 400),
        ("a..b", 400),
        ("x..", 400),
        ("a\0b", 400),
    ] {
        let spelled: String = name.bytes().map(|it| format!("%{it:02x}")).collect();
        let told = served.get(&format!("/api/tasks/{spelled}"));
        assert_eq!(told.status, status, "{name}: {told:?}");
        assert_eq!(shape.is_valid(&json!(name)), status != 400, "{name}");
    }
}

#[test]
fn a_claim_over_the_interface_is_fenced_as_any_other() {
    let place = furnished();
    let served = place.serve();
    let claimed = posted(&served, "/v1/claims?list=web&as=W1", &json!({}));
    assert_eq!(claimed["owner"], "W1");
    let token = claimed["claim"]["token"].as_u64().unwrap();
    let path = format!("/v1/tasks/web/{}", claimed["id"].as_str().unwrap());
    for (query, body) in [
        ("as=W2", json!({"text": "Mine"})),
        ("as=W1", json!({"text": "Late", "token": token + 1})),
    ] {
        let told = served.post(&format!("{path}/done?{query}"), &body.to_string());
        assert_eq!(told.status, 409, "{told:?}");
    }
    let done = json!({"text": "Done", "token": token});
    let done = posted(&served, &format!("{path}/done?as=W1"), &done);
    assert_eq!(done["state"], "completed");
    let told = served.post("/v1/tasks", r#"{"subject":""}"#);
    assert_eq!(told.status, 422, "{told:?}");
    let told = served.post("/v1/workers", r#"{"id":"../evil"}"#);
    assert_eq!(told.status, 422, "{told:?}");
}

#[test]
fn labels_leases_and_what_a_worker_can_do_over_the_interface() {
    let place = furnished();
    let served = place.serve();
    let task = posted(
        &served,
        "/v1/tasks/web/1/edit",
        &json!({"tags": ["a", "b", "a"]}),
    );
    assert_eq!(task["tags"], json!(["a", "b"]));
    let untouched = posted(&served, "/v1/tasks/web/1/edit", &json!({"group": "g"}));
    assert_eq!(untouched["tags"], json!(["a", "b"]));
    let claim = posted(
        &served,
        "/v1/tasks/web/1/claim?as=W1",
        &json!({"lease": "2h"}),
    )["claim"]
        .clone();
    let time = |key: &str| {
        claim[key]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap()
    };
    assert_eq!(
        time("expires_at").duration_since(time("at")),
        jiff::SignedDuration::from_hours(2)
    );
    let worker = posted(
        &served,
        "/v1/workers/W1/heartbeat",
        &json!({"capabilities": ["rust"]}),
    );
    assert_eq!(worker["capabilities"], json!(["rust"]));
    for (path, body) in [
        ("/v1/tasks/web/1/edit", json!({"tags": "a"})),
        ("/v1/tasks/web/1/edit", json!({"tags": [1]})),
        ("/v1/tasks/web/2/claim", json!({"lease": "0s"})),
        ("/v1/tasks/web/2/claim", json!({"lease": "soon"})),
    ] {
        let told = served.post(path, &body.to_string());
        assert_eq!(told.status, 422, "{path} {body}: {told:?}");
    }
}

#[test]
fn a_record_that_is_no_file_blinds_nobody() {
    let place = furnished();
    let repositories = place.home.repositories_root();
    fs::create_dir_all(repositories.join("dir-1/repo.json")).unwrap();
    fs::create_dir_all(repositories.join("link-1")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", repositories.join("link-1/repo.json")).unwrap();
    let served = place.serve();
    assert_eq!(
        got(&served, "/v1/repositories")["repositories"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(got(&served, "/v1/tasks")["total"], 2);
}

#[test]
fn where_no_run_is_there_is_none_to_stop() {
    let place = furnished();
    let served = place.serve();
    let told = served.post("/v1/stop", "{}");
    assert_eq!(told.status, 404, "{told:?}");
    assert_eq!(told.json()["kind"], "not_found");
    let told = served.post("/v1/stop", r#"{"task":"99"}"#);
    assert_eq!(told.status, 404, "{told:?}");
}

#[test]
fn the_last_change_is_taken_back_over_http_too() {
    let place = furnished();
    let served = place.serve();
    assert_eq!(served.post("/v1/tasks/web/1/cancel", "").status, 200);
    let told = served.post("/v1/tasks/web/undo", "").json();
    assert_eq!(told["undone"][0]["kind"], "task.cancelled");
    assert_eq!(told["tasks"][0]["state"], "pending");
    assert_eq!(got(&served, "/v1/tasks/web/1")["state"], "pending");
}
