//! What fits a route's description, and what is refused.

use serde_json::json;

use super::*;

const PARAMS: &[Param] = &[
    Param::path("worker", ParamKind::Id, ""),
    Param::query("limit", ParamKind::Number(1), ""),
    Param::query("all", ParamKind::Flag, ""),
    Param::body("body", ParamKind::Text, ""),
    Param::body("decision", ParamKind::Word(&["ratified", "rejected"]), "").required(),
];

fn read(query: &[(&str, &str)], body: Value) -> Result<Asked, HttpError> {
    let pairs = |all: &[(&str, &str)]| {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        all.iter().map(owned).collect()
    };
    let Value::Object(body) = body else {
        panic!("an object")
    };
    let path = pairs(&[("worker", "W1")]);
    let query = pairs(query);
    let headers = Vec::new();
    Asked::read(
        PARAMS,
        Parts {
            path,
            query,
            headers,
            body,
        },
    )
}

#[test]
fn what_fits_is_understood() {
    let sent = json!({"decision": "ratified", "body": null});
    let asked = read(&[("limit", "5"), ("all", "true")], sent).unwrap();
    assert_eq!(asked.needed("worker"), "W1");
    assert_eq!(asked.number("limit"), Some(5));
    assert!(asked.flag("all"));
    assert_eq!(asked.text("body"), None);
}

#[test]
fn what_does_not_fit_is_refused() {
    let good = || json!({"decision": "ratified"});
    for query in [
        [("limit", "0")],
        [("limit", "-1")],
        [("limit", "1e3")],
        [("limit", "99999999999999999999")],
        [("all", "yes")],
        [("decision", "ratified")],
        [("worker", "W2")],
        [("x", "")],
    ] {
        read(&query, good()).unwrap_err();
    }
    read(&[("limit", "1"), ("limit", "2")], good()).unwrap_err();
    for body in [
        json!({}),
        json!({"decision": null}),
        json!({"decision": "maybe"}),
        json!({"decision": "ratified", "body": 7}),
        json!({"decision": "ratified", "more": 1}),
    ] {
        read(&[], body).unwrap_err();
    }
}

const EITHER: &[Form] = &[
    Form {
        must: &["worker"],
        may: &["decision", "seq"],
        word: Some(("decision", &["rejected"])),
    },
    Form {
        must: &["all"],
        may: &[],
        word: None,
    },
];
const DECIDED: &[Param] = &[
    Param::body("worker", ParamKind::Id, "").within(EITHER),
    Param::body("seq", ParamKind::Number(1), "").within(EITHER),
    Param::body("decision", ParamKind::Word(&["ratified", "rejected"]), "").within(EITHER),
    Param::body("all", ParamKind::Flag, "").within(EITHER),
    Param::body("note", ParamKind::Line, ""),
    Param::body("pid", ParamKind::Process, ""),
    Param::body("due", ParamKind::Day, ""),
];

fn decided(body: Value) -> Result<Asked, HttpError> {
    let Value::Object(body) = body else {
        panic!("an object")
    };
    let parts = Parts {
        path: Vec::new(),
        query: Vec::new(),
        headers: Vec::new(),
        body,
    };
    Asked::read(DECIDED, parts)
}

#[test]
fn what_is_sent_is_one_of_its_forms() {
    for good in [
        json!({"worker": "W1"}),
        json!({"worker": "W1", "seq": 2, "decision": "rejected", "note": "x"}),
        json!({"all": true, "note": null}),
    ] {
        assert!(decided(good.clone()).is_ok(), "{good}");
    }
    for bad in [
        json!({}),
        json!({"note": "x"}),
        json!({"seq": 2}),
        json!({"worker": "W1", "all": true}),
        json!({"all": true, "seq": 2}),
        json!({"worker": "W1", "decision": "ratified"}),
        json!({"worker": null, "all": true}),
    ] {
        assert!(decided(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn whole_numbers_days_and_lines_are_what_the_description_says() {
    let with = |name: &str, value: Value| {
        let mut body = json!({"all": true});
        body[name] = value;
        decided(body)
    };
    let number = with("pid", json!(7.0)).unwrap().number("pid");
    assert_eq!(number, Some(7));
    for (name, good) in [
        ("pid", json!(u32::MAX)),
        ("due", json!("2026-02-28")),
        ("note", json!(" x ")),
    ] {
        assert!(with(name, good.clone()).is_ok(), "{name} {good}");
    }
    for (name, bad) in [
        ("pid", json!(7.5)),
        ("pid", json!(0)),
        ("pid", json!(-1.0)),
        ("pid", json!(1e300)),
        ("pid", json!(u64::from(u32::MAX) + 1)),
        ("pid", json!("7")),
        ("due", json!("2026-02-30")),
        ("due", json!("2026-02-28T10:00")),
        ("due", json!("20260228")),
        ("note", json!("")),
        ("note", json!(" \n\u{3000}")),
    ] {
        assert!(with(name, bad.clone()).is_err(), "{name} {bad}");
    }
}
