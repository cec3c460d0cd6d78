//! The language by tables; `naive` holds it against a second, written-out filter.

mod dates;
mod naive;

use super::*;

/// The text of a query as it is understood.
fn understood(text: &str) -> String {
    match text.parse::<Query>() {
        Ok(query) => query.to_string(),
        Err(error) => format!("! {error}"),
    }
}

#[test]
fn what_is_typed_is_understood_as() {
    for (typed, understood_as) in [
        (
            "priority=high,critical and tag=api sort=due limit=5",
            "priority=high,critical and tag=api sort=due limit=5",
        ),
        ("", ""),
        ("sort=-priority,due", "sort=-priority,due"),
        ("parser", "text~parser"),
        (
            "'the parser' grammar",
            "text~\"the parser\" and text~grammar",
        ),
        ("don't", "text~\"don't\""),
        (
            "tag=a or tag=b and not owner=me",
            "tag=a or (tag=b and not owner=me)",
        ),
        (
            "(tag=a or tag=b) owner!=none",
            "(tag=a or tag=b) and not owner=none",
        ),
        ("owner = 'none' , me", "owner=\"none\",me"),
        ("project='My \\'Web\\''", "project=\"My 'Web'\""),
        (
            "project=none subject~Parser,Lexer",
            "project=none and subject~Parser,Lexer",
        ),
        (
            "due<=2026-12-01 due>yesterday",
            "due<=2026-12-01 and due>yesterday",
        ),
        (
            "estimate>='1h 30m' tracked<90",
            "estimate>=90m and tracked<90m",
        ),
        (
            "meta.sprint=12 id<100 attempts>0",
            "meta.sprint=12 and id<100 and attempts>0",
        ),
        (
            "limit=5 tag==x sort=due and tag=y",
            "tag=x and tag=y sort=due limit=5",
        ),
        ("NOT is=ready OR wow!", "not is=ready or text~\"wow!\""),
        ("tag!=a,b", "not tag=a,b"),
        ("tag=and", "tag=and"),
        ("(((tag=a)))", "tag=a"),
        (
            "text!=x added=week ended>=2026-05-01",
            "not text~x and added=week and ended>=2026-05-01",
        ),
    ] {
        assert_eq!(understood(typed), understood_as, "{typed}");
        assert_eq!(understood(understood_as), understood_as, "{typed}");
    }
}

