//! What fits an operation's parameters, and what is refused.

use serde_json::json;

use super::super::parameter::ParamKind;
use super::*;

const PARAMETERS: &[Parameter] = &[
    Parameter::new("worker", ParamKind::Id, "").required(),
    Parameter::new("limit", ParamKind::Number(1), ""),
    Parameter::new("all", ParamKind::Flag, ""),
    Parameter::new("body", ParamKind::Text, ""),
    Parameter::new("decision", ParamKind::Word(&["ratified", "rejected"]), "").required(),
];

fn said(
    parameters: &'static [Parameter],
    texts: &[(&str, &str)],
    object: Value,
) -> Result<Arguments> {
    let Value::Object(object) = object else {
        panic!("an object")
    };
    let parameters: Vec<_> = parameters.iter().collect();
    let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
    Arguments::read(&parameters, texts.iter().map(owned).collect(), object)
}

fn read(texts: &[(&str, &str)], object: Value) -> Result<Arguments> {
    said(PARAMETERS, &[&[("worker", "W1")], texts].concat(), object)
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

const EITHER: &[ArgumentForm] = &[
    ArgumentForm {
        must: &["worker"],
        may: &["decision", "seq"],
        word: Some(("decision", &["rejected"])),
    },
    ArgumentForm {
        must: &["all"],
        may: &[],
        word: None,
    },
];
const DECIDED: &[Parameter] = &[
    Parameter::new("worker", ParamKind::Id, "").within(EITHER),
    Parameter::new("seq", ParamKind::Number(1), "").within(EITHER),
    Parameter::new("decision", ParamKind::Word(&["ratified", "rejected"]), "").within(EITHER),
    Parameter::new("all", ParamKind::Flag, "").within(EITHER),
    Parameter::new("note", ParamKind::Line, ""),
    Parameter::new("pid", ParamKind::Process, ""),
    Parameter::new("due", ParamKind::Day, ""),
];

fn decided(object: Value) -> Result<Arguments> {
    said(DECIDED, &[], object)
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