#[test]
fn every_refusal_says_where_and_what_instead() {
    for (typed, refusal) in [
        (
            "prioritty=high",
            "at character 1: there is no field \"prioritty\" (did you mean priority?); the fields are \
             id, is, state, status, priority, project, tag, owner, group, due, text, subject, parent, \
             uid, complexity, estimate, tracked, attempts, added, ended, meta.KEY",
        ),
        (
            "tag=a priority=hihg",
            "at character 16: \"hihg\" is no value of priority (did you mean high?); use critical, \
             high, medium, low, none",
        ),
        (
            "due=2026-02-30",
            "at character 5: \"2026-02-30\" is no value of due; use yesterday, today, tomorrow, week, \
             overdue, none or a date that exists, as in 2026-12-01",
        ),
        (
            "due<week",
            "at character 5: \"week\" is no value of due; use yesterday, today, tomorrow or a date \
             that exists, as in 2026-12-01",
        ),
        (
            "tag>a",
            "at character 4: tag cannot be compared with >; use =, != or ~",
        ),
        (
            "state~pend",
            "at character 6: state cannot be compared with ~; use = or !=",
        ),
        (
            "due~2026",
            "at character 4: due cannot be compared with ~; use =, !=, <, <=, > or >=",
        ),
        (
            "due<today,tomorrow",
            "at character 11: a second value stands where the end of the comparison belongs",
        ),
        (
            "owner=",
            "at character 7: the end stands where a value belongs",
        ),
        (
            "owner=,",
            "at character 7: a comma stands where a value belongs",
        ),
        (
            "owner=\"\"",
            "at character 7: \"\" is no value of owner; use me, none or a name",
        ),
        (
            "tag=a or",
            "at character 9: the end stands where a comparison or a word belongs",
        ),
        (
            "or tag=a",
            "at character 1: \"or\" stands where a comparison or a word belongs",
        ),
        ("(tag=a", "at character 1: this ( is never closed"),
        (
            "tag=a)",
            "at character 6: ) stands where a comparison or a word belongs",
        ),
        (
            "()",
            "at character 2: ) stands where a comparison or a word belongs",
        ),
        ("tag='a", "at character 5: this ' is never closed"),
        (
            "not",
            "at character 4: the end stands where a comparison or a word belongs",
        ),
        ("sort=due sort=id", "at character 10: sort= is said twice"),
        (
            "(tag=a limit=3)",
            "at character 8: limit= is about the whole query: it stands outside of parentheses, and \
             not after not",
        ),
        (
            "limit=few",
            "at character 7: \"few\" is no value of limit; use one number; 0 is all",
        ),
        (
            "sort=-prio",
            "at character 6: \"-prio\" is no value of sort (did you mean priority?); use id, subject, \
             state, priority, project, owner, group, due, complexity, estimate, tracked, attempts, \
             added, ended, uid, each with a - before it to turn it around",
        ),
        (
            "tag:api",
            "at character 1: write tag=api, or quote it to look for that text",
        ),
        (
            "tag=a @urgent",
            "at character 7: a saved query such as @urgent stands before everything else; quote it to \
             look for that text",
        ),
        (
            "é é =3",
            "at character 3: there is no field \"é\"; the fields are id, is, state, status, \
             priority, project, tag, owner, group, due, text, subject, parent, uid, complexity, \
             estimate, tracked, attempts, added, ended, meta.KEY",
        ),
    ] {
        assert_eq!(understood(typed), format!("! {refusal}"), "{typed}");
    }
}

#[test]
fn no_nesting_exhausts_the_stack() {
    for text in ["(".repeat(100_000), "not ".repeat(100_000)] {
        let error = text.parse::<Query>().unwrap_err();
        assert_eq!(error.problem, Problem::TooDeep);
    }
    let deep = format!("{}tag=a{}", "(".repeat(60), ")".repeat(60));
    assert_eq!(understood(&deep), "tag=a");
}

#[test]
fn options_say_the_same_as_an_expression() {
    let values = ["high".to_owned(), "none".to_owned()];
    let test = Test::of(Field::Priority, &values).unwrap();
    let query: Query = "priority=high,none".parse().unwrap();
    assert_eq!(query.filter, Some(Filter::Test(test)));
    let refused = Test::of(Field::Due, &["soon".to_owned()]).unwrap_err();
    assert!(
        refused
            .problem
            .to_string()
            .starts_with("\"soon\" is no value of due")
    );
}

#[test]
fn open_tasks_are_meant_unless_states_are_named() {
    for (typed, meant) in [
        ("", "is=open"),
        ("tag=a or tag=b", "is=open and (tag=a or tag=b)"),
        ("tag=a or state=failed", "tag=a or state=failed"),
        ("not status=pending", "not status=pending"),
        ("ended=week", "ended=week"),
        ("added=week", "is=open and added=week"),
    ] {
        let query: Query = typed.parse().unwrap();
        assert_eq!(query.open_by_default().to_string(), meant, "{typed}");
    }
}

#[test]
fn of_two_queries_the_later_one_says_the_order() {
    let both = |a: &str, b: &str| {
        let (a, b): (Query, Query) = (a.parse().unwrap(), b.parse().unwrap());
        a.and(b).to_string()
    };
    assert_eq!(
        both("tag=a or tag=b sort=due limit=3", "owner=me limit=9"),
        "(tag=a or tag=b) and owner=me sort=due limit=9"
    );
    assert_eq!(both("limit=3", "sort=id"), "sort=id limit=3");
}
